package bert

import (
	"context"
	"fmt"
	"math"
	"slices"

	"emberd/internal/gguf"
)

// bytesPerToken bounds what of a text is looked at: no language has tokens that long, and
// a text of many megabytes costs no more than others.
const bytesPerToken = 64

// Embed returns the vector of a text, of unit length, and the share of its tokens that the
// model does not know, from 0 to 1. At the end of ctx it returns within the time of a layer.
// Every text has a vector, an empty one too; where the weights make none, the model's file is
// refused with a [gguf.RefusedError].
func (m *Model) Embed(ctx context.Context, text string) (vector []float32, unknown float64, err error) {
	c := m.content.Load()
	if c == nil {
		return nil, 0, ErrClosed
	}
	tokens := c.tokenizer.Tokens(text[:min(len(text), m.limit*bytesPerToken)], m.limit)
	if within := len(tokens) - 2; within > 0 {
		unknown = float64(c.tokenizer.Unknown(tokens)) / float64(within)
	}
	s, err := c.take(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer func() { c.free <- s }()
	if err := s.forward(ctx, c.weights, tokens); err != nil {
		return nil, 0, err
	}
	if vector = unit(s.pooled(m.facts.Pooling)); vector == nil {
		return nil, 0, &gguf.RefusedError{
			Path:    m.path,
			Problem: "the weights of the model produce an embedding that is zero or not finite",
			Remedy:  "download the file again",
		}
	}
	return vector, unknown, nil
}

// take waits for memory to compute in.
func (c *content) take(ctx context.Context) (*scratch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case s := <-c.free:
		if s == nil {
			s = new(scratch)
		}
		return s, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// pooled is the text's vector before it is scaled.
func (s *scratch) pooled(by gguf.Pooling) []float64 {
	sum := make([]float64, s.x.Len)
	rows := s.x.N
	if by == gguf.CLS {
		rows = 1
	}
	for i := range rows {
		for j, v := range s.x.Row(i) {
			sum[j] += float64(v)
		}
	}
	return sum
}

// unit is the vector of length 1 in that direction, or nil where there is none.
func unit(v []float64) []float32 {
	var square float64
	for _, x := range v {
		square += x * x
	}
	if !(square > 0) || math.IsInf(square, 1) {
		return nil
	}
	length := math.Sqrt(square)
	u := make([]float32, len(v))
	for i, x := range v {
		u[i] = float32(x / length)
	}
	return u
}

// TokenVector returns what the model makes of one token of its vocabulary that stands alone
// between the marks of the ends: the row of the token, not scaled. Of it static embeddings are
// made. At the end of ctx it returns within the time of a layer.
func (m *Model) TokenVector(ctx context.Context, token int32) ([]float32, error) {
	c := m.content.Load()
	if c == nil {
		return nil, ErrClosed
	}
	if token < 0 || int(token) >= c.weights.token.rows {
		return nil, fmt.Errorf("token %d is out of range: the vocabulary has %d tokens", token, c.weights.token.rows)
	}
	s, err := c.take(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { c.free <- s }()
	ends := c.tokenizer.Tokens("", 0)
	if err := s.forward(ctx, c.weights, slices.Insert(ends, 1, token)); err != nil {
		return nil, err
	}
	return slices.Clone(s.x.Row(1)), nil
}
