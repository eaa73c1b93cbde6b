package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"emberd/internal/durable"
	"emberd/internal/text"
)

// Places are where emberd keeps its files.
type Places struct {
	Data, State  string
	Socket       string
	SocketFolder bool // the socket's folder is emberd's own
	Config       string
	Tokens       []string // files that may be there, as those with keys
	Keys         []string
}

// maxFiles bounds how many files are looked at for who owns them.
const maxFiles = 20_000

// Access reports the files of emberd that other users can read or change. It opens none.
func Access(p *Places) []Finding {
	var all []Finding
	for _, f := range []struct{ what, dir string }{{"data", p.Data}, {"state", p.State}} {
		all = append(all, folder(f.what, f.dir)...)
	}
	all = append(all, socketAccess(p)...)
	if info, err := os.Stat(p.Config); err == nil && durable.OthersWrite(info) && keepsModes(filepath.Dir(p.Config)) {
		all = append(all, Finding{Area: "access", Code: "config-open", Severity: Error,
			Text: fmt.Sprintf("config file %s is writable by other users (mode %04o)", p.Config, info.Mode().Perm()),
			Next: "chmod go-w " + text.ShellWord(p.Config), Fix: chmod(p.Config, info.Mode().Perm()&^0o022)})
	}
	for _, name := range p.Tokens {
		all = append(all,
			secret(name, "token-open",
				"these users can use the token in this file, so emberd does not accept the file")...)
	}
	for _, name := range p.Keys {
		all = append(all, secret(name, "key-open", "these users can use the key in this file")...)
	}
	return all
}

// secret tells of a file that others can read, and what follows from that.
func secret(name, code, so string) []Finding {
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	return []Finding{{Area: "tokens", Code: code, Severity: Error, Next: "chmod 600 " + text.ShellWord(name),
		Fix:  chmod(name, 0o600),
		Text: fmt.Sprintf("%s is readable by other users (mode %04o): %s", name, info.Mode().Perm(), so)}}
}

// folder looks at one of emberd's own folders, if it is there.
func folder(what, dir string) []Finding {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	found := func(code string, severity Severity, next, text string, args ...any) []Finding {
		return []Finding{{Area: "access", Code: what + "-" + code, Severity: severity, Text: fmt.Sprintf(text, args...),
			Next: next}}
	}
	switch {
	case err != nil:
		return found("unreadable", Error, "ls -ld "+text.ShellWord(dir), "cannot access the %s folder %s: %v", what,
			dir, err)
	case !info.IsDir():
		aside := "mv " + text.ShellWord(dir) + " " + text.ShellWord(dir+".aside")
		return found("unreadable", Error, aside, "the %s folder %s is a file", what, dir)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 && st.Uid != 0 {
		return found("foreign", Error, fmt.Sprintf("sudo -iu '#%d'", st.Uid),
			"the %s folder %s belongs to user %d, and you are root; run emberd as that user", what, dir, st.Uid)
	}
	if foreign := foreignIn(dir); foreign != "" {
		next := fmt.Sprintf("chown -R %d %s", os.Geteuid(), text.ShellWord(dir))
		if os.Geteuid() != 0 {
			next = "sudo " + next
		}
		return found("foreign", Error, next,
			"%s in the %s folder belongs to another user, for example because emberd ran with sudo", foreign, what)
	}
	switch err := unix.Access(dir, unix.R_OK|unix.W_OK|unix.X_OK); {
	case errors.Is(err, unix.EROFS):
		return found("readonly", Error, "findmnt -T "+text.ShellWord(dir),
			"the %s folder %s is on a read-only file system; remount it read-write", what, dir)
	case err != nil:
		out := found("unwritable", Error, "chmod u+rwx "+text.ShellWord(dir),
			"your user cannot write to the %s folder %s (mode %04o)", what, dir, info.Mode().Perm())
		out[0].Fix = chmod(dir, info.Mode().Perm()|0o700)
		return out
	}
	return openFolder(what, dir, info)
}

// openFolder tells of a folder that others reach into. What is in one that is closed is closed
// too. File systems without modes show the same for all, and what they are mounted with decides.
func openFolder(what, dir string, info fs.FileInfo) []Finding {
	perm := info.Mode().Perm()
	if perm&0o077 == 0 || !keepsModes(dir) {
		return nil
	}
	f := Finding{Area: "access", Code: what + "-open", Severity: Warning, Next: "chmod go= " + text.ShellWord(dir),
		Fix:  chmod(dir, perm&^0o077),
		Text: fmt.Sprintf("the %s folder %s is readable by other users (mode %04o)", what, dir, perm)}
	if durable.OthersWrite(info) {
		f.Severity, f.Text = Error,
			fmt.Sprintf("the %s folder %s is writable by other users (mode %04o), "+
				"who can change your memories, so the daemon does not start", what, dir, perm)
	}
	return []Finding{f}
}

// foreignIn returns the first file of another user below a folder, "" if there is none.
func foreignIn(dir string) string {
	foreign, seen := "", 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // another finding says that it cannot be read
		}
		if seen++; seen > maxFiles {
			return fs.SkipAll
		}
		if info, err := d.Info(); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
				foreign = path
				return fs.SkipAll
			}
		}
		return nil
	})
	if err != nil {
		return ""
	}
	return foreign
}

func socketAccess(p *Places) (all []Finding) {
	dir := filepath.Dir(p.Socket)
	if info, err := os.Lstat(dir); err == nil {
		st, _ := info.Sys().(*syscall.Stat_t)
		switch {
		case !info.IsDir():
			all = append(all, Finding{Area: "socket", Code: "socket-folder", Severity: Error,
				Next: "rm " + text.ShellWord(dir),
				Text: fmt.Sprintf("the socket folder %s is a link or a file, so the daemon does not start", dir)})
		case st != nil && int(st.Uid) != os.Geteuid():
			all = append(all, Finding{Area: "socket", Code: "socket-folder", Severity: Error, Next: elsewhere(),
				Text: fmt.Sprintf("the socket folder %s belongs to another user, so the daemon does not start", dir)})
		case durable.OthersWrite(info):
			all = append(all, p.openSocketFolder(dir, info.Mode().Perm()))
		}
	}
	info, err := os.Lstat(p.Socket)
	if err == nil && info.Mode().Type() == fs.ModeSocket && info.Mode().Perm() != 0o600 {
		all = append(all, Finding{Area: "socket", Code: "socket-open", Severity: Error,
			Next: "chmod 600 " + text.ShellWord(p.Socket), Fix: chmod(p.Socket, 0o600),
			Text: fmt.Sprintf("the socket %s has mode %04o instead of 0600", p.Socket, info.Mode().Perm())})
	}
	return all
}

// openSocketFolder tells of a socket's folder that others may write to. One that is not emberd's own,
// such as /tmp, is not to be closed: others have a use for it.
func (p *Places) openSocketFolder(dir string, perm fs.FileMode) Finding {
	f := Finding{Area: "socket", Code: "socket-folder", Severity: Error, Next: elsewhere(),
		Text: fmt.Sprintf("other users can write to the socket folder %s (mode %04o), so the daemon does not start",
			dir, perm)}
	if p.SocketFolder {
		f.Next, f.Fix = "chmod 700 "+text.ShellWord(dir), chmod(dir, 0o700)
	}
	return f
}

// elsewhere returns the command that puts the socket into a folder of emberd's own.
func elsewhere() string {
	return fmt.Sprintf("emberd config set socket /tmp/emberd-%d/emberd.sock", os.Geteuid())
}

func chmod(name string, mode fs.FileMode) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		if err := os.Chmod(name, mode); err != nil {
			return "", err
		}
		return fmt.Sprintf("changed the mode of %s to %04o", name, mode), nil
	}
}

// keepsModes reports whether a file in a folder can be closed to others, as it cannot on FAT.
func keepsModes(dir string) bool {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return true
	}
	return !modeless(fsName(&st))
}
