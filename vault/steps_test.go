package vault_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
	"emberd/vault"
	"emberd/vault/frontmatter"
	"emberd/vault/noteedit"
)

// stepped is a disk that asks before every change, both for the notes and for the
// state: a test can do what a user would at that moment, or make it fail.
type stepped struct {
	vault.NoteDisk
	step func(op, name string) error
}

func (d stepped) do(op, name string, change func() error) error {
	if err := d.step(op, name); err != nil {
		return &os.PathError{Op: op, Path: name, Err: err}
	}
	return change()
}

func (d stepped) CreateAppend(name string) (f durable.File, err error) {
	err = d.do("create", name, func() error { f, err = d.NoteDisk.CreateAppend(name); return err })
	if err != nil {
		return nil, err
	}
	return steppedFile{f, d}, nil
}

func (d stepped) Rename(from, to string) error {
	return d.do("rename", from, func() error { return d.NoteDisk.Rename(from, to) })
}

func (d stepped) RenameNoReplace(from, to string) error {
	return d.do("put", from, func() error { return d.NoteDisk.RenameNoReplace(from, to) })
}

func (d stepped) Exchange(a, b string) error {
	return d.do("exchange", b, func() error { return d.NoteDisk.Exchange(a, b) })
}

func (d stepped) Link(from, to string) error {
	return d.do("link", from, func() error { return d.NoteDisk.Link(from, to) })
}

func (d stepped) Export(name, outside string) error {
	return d.do("export", name, func() error { return d.NoteDisk.Export(name, outside) })
}

func (d stepped) Import(outside, name string) error {
	return d.do("import", name, func() error { return d.NoteDisk.Import(outside, name) })
}

func (d stepped) Remove(name string) error {
	return d.do("remove", name, func() error { return d.NoteDisk.Remove(name) })
}

func (d stepped) SyncDir(name string) error {
	return d.do("syncdir", name, func() error { return d.NoteDisk.SyncDir(name) })
}

// steppedFile writes half of it before it asks.
type steppedFile struct {
	durable.File
	disk stepped
}

func (f steppedFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p[:len(p)/2])
	if err == nil {
		err = f.disk.step("write", f.Name())
	}
	if err != nil {
		return n, err
	}
	m, err := f.File.Write(p[len(p)/2:])
	return n + m, err
}

func (f steppedFile) Sync() error {
	return f.disk.do("sync", f.Name(), f.File.Sync)
}

// memory is the disk that loses power; the vault is its root, the state a folder.
type memory struct {
	vault.PlainDisk
	disk *crashdisk.Disk
}

func (m memory) SyncFile(name string) error { return m.disk.SyncFile(name) }
func (m memory) Exchange(a, b string) error { return m.disk.Exchange(a, b) }

func onMemory(disk *crashdisk.Disk) memory { return memory{vault.PlainDisk{disk}, disk} }

// clock is the time, as the test says.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// desk is a vault, a writer for it and its clock, which is an hour ahead, so that
// all notes have been left alone.
type desk struct {
	dir, state string
	vault      *vault.Vault
	clock      *clock
	writer     *vault.Writer
	step       func(op, name string) error
}

func newDesk(t testing.TB, all files) *desk {
	t.Helper()
	d := &desk{dir: t.TempDir(), state: t.TempDir(), clock: &clock{now: time.Now().Add(time.Hour)}}
	for name, text := range all {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(d.dir, name)), 0o755))
		d.save(t, name, text)
	}
	d.reopen(t)
	return d
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// reopen is what the next process does.
func (d *desk) reopen(t testing.TB) {
	t.Helper()
	v, err := vault.Open(d.dir, nil)
	must(t, err)
	t.Cleanup(func() { v.Close() })
	d.vault = v
	ask := func(op, name string) error {
		if d.step == nil {
			return nil
		}
		return d.step(op, name)
	}
	state := stepped{vault.PlainDisk{durable.OS{}}, ask}
	d.writer, err = vault.OpenWriterOn(v, stepped{vault.DiskOf(v), ask}, state, d.state, d.clock.Now)
	must(t, err)
}

// save writes as a human's editor that truncates does.
func (d *desk) save(t testing.TB, name, text string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o644))
}

func (d *desk) read(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return "(gone)"
	}
	must(t, err)
	return string(data)
}

// backups is the folder of backups.
func (d *desk) backups() string { return filepath.Join(d.state, "backups", "notes") }

// kept is the text of all backups.
func (d *desk) kept(t testing.TB) []string {
	t.Helper()
	var all []string
	entries, err := os.ReadDir(d.backups())
	must(t, err)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(d.backups(), e.Name()))
		must(t, err)
		all = append(all, string(data))
	}
	return all
}

// strays are temporary files anywhere in the vault.
func (d *desk) strays(t testing.TB) []string {
	t.Helper()
	var all []string
	must(t, filepath.WalkDir(d.dir, func(name string, _ os.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(name), vault.TempPrefix) {
			all = append(all, name)
		}
		return err
	}))
	return all
}

// finish lets all looks for late savers pass.
func (d *desk) finish(t testing.TB) []vault.Event {
	t.Helper()
	var all []vault.Event
	for range 6 {
		d.clock.Add(time.Minute)
		events, err := d.writer.Check(t.Context())
		must(t, err)
		all = append(all, events...)
	}
	if d.writer.Unfinished() > 0 {
		t.Errorf("%d writes are still open", d.writer.Unfinished())
	}
	if left, err := os.ReadDir(filepath.Join(d.state, "writing")); err != nil || len(left) > 0 {
		t.Errorf("records left: %v, %v", left, err)
	}
	if strays := d.strays(t); len(strays) > 0 {
		t.Errorf("temporary files left: %v", strays)
	}
	return all
}

// stamp is an edit that shows.
func stamp(text string) noteedit.Edit {
	return noteedit.Edit{Set: []frontmatter.Field{{Key: "stamp", Value: frontmatter.Text(text)}}}
}

func stamped(stamp, text string) string { return "---\nstamp: \"" + stamp + "\"\n---\n" + text }

func wantOutcome(t testing.TB, got vault.Result, err error, want vault.Outcome, why vault.Reason) {
	t.Helper()
	if err != nil || got.Outcome != want || got.Reason != why {
		t.Fatalf("got %s %q, %v, want %s %q", got.Outcome, got.Reason, err, want, why)
	}
}

// noExchange is a file system without that system call, as far as it goes.
func noExchange(ops ...string) func(op, name string) error {
	return func(op, _ string) error {
		for _, without := range ops {
			if op == without && op == "export" {
				return syscall.EXDEV
			}
			if op == without {
				return errors.ErrUnsupported
			}
		}
		return nil
	}
}
