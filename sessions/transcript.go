package sessions

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds of one reading of an agent's own files.
const (
	transcriptFiles = 16
	transcriptTail  = 1 << 20
)

// transcriptHolds reports whether one of the newest files that fit the glob
// holds the first row of the text near its end, plain or as a JSON string.
func transcriptHolds(glob, text string) bool {
	row, _, _ := strings.Cut(text, "\n")
	needles := [][]byte{[]byte(row), jsonText(row, false), jsonText(row, true)}
	for _, name := range newest(glob) {
		tail := readTail(name)
		if slices.ContainsFunc(needles, func(n []byte) bool { return bytes.Contains(tail, n) }) {
			return true
		}
	}
	return false
}

// jsonText is the row as it stands inside a JSON string, with or without the
// escapes that keep it ASCII.
func jsonText(row string, ascii bool) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(row)
	out := bytes.Trim(bytes.TrimSpace(b.Bytes()), `"`)
	if !ascii {
		return out
	}
	return asciiJSON(out)
}

func asciiJSON(s []byte) []byte {
	var b bytes.Buffer
	for _, r := range string(s) {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r > 0xffff:
			hi, lo := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
			writeEscape(&b, hi)
			writeEscape(&b, lo)
		default:
			writeEscape(&b, r)
		}
	}
	return b.Bytes()
}

func writeEscape(b *bytes.Buffer, r rune) {
	const hex = "0123456789abcdef"
	b.WriteString(`\u`)
	for shift := 12; shift >= 0; shift -= 4 {
		b.WriteByte(hex[r>>shift&0xf])
	}
}

// newest lists the files of a glob, the latest first, a bounded number of them.
func newest(glob string) []string {
	if rest, ok := strings.CutPrefix(glob, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil
		}
		glob = filepath.Join(home, rest)
	}
	names, _ := filepath.Glob(glob)
	when := map[string]time.Time{}
	for _, n := range names {
		if info, err := os.Stat(n); err == nil && info.Mode().IsRegular() {
			when[n] = info.ModTime()
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool { return when[n].IsZero() })
	slices.SortFunc(names, func(a, b string) int { return when[b].Compare(when[a]) })
	return names[:min(len(names), transcriptFiles)]
}

// readTail reads the end of a file that the agent is writing. It is opened so
// that a FIFO planted under the name cannot hold us.
func readTail(name string) []byte {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	start := max(0, info.Size()-transcriptTail)
	tail, _ := io.ReadAll(io.NewSectionReader(f, start, transcriptTail))
	return tail
}
