package notes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"emberd/engine/core"
	"emberd/internal/ignore"
	"emberd/internal/text/analysis"
	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
	"emberd/vault"
	"emberd/vault/linkindex"
	"emberd/watcher"
)

// How long VaultNotes.Run waits before it starts again after a failure.
const (
	firstRetry = 500 * time.Millisecond
	lastRetry  = time.Minute
)

// Unread is why a note could not be read, and whether emberd tries again automatically.
type Unread struct {
	Why   string
	Again bool
}

// VaultNotes is the tier of notes: one vault, the watcher that follows it, and the index.
// Searches use the index, whatever the watcher is doing.
type VaultNotes struct {
	*Followed
	Sees func(path string, tags []string) bool // nil for all notes, see [core.View]
}

// Followed is the part of VaultNotes that all views share.
type Followed struct {
	Dir      string
	IndexDir string
	textsDir string   // of the index of archived texts
	ignore   []string // patterns of notes to skip
	Log      *slog.Logger
	text     *analysis.Analyzer
	now      func() time.Time
	Root     atomic.Pointer[vault.Vault]
	released release

	// Mu guards the fields that a rebuild replaces and that reading notes changes, down to
	// problem. A rebuild holds it until the new index is open, so that searches wait for it.
	// Code that holds Mu may take the locks of Archive and Carriers, and those of the graph,
	// which the calls to Follower about single notes take. Package graph never takes Mu while it
	// holds one of its own locks.
	Mu       sync.RWMutex
	index    *ltm.Index
	texts    *ltm.Index // of archived memories
	unread   sync.Map   // memory.ID by path, of notes that emberd wrote for texts and the watcher has not reported
	watcher  *watcher.Watcher
	Skipped  map[string]Unread // notes that could not be read
	Links    *linkindex.Index  // nil until the first request for links
	Carriers *NoteIDs          // notes with a memory-id
	Archive  *ArchiveFolder
	Broken   *BrokenNotes
	Follower Follower
	// Beside returns what else is searched of a memory than its text; set before Run, nil for nothing.
	Beside  func(memory.ID) string
	Vitals  *core.Counters
	Moved   map[string]bool // notes that changed during the first reading of links
	problem string          // why Run had to start again

	reopening sync.Mutex // held while Root is closed or replaced
	linking   sync.Mutex // held while all links are read, before Mu
	Rereads   rereads
	excerpts  excerpts
	waiting   atomic.Int64 // notes that were found and are not indexed yet
	expected  atomic.Int64 // notes that the index will have after the first batch
	Complete  atomic.Bool  // the first batch is indexed
	reopened  atomic.Bool  // Reopen opened the vault, and Back was not asked since
}

// Back reports once that the vault was opened again.
func (n *VaultNotes) Back() bool { return n.reopened.Swap(false) }

// OpenNotes opens the first vault of the options and its index in the state folder. A vault that was there in an
// earlier run and is not now, or lacks most of the notes that the index has, is opened when it is back.
func OpenNotes(opt *core.Options, analyzer *analysis.Analyzer) (*VaultNotes, error) {
	dir, err := filepath.Abs(opt.Vaults[0])
	if err != nil {
		return nil, memory.Errorf(memory.Invalid, "cannot determine the path of the vault: %w", err)
	}
	indexDir := filepath.Join(opt.State, "index", StateName("notes", dir))
	v, err := vault.Open(dir, &vault.Options{Ignore: opt.VaultIgnore})
	if _, unknown := os.Stat(indexDir); errors.Is(err, fs.ErrNotExist) && unknown == nil {
		v, err = vault.OpenAway(dir, &vault.Options{Ignore: opt.VaultIgnore})
	}
	if pattern, ok := errors.AsType[ignore.PatternError](err); ok {
		return nil, memory.Errorf(memory.Invalid, "%w", pattern)
	}
	if err != nil {
		return nil, memory.Errorf(memory.Unavailable,
			"cannot open vault %s: %w; configure the folder that Obsidian opens", dir, err)
	}
	n := &VaultNotes{Followed: &Followed{Dir: dir, ignore: opt.VaultIgnore, Log: opt.Logger, text: analyzer,
		Skipped: map[string]Unread{}, now: opt.Now, released: release{changed: make(chan struct{})},
		IndexDir: indexDir, textsDir: filepath.Join(opt.State, "index", StateName("archived", dir))}}
	n.Root.Store(v)
	n.Broken = openBroken(opt, StateName("broken", dir))
	n.Archive, err = openArchiveFolder(opt, filepath.Join(opt.State, "index", StateName("archive", dir)+".json"))
	if err != nil {
		n.Log.Warn("list of archived notes not read; emberd reads the notes of the archive folder again", "err", err)
	}
	if err := n.begin(); err != nil {
		return nil, errors.Join(err, v.Close())
	}
	if !n.watcher.Here() {
		n.Log.Warn("vault or most of its notes missing; waiting until they are back", "vault", dir)
		return n, v.Close()
	}
	return n, nil
}

// StateName returns the name of a state file for the vault at dir.
func StateName(what, dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return what + "-" + hex.EncodeToString(sum[:4])
}

// begin opens the index and a watcher that starts from its state. Once the notes are open, Mu
// must be held.
func (n *VaultNotes) begin() error {
	index, err := ltm.Open(n.IndexDir, &ltm.Options{Logger: n.Log, Analyzer: n.text})
	if err != nil {
		return memory.Errorf(memory.Unavailable, "cannot open the note index: %w", err)
	}
	if err := n.Archive.removeApart(index); err != nil {
		return memory.Errorf(memory.Unavailable, "cannot exclude the archive folder from the note index: %w",
			errors.Join(err, index.Close()))
	}
	texts, err := openArchived(n.Followed)
	if err != nil {
		return errors.Join(err, index.Close())
	}
	n.texts = texts
	w, err := watcher.New(n.Dir, &watcher.Options{Ignore: n.ignore, Known: n.Known(index), Logger: n.Log})
	if err != nil {
		return memory.Errorf(memory.Unavailable, "cannot watch the vault %s: %w", n.Dir,
			errors.Join(err, index.Close(), texts.Close()))
	}
	n.index, n.watcher = index, w
	if n.Carriers == nil { // a rebuilt index contains less
		n.Carriers = newNoteIDs(index, n.Archive)
	}
	return nil
}

// Known yields the state of each file that was read, for the watcher.
func (n *VaultNotes) Known(index *ltm.Index) iter.Seq[watcher.File] {
	return func(yield func(watcher.File) bool) {
		for path, c := range index.Known() {
			f := watcher.File{Path: path, Size: c.Size, ModTime: c.ModTime.UnixNano(),
				ChangeTime: c.ChangeTime.UnixNano(), Inode: c.Inode}
			if !yield(f) {
				return
			}
		}
		n.Archive.known(n.texts.Shows, yield)
	}
}

// InArchive reports whether a note is in the archive folder.
func (n *VaultNotes) InArchive(path string) bool { return n.Archive.contains(path) }

// follow follows the vault until ctx ends. After a failure it starts again, with a longer wait
// after each failure in a row. It rebuilds an index that can no longer be written.
func (n *VaultNotes) follow(ctx context.Context) {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		begun := time.Now()
		err := followUntilBroken(ctx, n)
		if ctx.Err() != nil {
			return
		}
		n.Log.Warn("watching the vault again", "vault", n.Dir, "error", err)
		n.Mu.Lock()
		n.problem = fmt.Sprint(err)
		n.Mu.Unlock()
		if time.Since(begun) > lastRetry {
			wait = firstRetry
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		if errors.Is(err, ltm.ErrRebuild) || errors.Is(err, ltm.ErrClosed) {
			n.Rebuild()
		}
	}
}

// followUntilBroken follows the vault until ctx ends, it fails, or one of the indexes has to be rebuilt.
func followUntilBroken(ctx context.Context, n *VaultNotes) error {
	index, w := n.Current()
	texts := n.archived()
	ctx, stop := context.WithCancelCause(ctx)
	var broken sync.WaitGroup
	defer broken.Wait()
	defer stop(nil)
	broken.Go(func() {
		select {
		case <-index.Broken():
			stop(ltm.ErrRebuild)
		case <-texts.Broken():
			stop(ltm.ErrRebuild)
		case <-ctx.Done():
		}
	})
	err := w.Run(ctx, n.Reconcile)
	if cause := context.Cause(ctx); errors.Is(cause, ltm.ErrRebuild) {
		return cause
	}
	return err
}

// Rebuild replaces a damaged index. If it fails, the closed index stays, searches find
// memories only and report it, and the next round of Run tries again.
func (n *VaultNotes) Rebuild() {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.Complete.Store(false)
	if err := errors.Join(n.index.Close(), n.texts.Close()); err != nil {
		n.Log.Warn("damaged note index not closed", "error", err)
	}
	if err := n.begin(); err != nil {
		n.Log.Error("note index not rebuilt", "error", err)
	}
}

// Ask runs a query on the index. If the index closes or is found damaged in the meantime, Ask uses its successor;
// without one there is no result and no error.
func (n *VaultNotes) Ask(question func(*ltm.Index) error) error {
	return askTwice(func() error {
		index, _ := n.Current()
		return question(index)
	})
}

func askTwice(question func() error) error {
	for range 2 {
		if err := question(); !errors.Is(err, ltm.ErrClosed) && !errors.Is(err, ltm.ErrRebuild) {
			return err
		}
	}
	return nil
}

// Reopen opens the vault again if it was closed or another folder is at its path, and it is not released. A read
// of the old folder at that moment fails once.
func (n *VaultNotes) Reopen() {
	n.reopening.Lock()
	defer n.reopening.Unlock()
	old := n.Root.Load()
	if old.Current() || !n.Released().IsZero() {
		return
	}
	v, err := vault.Open(n.Dir, &vault.Options{Ignore: n.ignore})
	if err != nil {
		return // no folder is there; the watcher waits for it too
	}
	n.Log.Info("vault open", "vault", n.Dir)
	n.Root.Store(v)
	n.reopened.Store(true)
	if err := old.Close(); err != nil {
		n.Log.Warn("earlier vault not closed", "vault", n.Dir, "error", err)
	}
}

// Current returns the index of the readable notes, and the watcher.
func (n *VaultNotes) Current() (*ltm.Index, *watcher.Watcher) {
	n.Mu.RLock()
	defer n.Mu.RUnlock()
	if n.Sees != nil {
		return n.index.Through(n.Sees), n.watcher
	}
	return n.index, n.watcher
}

// Shows reports whether the caller can read a note. A note that is not indexed has no tags. A
// note that lists all memories needs the permission for everything, in any folder.
func (n *VaultNotes) Shows(path string) bool {
	if n.Sees == nil {
		return true
	}
	index, _ := n.Current()
	return showsIn(n, index, path)
}

// showsIn is Shows for an index from Current. It does not take Mu.
func showsIn(n *VaultNotes, index *ltm.Index, path string) bool {
	switch {
	case n.Archive.State(path).List != "" || n.Follower.Lists(path):
		return n.Sees("", nil) // only a scope of all covers it
	case n.Sees(path, nil):
		return true
	}
	return index.Shows(path)
}

// Close writes the archive folder's list and closes the index and the vault.
func (n *VaultNotes) Close() error {
	index, _ := n.Current()
	return errors.Join(n.Archive.save(), index.Close(), n.archived().Close(), n.Root.Load().Close())
}

// Indexing returns the progress of the first reading, also by a damaged index that is built again. It returns nil when
// that is done or the vault is away.
func (n *VaultNotes) Indexing() *op.Loading {
	index, _ := n.Current()
	broken := index.NeedsRebuild() || n.archived().NeedsRebuild()
	if !broken && (n.Complete.Load() || !n.Away().IsZero()) {
		return nil
	}
	apart, _ := n.Archive.len()
	done := index.Status().Notes + apart
	if n.Sees != nil { // a token does not reveal how many notes there are
		return &op.Loading{}
	}
	return &op.Loading{Indexed: done, Total: max(done, int(n.expected.Load()))}
}

// Status returns the state of the vault, its watcher and its index.
func (n *VaultNotes) Status() op.VaultStatus {
	index, w := n.Current()
	ws, is, texts := w.Status(), index.Status(), n.archived().Status()
	settling, held := n.Follower.Settling()
	apart, lists := n.Archive.len()
	n.Mu.RLock()
	defer n.Mu.RUnlock()
	notRead, skipped := n.notRead(ws.Skipped)
	away, released := ws.Away, n.Released()
	if !released.IsZero() {
		away, ws.Frozen, ws.Gone = released, "you released the vault", true
	}
	return op.VaultStatus{Name: n.Root.Load().Name(), Path: n.Dir, Mode: string(ws.Mode), Reason: ws.Reason,
		Frozen: ws.Frozen, Missing: ws.Gone, Away: core.StampTime(away), Released: !released.IsZero(),
		Notes: is.Notes, Archived: apart - lists, Absent: ws.Pending, Waiting: int(n.waiting.Load()), Skipped: skipped,
		LastScan: ws.LastScan.UTC(),
		Problem:  core.FirstNonEmpty(is.Problem, texts.Problem, n.problem), Bytes: is.Bytes + texts.Bytes,
		NotRead:  notRead,
		Memories: n.Carriers.len(), Settling: settling, Held: PendingDeletionsText(held)}
}
