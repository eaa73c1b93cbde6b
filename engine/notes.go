package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"emberd/internal/text"
	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
	"emberd/vault"
	"emberd/watcher"
)

// How long the notes' actor waits before it begins again after a failure.
const (
	firstRetry = 500 * time.Millisecond
	lastRetry  = time.Minute
)

// unread is why a note could not be read, and whether to try again unasked.
type unread struct {
	why   string
	again bool
}

// notes is the long-term tier: one vault, the watcher that follows it, and the
// index over it. Searches go to the index, whatever the watcher is doing.
type notes struct {
	*followed
	sees func(path string, tags []string) bool // nil for all of them, see [Engine.seenBy]
}

// followed is what there is to a vault, whoever looks at it.
type followed struct {
	dir      string
	indexDir string
	ignore   []string // what is not read
	log      *slog.Logger
	text     *text.Analyzer
	vault    atomic.Pointer[vault.Vault]

	// mu guards what a rebuild replaces, and what follows from reading notes. A
	// rebuild holds it while there is no index, so that searches wait for the new one.
	mu       sync.RWMutex
	index    *ltm.Index
	watcher  *watcher.Watcher
	skipped  map[string]unread // notes that could not be read
	links    *vault.Links      // nil until somebody asked for links
	carriers *carriers         // notes with a memory-id
	archive  *archiveFolder
	truth    *truth       // is told of them
	lists    *lists       // is told of those that hold lists
	names    *knownNames  // what they are called
	entities *entityGraph // what they name; those of all notes once links are read
	meaning  *meaning     // nil without vectors
	vitals   *vitals
	moved    map[string]bool // while links are read for the first time: what changed meanwhile
	problem  string          // why the actor had to begin again

	linking  sync.Mutex // held by who reads the links of all notes
	rereads  rereads
	waiting  atomic.Int64 // notes found and not indexed yet
	expected atomic.Int64 // notes that the first batch will have indexed
	complete atomic.Bool  // the first batch has been indexed
}

// openNotes opens the first vault of the options, with its index in the state
// folder.
func openNotes(opt *Options, analyzer *text.Analyzer) (*notes, error) {
	dir, err := filepath.Abs(opt.Vaults[0])
	if err != nil {
		return nil, memory.Errorf(memory.Invalid, "the vault's path: %w", err)
	}
	v, err := vault.Open(dir, &vault.Options{Ignore: opt.VaultIgnore})
	if err != nil {
		return nil, memory.Errorf(memory.Unavailable, "open the vault %s: %w; name the folder that Obsidian opens", dir, err)
	}
	n := &notes{followed: &followed{dir: dir, ignore: opt.VaultIgnore, log: opt.Logger, text: analyzer, skipped: map[string]unread{},
		indexDir: filepath.Join(opt.State, "index", stateName("notes", dir))}}
	n.vault.Store(v)
	n.archive, err = openArchiveFolder(opt, filepath.Join(opt.State, "index", stateName("archive", dir)+".json"))
	if err != nil {
		n.log.Warn("the notes of the archive folder are read again", "err", err)
	}
	if err := n.begin(); err != nil {
		return nil, errors.Join(err, v.Close())
	}
	return n, nil
}

// stateName is what the state folder calls something of the vault at a path.
func stateName(what, dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return what + "-" + hex.EncodeToString(sum[:4])
}

// begin opens the index and a watcher that knows what is in it. Once the notes are
// open it is called with mu held.
func (n *notes) begin() error {
	index, err := ltm.Open(n.indexDir, &ltm.Options{Logger: n.log, Analyzer: n.text})
	if err != nil {
		return memory.Errorf(memory.Unavailable, "open the note index: %w", err)
	}
	if err := n.archive.agree(index); err != nil {
		return memory.Errorf(memory.Unavailable, "part the archive folder from the note index: %w", errors.Join(err, index.Close()))
	}
	w, err := watcher.New(n.dir, &watcher.Options{Ignore: n.ignore, Known: n.known(index), Logger: n.log})
	if err != nil {
		return memory.Errorf(memory.Unavailable, "follow the vault %s: %w", n.dir, errors.Join(err, index.Close()))
	}
	n.index, n.watcher = index, w
	if n.carriers == nil { // an index that is built anew knows less
		n.carriers = newCarriers(index, n.archive)
	}
	return nil
}

// known tells the watcher which state of each file was read.
func (n *notes) known(index *ltm.Index) iter.Seq[watcher.File] {
	return func(yield func(watcher.File) bool) {
		for path, c := range index.Known() {
			f := watcher.File{Path: path, Size: c.Size, ModTime: c.ModTime.UnixNano(), ChangeTime: c.ChangeTime.UnixNano(), Inode: c.Inode}
			if !yield(f) {
				return
			}
		}
		n.archive.known(yield)
	}
}

// inArchive reports whether a note lies in the archive folder.
func (n *notes) inArchive(path string) bool { return n.archive.holds(path) }

// run follows the vault until ctx ends. After a failure it begins again, later
// and later while failures follow one another; an index that can no longer be
// written is built anew.
func (n *notes) run(ctx context.Context) {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		begun := time.Now()
		_, w := n.current()
		err := w.Run(ctx, n.reconcile)
		if ctx.Err() != nil {
			return
		}
		n.log.Warn("vault is followed anew", "vault", n.dir, "error", err)
		n.mu.Lock()
		n.problem = fmt.Sprint(err)
		n.mu.Unlock()
		if time.Since(begun) > lastRetry {
			wait = firstRetry
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		if errors.Is(err, ltm.ErrRebuild) || errors.Is(err, ltm.ErrClosed) {
			n.rebuild()
		}
	}
}

// rebuild replaces an index that is damaged. Should that fail, the closed one
// stays in its place, searches find memories only and say so, and the next
// round tries again.
func (n *notes) rebuild() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.complete.Store(false)
	if err := n.index.Close(); err != nil {
		n.log.Warn("damaged note index not closed", "error", err)
	}
	if err := n.begin(); err != nil {
		n.log.Error("note index not built anew", "error", err)
	}
}

// ask puts a question to the index. One that is closed under it is put to its
// successor; without a successor there is no answer, which is no error.
func (n *notes) ask(question func(*ltm.Index) error) error {
	for range 2 {
		index, _ := n.current()
		if err := question(index); !errors.Is(err, ltm.ErrClosed) {
			return err
		}
	}
	return nil
}

// reopen follows the vault's path when another folder has been put there. Who
// reads in the old one at that moment fails once.
func (n *notes) reopen() {
	old := n.vault.Load()
	if old.Current() {
		return
	}
	v, err := vault.Open(n.dir, &vault.Options{Ignore: n.ignore})
	if err != nil {
		return // nothing is there; the watcher waits for it too
	}
	n.log.Info("the vault is another folder than before", "vault", n.dir)
	n.vault.Store(v)
	if err := old.Close(); err != nil {
		n.log.Warn("former vault not closed", "vault", n.dir, "error", err)
	}
}

// current returns the index of the notes that are seen, and the watcher.
func (n *notes) current() (*ltm.Index, *watcher.Watcher) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if n.sees != nil {
		return n.index.Through(n.sees), n.watcher
	}
	return n.index, n.watcher
}

// shows reports whether a note is seen. One that is in no index has no tags, and one that
// lists all memories is seen by those alone who see everything, wherever it lies.
func (n *notes) shows(path string) bool {
	switch {
	case n.sees == nil:
		return true
	case n.archive.state(path).List != "" || n.lists.wants(path):
		return n.sees("", nil) // which only a scope of all covers
	case n.sees(path, nil):
		return true
	}
	index, _ := n.current()
	return index.Shows(path)
}

func (n *notes) close() error {
	index, _ := n.current()
	return errors.Join(n.archive.save(), index.Close(), n.vault.Load().Close())
}

// indexing tells how far the first reading of the vault is, nil when it is done.
func (n *notes) indexing() *op.Loading {
	if n.complete.Load() {
		return nil
	}
	index, _ := n.current()
	apart, _ := n.archive.len()
	done := index.Status().Notes + apart
	if n.sees != nil { // how many there are is not for everybody
		return &op.Loading{}
	}
	return &op.Loading{Indexed: done, Total: max(done, int(n.expected.Load()))}
}

func (n *notes) status() op.VaultStatus {
	index, w := n.current()
	ws, is := w.Status(), index.Status()
	settling, held := n.truth.count()
	apart, lists := n.archive.len()
	n.mu.RLock()
	defer n.mu.RUnlock()
	notRead, skipped := n.notRead(ws.Skipped)
	return op.VaultStatus{Name: n.vault.Load().Name(), Path: n.dir, Mode: string(ws.Mode), Reason: ws.Reason, Frozen: ws.Frozen, Missing: ws.Gone,
		Notes: is.Notes, Archived: apart - lists, Absent: ws.Pending, Waiting: int(n.waiting.Load()), Skipped: skipped, LastScan: ws.LastScan.UTC(),
		Problem: firstNonEmpty(is.Problem, n.problem), Bytes: is.Bytes, NotRead: notRead,
		Memories: n.carriers.len(), Settling: settling, Held: heldBack(held)}
}

func firstNonEmpty(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
