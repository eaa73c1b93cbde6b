// Package watcher follows a folder of notes and reports which of them changed, in
// batches. It uses paths and lstat only: it opens no note, and never writes.
//
// # Guarantees
//
// What the caller has received becomes what is on the disk. File events only show
// where to look: their kind is ignored, and none of them is needed, since a scan of
// everything finds what they left out. Scans run at the
// start, every half hour, after lost events, after the machine slept, and every
// half minute where events cannot be had. A path is reported only when its size,
// its times or its inode differ from what was reported before.
//
// A save is one report with the file's last state. Files that are written by
// truncating are not reported empty, files that are replaced are not reported
// gone. A file that vanished is reported after a grace, and when many vanish at
// once nothing is, until they are back or the user confirms that they are deleted
// (see [Watcher.Confirm]).
//
// # What is followed
//
// Regular files with one of the wanted extensions, in any case. Left out are all
// names that begin with a dot (.obsidian, .trash, .git, .stversions, …), files with
// names of unfinished ones (*~, *.tmp, ~$*, #*#), and what the caller's patterns name.
// Names that are not UTF-8 are left out too, and Status lists them.
// Symbolic links are not followed and special files not opened. A note that
// iCloud has evicted, leaving .name.icloud, counts as present.
//
// # Sharing
//
// Status and Confirm may be called from any goroutine. A Batch belongs to the
// function it is given to. Paths are relative to the root, slash-separated, and
// spelled as on the disk.
package watcher

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Options are the settings of a Watcher; nil means all defaults.
type Options struct {
	Extensions []string // with the dot; default .md
	Ignore     []string // patterns, see package ignore

	// Known is what the caller has from an earlier run, read once by New. The
	// first batch then contains only what differs, and files that vanished in the meantime
	// get the same grace as others. Nil: nothing is known.
	Known iter.Seq[File]

	// Pass reports deletions however many there are at once. By default many are held back, see [Status.Frozen].
	Pass bool

	Grace  time.Duration // between a file's disappearance and its report; default 5 s
	Poll   time.Duration // between scans where events cannot be had; default 30 s
	Rescan time.Duration // between scans otherwise, give or take a quarter; default 30 min
	Logger *slog.Logger  // nil discards
}

// Defaults of Options.
const (
	// A program that saves by deleting and writing anew needs milliseconds, a
	// sync client that does so over a slow link a few seconds. Until the report a
	// search may show a note that is no longer there, which is the lesser harm,
	// but not one to draw out.
	defaultGrace = 5 * time.Second

	// A scan of ten thousand notes takes some tens of milliseconds, so this costs
	// about a thousandth of a processor.
	defaultPoll = 30 * time.Second

	// A root that is away is looked for by opening it, which is one system call.
	awayPoll = 5 * time.Second

	// Only the net under the events, for changes that raised none.
	defaultRescan = 30 * time.Minute
)

// Bounds of one watched folder. A kernel watch takes about a kilobyte and a
// known file about 300 bytes, so both together stay near 100 MB.
const (
	maxFolders = 50_000  // watched; with more, polling
	maxFiles   = 200_000 // known; the rest is left out
)

// File is what lstat returns for a note. Two values are equal if nothing about
// the file changed.
type File struct {
	Path       string
	Size       int64
	ModTime    int64 // Unix nanoseconds
	ChangeTime int64 // Unix nanoseconds, of the inode: moves even when the program restores ModTime
	Inode      uint64
}

// Move is a file that was found under another name.
type Move struct{ From, To string }

// Batch is what changed since the batch before, sorted by path.
type Batch struct {
	Changed []File   // new files and files that differ
	Gone    []string // files that are no longer there
	Moved   []Move   // says of some of Gone which of Changed they became
	Full    bool     // found by a scan of everything; so is the first of every Run
}

// Watcher follows one folder. Make it with New.
type Watcher struct {
	root   string
	opt    Options
	rules  rules
	buffer *eventBuffer

	// running is held by Run from its start to its return. Run alone uses the fields below;
	// New fills them before the first Run. The goroutine that drains events reaches none of
	// them: it only adds to the buffer.
	running sync.Mutex
	known   map[string]File
	tree    tree
	absent  missingFiles
	held    map[string]time.Time // since when a file that had content has been empty
	feed    *feed                // nil when events cannot be had
	rootID  identity             // of the folder that known describes
	plan    plan
	state   state

	// Replaced by tests: the wall clock, where events come from, and the bounds.
	wall       func() time.Time
	open       func() (*feed, error)
	maxFolders int
	maxFiles   int

	// mu guards the fields below, between Run and the callers of Status, Confirm and Removed. It is
	// held for a copy only, never while the disk is read or a batch is delivered.
	mu        sync.Mutex
	status    Status          // Run replaces it; its map does not change afterwards
	confirmed bool            // Confirm was called; Run clears it
	removed   map[string]bool // paths of Removed that Run has not found missing yet
}

// New prepares to follow the folder root. A root that is a symbolic link is resolved once, here. A root
// that is not there is away until it appears. Nothing runs before Run.
func New(root string, opt *Options) (*Watcher, error) {
	if opt == nil {
		opt = &Options{}
	}
	o, err := opt.complete()
	if err != nil {
		return nil, err
	}
	rules, err := newRules(o.Extensions, o.Ignore)
	if err != nil {
		return nil, err
	}
	if root, err = resolve(root); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("watch %s: %w", root, err)
	}
	w := &Watcher{
		root:       root,
		opt:        o,
		rules:      rules,
		buffer:     newEventBuffer(),
		known:      make(map[string]File),
		tree:       make(tree),
		absent:     newMissingFiles(o.Grace, o.Pass),
		held:       make(map[string]time.Time),
		removed:    make(map[string]bool),
		wall:       time.Now,
		maxFolders: maxFolders,
		maxFiles:   maxFiles,
	}
	w.open = func() (*feed, error) { return openFeed(root, rules, w.buffer, o.Logger) }
	if o.Known != nil {
		for f := range o.Known {
			w.remember(f)
		}
	}
	return w, nil
}

// remember adds a known file. One that the rules leave out by now is reported gone by the first
// look, without doubt.
func (w *Watcher) remember(f File) {
	w.known[f.Path] = f
	if w.rules.hides(f.Path) || w.rules.ignores(f.Path, false) || !w.rules.wanted(f.Path) {
		w.absent.dismiss(f)
		return
	}
	w.tree.seed(f.Path)
}

// resolve returns the real path of a folder. With an error it is the absolute one.
func resolve(root string) (string, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return root, err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return abs, cause(err)
	}
	info, err := os.Stat(real)
	if err == nil && !info.IsDir() {
		err = errors.New("not a folder")
	}
	return real, err
}

func (o Options) complete() (Options, error) {
	if o.Grace < 0 || o.Poll < 0 || o.Rescan < 0 {
		return o, errors.New("grace, poll and rescan intervals of a watcher cannot be negative; 0 is the default")
	}
	if len(o.Extensions) == 0 {
		o.Extensions = []string{".md"}
	}
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	if o.Poll == 0 {
		o.Poll = defaultPoll
	}
	if o.Rescan == 0 {
		o.Rescan = defaultRescan
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, nil
}

// Confirm confirms that what is missing was deleted on purpose, and that a folder which replaced
// the root is the root now. What is still missing at that moment is reported gone. It does not
// wait, and does nothing while the root is not there.
func (w *Watcher) Confirm() {
	w.mu.Lock()
	w.confirmed = true
	w.mu.Unlock()
	w.buffer.poke()
}

// Removed says that the program itself removed a file, so that its loss is no reason to hold deletions back. It does
// not wait. A file that is written anew at the path is followed as any other.
func (w *Watcher) Removed(path string) {
	w.mu.Lock()
	w.removed[path] = true
	w.mu.Unlock()
}

// Here reports whether the root is there with more than half of the known notes. With few known, a folder that
// has anything in it is the root, since they may all have been renamed. It reads the disk. The caller calls it
// while no Run is under way.
func (w *Watcher) Here() bool {
	if !w.running.TryLock() {
		return false
	}
	defer w.running.Unlock()
	root, err := os.OpenRoot(w.root)
	if err != nil {
		return false
	}
	defer root.Close()
	return w.recognize(root) || w.probable(root)
}

// probable reports whether so few notes are known that a folder which has anything in it may be the root.
func (w *Watcher) probable(root *os.Root) bool { return len(w.known) < massLeast && !empty(root) }

// Named reports whether a known note has its name below the root, or none is known. It opens nothing, so it
// needs no permission to read. The caller calls it while the root is away.
func (w *Watcher) Named() bool {
	if !w.running.TryLock() {
		return w.Status().Named
	}
	defer w.running.Unlock()
	return w.named()
}

func (w *Watcher) named() bool {
	for p := range w.known {
		if _, err := os.Lstat(filepath.Join(w.root, filepath.FromSlash(p))); err == nil {
			return true
		}
	}
	return len(w.known) == 0
}

// empty reports whether a folder has nothing in it, as one that a disk is mounted over.
func empty(root *os.Root) bool {
	dir, err := root.Open(".")
	if err != nil {
		return true
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(1)
	return len(names) == 0
}

// Run scans the folder, hands deliver what differs from what is known, even if
// that is nothing, and then every further batch until ctx ends, when it returns
// nil. Batches come one at a time. An error of deliver ends Run and is returned;
// that batch then counts as not delivered, and the next Run repeats it. One Run
// at a time.
func (w *Watcher) Run(ctx context.Context, deliver func(context.Context, Batch) error) error {
	if !w.running.TryLock() {
		return fmt.Errorf("the watcher of %s is already running", w.root)
	}
	defer w.running.Unlock()
	defer w.closeFeed()
	w.begin()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		now := time.Now()
		if todo := w.todo(now); !todo.empty() {
			if err := w.look(ctx, now, todo, deliver); err != nil {
				return err
			}
			continue
		}
		timer.Reset(w.next().Sub(now))
		select {
		case <-ctx.Done():
		case <-w.buffer.wake:
		case <-timer.C:
		}
	}
	return nil
}
