package engine

import (
	"context"

	"emberd/memory"
	"emberd/op"
)

// meaning is what the engine knows of what memories and notes mean, as vectors. All
// methods of a nil meaning do nothing.
type meaning struct{}

// sense is the meaning of one text.
type sense struct {
	weight float64 // what rankings trust it, more than 0 to 1
}

// sensed is something near a sense.
type sensed struct {
	id     memory.ID // of a memory
	path   string    // of a note
	line   int       // of the note, where the nearest part begins
	cosine float64
}

// sense returns the meaning of a text, nil if there are no vectors, or not in time.
func (m *meaning) sense(ctx context.Context, text string) *sense { return nil }

// memories returns the n memories nearest to the sense, nearest first.
func (s *sense) memories(ctx context.Context, n int, accept func(memory.ID) bool) []sensed {
	return nil
}

// notes returns the n notes nearest to the sense by their nearest part, nearest first.
func (s *sense) notes(ctx context.Context, n int, accept func(path string) bool) []sensed {
	return nil
}

// cosine is how near a memory is, false if it has no vector.
func (s *sense) cosine(id memory.ID) (float64, bool) { return 0, false }

// near brings a cosine to 0, as of texts that have nothing to do with each other, to 1,
// the same meaning.
func (s *sense) near(cosine float64) float64 { return 0 }

// similarity brings a cosine to the scale of the thresholds in [Known].
func (s *sense) similarity(cosine float64) float64 { return 0 }

// weight is what rankings trust vectors now, 0 not at all.
func (m *meaning) weight() float64 { return 0 }

// told tells an answer of the vectors, nil without any.
func (m *meaning) told() *op.Meaning { return nil }
