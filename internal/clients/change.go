package clients

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"emberd/internal/durable"
	"emberd/internal/tomledit"
	"emberd/memory"
)

// maxFile bounds the files that are read; a Claude Code of many projects has some
// megabytes.
const maxFile = 64 << 20

// backupMark is between the name of a file and the time of a copy of it.
const backupMark = ".emberd-backup-"

// Change is what is to be done to a file. Nothing is until Apply.
type Change struct {
	File   string // behind all links
	Exists bool
	before []byte
	after  []byte
	mode   fs.FileMode
	undo   bool // it takes back an earlier change, of which no copy has to be left
	gone   bool // the file goes
}

// Add plans to add emberd to the list in a file, which need not exist. It updates an existing
// entry of emberd, and replaces another entry of that name only with force.
func (c *Client) Add(file string, s Server, force bool) (*Change, error) {
	return c.plan(file, func(text []byte) ([]byte, error) { return c.add(text, s, force) })
}

// Remove plans to remove the entry: one of emberd, or any with force. It removes the file too if that has nothing else
// and was made for the entry.
func (c *Client) Remove(file string, force bool) (*Change, error) {
	ch, err := c.plan(file, func(text []byte) ([]byte, error) { return c.remove(text, force) })
	if err != nil {
		return nil, err
	}
	ch.undo = true
	ch.gone = ch.Changes() && c.isEmpty(ch.after) && len(ch.backups()) == 0
	return ch, nil
}

// isEmpty reports whether a file has no settings at all.
func (c *Client) isEmpty(text []byte) bool {
	rest := bytes.TrimSpace(text)
	return len(rest) == 0 || !c.toml && bytes.Equal(bytes.Join(bytes.Fields(rest), nil), []byte("{}"))
}

// Has reports whether emberd is on the list in a file that may be missing.
func (c *Client) Has(file string) bool {
	ch, err := read(file)
	return err == nil && c.ours(ch.before)
}

// Args returns the arguments that emberd is started with by a file, nil if none is.
func (c *Client) Args(file string) (args []string) {
	ch, err := read(file)
	if err != nil || !c.ours(ch.before) {
		return nil
	}
	_, args, _ = c.started(ch.before)
	return args
}

func (c *Client) plan(file string, edit func([]byte) ([]byte, error)) (*Change, error) {
	ch, err := read(file)
	if err != nil {
		return nil, err
	}
	if ch.after, err = edit(ch.before); err != nil {
		if errors.Is(err, tomledit.ErrShape) {
			return nil, memory.Errorf(memory.Invalid, "%s: %w; edit the file by hand; to see the change, use --print",
				file, err)
		}
		if e, ok := errors.AsType[*memory.Error](err); ok {
			return nil, memory.Errorf(e.Code, "%s: %w", file, err)
		}
		return nil, memory.Errorf(memory.Invalid, "%s: %w; nothing was changed; fix the file first", file, err)
	}
	return ch, nil
}

// read follows links, so that they stay links, to a file or to the place for one.
func read(file string) (*Change, error) {
	ch := &Change{File: file, mode: 0o600}
	target, err := filepath.EvalSymlinks(file)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(file); err == nil {
			return nil, memory.Errorf(memory.Invalid,
				"%s is a link to a missing file; create the file or remove the link", file)
		}
		return ch, nil
	}
	if err != nil {
		return nil, memory.Errorf(memory.Invalid, "%w", err)
	}
	ch.File, ch.Exists = target, true
	info, err := os.Stat(target)
	switch {
	case err != nil:
		return nil, memory.Errorf(memory.Invalid, "%w", err)
	case !info.Mode().IsRegular():
		return nil, memory.Errorf(memory.Invalid, "%s is not a regular file; rename it or move it to another folder",
			target)
	case info.Size() > maxFile:
		return nil, memory.Errorf(memory.TooLarge, "%s has %d bytes (limit %d); check that this is the right file",
			target, info.Size(), maxFile)
	}
	ch.mode = info.Mode().Perm()
	if ch.before, err = durable.ReadGiven(target, maxFile); err != nil {
		return nil, memory.Errorf(memory.Invalid, "%w", err)
	}
	return ch, nil
}

// Changes reports whether Apply would change anything.
func (ch *Change) Changes() bool { return !bytes.Equal(ch.before, ch.after) }

// Apply copies the file to a backup beside it, whose name it returns, and then replaces the
// file, with the same mode. It does not replace a file that changed since it was read.
func (ch *Change) Apply(now time.Time) (backup string, err error) {
	disk := durable.OS{}
	if ch.gone {
		return "", ch.remove(disk)
	}
	if ch.Exists && ch.mode&0o200 == 0 {
		return "", memory.Errorf(memory.Forbidden, "%s is read-only; if another program generates this file, "+
			"change the file with that program; otherwise run: chmod u+w %s", ch.File, ch.File)
	}
	if err := os.MkdirAll(filepath.Dir(ch.File), 0o700); err != nil {
		return "", memory.Errorf(memory.Invalid, "%w", err)
	}
	if ch.Exists {
		backup = ch.File + backupMark + now.UTC().Format("20060102T150405.000Z")
		if err := ch.write(disk, backup, ch.before); err != nil {
			return "", fmt.Errorf("keep a copy: %w", err)
		}
	}
	temp := ch.File + ".emberd-" + rand.Text() + ".tmp"
	if err = ch.write(disk, temp, ch.after); err == nil {
		err = ch.swap(disk, temp)
	}
	// What is there now is the new file that was not wanted, or the old one, of which
	// there is a copy; or nothing.
	_ = disk.Remove(temp)
	if err != nil {
		return backup, err
	}
	if ch.undo && ch.forget() {
		backup = ""
	}
	return backup, disk.SyncDir(filepath.Dir(ch.File))
}

// remove removes the file, and its folder if that was for it alone.
func (ch *Change) remove(disk durable.FS) error {
	if err := ch.unchanged(ch.File); err != nil {
		return err
	}
	if err := disk.Remove(ch.File); err != nil {
		return memory.Errorf(memory.Forbidden, "%w", err)
	}
	dir := filepath.Dir(ch.File)
	if base := filepath.Base(dir); base == "hooks" || base == "plugin" {
		if os.Remove(dir) == nil { // it was empty
			dir = filepath.Dir(dir)
		}
	}
	return disk.SyncDir(dir)
}

// forget removes the copies of the file, if one of them is as the file is again.
func (ch *Change) forget() bool {
	same := func(copied string) bool {
		text, err := durable.ReadGiven(copied, maxFile)
		return err == nil && bytes.Equal(text, ch.after)
	}
	copies := ch.backups()
	if !slices.ContainsFunc(copies, same) {
		return false
	}
	for _, copied := range copies {
		if text, err := durable.ReadGiven(copied, maxFile); err == nil &&
			(bytes.Equal(text, ch.after) || bytes.Equal(text, ch.before)) {
			_ = os.Remove(copied) // then it stays
		}
	}
	return true
}

// backups lists the copies that were made of the file.
func (ch *Change) backups() []string {
	dir := filepath.Dir(ch.File)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var copies []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(ch.File)+backupMark) {
			copies = append(copies, filepath.Join(dir, e.Name()))
		}
	}
	return copies
}

// write makes a new file with the mode of the one that is changed.
func (ch *Change) write(disk durable.FS, name string, data []byte) error {
	err := durable.CreateFile(disk, name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	return os.Chmod(name, ch.mode)
}

// swap puts the new file in the place of the old one, and looks at what was there: a
// program may have saved it a moment ago, which then counts.
func (ch *Change) swap(disk durable.FS, temp string) error {
	if !ch.Exists {
		return disk.RenameNoReplace(temp, ch.File)
	}
	dir, err := os.OpenRoot(filepath.Dir(ch.File))
	if err != nil {
		return err
	}
	defer dir.Close()
	switch err := durable.NewRoot(dir).Exchange(filepath.Base(temp), filepath.Base(ch.File)); {
	case errors.Is(err, errors.ErrUnsupported):
		if err := ch.unchanged(ch.File); err != nil {
			return err
		}
		return disk.Rename(temp, ch.File)
	case err != nil:
		return err
	}
	if err := ch.unchanged(temp); err != nil {
		return errors.Join(err, disk.Rename(temp, ch.File))
	}
	return nil
}

// unchanged looks whether a file holds what was read.
func (ch *Change) unchanged(name string) error {
	now, err := durable.ReadGiven(name, maxFile)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, ch.before) {
		return memory.Errorf(memory.Conflict,
			"another program changed %s at the same time; quit that program and try again", ch.File)
	}
	return nil
}
