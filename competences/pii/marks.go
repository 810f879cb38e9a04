package pii

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// marks are the characters of which one at least stands in every text that a
// rule about numbers and addresses can match. Most texts of a workflow hold
// none, and need no second look.
const marks = "0123456789@"

// marked reports that whatever the expression matches holds a mark. A
// configured rule for which that cannot be shown switches the short cut off.
func marked(expr string) bool {
	re, err := syntax.Parse(expr, syntax.Perl)
	return err == nil && holdsMark(re)
}

func holdsMark(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return strings.ContainsAny(string(re.Rune), marks)
	case syntax.OpCharClass:
		return onlyMarks(re.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return holdsMark(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min > 0 && holdsMark(re.Sub[0])
	case syntax.OpConcat:
		return some(re.Sub, holdsMark)
	case syntax.OpAlternate:
		return !some(re.Sub, func(sub *syntax.Regexp) bool { return !holdsMark(sub) })
	}
	return false
}

func some(subs []*syntax.Regexp, is func(*syntax.Regexp) bool) bool {
	for _, sub := range subs {
		if is(sub) {
			return true
		}
	}
	return false
}

// onlyMarks reads pairs of first and last rune.
func onlyMarks(ranges []rune) bool {
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if !strings.ContainsRune(marks, r) {
				return false
			}
		}
	}
	return len(ranges) > 0
}

// plainly reports that a text as it came cannot match: ASCII, which folding
// leaves what it is, and without a mark.
func plainly(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || isDigit(c) || c == '@' {
			return false
		}
	}
	return true
}
