package competences

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"arkamsg/competences/candidate"
	"arkamsg/competences/document"
	"arkamsg/competences/pii"
	"arkamsg/competences/primitives"
	"arkamsg/internal/clients"
	"arkamsg/internal/durable"
	"arkamsg/internal/sqlite"
	"arkamsg/journal"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Folder is where competences lie below the home.
const Folder = "data/competences"

// Settings may change while the service runs.
type Settings struct {
	PerMinute        int      // persists per machine in any 60 s; 0 means 10
	MismatchConflict bool     // same key, other body: 409 instead of the first answer
	Agents           []string // the registry of external decision agents
	PII              *pii.Detector
}

// Options says how a service is opened.
type Options struct {
	Logger *slog.Logger
	// Term is the daemon's term, so that a successor takes unfinished work over
	// at once; nil or 0 for a program that is not the daemon.
	Term     func() journal.Term
	Settings Settings
}

// Authority repeats an authentication inside a transaction (clients.Store).
type Authority interface {
	Still(tx *sqlite.Tx, p clients.Principal) error
}

// Service is the keeper of competences. It is safe for concurrent use, and
// several processes may have one each on the same home.
type Service struct {
	journal  *journal.Journal
	auth     Authority
	root     *os.Root // data/competences
	disk     disk
	log      *slog.Logger
	term     func() journal.Term
	holder   journal.Holder
	settings atomic.Pointer[Settings]

	keys     keyed // one request per idempotency key at a time
	names    keyed // one per slug
	rate     window
	finished bulletin
	audit    exporter
}

// lease is how long one attempt may take before another may take it over; the
// file work is done in milliseconds, a hanging disk is not.
const lease = 30 * time.Second

// Open prepares folders and tables. It changes nothing that is there; see
// Recover.
func Open(ctx context.Context, home string, j *journal.Journal, auth Authority, o Options) (*Service, error) {
	s := &Service{journal: j, auth: auth, log: o.Logger, term: o.Term, holder: journal.Holder(fmt.Sprintf("persist-%d", os.Getpid()))}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.term == nil {
		s.term = func() journal.Term { return 0 }
	}
	s.Configure(o.Settings)
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	if err := j.DB().Migrate(ctx, "competences", files); err != nil {
		return nil, err
	}
	if err := s.openFolders(home); err != nil {
		return nil, err
	}
	s.audit = exporter{root: s.root, db: j.DB(), log: s.log, mu: new(sync.Mutex), ends: map[string]end{}}
	return s, nil
}

func (s *Service) openFolders(home string) error {
	at, err := os.OpenRoot(home)
	if err != nil {
		return err
	}
	defer at.Close()
	for _, state := range document.Folders {
		if err := durable.MkdirAll(at, filepath.Join(Folder, state.Folder()), 0o700); err != nil {
			return err
		}
	}
	if s.root, err = at.OpenRoot(Folder); err != nil {
		return err
	}
	s.disk = rootDisk{s.root}
	return nil
}

// Close ends the use of the service. The journal stays open.
func (s *Service) Close() error { return s.root.Close() }

// Configure changes the settings from the next request on.
func (s *Service) Configure(set Settings) {
	if set.PerMinute <= 0 {
		set.PerMinute = 10
	}
	if set.PII == nil {
		set.PII = pii.Default()
	}
	s.settings.Store(&set)
}

// Agents is the registry of external agents.
func (s *Service) Agents() []string { return s.settings.Load().Agents }

// Detector is the net for personal data in force.
func (s *Service) Detector() *pii.Detector { return s.settings.Load().PII }

func (s *Service) rules() candidate.Rules {
	set := s.settings.Load()
	return candidate.Rules{PII: set.PII, Primitives: primitives.Default(), Agents: set.Agents}
}

// Recover is for the start of the daemon, after the lock is held: temporary
// files of dead writers are removed, promotions that were cut short are
// completed, and the exports are brought up to the audit. Unfinished persists
// are the route's.
func (s *Service) Recover(ctx context.Context) error {
	return errors.Join(s.sweep(), s.completeAllPromotions(), s.audit.catchUp(ctx))
}
