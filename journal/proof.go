package journal

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"

	"arkamsg/internal/durable"
	"arkamsg/internal/errkind"
)

// Proof is what the last full verification found. It is kept beside the journal
// (journal.proof), because a damaged database is no place to write this down and
// a status that does not read all of history must still show it.
type Proof struct {
	Journal     string    `json:"journal"` // the ID of the journal that was looked at
	At          time.Time `json:"at"`
	Events      int64     `json:"events"`
	Transitions int64     `json:"transitions"`
	Findings    int       `json:"findings"`
	First       string    `json:"first,omitempty"` // the first finding
	Remedy      string    `json:"remedy,omitempty"`
}

const (
	proofName = "journal.proof"
	proofMax  = 64 << 10
)

// OK reports whether nothing was found.
func (p Proof) OK() bool { return p.Findings == 0 }

// Keep writes down what Verify found, for Proof. It replaces what an earlier one
// found.
func (j *Journal) Keep(r Report) error {
	p := Proof{Journal: j.id, At: j.clock.Wall().UTC(), Events: r.Events, Transitions: r.Transitions, Findings: len(r.Findings) + r.More}
	if !r.OK() {
		p.First, p.Remedy = r.Findings[0].Message, r.remedy()
	}
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(j.home)
	if err != nil {
		return errkind.New(errkind.Refused, "cannot open %s", j.home).Wrap(err)
	}
	defer root.Close()
	return durable.Replace(root, proofName, append(data, '\n'), 0o600)
}

// Proof returns what was kept last about this journal, and false when nothing
// was, or about another one: a journal whose loss a person accepted is another.
func (j *Journal) Proof() (p Proof, known bool, err error) {
	root, err := os.OpenRoot(j.home)
	if err != nil {
		return p, false, errkind.New(errkind.Refused, "cannot open %s", j.home).Wrap(err)
	}
	defer root.Close()
	data, err := durable.ReadFile(root, proofName, proofMax)
	if errors.Is(err, fs.ErrNotExist) || errkind.Of(err) == errkind.NotFound {
		return p, false, nil
	}
	if err != nil {
		return p, false, err
	}
	if json.Unmarshal(data, &p) != nil {
		return Proof{}, false, nil // the next verification writes it anew
	}
	return p, p.Journal == j.id, nil
}
