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
	firstRetry = time.Second
	lastRetry  = time.Minute
)

// notes is the long-term tier: one vault, the watcher that follows it, and the
// index over it. Searches go to the index, whatever the watcher is doing.
type notes struct {
	dir      string
	indexDir string
	ignore   []string
	log      *slog.Logger
	text     *text.Analyzer
	vault    *vault.Vault

	// mu guards what a rebuild replaces, and what follows from reading notes.
	mu      sync.RWMutex
	index   *ltm.Index
	watcher *watcher.Watcher
	skipped map[string]vault.Reason
	links   *vault.Links // nil until somebody asked for links
	problem string       // why the actor had to begin again

	waiting  atomic.Int64 // notes found and not indexed yet
	complete atomic.Bool  // the first batch has been indexed
}

// openNotes opens the vault in dir, with its index under state.
func openNotes(dir, state string, ignore []string, analyzer *text.Analyzer, log *slog.Logger) (*notes, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, memory.Errorf(memory.Invalid, "the vault's path: %w", err)
	}
	v, err := vault.Open(dir, &vault.Options{Ignore: ignore})
	if err != nil {
		return nil, memory.Errorf(memory.Unavailable, "open the vault %s: %w; name the folder that Obsidian opens", dir, err)
	}
	sum := sha256.Sum256([]byte(dir))
	n := &notes{dir: dir, ignore: ignore, log: log, text: analyzer, vault: v, skipped: map[string]vault.Reason{},
		indexDir: filepath.Join(state, "index", "notes-"+hex.EncodeToString(sum[:4]))}
	if err := n.begin(); err != nil {
		return nil, errors.Join(err, v.Close())
	}
	return n, nil
}

// begin opens the index and a watcher that knows what is in it.
func (n *notes) begin() error {
	index, err := ltm.Open(n.indexDir, &ltm.Options{Logger: n.log, Analyzer: n.text})
	if err != nil {
		return memory.Errorf(memory.Unavailable, "open the note index: %w", err)
	}
	w, err := watcher.New(n.dir, &watcher.Options{Ignore: n.ignore, Known: known(index), Logger: n.log})
	if err != nil {
		return memory.Errorf(memory.Unavailable, "follow the vault %s: %w", n.dir, errors.Join(err, index.Close()))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.index, n.watcher = index, w
	return nil
}

// known tells the watcher which state of each file was indexed.
func known(index *ltm.Index) iter.Seq[watcher.File] {
	return func(yield func(watcher.File) bool) {
		for path, c := range index.Known() {
			f := watcher.File{Path: path, Size: c.Size, ModTime: c.ModTime.UnixNano(), ChangeTime: c.ChangeTime.UnixNano(), Inode: c.Inode}
			if !yield(f) {
				return
			}
		}
	}
}

// run follows the vault until ctx ends. After a failure it begins again, later
// and later; an index that can no longer be written is built anew.
func (n *notes) run(ctx context.Context) {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		_, w := n.current()
		err := w.Run(ctx, n.reconcile)
		if ctx.Err() != nil {
			return
		}
		n.log.Warn("vault is followed anew", "vault", n.dir, "error", err)
		n.mu.Lock()
		n.problem = fmt.Sprint(err)
		n.mu.Unlock()
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		if errors.Is(err, ltm.ErrRebuild) {
			n.rebuild()
		}
	}
}

// rebuild replaces an index that is damaged. Should that fail, the old one keeps
// answering and the next round tries again.
func (n *notes) rebuild() {
	old, _ := n.current()
	if err := old.Close(); err != nil {
		n.log.Warn("damaged note index not closed", "error", err)
	}
	n.complete.Store(false)
	if err := n.begin(); err != nil {
		n.log.Error("note index not built anew", "error", err)
	}
}

func (n *notes) current() (*ltm.Index, *watcher.Watcher) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.index, n.watcher
}

func (n *notes) close() error {
	index, _ := n.current()
	return errors.Join(index.Close(), n.vault.Close())
}

// indexing tells how far the first reading of the vault is, nil when it is done.
func (n *notes) indexing() *op.Loading {
	if n.complete.Load() {
		return nil
	}
	index, _ := n.current()
	done := index.Status().Notes
	return &op.Loading{Indexed: done, Total: done + int(n.waiting.Load())}
}

func (n *notes) status() op.VaultStatus {
	index, w := n.current()
	ws, is := w.Status(), index.Status()
	n.mu.RLock()
	defer n.mu.RUnlock()
	return op.VaultStatus{Name: n.vault.Name(), Path: n.dir, Mode: string(ws.Mode), Reason: ws.Reason, Frozen: ws.Frozen,
		Notes: is.Notes, Waiting: int(n.waiting.Load()), Skipped: len(n.skipped), LastScan: ws.LastScan.UTC(),
		Problem: firstNonEmpty(is.Problem, n.problem), Bytes: is.Bytes}
}

func firstNonEmpty(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
