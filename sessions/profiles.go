package sessions

import (
	_ "embed"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"time"

	"arkamsg/internal/errkind"
	"arkamsg/internal/plaintext"
)

//go:embed builtin.yaml
var builtin []byte

// Override changes a profile key by key: a nil field leaves what is there. Its
// tags are the keys of CONTRACT "Provider profiles".
type Override struct {
	Programs   *[]string `yaml:"programs"`
	Prompt     *string   `yaml:"prompt"`
	Empty      *string   `yaml:"empty"`
	Busy       *[]string `yaml:"busy"`
	Dialog     *[]string `yaml:"dialog"`
	Trailer    *string   `yaml:"trailer"`
	Settle     *string   `yaml:"settle"`
	Submit     *string   `yaml:"submit"`
	Proof      *string   `yaml:"proof"`
	Transcript *string   `yaml:"transcript"`
	WaitIdle   *bool     `yaml:"wait_idle"`
}

// fallback is the built-in profile that a new name starts from.
const fallback = "generic"

// maxSettle bounds a mistyped settle ("150s") that would hold a lane.
const maxSettle = 10 * time.Second

// Profiles returns the built-in profiles with the overrides applied; a name that
// is not built in starts from generic. All problems are listed at once, each
// with its field ("providers.codex.prompt").
func Profiles(overrides map[string]Override) (map[string]Profile, error) {
	base, err := parseBuiltin()
	if err != nil {
		return nil, err
	}
	out := map[string]Profile{}
	var c compiler
	for name, o := range base {
		out[name] = c.compile(name, Profile{}, o)
	}
	for _, name := range slices.Sorted(maps.Keys(overrides)) {
		from, ok := out[name]
		if !ok {
			from = out[fallback]
		}
		if !isProviderName(name) {
			c.refuse(name, "", "a provider's name holds letters, digits, '.', '_' and '-'")
		}
		out[name] = c.compile(name, from, overrides[name])
	}
	if len(c.problems) > 0 {
		return nil, errkind.New(errkind.Invalid, "provider profiles").WithProblems(c.problems...)
	}
	return out, nil
}

var providerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func isProviderName(s string) bool { return providerName.MatchString(s) }

// compiler turns keys into a profile and collects what is wrong with them.
type compiler struct {
	name     string
	problems []errkind.Problem
}

func (c *compiler) refuse(name, key, message string) {
	field := "providers." + name
	if key != "" {
		field += "." + key
	}
	c.problems = append(c.problems, errkind.Problem{Field: field, Message: message})
}

func (c *compiler) compile(name string, p Profile, o Override) Profile {
	c.name, p.Name = name, name
	if o.Programs != nil {
		p.Programs = c.globs(*o.Programs)
	}
	c.expr("prompt", o.Prompt, &p.Prompt)
	c.expr("empty", o.Empty, &p.Empty)
	c.exprs("busy", o.Busy, &p.Busy)
	c.exprs("dialog", o.Dialog, &p.Dialog)
	c.trailer(o.Trailer, &p.Trailer)
	c.settle(o.Settle, &p.Settle)
	c.submit(o.Submit, &p.Submit)
	c.proof(o.Proof, &p.Proof)
	if o.Transcript != nil {
		p.Transcript = *o.Transcript
	}
	if o.WaitIdle != nil {
		p.WaitIdle = *o.WaitIdle
	}
	c.agree(p)
	return p
}

// agree checks what only the whole profile can show.
func (c *compiler) agree(p Profile) {
	if p.Proof == ProofComposer && p.Prompt == nil {
		c.refuse(c.name, "proof", "composer needs a prompt, to know the composer's line")
	}
	if p.Proof == ProofTranscript && p.Transcript == "" {
		c.refuse(c.name, "transcript", "proof: transcript needs the files' glob")
	}
	if _, err := path.Match(p.Transcript, ""); err != nil {
		c.refuse(c.name, "transcript", "not a glob: "+p.Transcript)
	}
}

func (c *compiler) globs(gs []string) []string {
	for _, g := range gs {
		if _, err := path.Match(g, ""); err != nil || g == "" {
			c.refuse(c.name, "programs", "not a glob: "+strconv.Quote(g))
		}
	}
	return gs
}

// matches reports whether a program's name fits the glob.
func matches(glob, program string) bool {
	ok, _ := path.Match(glob, program)
	return ok
}

func (c *compiler) expr(key string, src *string, dst **regexp.Regexp) {
	if src == nil {
		return
	}
	*dst = nil
	if *src == "" {
		return
	}
	re, err := regexp.Compile(*src)
	if err != nil {
		c.refuse(c.name, key, err.Error())
		return
	}
	*dst = re
}

// exprs compiles patterns for the whole screen: ^ and $ mean a row's ends.
func (c *compiler) exprs(key string, srcs *[]string, dst *[]*regexp.Regexp) {
	if srcs == nil {
		return
	}
	*dst = nil
	for i, src := range *srcs {
		re, err := regexp.Compile("(?m:" + src + ")")
		if err != nil || src == "" {
			c.refuse(c.name, key+"["+strconv.Itoa(i)+"]", "not an expression: "+strconv.Quote(src))
			continue
		}
		*dst = append(*dst, re)
	}
}

func (c *compiler) trailer(src, dst *string) {
	if src == nil {
		return
	}
	if v := plaintext.CheckLine(*src); v != nil {
		c.refuse(c.name, "trailer", v.Error())
	}
	*dst = *src
}

func (c *compiler) settle(src *string, dst *time.Duration) {
	if src == nil {
		return
	}
	d, err := time.ParseDuration(*src)
	if err != nil || d < 0 || d > maxSettle {
		c.refuse(c.name, "settle", "a duration from 0s to 10s is expected: "+strconv.Quote(*src))
		return
	}
	*dst = d
}

// submitKey holds what tmux takes for a key's name: Enter, C-m, M-Enter, C-S-Enter.
var submitKey = regexp.MustCompile(`^([CMS]-){0,3}([A-Za-z]|Enter|KPEnter|Tab|F[0-9]{1,2})$`)

func (c *compiler) submit(src, dst *string) {
	if src == nil {
		return
	}
	if !submitKey.MatchString(*src) {
		c.refuse(c.name, "submit", "a key such as Enter, C-m or M-Enter is expected: "+strconv.Quote(*src))
		return
	}
	*dst = *src
}

func (c *compiler) proof(src *string, dst *Proof) {
	if src == nil {
		return
	}
	p := Proof(*src)
	if !slices.Contains([]Proof{ProofComposer, ProofEcho, ProofTranscript, ProofNone}, p) {
		c.refuse(c.name, "proof", "composer, echo, transcript or none is expected: "+strconv.Quote(*src))
		return
	}
	*dst = p
}
