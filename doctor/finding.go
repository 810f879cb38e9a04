package doctor

import (
	"fmt"
	"strings"

	"arkamsg/internal/errkind"
)

func ok(format string, args ...any) Finding {
	return Finding{State: OK, Detail: fmt.Sprintf(format, args...)}
}

func warn(remedy, format string, args ...any) Finding {
	return Finding{State: Warn, Detail: fmt.Sprintf(format, args...), Remedy: remedy}
}

func fail(remedy, format string, args ...any) Finding {
	return Finding{State: Fail, Detail: fmt.Sprintf(format, args...), Remedy: remedy}
}

// failure is an error of a keeper: its problems one per line, and its own hint
// rather than ours.
func failure(err error, remedy string) Finding {
	if hint := errkind.Hint(err); hint != "" {
		remedy = hint
	}
	return Finding{State: Fail, Detail: explain(err), Remedy: remedy}
}

// explain lists what an error names, a line each.
func explain(err error) string {
	problems := errkind.Problems(err)
	if len(problems) == 0 {
		return err.Error()
	}
	return list(len(problems), func(i int) string { return problems[i].String() })
}

// listed bounds a list in a detail.
const listed = 10

// list puts up to ten of n lines below one another and counts the rest.
func list(n int, line func(int) string) string {
	var lines []string
	for i := range min(n, listed) {
		lines = append(lines, line(i))
	}
	if n > listed {
		lines = append(lines, fmt.Sprintf("and %d more", n-listed))
	}
	return strings.Join(lines, "\n")
}
