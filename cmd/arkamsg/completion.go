package main

import (
	_ "embed"
	"io"

	"github.com/urfave/cli/v2"

	"arkamsg/internal/errkind"
)

//go:embed completion.bash
var bashCompletion string

//go:embed completion.zsh
var zshCompletion string

func (p *program) completionVerb() *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print the completion script for a shell", ArgsUsage: "bash|zsh|fish",
		Description: "   source <(arkamsg completion bash)          # in ~/.bashrc\n" +
			"   arkamsg completion zsh > \"${fpath[1]}/_arkamsg\"\n" +
			"   arkamsg completion fish > ~/.config/fish/completions/arkamsg.fish",
		Action: func(c *cli.Context) error {
			shell, err := oneArgument(c, "shell (bash, zsh or fish)")
			if err != nil {
				return err
			}
			script, err := completionScript(c, shell)
			if err != nil {
				return err
			}
			_, err = io.WriteString(p.stdout, script)
			return err
		},
	}
}

func completionScript(c *cli.Context, shell string) (string, error) {
	switch shell {
	case "bash":
		return bashCompletion, nil
	case "zsh":
		return zshCompletion, nil
	case "fish":
		return c.App.ToFishCompletion()
	}
	return "", errkind.New(errkind.Invalid, "there is no completion for %q", shell).
		WithHint("arkamsg completion bash, zsh or fish")
}
