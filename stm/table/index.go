package table

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"emberd/internal/contain"
	"emberd/internal/text/analysis"
	"emberd/internal/words"
	"emberd/stm/record"
)

// TermCounts is an analysed document.
type TermCounts struct {
	terms    []words.TermCount
	length   int
	passages []words.Passage // of a long one
	same     bool            // nothing was counted: what is indexed of the memory still holds
}

// index is the word index over live memories. A memory is found by what it
// holds now: before an update is acknowledged its text has been indexed.
type index struct {
	Analyzer *analysis.Analyzer
	log      *slog.Logger
	// elsewhere reports the live memories, all of them cold, that are not indexed here; nil for none.
	elsewhere func(*Row) bool

	mu      sync.Mutex // held to change the index or a cell's doc
	Words   atomic.Pointer[words.Index]
	ByDoc   atomic.Pointer[[]*Cell] // cell of each document; grows under mu
	Indexed atomic.Int64
	// complete is set once every live memory is indexed; from then on updates
	// keep it so.
	Complete atomic.Bool
}

// NewIndex returns an index of no memory yet. Memories that elsewhere reports, nil for none, will not be in it.
func NewIndex(a *analysis.Analyzer, log *slog.Logger, elsewhere func(*Row) bool) *index {
	x := &index{Analyzer: a, log: log, elsewhere: elsewhere}
	x.Reset()
	return x
}

func (x *index) Reset() {
	x.Words.Store(words.New())
	x.ByDoc.Store(new([]*Cell))
	x.Indexed.Store(0)
	x.Complete.Store(false)
}

// Analyze makes the terms of a document.
func (x *index) Analyze(doc []byte) TermCounts {
	body := searchText(doc)
	t := countTerms(body, x.Analyzer.Terms(body))
	if record.Member(doc, "consolidated_from") != nil {
		t.length = x.once(t.terms, t.length, body)
	}
	return t
}

// AnalyzeContained is Analyze for texts that are on the disk already. If a text makes it panic, it
// returns no terms: searches by words do not find that memory, and find all others.
func (x *index) AnalyzeContained(doc []byte) (t TermCounts) {
	_ = contain.Do(x.log, contain.Text, "", func() error { // the log has the fault
		t = x.Analyze(doc)
		return nil
	})
	return t
}

// once counts the terms of a merged memory as often as the part has them that has them most,
// and returns the length that this leaves. Parts that say the same would else outrank a
// memory that says it once and is meant.
func (x *index) once(counts []words.TermCount, length int, body string) int {
	highest := make(map[string]int, len(counts))
	for part := range strings.SplitSeq(body, "\n\n") {
		of, _ := x.Analyzer.Counts(part)
		for _, c := range of {
			highest[c.Text] = max(highest[c.Text], c.N)
		}
	}
	all, left := 0, 0
	for i, c := range counts {
		all += c.Count
		if n := highest[c.Term]; n > 0 { // a term may lie across the parts
			counts[i].Count = n
		}
		left += counts[i].Count
	}
	return (length*left + all - 1) / max(1, all)
}

// AnalyzeChange is analyze for a memory that gets new values of the keys in set,
// which were checked.
func (x *index) AnalyzeChange(before *Row, set map[string]json.RawMessage) TermCounts {
	after := before.Hot.Stage
	if value, ok := set["stage"]; ok {
		name, _ := record.Text(value)
		after = record.StageOf(name)
	}
	keys := indexedAt(after)
	touched := func(key string) bool { _, ok := set[key]; return ok }
	cold := record.Stages[before.Hot.Stage].Cold() || record.Stages[after].Cold()
	if slices.Equal(indexedAt(before.Hot.Stage), keys) && !(cold && slices.ContainsFunc(placeKeys(), touched)) &&
		!slices.ContainsFunc(keys, touched) && !touched(entitiesFound) && !otherTexts(before, set) {
		return TermCounts{same: true}
	}
	doc, _ := record.WithKeys(before.JSON(), set) // some has walked it
	return x.Analyze(doc)
}

// placeKeys are the keys by which a cold memory's text may come to be elsewhere, or no longer.
func placeKeys() []string { return append(homeKeys(), "stage") }

// has reports whether a memory belongs into the index.
func (x *index) has(r *Row) bool { return r.Live() && (x.elsewhere == nil || !x.elsewhere(r)) }

// Update indexes what row holds, or takes a memory that is not live out. Rows
// that are no longer current are left to the goroutine that adds the newer one.
func (x *index) Update(c *Cell, row *Row, t TermCounts) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := c.Row.Load()
	if !SameDoc(now, row) {
		return
	}
	before := c.Doc.Load()
	if t.same {
		if before != 0 || !x.has(now) {
			return
		}
		t = x.AnalyzeContained(now.JSON()) // it was not indexed yet
	}
	if x.has(now) {
		x.add(c, t)
	} else {
		c.Doc.Store(0)
	}
	if before != 0 {
		x.Words.Load().Remove(words.Doc(before - 1))
		x.Words.Load().Compact()
	}
	switch after := c.Doc.Load(); {
	case before == 0 && after != 0:
		x.Indexed.Add(1)
	case before != 0 && after == 0:
		x.Indexed.Add(-1)
	}
}

func (x *index) add(c *Cell, t TermCounts) {
	doc, err := x.Words.Load().Add(t.terms, t.length, t.passages...)
	if err != nil {
		// All document numbers are used: searches scan from here on, and the
		// next start makes a fresh index.
		x.log.Warn("word index is full", "error", err)
		x.Complete.Store(false)
		c.Doc.Store(0)
		return
	}
	cells := *x.ByDoc.Load()
	grown := append(cells, make([]*Cell, int(doc)+len(t.passages)+1-len(cells))...) // passages have numbers, too
	grown[doc] = c
	x.ByDoc.Store(&grown)
	c.Doc.Store(uint32(doc) + 1)
}

// Drop takes a memory that recovery changed out of what a snapshot indexed.
func (x *index) Drop(c *Cell) {
	if doc := c.Doc.Swap(0); doc != 0 {
		x.Words.Load().Remove(words.Doc(doc - 1))
		x.Indexed.Add(-1)
	}
}

// BuildIndex indexes every live memory that is not indexed yet. Searches
// in the meantime scan what is missing. It returns early when ctx ends.
func (m *MemorySet) BuildIndex(ctx context.Context) error {
	if m.Words.Complete.Load() {
		return nil
	}
	work := make(chan *Cell)
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
		m.Words.Complete.Store(true)
	}
	return err
}

func (m *MemorySet) feed(ctx context.Context, work chan<- *Cell) (err error) {
	m.Table.Each(func(c *Cell, r *Row) bool {
		if c.Doc.Load() != 0 || !m.Words.has(r) {
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

func (m *MemorySet) indexCell(c *Cell) {
	for {
		row := c.Row.Load()
		if !m.Words.has(row) || c.Doc.Load() != 0 {
			return
		}
		doc, err := row.Document()
		if err != nil { // which was logged when the log did not have it either
			return
		}
		m.Words.Update(c, row, m.Words.AnalyzeContained(doc))
		if c.Row.Load() == row {
			return
		}
	}
}

// Restore takes the word index that belongs to the table, with the cells of live memories by document, and makes
// the two agree: a memory whose text is not in it will be indexed again, a text without a memory
// goes. Cold are those of the cells whose memories are cold. It is for the goroutine that opens the log.
func (x *index) Restore(w *words.Index, byDoc, cold []*Cell) {
	byDoc = append(byDoc, make([]*Cell, max(0, w.Docs()-len(byDoc)))...)
	for _, c := range cold {
		if doc := c.Doc.Load(); doc != 0 && byDoc[doc-1] == c && !x.has(c.Row.Load()) {
			c.Doc.Store(0)
			byDoc[doc-1] = nil
		}
	}
	indexed := int64(0)
	for doc, c := range byDoc {
		live := w.Live(words.Doc(doc))
		switch {
		case c == nil && live:
			w.Remove(words.Doc(doc))
		case c != nil && !live:
			c.Doc.Store(0)
		case c != nil:
			indexed++
		}
	}
	x.Words.Store(w)
	x.ByDoc.Store(&byDoc)
	x.Indexed.Store(indexed)
}

// Analysed is the text of a memory as the arrival leaves it, and its terms.
type Analysed struct {
	Key   [16]byte
	Doc   []byte
	Terms TermCounts
}

// AnalyzeAll fills in the terms, on two processors.
func (x *index) AnalyzeAll(texts []Analysed) {
	half := len(texts) / 2
	var wg sync.WaitGroup
	for _, part := range [][]Analysed{texts[:half], texts[half:]} {
		wg.Go(func() {
			for i := range part {
				part[i].Terms = x.AnalyzeContained(part[i].Doc)
			}
		})
	}
	wg.Wait()
}
