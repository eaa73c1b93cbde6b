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
	// deeper is how many times as many documents as asked for are compared again.
	deeper = 4
	// perDoc is how many chunks of one document are compared again.
	perDoc = 4
)

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
		was = f // if it has moved meanwhile, the file may just have been closed
	}
}

// damaged forgets a vector that is not where it should be.
func (s *Store) damaged(key Key, f *file, at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slot := s.index.has(key); slot != nil && slot.file == f && slot.at == at {
		s.index.lose(key, slot)
		s.lost += int64(vectorSize(s.opt.Dim))
	}
}

// Nearest returns the n documents that have the chunks nearest to q, nearest first, those as near
// by name. q has the store's dimension and unit length. accept says whether a document is wanted,
// nil that all are; it is asked at most once for each, in about the order of nearness and only
// until there are enough, and may use the store. Vectors are those at the time of the call, and
// documents those that have them now; nothing waits for it.
func (s *Store) Nearest(ctx context.Context, q []float32, n int, accept func(doc string) bool) ([]Match, error) {
	if len(q) != s.opt.Dim {
		return nil, fmt.Errorf("look for vectors in %s: the query has %d components, not %d", s.dir, len(q), s.opt.Dim)
	}
	s.mu.RLock()
	rows, gone := s.index.table, s.gone
	s.mu.RUnlock()
	if gone {
		return nil, ErrClosed
	}
	if n <= 0 || rows.n == 0 {
		return nil, nil
	}
	scores := make([]float32, rows.n)
	if err := rows.scan(ctx, q, scores); err != nil {
		return nil, err
	}
	p := picking{want: deeper * n, accept: accept, docs: map[*Doc]int{}}
	for part := range descending(scores, 2*p.want) {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		for _, h := range part {
			key, _, _ := rows.row(h.row)
			p.take(s.placesOf(key), key, h.score)
		}
		if p.found >= p.want {
			break
		}
	}
	return s.rescored(q, p.picked, n), nil
}

// placesOf is where the chunk of a key occurs, if its vector is still there.
func (s *Store) placesOf(key Key) []place {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if slot := s.index.has(key); slot != nil {
		return slot.places
	}
	return nil
}

// picking collects the chunks to be compared again.
type picking struct {
	want, found int // documents
	accept      func(string) bool
	docs        map[*Doc]int // chunks picked, -1 if it is not wanted
	picked      []candidate
}

type candidate struct {
	key   Key
	at    place
	score float32 // rounded
}

func (p *picking) take(places []place, key Key, score float32) {
	for _, at := range places {
		n, seen := p.docs[at.doc]
		switch {
		case !seen && p.found >= p.want, n < 0, n >= perDoc:
			continue
		case !seen && p.accept != nil && !p.accept(at.doc.Name):
			p.docs[at.doc] = -1
			continue
		case !seen:
			p.found++
		}
		p.docs[at.doc] = n + 1
		p.picked = append(p.picked, candidate{key, at, score})
	}
}

// rescored compares with the vectors in the files, and takes each document once. A vector that
// cannot be read counts as it was rounded.
func (s *Store) rescored(q []float32, picked []candidate, n int) []Match {
	e := Entry{Vector: make([]float32, s.opt.Dim)}
	buf := make([]byte, vectorSize(s.opt.Dim))
	cosines := map[Key]float64{}
	best := map[string]Match{}
	for _, c := range picked {
		cosine, known := cosines[c.key]
		if !known {
			cosine = float64(c.score)
			if e.Key = c.key; s.load(e, buf) {
				cosine = float64(dot.Float32(q, e.Vector))
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
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), strings.Compare(a.Doc, b.Doc))
	})
	return out[:min(n, len(out))]
}
