package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// flagsFirst moves the flags of a verb before its arguments, so that
// `arkamsg show ID --json` means what everybody expects. The parser underneath
// stops at the first argument. What follows "--" stays as it is.
func flagsFirst(app *cli.App, args []string) []string {
	if len(args) == 0 || args[len(args)-1] == "--generate-bash-completion" {
		return args // a shell asks, and means the last word
	}
	head, rest := []string{args[0]}, args[1:]
	flags, verbs := app.Flags, app.Commands
	for {
		own, tail := leading(flags, rest)
		head, rest = append(head, own...), tail
		if len(rest) == 0 {
			return head
		}
		i := slices.IndexFunc(verbs, func(c *cli.Command) bool { return c.HasName(rest[0]) })
		if i < 0 || verbs[i].SkipFlagParsing {
			return append(head, rest...)
		}
		head, rest = append(head, rest[0]), rest[1:]
		flags = verbs[i].Flags
		if verbs = verbs[i].Subcommands; len(verbs) == 0 {
			return append(head, sorted(flags, rest)...)
		}
	}
}

// leading splits the flags in front from the rest.
func leading(flags []cli.Flag, args []string) (own, rest []string) {
	n := 0
	for n < len(args) && isFlag(args[n]) {
		n += width(flags, args[n:])
	}
	return args[:n], args[n:]
}

// sorted puts flags before arguments and leaves the order within each.
func sorted(flags []cli.Flag, args []string) []string {
	var own, rest []string
	for n := 0; n < len(args); {
		if args[n] == "--" {
			return append(append(own, rest...), args[n:]...)
		}
		w := 1
		if isFlag(args[n]) {
			w = width(flags, args[n:])
			own = append(own, args[n:n+w]...)
		} else {
			rest = append(rest, args[n])
		}
		n += w
	}
	return append(own, rest...)
}

func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' && arg != "--" }

// width is 2 for a flag whose value is the next argument, else 1.
func width(flags []cli.Flag, args []string) int {
	name := strings.TrimLeft(args[0], "-")
	if strings.Contains(name, "=") || len(args) == 1 {
		return 1
	}
	for _, f := range flags {
		if _, onOff := f.(*cli.BoolFlag); !onOff && slices.Contains(f.Names(), name) {
			return 2
		}
	}
	return 1
}
