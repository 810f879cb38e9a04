package deps

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// machine is what is on PATH besides a shell.
type machine struct {
	programs []string
	root     bool
}

// asked runs scripts/deps on the machine and returns what it asked of package
// managers, line by line, and what it said.
func (m machine) asked(t *testing.T) (commands, said string, err error) {
	t.Helper()
	dir := t.TempDir()
	record := filepath.Join(dir, "record")
	uid := "1000"
	if m.root {
		uid = "0"
	}
	stub(t, dir, "id", "echo "+uid)
	for _, name := range m.programs {
		switch name {
		case "sudo":
			stub(t, dir, name, `exec "$@"`)
		default:
			stub(t, dir, name, `echo "`+name+` $*" >> `+record)
		}
	}
	for _, real := range []string{"bash", "env"} {
		path, err := exec.LookPath(real)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, real)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("bash", "../../scripts/deps")
	cmd.Env = []string{"PATH=" + dir}
	out, err := cmd.CombinedOutput()
	text, _ := os.ReadFile(record) // absent: nothing was asked
	return string(text), string(out), err
}

func stub(t *testing.T, dir, name, body string) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!"+bash+"\n"+body+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestInstallsOnlyWhatIsMissing(t *testing.T) {
	for name, c := range map[string]struct {
		machine machine
		asked   []string
	}{
		"nothing missing": {machine{programs: []string{"go", "tmux", "gcc", "apt-get"}}, nil},
		"debian as root": {machine{programs: []string{"go", "apt-get"}, root: true},
			[]string{"apt-get update -q", "apt-get install -y -q --no-install-recommends tmux gcc libc6-dev"}},
		"debian with sudo": {machine{programs: []string{"go", "cc", "apt-get", "sudo"}},
			[]string{"apt-get update -q", "apt-get install -y -q --no-install-recommends tmux"}},
		"fedora": {machine{programs: []string{"go", "tmux", "dnf"}, root: true}, []string{"dnf install -y gcc"}},
		"arch":   {machine{programs: []string{"go", "pacman"}, root: true}, []string{"pacman -S --noconfirm --needed tmux gcc"}},
		"alpine": {machine{programs: []string{"go", "apk"}, root: true}, []string{"apk add tmux gcc musl-dev"}},
		"macOS":  {machine{programs: []string{"go", "clang", "brew"}}, []string{"brew install tmux"}},
	} {
		t.Run(name, func(t *testing.T) {
			commands, said, err := c.machine.asked(t)
			if err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			if got := strings.TrimSpace(commands); got != strings.Join(c.asked, "\n") {
				t.Errorf("asked:\n%s\nwant:\n%s", got, strings.Join(c.asked, "\n"))
			}
			for _, command := range c.asked {
				args := strings.Fields(command)
				if !strings.Contains(said, strings.Join(args[1:], " ")) {
					t.Errorf("%q was run without being said:\n%s", command, said)
				}
			}
			if len(c.asked) == 0 && said != "" {
				t.Errorf("nothing was missing, and it said: %s", said)
			}
		})
	}
}

func TestSaysWhatItCannotDo(t *testing.T) {
	for name, c := range map[string]struct {
		machine machine
		says    string
	}{
		"no Go":       {machine{programs: []string{"tmux", "gcc"}}, "https://go.dev/dl/"},
		"no manager":  {machine{programs: []string{"go"}}, "no package manager"},
		"no root":     {machine{programs: []string{"go", "apt-get"}}, "needs root"},
		"no compiler": {machine{programs: []string{"go", "brew", "tmux"}}, "xcode-select --install"},
	} {
		t.Run(name, func(t *testing.T) {
			commands, said, err := c.machine.asked(t)
			if err == nil || !strings.Contains(said, c.says) || commands != "" {
				t.Errorf("%v\nsaid: %s\nasked: %s", err, said, commands)
			}
		})
	}
}
