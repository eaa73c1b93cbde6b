package watcher

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

// patience of a test with the machine it runs on.
const deadline = 30 * time.Second

// follower runs a Watcher and keeps what its batches add up to.
type follower struct {
	t *testing.T
	*Watcher
	dir  string
	stop func()

	mu      sync.Mutex // guards what follows
	told    map[string]File
	batches []Batch
	news    chan struct{} // closed at the next batch or line of the log
}

// follow runs a Watcher on dir until the test ends.
func follow(t *testing.T, dir string, opt Options, settings ...func(*Watcher)) *follower {
	t.Helper()
	f := prepare(t, dir, opt, settings...)
	f.start()
	f.until("the first batch", func() bool { return len(f.batches) > 0 })
	return f
}

func prepare(t *testing.T, dir string, opt Options, settings ...func(*Watcher)) *follower {
	t.Helper()
	f := &follower{t: t, dir: dir, told: make(map[string]File), news: make(chan struct{})}
	opt.Logger = slog.New(bell{ring: f.ring})
	w, err := New(dir, &opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range settings {
		set(w)
	}
	f.Watcher = w
	return f
}

// bell is a log that rings at every line: what changes without a batch is logged.
type bell struct{ ring func() }

func (b bell) Enabled(context.Context, slog.Level) bool  { return true }
func (b bell) Handle(context.Context, slog.Record) error { b.ring(); return nil }
func (b bell) WithAttrs([]slog.Attr) slog.Handler        { return b }
func (b bell) WithGroup(string) slog.Handler             { return b }

func (f *follower) ring() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.news)
	f.news = make(chan struct{})
}

func (f *follower) start() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx, f.take) }()
	f.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			f.t.Errorf("Run returned %v", err)
		}
	})
	f.t.Cleanup(f.stop)
}

func (f *follower) take(_ context.Context, b Batch) error {
	defer f.ring()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, file := range b.Changed {
		if f.told[file.Path] == file {
			f.t.Errorf("%s reported as changed, but it is as it was", file.Path)
		}
		f.told[file.Path] = file
	}
	for _, p := range b.Gone {
		if _, ok := f.told[p]; !ok {
			f.t.Errorf("%s reported gone, but never as there", p)
		}
		delete(f.told, p)
	}
	f.batches = append(f.batches, b)
	return nil
}

// until waits for news until cond holds, which it calls with f.mu held.
func (f *follower) until(what string, cond func() bool) {
	f.t.Helper()
	late := time.After(deadline)
	for {
		f.mu.Lock()
		ok, news := cond(), f.news
		f.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-news:
		case <-late:
			f.t.Fatalf("waited in vain for %s; status %+v", what, f.Status())
		}
	}
}

// settled waits until what the batches add up to is what is on the disk.
func (f *follower) settled() {
	f.t.Helper()
	want := walk(f.t, f.dir)
	f.until("the picture to equal a fresh walk", func() bool { return maps.Equal(f.told, want) })
}

// audit ends Run and compares the Watcher's own books with a fresh walk.
func (f *follower) audit() {
	f.t.Helper()
	f.settled()
	f.stop()
	want := walk(f.t, f.dir)
	if !maps.Equal(f.known, want) {
		f.t.Errorf("the watcher knows %d files, a fresh walk finds %d, or they differ", len(f.known), len(want))
	}
	for p := range want {
		d := f.tree[filepath.ToSlash(filepath.Dir(p))]
		if d == nil {
			f.t.Fatalf("the folder of %s is not in the tree", p)
		}
		if _, ok := d.names[filepath.Base(p)]; !ok {
			f.t.Errorf("%s is not among the names of its folder", p)
		}
	}
}

// thawed waits until deletions are not, or not any more, held back; frozen waits
// for the opposite.
func (f *follower) thawed() {
	f.t.Helper()
	f.until("deletions to be reported", func() bool { return f.Status().Frozen == "" })
}

func (f *follower) frozen() {
	f.t.Helper()
	f.until("deletions to be held back", func() bool { return f.Status().Frozen != "" })
}

// heard returns the batches since from that say something about a path.
func (f *follower) heard(p string, from int) (changed []File, gone int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.batches[from:] {
		for _, file := range b.Changed {
			if file.Path == p {
				changed = append(changed, file)
			}
		}
		if slices.Contains(b.Gone, p) {
			gone++
		}
	}
	return changed, gone
}

func (f *follower) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.batches)
}

// walk is what is on the disk, found without any code of the Watcher but fileOf.
func walk(t testing.TB, dir string) map[string]File {
	t.Helper()
	found := make(map[string]File)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case name == dir:
			return nil
		case strings.HasPrefix(d.Name(), ".") || !utf8.ValidString(d.Name()):
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case !d.Type().IsRegular() || !strings.EqualFold(filepath.Ext(name), ".md"):
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		found[rel] = fileOf(rel, info)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// disk is a folder that a test plays the user of.
type disk struct {
	testing.TB
	dir string
}

func (d disk) path(p string) string { return filepath.Join(d.dir, p) }

func (d disk) ok(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

func (d disk) write(p, text string) {
	d.Helper()
	d.ok(os.WriteFile(d.path(p), []byte(text), 0o600))
}

// note writes a file and the folders above.
func (d disk) note(p, text string) {
	d.Helper()
	d.mkdir(filepath.Dir(p))
	d.write(p, text)
}

func (d disk) mkdir(p string)         { d.Helper(); d.ok(os.MkdirAll(d.path(p), 0o700)) }
func (d disk) rename(from, to string) { d.Helper(); d.ok(os.Rename(d.path(from), d.path(to))) }
func (d disk) remove(p string)        { d.Helper(); d.ok(os.RemoveAll(d.path(p))) }

// blind makes a Watcher do without events, as when the system has none left.
func blind(w *Watcher) {
	w.open = func() (*feed, error) { return nil, syscall.EMFILE }
}
