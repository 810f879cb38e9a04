package competences

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"arkamsg/competences/document"
	"arkamsg/competences/refusal"
	"arkamsg/competences/slug"
	"arkamsg/internal/crash"
	"arkamsg/internal/errkind"
)

const maxFile = document.MaxBytes

// tempMark stands between a competence's hidden temporary name and the pid of
// its writer: .<slug>.yaml.tmp.<pid>
const tempMark = ".yaml.tmp."

func tempName(folder string, id slug.Slug) string {
	return folder + "/." + string(id) + tempMark + strconv.Itoa(os.Getpid())
}

// fault is an operation of the disk that failed. clean says that nothing was
// left behind.
type fault struct {
	step  string
	err   error
	clean bool
}

func (f *fault) Error() string { return f.step + ": " + f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// errTaken says that the name belongs to another competence.
var errTaken = refusal.New(refusal.CompetenceExists, errkind.Conflict, "a competence of this name exists")

// publish puts data at its place, once. Bytes that are there already are the
// work of an earlier attempt. The error is errTaken or a *fault.
func (s *Service) publish(d *document.Document, data []byte, again bool) error {
	name := document.File(d.LearningState, d.ID)
	if again {
		if err := s.dropTemps(d.ID); err != nil {
			return &fault{"sweep", err, false}
		}
	}
	done, err := s.mine(d.ID, name, data)
	if err != nil || done {
		return err
	}
	return s.place(d.LearningState.Folder(), tempName(d.LearningState.Folder(), d.ID), name, data)
}

// mine reports whether the file is there already, and errTaken if the slug
// belongs to something else.
func (s *Service) mine(id slug.Slug, name string, data []byte) (bool, error) {
	for _, folder := range document.Folders {
		at := document.File(folder, id)
		there, err := s.disk.exists(at)
		if err != nil {
			return false, &fault{"look", err, true}
		}
		if !there {
			continue
		}
		if found, err := s.disk.read(at); at == name && err == nil && bytes.Equal(found, data) {
			return true, s.settle(folder.Folder(), name)
		}
		return false, errTaken
	}
	return false, nil
}

// settle makes the name durable that an earlier attempt may not have synced.
func (s *Service) settle(folder, name string) error {
	if err := s.disk.syncDir(folder); err != nil {
		return s.takeBack(folder, &fault{step: "fsync folder", err: err}, name)
	}
	return nil
}

// place is temp, fsync, link, unlink, fsync folder (decision 2 of the issue).
func (s *Service) place(folder, temp, name string, data []byte) error {
	if err := s.writeTemp(temp, data); err != nil {
		return s.takeBack(folder, err, temp)
	}
	crash.At("competences:temp-synced")
	switch err := s.disk.link(temp, name); {
	case errors.Is(err, fs.ErrExist):
		if f := s.takeBack(folder, &fault{step: "link", err: err}, temp); !f.clean {
			return f
		}
		return errTaken
	case err != nil:
		return s.takeBack(folder, &fault{step: "link", err: err}, temp)
	}
	crash.At("competences:linked")
	if err := s.disk.remove(temp); err != nil {
		return s.takeBack(folder, &fault{step: "unlink", err: err}, name, temp)
	}
	crash.At("competences:unlinked")
	return s.settle(folder, name)
}

func (s *Service) writeTemp(temp string, data []byte) *fault {
	f, err := s.disk.create(temp)
	if errors.Is(err, fs.ErrExist) { // left by a process that had our pid
		if err = s.disk.remove(temp); err == nil {
			f, err = s.disk.create(temp)
		}
	}
	if err != nil {
		return &fault{step: "create", err: err}
	}
	crash.At("competences:temp-created")
	if _, err := f.Write(data); err != nil {
		return &fault{step: "write", err: errors.Join(err, f.Close())}
	}
	crash.At("competences:temp-written")
	if err := f.Sync(); err != nil {
		return &fault{step: "fsync", err: errors.Join(err, f.Close())}
	}
	if err := f.Close(); err != nil {
		return &fault{step: "close", err: err}
	}
	return nil
}

// takeBack removes what a failed attempt left and notes whether nothing is left.
func (s *Service) takeBack(folder string, f *fault, names ...string) *fault {
	f.clean = true
	for _, name := range names {
		_ = s.disk.remove(name) // what counts is what is there now
		there, err := s.disk.exists(name)
		f.clean = f.clean && err == nil && !there
	}
	if f.clean && f.step != "create" {
		// best effort: if a power cut brings the name back, the next attempt
		// finds its own bytes there
		_ = s.disk.syncDir(folder)
	}
	return f
}

// dropTemps removes every temporary file of a slug. Its lane is ours, so no
// living writer has one.
func (s *Service) dropTemps(id slug.Slug) error {
	return s.temps(func(name, of, _ string) bool { return of == string(id) })
}

// sweep removes the temporary files whose writers are dead.
func (s *Service) sweep() error {
	return s.temps(func(_, _, pid string) bool { return pid == strconv.Itoa(os.Getpid()) || deadWriter(pid) })
}

// deadWriter reports that no process has the pid. One that another process
// took meanwhile is left for the next start.
func deadWriter(pid string) bool {
	n, err := strconv.Atoi(pid)
	return err == nil && n > 0 && errors.Is(unix.Kill(n, 0), unix.ESRCH)
}

func (s *Service) temps(stale func(name, id, pid string) bool) error {
	var errs []error
	for _, folder := range document.Folders {
		dir, err := s.root.Open(folder.Folder())
		if err != nil {
			return err
		}
		names, err := dir.Readdirnames(-1)
		errs = append(errs, err, dir.Close())
		for _, name := range names {
			id, pid, ok := strings.Cut(name, tempMark)
			if ok && strings.HasPrefix(id, ".") && stale(name, id[1:], pid) {
				errs = append(errs, s.disk.remove(folder.Folder()+"/"+name))
			}
		}
	}
	return errors.Join(errs...)
}
