package config

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"

	"arkamsg/internal/errkind"
	"arkamsg/sessions"
)

// Init is what `arkamsg init` asks. An empty field keeps its default.
type Init struct {
	Project  string
	Prefix   string
	Provider string
	Socket   Tmux
	Allow    map[sessions.Role][]sessions.Name
	Aliases  map[string]sessions.Role
}

//go:embed arka.yaml.tmpl
var sampleText string

var sampleTemplate = template.Must(template.New(Name).Funcs(template.FuncMap{"q": scalar, "d": short}).Parse(sampleText))

// Render writes the commented arka.yaml for the answers. Answers that the file
// could not be read back with are errkind.Invalid, all of them at once.
func Render(in Init) ([]byte, error) {
	f := in.file()
	if problems := f.Validate(); len(problems) > 0 {
		return nil, errkind.New(errkind.Invalid, "no %s was written", Name).WithProblems(problems...)
	}
	var b bytes.Buffer
	if err := sampleTemplate.Execute(&b, f); err != nil {
		return nil, errkind.New(errkind.Internal, "render %s", Name).Wrap(err)
	}
	return b.Bytes(), nil
}

// Sample is the commented arka.yaml in which every value is the default.
func Sample() ([]byte, error) { return Render(Init{}) }

func (in Init) file() *File {
	f := Default()
	for to, from := range map[*string]string{&f.Project: in.Project, &f.SessionPrefix: in.Prefix, &f.Provider: in.Provider} {
		if from != "" {
			*to = from
		}
	}
	f.Tmux = in.Socket
	if in.Allow != nil {
		f.Allow = in.Allow
	}
	if in.Aliases != nil {
		f.Aliases = in.Aliases
	}
	return f
}

// plain is what YAML takes for a string without quotes, whatever its version.
var plain = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._/-]*$`)

var words = []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}

// scalar quotes a text of any type when YAML could take it for something else.
// JSON's quoting is YAML's double quoting.
func scalar(v any) (string, error) {
	s := fmt.Sprint(v)
	if plain.MatchString(s) && !slices.Contains(words, strings.ToLower(s)) {
		return s, nil
	}
	quoted, err := json.Marshal(s)
	return string(quoted), err
}

// short drops the zero tail of a duration: 720h, not 720h0m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
