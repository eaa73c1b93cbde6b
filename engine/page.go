package engine

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"emberd/memory"
)

// position is where a page ends. The next page holds what comes after it in the
// order, so what is inserted or removed in between moves nothing. Callers see it
// as an opaque cursor: base64url of the order, the sort value, the time and the id.
type position struct {
	order byte
	value float64
	// at is the moment the first page was asked for. Scores are compared as of
	// then, or the order would shift while somebody pages through it.
	at time.Time
	id memory.ID
}

const positionBytes = 1 + 8 + 8 + 16

func (p position) String() string {
	b := make([]byte, 0, positionBytes)
	b = append(b, p.order)
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(p.value))
	b = binary.BigEndian.AppendUint64(b, uint64(p.at.UnixNano()))
	id := p.id.Bytes()
	return base64.RawURLEncoding.EncodeToString(append(b, id[:]...))
}

// parsePosition reads a cursor that was made for the same order.
func parsePosition(cursor string, order byte) (position, error) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(b) != positionBytes {
		return position{}, memory.Errorf(memory.Invalid, "cursor is not one that emberd gave; use next_cursor of the page before, or none for the first page").At("cursor")
	}
	p := position{
		order: b[0],
		value: math.Float64frombits(binary.BigEndian.Uint64(b[1:])),
		at:    time.Unix(0, int64(binary.BigEndian.Uint64(b[9:]))),
		id:    memory.IDFromBytes([16]byte(b[17:])),
	}
	if p.order != order || math.IsNaN(p.value) {
		return position{}, memory.Errorf(memory.Invalid, "cursor belongs to a list in another order; use it with the same sort, or start again without it").At("cursor")
	}
	return p, nil
}

// page gathers the items that follow a position, largest value first and equal
// ones by descending id, and keeps no more than it needs.
type page[T any] struct {
	position // of the page before; its id is empty on the first page
	limit    int
	entries  []entry[T]
	total    int
}

type entry[T any] struct {
	value float64
	id    memory.ID
	item  T
}

// newPage begins the page that follows a cursor, the first one without.
func newPage[T any](cursor string, order byte, limit, otherwise int, now time.Time) (*page[T], error) {
	p := &page[T]{position: position{order: order, at: now}}
	var err error
	if p.limit, err = checkLimit(limit, otherwise); err != nil || cursor == "" {
		return p, err
	}
	p.position, err = parsePosition(cursor, order)
	return p, err
}

// add offers an item. One more than the limit is kept, to know whether there
// is another page.
func (p *page[T]) add(value float64, id memory.ID, item T) {
	p.total++
	e := entry[T]{value, id, item}
	if p.id != "" && inOrder(e, entry[T]{value: p.value, id: p.id}) <= 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(p.entries, e, inOrder)
	if i > p.limit {
		return
	}
	p.entries = slices.Insert(p.entries, i, e)
	p.entries = p.entries[:min(len(p.entries), p.limit+1)]
}

func inOrder[T any](a, b entry[T]) int {
	return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(b.id, a.id))
}

// finish returns the page in order and the cursor of the next one, "" when
// there is none.
func (p *page[T]) finish() (items []T, next string) {
	shown := p.entries[:min(len(p.entries), p.limit)]
	for _, e := range shown {
		items = append(items, e.item)
	}
	if len(p.entries) > p.limit {
		last := shown[len(shown)-1]
		next = position{order: p.order, value: last.value, at: p.at, id: last.id}.String()
	}
	return items, next
}
