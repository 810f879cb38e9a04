package standin

import (
	"bytes"
	"unicode/utf8"
)

// key is one thing read from the terminal.
type key struct {
	kind keyKind
	text string // a rune, or a whole paste
}

type keyKind int

const (
	keyRune keyKind = iota
	keyPaste
	keyEnter
	keyNewline // LF: a line break within the composer
	keyErase
	keyClear // Ctrl-U
	keyQuit  // Ctrl-C, Ctrl-D
	keyOther // an escape sequence we do nothing with
)

var pasteStart, pasteEnd = []byte("\x1b[200~"), []byte("\x1b[201~")

// decoder turns bytes into keys; what is incomplete waits for more.
type decoder struct{ pending []byte }

func (d *decoder) feed(b []byte) []key {
	d.pending = append(d.pending, b...)
	var out []key
	for len(d.pending) > 0 {
		k, n := next(d.pending)
		if n == 0 {
			break
		}
		out = append(out, k)
		d.pending = d.pending[n:]
	}
	return out
}

// next decodes one key and its length; 0 when it is incomplete.
func next(b []byte) (key, int) {
	if b[0] == 0x1b {
		return escape(b)
	}
	if kind, ok := controls[b[0]]; ok {
		return key{kind: kind}, 1
	}
	if !utf8.FullRune(b) {
		return key{}, 0
	}
	r, n := utf8.DecodeRune(b)
	if r < 0x20 && r != '\t' {
		return key{kind: keyOther}, n
	}
	return key{kind: keyRune, text: string(b[:n])}, n
}

var controls = map[byte]keyKind{'\r': keyEnter, '\n': keyNewline, 0x7f: keyErase, 0x08: keyErase, 0x15: keyClear, 0x03: keyQuit, 0x04: keyQuit}

func escape(b []byte) (key, int) {
	if len(b) < len(pasteStart) && bytes.HasPrefix(pasteStart, b) {
		return key{}, 0
	}
	if bytes.HasPrefix(b, pasteStart) {
		end := bytes.Index(b, pasteEnd)
		if end < 0 {
			return key{}, 0
		}
		return key{kind: keyPaste, text: string(b[len(pasteStart):end])}, end + len(pasteEnd)
	}
	if len(b) > 1 && b[1] == '[' {
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				return key{kind: keyOther}, i + 1
			}
		}
		return key{}, 0
	}
	return key{kind: keyOther}, min(2, len(b))
}
