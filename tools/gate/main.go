package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
)

func main() {
	show := flag.String("show", "^$", "print lines of passing tests that match this RE2")
	flag.Parse()
	os.Exit(run(os.Stdin, os.Stdout, os.Stderr, *show))
}

func run(in io.Reader, out, errs io.Writer, show string) int {
	re, err := regexp.Compile(show)
	if err != nil {
		fmt.Fprintln(errs, "gate: -show:", err)
		return 2
	}
	g := &gate{out: out, show: re, output: map[test][]string{}, ran: map[string]int{}}
	if err := g.read(in); err != nil {
		fmt.Fprintln(errs, "gate:", err)
		return 1
	}
	if !g.verdict() {
		return 1
	}
	return 0
}
