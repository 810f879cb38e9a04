package pii

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"arkamsg/internal/errkind"
	"arkamsg/internal/strictyaml"
)

//go:embed rules.yaml
var builtin []byte

// Builtin is the rules file that [Default] is made of.
func Builtin() []byte { return slices.Clone(builtin) }

// Detector is a compiled set of rules. It is safe for concurrent use.
type Detector struct {
	rules         []*rule // by pattern
	digits        []*rule // by number of digits
	hasDigitRules bool
	marked        bool // no rule can match a text without a digit or '@'
	technicalKey  *regexp.Regexp
	technicalWord *regexp.Regexp
}

type rule struct {
	Type    string   `yaml:"type"`
	Digits  []int    `yaml:"digits,omitempty"`
	Pattern string   `yaml:"pattern,omitempty"`
	Check   string   `yaml:"check,omitempty"`
	Near    []string `yaml:"near,omitempty"`

	re    *regexp.Regexp
	label *regexp.Regexp // nil: the value stands alone
	hint  *regexp.Regexp // labels that excuse an odd grouping
}

type file struct {
	Version   int                 `yaml:"version"`
	Labels    map[string][]string `yaml:"labels"`
	Technical []string            `yaml:"technical"`
	Rules     []*rule             `yaml:"rules"`
}

// Default is the detector of the built-in rules.
var Default = sync.OnceValue(func() *Detector {
	d, err := Parse(builtin)
	if err != nil {
		panic(err) // the embedded file is part of the program; a test reads it
	}
	return d
})

// Parse compiles a rules file. Its error is errkind.Invalid with every problem.
func Parse(data []byte) (*Detector, error) {
	var f file
	doc, problems := strictyaml.Parse(data, strictyaml.Limits{MaxBytes: 1 << 18, MaxNodes: 5000, MaxDepth: 12})
	if len(problems) == 0 {
		problems = doc.Decode(&f)
	}
	if len(problems) > 0 {
		return nil, invalid(problems)
	}
	return compile(f)
}

func invalid(problems []errkind.Problem) error {
	return errkind.New(errkind.Invalid, "the rules for personal data are not valid").WithProblems(problems...)
}

func compile(f file) (*Detector, error) {
	d := &Detector{}
	c := compiler{labels: f.Labels}
	if f.Version != 1 {
		c.problem("version", "must be 1")
	}
	words := c.alternation("technical", f.Technical)
	d.technicalKey = c.regexp("technical", `\b(?:`+words+`)$`)
	d.technicalWord = c.regexp("technical", `\b(?:`+words+`) ?[=:]? ?$`)
	for i, r := range f.Rules {
		at := fmt.Sprintf("rules[%d]", i)
		c.rule(at, r)
		if len(r.Digits) > 0 {
			d.digits = append(d.digits, r)
		} else {
			d.rules = append(d.rules, r)
		}
	}
	d.hasDigitRules = len(d.digits) > 0
	d.marked = !slices.ContainsFunc(d.rules, func(r *rule) bool { return !marked(r.Pattern) })
	if len(c.problems) > 0 {
		return nil, invalid(c.problems)
	}
	return d, nil
}

type compiler struct {
	labels   map[string][]string
	problems []errkind.Problem
}

func (c *compiler) problem(field, format string, args ...any) {
	c.problems = append(c.problems, errkind.Problem{Field: field, Message: fmt.Sprintf(format, args...)})
}

func (c *compiler) rule(at string, r *rule) {
	if r.Type == "" {
		c.problem(at+".type", "is missing")
	}
	if (len(r.Digits) == 0) == (r.Pattern == "") {
		c.problem(at, "needs either digits or pattern")
	}
	switch r.Check {
	case "", "nir", "nir_shape", "iban", "email":
	default:
		c.problem(at+".check", "must be nir, nir_shape, iban or email")
	}
	if r.Pattern != "" {
		r.re = c.regexp(at+".pattern", r.Pattern)
	}
	if len(r.Near) > 0 {
		r.label = c.regexp(at+".near", c.near(at, r.Near))
	}
	if r.Check == "nir" && len(c.labels["identity"]) > 0 {
		r.hint = c.regexp("labels.identity", c.near(at, []string{"identity"}))
	}
}

func (c *compiler) near(at string, groups []string) string {
	var all []string
	for _, g := range groups {
		if len(c.labels[g]) == 0 {
			c.problem(at+".near", "there is no label group %q", g)
		}
		all = append(all, c.labels[g]...)
	}
	return `(?:^|[^a-z0-9])(?:` + c.alternation(at, all) + `)(?:$|[^a-z])`
}

func (c *compiler) alternation(at string, words []string) string {
	for _, w := range words {
		if w == "" {
			c.problem(at, "an empty word would match everywhere")
		}
	}
	return strings.Join(words, "|")
}

func (c *compiler) regexp(at, expr string) *regexp.Regexp {
	re, err := regexp.Compile(expr)
	if err != nil {
		c.problem(at, "not a valid RE2 expression: %v", err)
		return nil
	}
	return re
}

// near reports a label in the key, or in the text around the value.
func near(re *regexp.Regexp, text string, from, to int, label string) bool {
	if label != "" && re.MatchString(label) {
		return true
	}
	before := text[max(0, from-reachBefore):from]
	after := text[to:min(len(text), to+reachAfter)]
	return re.MatchString(before) || re.MatchString(after)
}
