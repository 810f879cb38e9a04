package arch

import (
	"strings"
	"testing"
)

// A floor holds rooms that are strangers to one another and stand on the floors
// before it. A room is a package with all packages below it in the tree.
type floor struct {
	name  string
	rooms []string
	above string // why nothing here may know what stands on it
	next  string // why the rooms of this floor are strangers
}

// floors, from the ground up.
var floors = []floor{
	{"ground", []string{"internal/errkind", "internal/crash", "internal/bootclock", "internal/arch", "internal/fault"},
		"words that everybody uses must not bring anybody along",
		"each is one small idea, complete without another"},
	{"text", []string{"internal/plaintext"},
		"what a character may be does not depend on who asks",
		"there is one allow-list of text"},
	{"plumbing", []string{"internal/sqlite", "internal/durable", "internal/strictyaml", "internal/watch"},
		"plumbing carries anything and knows no noun of the program",
		"a database, a file, a document and a bell have nothing to say to one another"},
	{"stage", []string{"internal/standin", "internal/lab"},
		"the stand-in judges delivery, so it must share no code with it",
		"the lab runs any program, the stand-in runs in any terminal"},
	{"keepers", []string{"journal", "messaging", "sessions", "internal/clients"},
		"a keeper that knows its callers cannot be used by another",
		"only notifyd joins keepers; a keeper that knows another can be neither tested nor replaced alone"},
	{"domains", []string{"jobs", "capabilities", "competences", "internal/config"},
		"a domain answers the daemon and the doors; it does not drive them",
		"domains share the journal, never each other's tables or rules"},
	{"daemon", []string{"notifyd"},
		"the daemon runs without any door open",
		"there is one daemon"},
	{"doctor", []string{"doctor", "internal/demo"},
		"the doctor's verdict is data; how it is shown is the door's business",
		"the doctor proves and the demo shows; neither leans on the other"},
	{"doors", []string{"internal/httpapi", "internal/mcpserver", "internal/web"},
		"a door is opened by the program, not the other way round",
		"doors are equal: what two of them need belongs to a keeper or to notifyd"},
	{"program", []string{"cmd/arkamsg"},
		"nothing imports the program",
		"there is one program"},
}

// Arrows that point down and are forbidden all the same: from → to → why.
var cut = []struct{ from, to, why string }{
	{"cmd/arkamsg", "internal/sqlite", "a door holds no SQL; the keeper lacks a method"},
	{"internal/httpapi", "internal/sqlite", "a door holds no SQL; the keeper lacks a method"},
	{"internal/mcpserver", "internal/sqlite", "a door holds no SQL; the keeper lacks a method"},
	{"internal/web", "internal/sqlite", "a door holds no SQL; the keeper lacks a method"},
	{"doctor", "internal/sqlite", "the doctor asks the journal how it is; it reads nobody's tables"},
	{"notifyd", "internal/sqlite", "the daemon owns no table; what must commit together goes through journal.Update"},
	{"messaging", "internal/sqlite", "the backlog is files; a person can read it without the binary"},
	{"sessions", "internal/sqlite", "what was typed is recorded in tmux and by notifyd, never here"},
	{"sessions", "internal/lab", "attach-only: what types into the user's sessions cannot create any"},
	{"notifyd", "internal/lab", "attach-only: the daemon cannot create a session"},
	{"internal/config", "journal", "configuration is read before any keeper is opened"},
	{"internal/config", "messaging", "configuration is read before any keeper is opened"},
}

// within reports whether the package is the room or below it.
func within(pkg, room string) bool { return pkg == room || strings.HasPrefix(pkg, room+"/") }

// place returns the package's floor (from 0) and room, or -1.
func place(pkg string) (level int, room string) {
	for i, f := range floors {
		for _, r := range f.rooms {
			if within(pkg, r) {
				return i, r
			}
		}
	}
	return -1, ""
}

// objection says why from must not import to, or "". Both are folders.
func objection(from, to string) string {
	a, roomA := place(from)
	b, roomB := place(to)
	switch {
	case a < 0 || b < 0:
		return "one of them has no room: give it one in internal/arch/rooms_test.go, with the reason"
	case roomA == roomB:
		return ""
	case a < b:
		return floors[a].above
	case a == b:
		return floors[a].next
	}
	for _, c := range cut {
		if within(from, c.from) && within(to, c.to) {
			return c.why
		}
	}
	return ""
}

func TestImportsPointDown(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue // a test may stand wherever it sees best
		}
		for _, p := range s.imports() {
			to, ours := strings.CutPrefix(p, module+"/")
			if !ours {
				continue
			}
			if why := objection(s.folder, to); why != "" {
				t.Errorf("%s imports %s: %s", s.path, p, why)
			}
		}
	}
}

func TestEveryPackageHasARoom(t *testing.T) {
	for folder := range packages(t) {
		if level, _ := place(folder); level < 0 {
			t.Errorf("%s has no room: give it one in internal/arch/rooms_test.go", folder)
		}
	}
}

func TestEveryFloorSaysWhy(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range floors {
		if f.above == "" || f.next == "" {
			t.Errorf("floor %s does not say why", f.name)
		}
		for _, r := range f.rooms {
			if seen[r] {
				t.Errorf("%s stands on two floors", r)
			}
			seen[r] = true
		}
	}
	for _, c := range cut {
		if a, _ := place(c.from); a < 0 || c.why == "" {
			t.Errorf("the cut %s → %s names no room or no reason", c.from, c.to)
		}
		if !pointsDown(c.from, c.to) {
			t.Errorf("the cut %s → %s is forbidden already", c.from, c.to)
		}
	}
}

func pointsDown(from, to string) bool {
	a, _ := place(from)
	b, _ := place(to)
	return a > b && b >= 0
}

// The rule itself: without this, a table that forbids nothing would pass.
func TestObjection(t *testing.T) {
	allowed := [][2]string{
		{"cmd/arkamsg", "journal"}, {"notifyd", "sessions"}, {"journal", "internal/sqlite"},
		{"internal/httpapi/lea", "competences"}, {"competences", "competences/slug"}, {"internal/config", "sessions"},
	}
	for _, a := range allowed {
		if why := objection(a[0], a[1]); why != "" {
			t.Errorf("%s → %s is refused: %s", a[0], a[1], why)
		}
	}
	refused := [][2]string{
		{"journal", "sessions"}, {"sessions", "messaging"}, {"journal", "notifyd"}, {"internal/sqlite", "journal"},
		{"internal/httpapi", "internal/web"}, {"jobs", "competences/slug"}, {"notifyd", "doctor"}, {"doctor", "cmd/arkamsg"},
		{"internal/errkind", "internal/crash"}, {"cmd/arkamsg", "internal/sqlite"}, {"sessions", "internal/lab"},
		{"journal", "internal/unheard"}, {"journals", "internal/sqlite"},
	}
	for _, r := range refused {
		if objection(r[0], r[1]) == "" {
			t.Errorf("%s → %s passes", r[0], r[1])
		}
	}
}
