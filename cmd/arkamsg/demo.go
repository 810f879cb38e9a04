package main

import (
	"github.com/urfave/cli/v2"

	"arkamsg/internal/demo"
)

func (p *program) demoVerb() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "watch a message travel, on a private tmux server that goes away afterwards",
		Action: func(c *cli.Context) error {
			return demo.Run(c.Context, demo.Options{
				Out: p.stdout, Colour: terminal(p.stdout) && p.getenv("NO_COLOR") == "",
			})
		},
	}
}
