package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"arkamsg/sessions"
)

func checkProgram(_ context.Context, p *patient) Finding {
	info, err := os.Stat(p.Program)
	if err != nil {
		return fail("install it again: make install", "%s cannot be found any more: %v", p.Program, err)
	}
	if info.Mode().Perm()&0o111 == 0 {
		return fail("chmod +x "+p.Program, "%s cannot be executed", p.Program)
	}
	return ok("arkamsg %s, %s, %s/%s", p.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// checkHome demands a folder that only its owner writes, on a local disk: the
// journal's locks mean nothing over a network.
func checkHome(_ context.Context, p *patient) Finding {
	dir := string(p.home)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail(fmt.Sprintf("arkamsg --home %s init", dir), "there is no folder %s", dir)
	case err != nil:
		return fail("check the folders above it: ls -ld "+dir, "%v", err)
	case !info.IsDir():
		return fail("name another home: arkamsg --home DIR doctor", "%s is not a folder", dir)
	case info.Mode().Perm()&0o022 != 0:
		return fail("chmod 700 "+dir, "others may write in %s (mode %04o)", dir, info.Mode().Perm())
	}
	if st, isStat := info.Sys().(*syscall.Stat_t); isStat && int64(st.Uid) != int64(os.Geteuid()) {
		return fail("run arkamsg as that user, or name your own home: arkamsg --home DIR doctor", "%s belongs to uid %d", dir, st.Uid)
	}
	if err := unix.Access(dir, unix.W_OK); err != nil {
		return fail("chmod u+w "+dir+", or mount that disk writable", "nothing can be written in %s: %v", dir, err)
	}
	if kind, remote := networked(dir); remote {
		return fail("move the home to a disk of this machine", "%s lies on a network disk (%s), where locks cannot be trusted", dir, kind)
	}
	return looseFiles(dir)
}

// looseFiles finds files of ours that others could open. The folder's mode may
// still keep them out, so it is a warning.
func looseFiles(dir string) Finding {
	var loose []string
	for _, name := range []string{"arka.yaml", "journal.db", "journal.db-wal", "journal.head", "notifyd.lock", "arkamsg.sock"} {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil || info.Mode()&fs.ModeSymlink != 0 {
			continue // what should be there is another check's question
		}
		forbidden := fs.FileMode(0o077)
		if name == "arka.yaml" {
			forbidden = 0o022 // holds no secret
		}
		if info.Mode().Perm()&forbidden != 0 {
			loose = append(loose, name)
		}
	}
	if len(loose) > 0 {
		return warn("chmod 600 "+strings.Join(loose, " ")+" (in "+dir+")", "others may open %s", strings.Join(loose, ", "))
	}
	return ok("%s", dir)
}

const (
	diskAlarm = 20 << 20  // nothing may be accepted any more
	diskLow   = 200 << 20 // soon
)

func checkDisk(_ context.Context, p *patient) Finding {
	var st unix.Statfs_t
	if err := unix.Statfs(string(p.home), &st); err != nil {
		return fail("check the disk: df "+string(p.home), "%v", err)
	}
	free := uint64(st.Bavail) * uint64(st.Bsize) //nolint:unconvert // widths differ by system
	remedy := "free space on that disk: df -h " + string(p.home) + "; old history: arkamsg journal archive --older-than 168h"
	switch {
	case free < diskAlarm:
		return fail(remedy, "only %d MB are free", free>>20)
	case st.Files > 0 && st.Ffree == 0:
		return fail("remove files: df -i "+string(p.home), "no more files can be made on that disk")
	case free < diskLow:
		return warn(remedy, "only %d MB are free", free>>20)
	}
	return ok("%d MB free", free>>20)
}

func checkConfig(_ context.Context, p *patient) Finding {
	file, err := p.Load(p.home)
	if err != nil {
		return failure(err, "arkamsg init")
	}
	p.file = file
	return ok("project %s, %d roles on the allow-list", file.Project, len(file.Allow))
}

// checkAliases finds aliases of roles that have no session: every message sent
// by them is blocked.
func checkAliases(_ context.Context, p *patient) Finding {
	var lost []string
	for _, alias := range slices.Sorted(maps.Keys(p.file.Aliases)) {
		if role := p.file.Aliases[alias]; len(p.file.Allow[role]) == 0 {
			lost = append(lost, fmt.Sprintf("%s leads to %s, which has no session", alias, role))
		}
	}
	if len(lost) > 0 {
		return fail("allow a session for that role in arka.yaml, or correct the alias", "%s",
			list(len(lost), func(i int) string { return lost[i] }))
	}
	return ok("%d aliases", len(p.file.Aliases))
}

func checkEscalation(_ context.Context, p *patient) Finding {
	esc := p.file.Policy.Escalation
	var deaf []string
	for _, role := range []sessions.Role{esc.Default, esc.Fallback} {
		if len(p.file.Allow[role]) == 0 {
			deaf = append(deaf, string(role))
		}
	}
	if len(deaf) > 0 {
		return warn("allow a session for the role in arka.yaml, or name another in policy.escalation",
			"%s has no session: escalations to it become dead letters", strings.Join(deaf, ", "))
	}
	return ok("%s, else %s", esc.Default, esc.Fallback)
}
