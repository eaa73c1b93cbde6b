package ltm

import (
	"sync"
	"sync/atomic"

	"emberd/internal/relevance"
)

// limits bound what a word of weight · idf = 1 gives to any note of a list and of each of its blocks, with
// what its names could add. They are worked out when a search first meets the word in a segment
// and are kept beside it.
type limits struct {
	norms  norms
	top    float64
	blocks []float32
}

// limitTable contains the limits of the longer lists of a segment, by where they begin.
type limitTable struct {
	mu    sync.Mutex
	lists map[uint64]*atomic.Pointer[limits]
}

func newLimitTable() *limitTable {
	return &limitTable{lists: make(map[uint64]*atomic.Pointer[limits])}
}

func (t *limitTable) of(at uint64) *atomic.Pointer[limits] {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lists[at]
	if l == nil {
		l = new(atomic.Pointer[limits])
		t.lists[at] = l
	}
	return l
}

// mostGain is more than any word of weight · idf = 1 gives.
const mostGain = 1 + relevance.NoteNameShare

// driftBound is how far the averages may move before limits are worked out anew.
const driftBound = 1.1

// drift returns by what factor a gain may have grown since the averages were those of old: a
// field's weighted count grows at most as its average length, and a gain at most as the counts.
func (n *norms) drift(old *norms) float64 {
	return max(1, n.body/old.body, n.passage/old.passage, n.names/old.names, n.tags/old.tags, n.other/old.other)
}

// limits works the limits of a list out. What a note gives counts for each block that has one
// of its postings.
func (n *norms) limits(in *segmentBase, l *postingList) *limits {
	of := &limits{norms: *n, blocks: make([]float32, l.blockCount())}
	var c cursor
	var run []posting
	for c.reset(l); c.doc() < pastEnd; {
		doc := c.doc()
		begin := c.block
		run = c.run(run[:0], in, in.end(doc))
		g := n.gain(in, in.first(doc), run)
		end := c.block
		if c.at == 0 {
			end-- // the run ended with the block before
		}
		most := g.limit() * (1 + 1e-6) // more than it loses as a float32
		of.top = max(of.top, most)
		for block := begin; block <= end; block++ {
			of.blocks[block] = max(of.blocks[block], float32(most))
		}
	}
	return of
}

// run appends the postings of a note, which ends before a document, and goes on behind it.
func (c *cursor) run(to []posting, in *segmentBase, end uint32) []posting {
	for doc := c.doc(); doc < end; doc = c.doc() {
		to = append(to, posting{c.occurrence(), in.rows[doc].part})
		c.next()
	}
	return to
}
