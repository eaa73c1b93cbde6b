// Package ltm is the index over the notes of a vault: words to notes, ranked, with
// the section of each note that matches best. It is derived from the notes and can
// be deleted at any time.
//
// # What it contains
//
// A note is split into passages of about a hundred words that never cross a heading. Its
// terms are the documents of a Bleve scorch index, up to sixteen passages in one. Scorch
// keeps the segments, their snapshots and merges; what a segment contains is this package's:
// a dictionary (a transducer of vellum), blocks of postings, and of each document a row with the
// lengths of its note. A posting says how often a term
// stands in the bodies of the passages and in which, in the headings above them, and in
// the note's names (title, file name, aliases), tags and other text (property values,
// what links point at). All of that is packed into one number, mostly in
// one byte; see occurrence.
//
// The first document of a note also stores its record: path, cursor, lengths, what
// filters need, headings and lines; and before it a byte for each term of the note's text, by
// which a phrase is looked up. Postings and record are written in one batch and lie
// in one file, so a cursor is never ahead of the content it stands for, whatever is lost
// in a crash. The records are read into memory at Open.
//
// # Relevance
//
// Relevance is BM25F (Robertson, Zaragoza and Taylor, "Simple BM25 Extension to
// Multiple Weighted Fields", CIKM 2004), of the note as a whole, mixed with that of
// its best passage, plus a share for queries that are a name of the note:
//
//	relevance = Σ w·idf·((1-λ)·f(note, t) + λ·f(best passage, t)) + ε·name(note)
//	f(d, t)   = s / (k1 + s)
//	s         = Σ over fields  weight · tf / (1 - b + b·length/average)
//	idf(t)    = ln(1 + (N - df + 0.5) / (df + 0.5))
//	name      = max over names  m²/M · (terms of the name that the query has / all of them)
//
// where M is Σ w·idf over the query and m the same over the terms in the name. A passage
// has the names, tags and other text of its note, and the best one is the one with the
// highest Σ w·idf·f. In headings, tf is that above one passage, at most, and length does
// not count. A term that stands in several passages of a document counts the same in each
// of them: their sum is what is stored.
//
// A search works out only notes that may be among the best, as bounds by word and by block of
// postings tell (scan.go); the hits are the same as if it worked all of them out.
//
// A term gives at most w·idf here and in package words, with the same idf, so with the
// same N and df the relevances of notes and of memories can be compared. The constants
// and what they were chosen on are in score.go.
//
// # Damage
//
// Segment files are mapped: about half the size of the notes' text, of which the system
// keeps in memory what is used. Each is checked against the checksum in its footer when
// it is opened. Close writes a seal with the checksums of all files, which the next Open
// checks. What cannot be opened, is of another version or was written by another analyzer
// is moved aside as a whole (Status.Aside) and Open begins anew; every note is then
// unknown again. Damage that shows later, as a page that cannot be read, is ErrRebuild to
// the call that meets it and to every Update from then on, and closes Broken. A bit that
// flips on the disk while the index is open can be a wrong answer, until Check meets it.
//
// # Sharing
//
// All methods may be called from many goroutines. Documents, queries and results
// belong to the caller; nothing passed in is kept or changed. Bleve's goroutines run
// from Open to Close; the index starts no others that outlive a call.
package ltm

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"emberd/internal/contain"
	"emberd/internal/durable"
	"emberd/internal/text/analysis"
)

// ErrRebuild means that the index on the disk is damaged or can no longer be written. The caller must
// Close it and Open it again, which moves it aside and begins an empty one.
var ErrRebuild = errors.New("note index damaged; emberd rebuilds it")

// ErrClosed is returned by every call after Close.
var ErrClosed = errors.New("note index is closed")

// Options are what Open may be told. The zero value and nil are good.
type Options struct {
	Logger   *slog.Logger       // nil discards
	Analyzer *analysis.Analyzer // nil: analysis.New()
	// Memories says that the index is of the texts of memories, each in one section, and ranks them as package words
	// does. A folder is of either kind for good.
	Memories bool
}

// Index is an open index. Use Open to make one.
type Index struct {
	*sharedIndex
	sees func(path string, tags []string) bool // nil for every note, see [Index.Through]
}

// sharedIndex is the part of an index that all its views share.
type sharedIndex struct {
	dir      string
	log      *slog.Logger
	analyzer *analysis.Analyzer
	layout   layout
	health   *health
	opened   opening

	// life is held for reading by every call from its start to its end, and for writing by
	// Close. It is taken before writer. It guards closed, and keeps store open.
	life    sync.RWMutex
	closed  bool
	closing chan struct{} // closed when Close begins, for updates that wait
	stop    sync.Once     // closes closing
	store   store

	// writer is held by Update while it puts a batch together and passes it to the store, not
	// while it analyzes notes or waits for the disk. It guards numbers and free, and only its
	// holder replaces tables.
	writer  sync.Mutex
	numbers map[string]uint32 // note number by path
	free    []uint32          // numbers that deleted notes had

	scrubbing sync.Mutex // held by Scrub, and taken before life

	tables  atomic.Pointer[tables] // searches read it without a lock; a table never changes
	pending chan struct{}          // one token for each batch that is not on the disk yet
	scratch sync.Pool              // of *scratch
}

// opening is what Open found, for Status.
type opening struct {
	reason, aside string
	damaged       bool
	took          time.Duration
}

// Status describes an index.
type Status struct {
	Notes, Passages int
	Bytes           int64         // on the disk
	Mapped          int64         // bytes of segments, which are read in place
	Reason          string        // why Open began anew, "" if it did not have to
	Damaged         bool          // the reason is damage, and not another version
	Aside           string        // where the index found then lies now, "" if nowhere
	OpenTime        time.Duration // how long Open took
	Problem         string        // the last failure to write, "" if the last write went well
	Rebuild         bool          // Update would fail with ErrRebuild
}

// Open opens the index in dir, or makes one. dir belongs to the index alone, must not be
// synced between machines, and is used by one process at a time. An index that cannot
// be used is moved to dir with ".aside" added, in place of the one that lies there, and
// Status says why; an error means that dir cannot be used at all.
func Open(dir string, opt *Options) (*Index, error) {
	start := time.Now()
	if opt == nil {
		opt = &Options{}
	}
	x := &Index{sharedIndex: &sharedIndex{
		dir:      dir,
		log:      cmp.Or(opt.Logger, slog.New(slog.DiscardHandler)),
		analyzer: opt.Analyzer,
		layout:   layout{forms: opt.Memories},
		pending:  make(chan struct{}, maxPending),
		closing:  make(chan struct{}),
	}}
	if x.analyzer == nil {
		x.analyzer = analysis.New()
	}
	if err := durable.MkdirAll(durable.OS{}, dir); err != nil {
		return nil, fmt.Errorf("cannot create the folder of the note index: %w", err)
	}
	if err := x.openOrRenew(); err != nil {
		return nil, err
	}
	x.opened.took = time.Since(start)
	return x, nil
}

// memories reports whether the index is of memories, see [Options].
func (x *sharedIndex) memories() bool { return x.layout.forms }

// identity names what made the terms of the index.
func (x *sharedIndex) identity() string {
	if x.memories() {
		return x.analyzer.Identity() + "\nmemories 1"
	}
	return x.analyzer.Identity()
}

// openOrRenew opens what is in the folder, or moves it aside and starts afresh.
func (x *Index) openOrRenew() error {
	reason := x.open()
	if reason == nil {
		return nil
	}
	if errors.Is(reason, errInUse) {
		return reason
	}
	if !errors.Is(reason, errNone) {
		aside, err := setAside(x.dir)
		if err != nil {
			return fmt.Errorf("cannot rename the unusable note index: %w", err)
		}
		x.opened.reason, x.opened.aside = reason.Error(), aside
		x.opened.damaged = !errors.Is(reason, errVersion)
		x.log.Warn("note index rebuilt", "reason", reason, "aside", aside)
	}
	if err := begin(x.dir, x.identity()); err != nil {
		return fmt.Errorf("cannot create a note index: %w", err)
	}
	if err := x.open(); err != nil {
		return fmt.Errorf("cannot open the new note index: %w", err)
	}
	return nil
}

// open opens the files and reads the records. Its error is the reason why they cannot
// be used; errNone is an empty folder.
func (x *Index) open() error {
	if err := verify(x.dir, x.identity()); err != nil {
		return err
	}
	x.health = newHealth(x.dir)
	s, err := openStore(x.dir, x.health)
	if err != nil {
		return err
	}
	var t *table
	err = contain.Failures(func() (err error) {
		reading(func() { t, err = loadTable(s) })
		return err
	})
	if err != nil {
		s.abandon()
		return err
	}
	x.store = s
	x.numbers = make(map[string]uint32, len(t.notes))
	for number, n := range t.notes {
		if n == nil {
			x.free = append(x.free, uint32(number))
			continue
		}
		x.numbers[n.path] = uint32(number)
	}
	x.tables.Store(&tables{current: t})
	return nil
}

// Close waits for running calls, writes what is not on the disk yet, for at most five
// seconds, and closes the index. What was not written is simply not known at the next
// Open. A second Close returns nil.
func (x *Index) Close() error {
	x.stop.Do(func() { close(x.closing) })
	x.life.Lock()
	defer x.life.Unlock()
	if x.closed {
		return nil
	}
	x.closed = true
	drained := x.drain(5 * time.Second)
	close(x.health.closing)
	if x.health.broken() {
		x.store.abandon()
		return nil
	}
	if err := x.store.close(); err != nil {
		return fmt.Errorf("cannot close the note index: %w", err)
	}
	if !drained {
		return nil
	}
	if err := seal(x.dir); err != nil {
		return fmt.Errorf("cannot write the checksums of the note index: %w", err)
	}
	return nil
}

// drain waits until all batches are on the disk.
func (x *Index) drain(limit time.Duration) bool {
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	for range maxPending {
		select {
		case x.pending <- struct{}{}:
		case <-x.health.failed:
			return false
		case <-timeout.C:
			return false
		}
	}
	return true
}

// Broken is closed when the index has to be rebuilt, see [ErrRebuild].
func (x *Index) Broken() <-chan struct{} { return x.health.failed }

// NeedsRebuild reports whether Broken is closed.
func (x *Index) NeedsRebuild() bool { return x.health.broken() }

// use keeps the index open until the returned function is called.
func (x *Index) use() (done func(), err error) {
	x.life.RLock()
	if x.closed {
		x.life.RUnlock()
		return nil, ErrClosed
	}
	return x.life.RUnlock, nil
}

// Known yields the path and the cursor of every note in the index, in no order, as of
// the last Update that returned.
func (x *Index) Known() iter.Seq2[string, Cursor] {
	return func(yield func(string, Cursor) bool) {
		for _, n := range x.tables.Load().current.notes {
			if x.shows(n) && !yield(n.path, n.cursor) {
				return
			}
		}
	}
}

// Having yields the path of every note that has a property, and its value, folded as
// for comparing and cut at 256 bytes, in no order, as of the last Update that returned.
func (x *Index) Having(key string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, n := range x.tables.Load().current.notes {
			if n == nil {
				continue
			}
			for _, p := range n.properties {
				if p.Key == key && !yield(n.path, p.Value) {
					return
				}
			}
		}
	}
}

// Status describes the index. It lists the folder.
func (x *Index) Status() Status {
	t := x.tables.Load().current
	s := Status{
		Notes:    t.count,
		Passages: t.passages,
		Bytes:    folderBytes(x.dir),
		Mapped:   x.health.mapped.Load(),
		Reason:   x.opened.reason,
		Damaged:  x.opened.damaged,
		Aside:    x.opened.aside,
		OpenTime: x.opened.took,
		Problem:  x.health.problem(),
		Rebuild:  x.NeedsRebuild(),
	}
	return s
}

// folderBytes sums up the files of a folder; what vanishes meanwhile counts nothing.
func folderBytes(dir string) int64 {
	var sum int64
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := os.Lstat(filepath.Join(dir, e.Name())); err == nil {
			sum += info.Size()
		}
	}
	return sum
}
