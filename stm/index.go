package stm

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"emberd/internal/text"
	"emberd/internal/words"
)

// termCounts is an analysed document.
type termCounts struct {
	terms  []words.TermCount
	length int
	same   bool // nothing was counted: what is indexed of the memory still holds
}

// index is the word index over live memories. A memory is found by what it
// holds now: before an update is acknowledged its text has been indexed.
type index struct {
	analyzer *text.Analyzer
	log      *slog.Logger

	mu      sync.Mutex // held to change the index or a cell's doc
	words   atomic.Pointer[words.Index]
	byDoc   atomic.Pointer[[]*cell] // cell of each document; grows under mu
	indexed atomic.Int64
	// complete is set once every live memory is indexed; from then on updates
	// keep it so.
	complete atomic.Bool
}

func newIndex(a *text.Analyzer, log *slog.Logger) *index {
	x := &index{analyzer: a, log: log}
	x.reset()
	return x
}

func (x *index) reset() {
	x.words.Store(words.New())
	x.byDoc.Store(new([]*cell))
	x.indexed.Store(0)
	x.complete.Store(false)
}

// analyze makes the terms of a document.
func (x *index) analyze(doc []byte) termCounts {
	body := searchText(doc)
	counts, length := x.analyzer.Counts(body)
	if member(doc, "consolidated_from") != nil {
		length = x.once(counts, length, body)
	}
	t := termCounts{terms: make([]words.TermCount, len(counts)), length: length}
	for i, c := range counts {
		t.terms[i] = words.TermCount{Term: c.Text, Count: c.N}
	}
	return t
}

// once counts the terms of a merged memory as often as the part has them that has them most,
// and returns the length that this leaves. Parts that say the same would else outrank a
// memory that says it once and is meant.
func (x *index) once(counts []text.Count, length int, body string) int {
	most := make(map[string]int, len(counts))
	for part := range strings.SplitSeq(body, "\n\n") {
		of, _ := x.analyzer.Counts(part)
		for _, c := range of {
			most[c.Text] = max(most[c.Text], c.N)
		}
	}
	all, left := 0, 0
	for i, c := range counts {
		all += c.N
		if n := most[c.Text]; n > 0 { // a term may lie across the parts
			counts[i].N = n
		}
		left += counts[i].N
	}
	return (length*left + all - 1) / max(1, all)
}

// analyzeChange is analyze for a memory that gets new values of the keys in set,
// which were checked.
func (x *index) analyzeChange(before *Row, set map[string]json.RawMessage) termCounts {
	after := before.hot.stage
	if value, ok := set["stage"]; ok {
		name, _ := textValue(value)
		after = stageOf(name)
	}
	keys := indexedAt(after)
	touched := func(key string) bool { _, ok := set[key]; return ok }
	if slices.Equal(indexedAt(before.hot.stage), keys) && !slices.ContainsFunc(keys, touched) && !touched(entitiesFound) {
		return termCounts{same: true}
	}
	doc, _ := withKeys(before.doc, set) // some has walked it
	return x.analyze(doc)
}

// update indexes what row holds, or takes a memory that is not live out. Rows
// that are no longer current are left to whoever brings the newer one.
func (x *index) update(c *cell, row *Row, t termCounts) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := c.row.Load()
	if !sameDoc(now, row) {
		return
	}
	before := c.doc.Load()
	if t.same {
		if before != 0 {
			return
		}
		t = x.analyze(now.doc) // it was not indexed yet
	}
	if now.live() {
		x.add(c, t)
	} else {
		c.doc.Store(0)
	}
	if before != 0 {
		x.words.Load().Remove(words.Doc(before - 1))
		x.words.Load().Compact()
	}
	switch after := c.doc.Load(); {
	case before == 0 && after != 0:
		x.indexed.Add(1)
	case before != 0 && after == 0:
		x.indexed.Add(-1)
	}
}

func (x *index) add(c *cell, t termCounts) {
	doc, err := x.words.Load().Add(t.terms, t.length)
	if err != nil {
		// All document numbers are used: searches scan from here on, and the
		// next start makes a fresh index.
		x.log.Warn("word index is full", "error", err)
		x.complete.Store(false)
		c.doc.Store(0)
		return
	}
	grown := append(*x.byDoc.Load(), c)
	x.byDoc.Store(&grown)
	c.doc.Store(uint32(doc) + 1)
}

// drop takes a memory that recovery changed out of what a snapshot indexed.
func (x *index) drop(c *cell) {
	if doc := c.doc.Swap(0); doc != 0 {
		x.words.Load().Remove(words.Doc(doc - 1))
		x.indexed.Add(-1)
	}
}

// BuildIndex indexes every live memory that is not indexed yet. Searches
// meanwhile scan what is missing. It returns early when ctx ends.
func (m *Memories) BuildIndex(ctx context.Context) error {
	if m.index.complete.Load() {
		return nil
	}
	work := make(chan *cell)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for c := range work {
				m.indexCell(c)
			}
		})
	}
	err := m.feed(ctx, work)
	close(work)
	wg.Wait()
	if err == nil {
		m.index.complete.Store(true)
	}
	return err
}

func (m *Memories) feed(ctx context.Context, work chan<- *cell) (err error) {
	m.table.each(func(c *cell, _ *Row) bool {
		if c.doc.Load() != 0 {
			return true
		}
		select {
		case work <- c:
			return true
		case <-ctx.Done():
			err = context.Cause(ctx)
			return false
		}
	})
	return err
}

func (m *Memories) indexCell(c *cell) {
	row := c.row.Load()
	if row.live() && c.doc.Load() == 0 {
		m.index.update(c, row, m.index.analyze(row.doc))
	}
}

// errStale says why a snapshot was not used.
var errStale = errors.New("log changed since it was written")
