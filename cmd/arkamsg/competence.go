package main

import (
	"errors"
	"os/user"

	"github.com/urfave/cli/v2"

	"arkamsg/competences"
	"arkamsg/competences/document"
	"arkamsg/competences/pii"
	"arkamsg/competences/slug"
	"arkamsg/internal/errkind"
	"arkamsg/notifyd"
)

func (p *program) competenceVerb() *cli.Command {
	return &cli.Command{
		Name:  "competence",
		Usage: "what was learned: list, check, persist, promote, unlearn",
		Description: "   arkamsg competence list\n" +
			"   arkamsg competence check FILE        is this YAML a competence?\n" +
			"   arkamsg competence promote ID --to supervised --successes 5\n" +
			"   arkamsg competence unlearn ID --reason \"the form has changed\"\n\n" +
			"Only a person promotes; there is no other way to stable.",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "the catalogue", Flags: []cli.Flag{jsonFlag("one JSON object per line")},
				Action: p.onCompetences(p.competenceList),
			},
			{
				Name: "show", Usage: "one competence", ArgsUsage: "ID", Flags: []cli.Flag{jsonFlag("one JSON object")},
				Action: p.onCompetences(p.competenceShow),
			},
			{
				Name: "check", Usage: "all problems of a YAML file", ArgsUsage: "FILE",
				Action: p.onCompetences(p.competenceCheck),
			},
			{
				Name: "persist", Usage: "persist a candidate from JSON", ArgsUsage: "FILE|-",
				Action: p.onCompetences(p.competencePersist),
			},
			{
				Name: "promote", Usage: "to supervised, then to stable", ArgsUsage: "ID",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "to", Usage: "supervised or stable", Required: true},
					&cli.StringFlag{Name: "by", Usage: "`NAME` of who decides (default: the user)"},
					&cli.StringFlag{Name: "note", Usage: "`TEXT` that says why"},
					&cli.IntFlag{Name: "successes", Usage: "runs that went well since the last promotion"},
					&cli.IntFlag{Name: "failures", Usage: "runs that did not"},
					&cli.BoolFlag{Name: "override", Usage: "although too few runs were seen; needs --note"},
				},
				Action: p.onCompetences(p.competencePromote),
			},
			{
				Name: "unlearn", Usage: "remove it; its name is blocked meanwhile", ArgsUsage: "ID",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "by", Usage: "`NAME` of who decides (default: the user)"},
					&cli.StringFlag{Name: "reason", Usage: "`TEXT` that says why", Required: true},
				},
				Action: p.onCompetences(p.competenceUnlearn),
			},
			p.piiRulesVerb(),
		},
	}
}

// piiRulesVerb needs no home: it prints what is built in.
func (p *program) piiRulesVerb() *cli.Command {
	return &cli.Command{
		Name: "pii-rules", Usage: "print the built-in rules for personal data, to start a file of one's own (persist.pii_rules)",
		Action: func(*cli.Context) error { p.printf("%s", string(pii.Builtin())); return nil },
	}
}

func (p *program) onCompetences(fn func(*cli.Context, *competences.Service) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		return p.working(c, func(room *notifyd.Mailroom) error {
			known, err := openLearned(c.Context, room, nil, nil)
			if err != nil {
				return err
			}
			return errors.Join(fn(c, known.service), known.service.Close())
		})
	}
}

func (p *program) competenceList(c *cli.Context, s *competences.Service) error {
	items, err := s.List(c.Context)
	if err != nil {
		return err
	}
	t := newTable(p.stdout)
	for _, item := range items {
		if c.Bool("json") {
			if err := p.printJSON(item); err != nil {
				return err
			}
			continue
		}
		t.row(item.ID, item.LearningState, item.Name, item.Path)
		for _, problem := range item.Problems {
			t.row("  ! "+item.Path, problem.String())
		}
	}
	return t.flush()
}

func competenceID(c *cli.Context) (slug.Slug, error) {
	id, err := oneArgument(c, "competence_id")
	if err == nil && !slug.Valid(id) {
		err = errkind.New(errkind.Invalid, "%q is not a competence_id", id).WithHint("arkamsg competence list")
	}
	return slug.Slug(id), err
}

func (p *program) competenceShow(c *cli.Context, s *competences.Service) error {
	id, err := competenceID(c)
	if err != nil {
		return err
	}
	doc, err := s.Get(c.Context, id)
	if err != nil {
		return err
	}
	return p.showCompetence(doc, c.Bool("json"))
}

func (p *program) showCompetence(doc *document.Document, asJSON bool) error {
	if asJSON {
		return p.printJSON(doc)
	}
	text, err := document.Encode(doc)
	if err == nil {
		p.printf("%s", string(text))
	}
	return err
}

func (p *program) competenceCheck(c *cli.Context, s *competences.Service) error {
	name, err := oneArgument(c, "file")
	if err != nil {
		return err
	}
	data, err := p.readInput(c.Context, name)
	if err != nil {
		return err
	}
	if problems := s.Check(data); len(problems) > 0 {
		return errkind.New(errkind.Damaged, "%s is not a competence", name).WithProblems(problems...)
	}
	p.printf("%s is a competence\n", name)
	return nil
}

func (p *program) competencePersist(c *cli.Context, s *competences.Service) error {
	name, err := oneArgument(c, "file")
	if err != nil {
		return err
	}
	data, err := p.readInput(c.Context, name)
	if err != nil {
		return err
	}
	answer, err := s.PersistLocal(c.Context, data)
	if err != nil {
		return err
	}
	p.printf("%s\n", string(answer.Body))
	return nil
}

func (p *program) competencePromote(c *cli.Context, s *competences.Service) error {
	id, err := competenceID(c)
	if err != nil {
		return err
	}
	doc, err := s.Promote(c.Context, id, competences.Promotion{
		To: document.State(c.String("to")), By: decider(c), Note: c.String("note"),
		Successes: c.Int("successes"), Failures: c.Int("failures"), Override: c.Bool("override"),
	})
	if err != nil {
		return err
	}
	return p.showCompetence(doc, false)
}

func (p *program) competenceUnlearn(c *cli.Context, s *competences.Service) error {
	id, err := competenceID(c)
	if err != nil {
		return err
	}
	return s.Unlearn(c.Context, id, decider(c), c.String("reason"))
}

// decider is who answers for a promotion or an unlearning.
func decider(c *cli.Context) string {
	if by := c.String("by"); by != "" {
		return by
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}
