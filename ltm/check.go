package ltm

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Check compares up to n notes, chosen at random, with what load makes of them now: the
// record, and the occurrences of every term. A note that load does not return,
// or whose digest is another than the cursor's, is not compared: it has changed, and
// the next Update will tell. n of zero or less compares all. The first difference is an
// error that is ErrRebuild, and makes Update fail from then on.
func (x *Index) Check(ctx context.Context, n int, load func(path string) (Doc, bool)) (compared int, err error) {
	err = x.search(&Query{}, func(s *searcher) error {
		compared, err = s.check(ctx, n, load)
		return err
	})
	return compared, err
}

func (s *searcher) check(ctx context.Context, n int, load func(path string) (Doc, bool)) (compared int, err error) {
	numbers := s.sample(n)
	for _, number := range numbers {
		if err := ctx.Err(); err != nil {
			return compared, err
		}
		note := s.table.notes[number]
		d, ok := load(note.path)
		if !ok || d.Cursor.Digest != note.cursor.Digest {
			continue
		}
		compared++
		if err := s.verify(number, &d); err != nil {
			s.index.health.fail(err)
			return compared, fmt.Errorf("%w: %w", ErrRebuild, err)
		}
	}
	return compared, nil
}

// sample returns the numbers of n random notes, or of all.
func (s *searcher) sample(n int) []uint32 {
	var numbers []uint32
	for number, note := range s.table.notes {
		if note != nil {
			numbers = append(numbers, uint32(number))
		}
	}
	rand.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
	if n > 0 {
		numbers = numbers[:min(n, len(numbers))]
	}
	return numbers
}

// verify finds the first difference between a document and what is indexed of it.
func (s *searcher) verify(number uint32, d *Doc) error {
	want := analyze(s.index.analyzer, s.index.memories(), d)
	i, doc, ok := s.view.document(ref{note: number})
	if !ok {
		return errMissing
	}
	segment := &s.view.segments[i]
	stored := segment.record(doc)
	got, err := decodeRecord(stored)
	if err != nil {
		return err
	}
	// The same bytes may lie in another file by now.
	want.record.cursor, want.record.created, want.record.modified = got.cursor, got.created, got.modified
	text, _ := segment.text(doc)
	if !slices.Equal(want.record.encode(nil), stored) || !slices.Equal(want.row, text) {
		return fmt.Errorf("record of note number %d differs from its note", number)
	}
	for i, terms := range want.parts {
		if err := s.compareTerms(segment, doc+uint32(i), ref{number, uint16(i)}, terms); err != nil {
			return err
		}
	}
	return nil
}

// compareTerms looks every term of a part up in its document.
func (s *searcher) compareTerms(in *segmentView, doc uint32, r ref, want map[string]occurrence) error {
	if int(doc) >= len(in.rows) || in.rows[doc].ref != r {
		return fmt.Errorf("part %d of note number %d is not at its position in the index", r.part, r.note)
	}
	var c cursor
	for term, o := range want {
		list, _ := in.find(term)
		c.reset(&list)
		if c.seek(doc); c.doc() != doc || s.index.layout.unpack(c.occurrence()) != o {
			return fmt.Errorf("the index has a wrong entry for a term of note number %d, part %d", r.note, r.part)
		}
	}
	return nil
}
