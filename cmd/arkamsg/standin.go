package main

import (
	"os"

	"github.com/urfave/cli/v2"

	"arkamsg/internal/standin"
)

// standinVerb runs the stand-in agent of demo, doctor --lab and tests. It is
// part of the program so that one binary is enough for all of them.
func (p *program) standinVerb() *cli.Command {
	return &cli.Command{
		Name: "standin", Usage: "a stand-in agent, for tests", Hidden: true, SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			if code := standin.Main(c.Args().Slice(), os.Stdin, p.stdout, p.stderr); code != 0 {
				return verdict(code)
			}
			return nil
		},
	}
}
