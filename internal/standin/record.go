package standin

import (
	"bufio"
	"encoding/json"
	"os"
	"time"
)

// Entry is one line of the record.
type Entry struct {
	At   time.Time `json:"at"`
	Kind string    `json:"kind"`           // raw, paste, submit, enter, answer, start, exit
	Raw  []byte    `json:"raw,omitempty"`  // base64 in the file; raw
	Text string    `json:"text,omitempty"` // paste, submit
	Why  string    `json:"why,omitempty"`  // enter: swallowed, burst, busy, empty
}

// recorder appends to the log; every line is one write, so a reader sees whole
// lines and a kill loses none that was drawn.
type recorder struct{ file *os.File }

func openRecord(name string) (*recorder, error) {
	if name == "" {
		return &recorder{}, nil
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return &recorder{file: f}, err
}

func (r *recorder) put(e Entry) {
	if r.file == nil {
		return
	}
	e.At = time.Now().UTC()
	line, _ := json.Marshal(e) // no field can fail
	_, _ = r.file.Write(append(line, '\n'))
}

// ReadLog reads a record; a last line that is still being written is left out.
func ReadLog(name string) ([]Entry, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []Entry
	in := bufio.NewReaderSize(f, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return out, nil
		}
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return out, err
		}
		out = append(out, e)
	}
}

// Submitted lists the texts that were submitted, in order.
func Submitted(entries []Entry) []string {
	var out []string
	for _, e := range entries {
		if e.Kind == "submit" {
			out = append(out, e.Text)
		}
	}
	return out
}

// RawBytes joins all bytes that arrived.
func RawBytes(entries []Entry) []byte {
	var out []byte
	for _, e := range entries {
		out = append(out, e.Raw...)
	}
	return out
}
