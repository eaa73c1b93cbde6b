package vectors

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"emberd/internal/dot"
)

const (
	// spare is how many more documents than asked for are compared again at least, and at most
	// deepest times as many or deeper more: as long as rounding may have put them behind the
	// last wanted.
	spare, deepest, deeper = 30, 32, 1000
	// perDoc is how many chunks of one document are compared again.
	perDoc = 4
)

// Query is a nearest-neighbor query.
type Query struct {
	Prefix string // of the names of the documents
	N      int    // documents at most
	// Least is the cosine below which nothing is wanted, 0 for whatever is nearest.
	Least float64
	// Only lists the documents to compare with, nil for all. Accept must refuse all others.
	Only []string
	// Accept reports whether a document is wanted, nil that all are; it is asked at most once for
	// each, in about the order of nearness and only until there are enough, and may use the
	// store.
	Accept func(doc string) bool
}

// vector reads the record of a vector into buf, which has its size, and sets e.Vector if it is
// whole and of e.Key.
func (f *file) vector(buf []byte, at int64, e Entry) (ok bool, err error) {
	if _, err := f.r.ReadAt(buf, at); err != nil && err != io.EOF {
		return false, err
	}
	if !whole(f.head.seed, buf) || buf[4] != kindVector || Key(buf[frameSize:]) != e.Key {
		return false, nil
	}
	decodeFloats(e.Vector, buf[frameSize+len(Key{}):])
	return true, nil
}

// Vector returns the vector of a key as it was put. False is one that is not there, that cannot
// be read right now, or that is found to be damaged, which is not there from then on.
func (s *Store) Vector(key Key) ([]float32, bool) {
	e := Entry{Key: key, Vector: make([]float32, s.opt.Dim)}
	if !s.load(e, make([]byte, vectorSize(s.opt.Dim))) {
		return nil, false
	}
	return e.Vector, true
}

// load sets e.Vector to the vector of e.Key. buf has the size of its record.
func (s *Store) load(e Entry, buf []byte) bool {
	var was *file
	for {
		s.mu.RLock()
		var f *file
		var at int64
		if slot := s.index.has(e.Key); slot != nil {
			f, at = slot.file, slot.at
		}
		s.mu.RUnlock()
		if f == nil || f == was {
			return false
		}
		ok, err := f.vector(buf, at, e)
		if ok {
			return true
		}
		if err == nil {
			s.damaged(e.Key, f, at)
		}
		was = f // if it has moved in the meantime, the file may just have been closed
	}
}

// damaged forgets a vector that is not where it should be.
func (s *Store) damaged(key Key, f *file, at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slot := s.index.has(key); slot != nil && slot.file == f && slot.at == at {
		s.index.lose(slot)
		if f.own {
			s.lost += int64(vectorSize(s.opt.Dim))
		}
	}
}

// Nearest returns for each want the documents that have the chunks nearest to q, nearest first,
// those as near by name. q has the store's dimension and unit length. All wants together cost one
// scan, and those with Only none. Vectors are those at the time of the call; nothing waits for it.
func (s *Store) Nearest(ctx context.Context, q []float32, wants ...Query) ([][]Match, error) {
	if len(q) != s.opt.Dim {
		return nil, fmt.Errorf("cannot search vectors in %s: the query has %d components instead of %d", s.dir, len(q),
			s.opt.Dim)
	}
	query, picks := rounded(q), make([]rescorer, len(wants))
	for i := range wants {
		room, ok := s.room.Get().(*hits)
		if !ok {
			room = new(hits)
		}
		picks[i] = rescorer{Query: &wants[i], docs: map[*placed]int{}, hits: (*room)[:0]}
		defer func() {
			*room = picks[i].hits
			s.room.Put(room)
		}()
	}
	rows, err := s.snapshot(picks)
	if err != nil {
		return nil, err
	}
	if err := s.score(ctx, &rows, query, picks); err != nil {
		return nil, err
	}
	out := make([][]Match, len(wants))
	for i := range picks {
		if err := s.pick(ctx, &picks[i], &rows, query.scale); err != nil {
			return nil, err
		}
		out[i] = s.rescored(q, &picks[i])
	}
	return out, nil
}

// snapshot returns the table as it is now, and puts the rows of the documents that a want lists into its hits.
func (s *Store) snapshot(picks []rescorer) (rows table, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.gone {
		return table{}, ErrClosed
	}
	for i := range picks {
		p := &picks[i]
		p.nth = s.index.placed
		for _, name := range p.Only {
			if d := s.index.docs[name]; d != nil {
				s.index.appendRows(&p.hits, d)
			}
		}
	}
	return s.index.table, nil
}

// score finds the rows that may be near enough. It removes slabs that cannot be read.
func (s *Store) score(ctx context.Context, rows *table, q query, picks []rescorer) error {
	var unreadable []int
	for i := range picks {
		if p := &picks[i]; p.Only != nil {
			unreadable = append(unreadable, p.scoreListed(rows, q)...)
		}
	}
	if slices.ContainsFunc(picks, func(p rescorer) bool { return p.N > 0 && p.Only == nil }) {
		more, err := rows.scan(ctx, q, func(b int, scores []float32) {
			s.mu.RLock()
			defer s.mu.RUnlock()
			for i := range picks {
				picks[i].promising(rows.slabs[b], b*slabRows, q.scale, scores)
			}
		})
		if err != nil {
			return err
		}
		unreadable = append(unreadable, more...)
	}
	slices.Sort(unreadable)
	for _, b := range slices.Compact(unreadable) {
		s.loseSlab(rows.slabs[b], min(slabRows, rows.n-b*slabRows))
	}
	return nil
}

// scoreListed scores the hits, and keeps those that may be near enough.
func (p *rescorer) scoreListed(rows *table, q query) (unreadable []int) {
	slices.SortFunc(p.hits, func(a, b hit) int { return cmp.Compare(a.row, b.row) })
	p.hits = slices.Compact(p.hits) // two documents can have the same chunk
	unreadable = rows.scoreOnly(q, &p.hits)
	p.hits = slices.DeleteFunc(p.hits, func(h hit) bool {
		_, step := rows.row(int(h.row))
		return p.tooFar(h.score, q.scale, step)
	})
	return unreadable
}

// tooFar reports whether a row with a rounded cosine cannot be near enough.
func (p *rescorer) tooFar(score, scale, step float32) bool {
	return p.Least > 0 && nearestBy(score, scale, step) < float32(p.Least)
}

// pick goes down the rows until there are enough.
func (s *Store) pick(ctx context.Context, p *rescorer, rows *table, scale float32) error {
	for some := range p.hits.descending(256) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for i, places := range s.placesOf(rows, some) {
			of, step := rows.row(int(some[i].row))
			if p.enough(nearestBy(some[i].score, scale, step)) {
				return nil
			}
			p.take(places, of.key, some[i].score)
		}
	}
	return nil
}

// nearestBy is the most that the cosine of a row may be. A component is off by half a step at most,
// so that a cosine is by far less than a whole step of the row and the query.
func nearestBy(score, scale, step float32) float32 { return score + scale + step }

// placesOf is where the chunks of the rows occur whose vectors are still there.
func (s *Store) placesOf(rows *table, hits []hit) [][]place {
	all, places := make([][]place, len(hits)), make([]place, 0, len(hits))
	s.mu.RLock()
	defer s.mu.RUnlock()
	for i, h := range hits {
		if of, _ := rows.row(int(h.row)); of.row >= 0 {
			n := len(places)
			places = of.appendPlaces(places)
			all[i] = places[n:]
		}
	}
	return all
}

// rescorer collects the candidates for exact scoring.
type rescorer struct {
	*Query
	nth    int             // documents placed later are newer than the rows
	hits   hits            // that may be near enough
	docs   map[*placed]int // chunks picked, -1 if it is not wanted
	found  int             // documents
	last   float32         // score of the nth found
	picked []candidate
}

// promising takes in the rows of a slab, the first of which has the number first, that may be near
// enough, of documents that may have the prefix. Store.mu is held.
func (p *rescorer) promising(rows *slab, first int, scale float32, scores []float32) {
	if p.N <= 0 || p.Only != nil {
		return
	}
	wanted := kindsOf(p.Prefix)
	for i, score := range scores {
		if p.tooFar(score, scale, rows.scale[i]) {
			continue
		}
		// A row without a document may get one during the search.
		if k := rows.kinds[i]; k == 0 || k&wanted != 0 {
			p.hits = append(p.hits, hit{score, int32(first + i)})
		}
	}
}

// candidate is a chunk and the rounded cosine of its row. A newer one is not known to have a row.
type candidate struct {
	key   Key
	at    place
	score float32
	newer bool
}

// enough reports whether a row whose cosine is at most next, and those after it, are of no use.
func (p *rescorer) enough(next float32) bool {
	return p.found >= min(deepest*p.N, p.N+deeper) || p.found >= p.N+spare && next < p.last
}

func (p *rescorer) take(places []place, key Key, score float32) {
	for _, at := range places {
		n, seen := p.docs[at.doc]
		switch {
		case n < 0, n >= perDoc:
			continue
		case !seen && !p.wants(at.doc.Name):
			p.docs[at.doc] = -1
			continue
		case !seen:
			if p.found++; p.found == p.N {
				p.last = score
			}
		}
		if at.doc.nth > p.nth {
			p.takeNewer(at.doc)
			continue
		}
		p.docs[at.doc] = n + 1
		p.picked = append(p.picked, candidate{key: key, at: at, score: score})
	}
}

func (p *rescorer) wants(doc string) bool {
	return strings.HasPrefix(doc, p.Prefix) && (p.Accept == nil || p.Accept(doc))
}

// takeNewer takes all chunks of a document that was placed during the search: rows that were
// passed by before that may be nearer than the one that it is met by.
func (p *rescorer) takeNewer(d *placed) {
	p.docs[d] = perDoc
	for i, c := range d.Chunks {
		p.picked = append(p.picked, candidate{key: c.Key, at: place{d, i}, newer: true})
	}
}

// rescored compares with the vectors in the files, and takes each document once. A vector that
// cannot be read counts as it was rounded.
func (s *Store) rescored(q []float32, p *rescorer) []Match {
	e := Entry{Vector: make([]float32, s.opt.Dim)}
	buf := make([]byte, vectorSize(s.opt.Dim))
	cosines := map[Key]float64{}
	best := map[string]Match{}
	for _, c := range p.picked {
		cosine, known := cosines[c.key]
		if !known {
			cosine = float64(c.score)
			if e.Key = c.key; s.load(e, buf) {
				cosine = float64(dot.Float32(q, e.Vector))
			} else if c.newer {
				continue
			}
			cosine = min(max(cosine, -1), 1)
			cosines[c.key] = cosine
		}
		m := Match{Doc: c.at.doc.Name, Chunk: c.at.chunk, Line: c.at.doc.Chunks[c.at.chunk].Line, Cosine: cosine}
		if was, ok := best[m.Doc]; !ok || m.Cosine > was.Cosine || m.Cosine == was.Cosine && m.Chunk < was.Chunk {
			best[m.Doc] = m
		}
	}
	out := make([]Match, 0, len(best))
	for _, m := range best {
		if p.Least <= 0 || m.Cosine >= p.Least {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), strings.Compare(a.Doc, b.Doc))
	})
	return out[:min(p.N, len(out))]
}
