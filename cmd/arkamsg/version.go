package main

import (
	"runtime"

	"github.com/urfave/cli/v2"
)

func (p *program) versionVerb() *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "version of this program",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "one JSON object"}},
		Action: func(c *cli.Context) error {
			if c.Bool("json") {
				return p.printJSON(map[string]string{"version": version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})
			}
			p.printf("arkamsg %s\n", version)
			return nil
		},
	}
}

// manVerb prints the man page for `make install`.
func (p *program) manVerb() *cli.Command {
	return &cli.Command{
		Name: "man", Usage: "print the man page", Hidden: true,
		Action: func(c *cli.Context) error {
			page, err := c.App.ToManWithSection(1)
			if err == nil {
				p.printf("%s", page)
			}
			return err
		},
	}
}
