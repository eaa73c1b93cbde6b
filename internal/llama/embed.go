package llama

import (
	"math"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"emberd/internal/llamawire"
)

const (
	// bytesPerToken bounds what of a text is looked at: no language has tokens that long,
	// and a text of many megabytes costs no more than others.
	bytesPerToken = 64

	// ggml has a fast flash attention on processors from fill tokens on. A text of fewer
	// is filled up with tokens of another sequence, which it never sees: where there is AMX,
	// 61 tokens take a fifth of the time. A text of fewFill or fewer is quick as it is.
	fill    = 64
	fewFill = 16
)

// arrays are what a batch is made of, one element for each token. They are pinned, for
// llama.cpp finds some of them through others.
type arrays struct {
	pin       runtime.Pinner
	tokens    []int32
	positions []int32
	counts    []int32
	owners    []uintptr // pointers to the sequence that a token is of
	outputs   []int8
	sequences *[2]int32
}

func newArrays(n int) *arrays {
	a := &arrays{
		tokens:    make([]int32, n),
		positions: make([]int32, n),
		counts:    slices.Repeat([]int32{1}, n),
		owners:    make([]uintptr, n),
		outputs:   slices.Repeat([]int8{1}, n),
		sequences: &[2]int32{0, 1},
	}
	a.pin.Pin(&a.tokens[0])
	a.pin.Pin(&a.positions[0])
	a.pin.Pin(&a.counts[0])
	a.pin.Pin(&a.owners[0])
	a.pin.Pin(&a.outputs[0])
	a.pin.Pin(a.sequences)
	return a
}

// batch is a text, and as many tokens more of a sequence that is of no interest.
func (a *arrays) batch(text []int32, more int) batch {
	own, other := uintptr(unsafe.Pointer(&a.sequences[0])), uintptr(unsafe.Pointer(&a.sequences[1]))
	copy(a.tokens, text)
	for i := range text {
		a.positions[i], a.owners[i] = int32(i), own
	}
	for i := range more {
		at := len(text) + i
		a.tokens[at], a.positions[at], a.owners[at] = text[0], int32(i), other
	}
	return batch{
		Count:     int32(len(text) + more),
		Tokens:    uintptr(unsafe.Pointer(&a.tokens[0])),
		Positions: uintptr(unsafe.Pointer(&a.positions[0])),
		Counts:    uintptr(unsafe.Pointer(&a.counts[0])),
		Sequences: uintptr(unsafe.Pointer(&a.owners[0])),
		Outputs:   uintptr(unsafe.Pointer(&a.outputs[0])),
	}
}

// Embed returns the vector of a text, of unit length; how many tokens the text has with
// those of its ends, as far as it was looked at, which is 64 bytes for each token that
// counts; and the share of those that count, but for the ends, that the model does not know,
// from 0 to 1. It computes in that many threads, 1 to as many as there are processors: those
// beyond the first help a single text, and wait for each other in loops, so where something
// else computes they do harm.
func (m *Model) Embed(text string, threads int) (vector []float32, tokens int, unknown float64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.context == 0 {
		return nil, 0, 0, errClosed()
	}
	all, err := m.tokenize(text[:min(len(text), m.limit*bytesPerToken)])
	if err != nil {
		return nil, 0, 0, err
	}
	ids := all[:min(len(all), m.limit)]
	if len(all) > m.limit && m.facts.End >= 0 { // the end stays
		ids[m.limit-1] = all[len(all)-1]
	}
	m.setThreads(threads)
	if vector, err = m.forward(ids); err != nil {
		return nil, 0, 0, err
	}
	return vector, len(all), m.unknown(ids), nil
}

// Tokens is how many tokens the whole of a text has, with those of its ends.
func (m *Model) Tokens(text string) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.context == 0 {
		return 0, errClosed()
	}
	ids, err := m.tokenize(text)
	return len(ids), err
}

func errClosed() error {
	return failed(llamawire.OfText, "the model is closed")
}

// tokenize returns the tokens of a text between those of its ends. What it spells never
// becomes one of those, and bytes that are not UTF-8 are passed over.
func (m *Model) tokenize(text string) ([]int32, error) {
	if m.words != nil {
		return m.words.Tokens(text, 0), nil
	}
	const special, parse = true, false
	const ends = 16 // more than any model has
	clean := append([]byte(strings.ToValidUTF8(text, "")), 0)
	if len(clean)+ends > math.MaxInt32 {
		return nil, failed(llamawire.OfText, "the text has %d bytes (limit %d)", len(clean), math.MaxInt32-ends)
	}
	ids := make([]int32, len(clean)+ends)
	n := int(m.engine.lib.tokenize(m.vocab, &clean[0], int32(len(clean)-1), &ids[0], int32(len(ids)), special, parse))
	if n < 1 || n > len(ids) {
		return nil, failed(llamawire.OfText, "%s returned an invalid number of tokens for the text: %d",
			m.engine.name(), n)
	}
	return ids[:n], nil
}

// unknown is the share of a text's tokens that the model does not know.
func (m *Model) unknown(ids []int32) float64 {
	n, between := 0, len(ids)
	for _, end := range []int32{m.facts.Begin, m.facts.End} {
		if end >= 0 {
			between--
		}
	}
	if between <= 0 {
		return 0
	}
	for _, id := range ids {
		if id == m.facts.Unknown {
			n++
		}
	}
	return float64(n) / float64(between)
}

func (m *Model) setThreads(n int) {
	n = min(max(n, 1), runtime.NumCPU())
	if n != m.threads {
		m.engine.lib.setThreads(m.context, int32(n), int32(n))
		m.threads = n
	}
}

// forward makes the vector of a text's tokens.
func (m *Model) forward(ids []int32) ([]float32, error) {
	lib := m.engine.lib
	if memory := lib.memory(m.context); memory != 0 { // of the text before
		lib.memoryClear(memory, true)
	}
	more := 0
	if n := len(ids); n > fewFill && n < fill && fill-n <= m.facts.Context && !m.engine.release.slowFlash() {
		more = fill - n
	}
	if code := lib.decode(m.context, m.arrays.batch(ids, more)); code != 0 {
		return nil, failed(llamawire.OfText, "%s could not compute the embedding of the text (code %d)",
			m.engine.name(), code)
	}
	v := lib.sequenceVector(m.context, 0)
	if v == nil {
		return nil, failed(llamawire.OfText, "%s returned no embedding for the text", m.engine.name())
	}
	vector := unit(unsafe.Slice(v, m.facts.Dim))
	if vector == nil {
		return nil, failed(llamawire.OfText, "the model computed an embedding that is zero or not finite")
	}
	return vector, nil
}

// unit is the vector of length 1 in that direction, or nil where there is none.
func unit(v []float32) []float32 {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if !(square > 0) || math.IsInf(square, 1) {
		return nil
	}
	length := math.Sqrt(square)
	u := make([]float32, len(v))
	for i, x := range v {
		u[i] = float32(float64(x) / length)
	}
	return u
}
