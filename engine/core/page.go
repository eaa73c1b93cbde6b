package core

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"emberd/memory"
)

// Position is where a page ends. The next page starts with the item after it in the order, so
// that items inserted or removed in between move nothing. Callers get it as an opaque cursor:
// base64url of the order, the sort value, the time and the ID.
type Position struct {
	Order byte
	value float64
	// At is the time of the first page. All pages compare scores as of then, so that the order
	// stays the same.
	At time.Time
	ID memory.ID
}

const positionBytes = 1 + 8 + 8 + 16

// String returns the cursor for a position.
func (p Position) String() string {
	b := make([]byte, 0, positionBytes)
	b = append(b, p.Order)
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(p.value))
	b = binary.BigEndian.AppendUint64(b, uint64(p.At.UnixNano()))
	id := p.ID.Bytes()
	return base64.RawURLEncoding.EncodeToString(append(b, id[:]...))
}

// BadCursor returns the error for a cursor that emberd did not create.
func BadCursor() error {
	return memory.Errorf(memory.Invalid,
		"invalid cursor; use next_cursor of the previous page, or omit it for the first page").At("cursor")
}

// parsePosition parses a cursor and returns an error if it was made for another order.
func parsePosition(cursor string, order byte) (Position, error) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(b) != positionBytes {
		return Position{}, BadCursor()
	}
	p := Position{
		Order: b[0],
		value: math.Float64frombits(binary.BigEndian.Uint64(b[1:])),
		At:    time.Unix(0, int64(binary.BigEndian.Uint64(b[9:]))),
		ID:    memory.IDFromBytes([16]byte(b[17:])),
	}
	if p.Order != order || math.IsNaN(p.value) {
		return Position{},
			memory.Errorf(memory.Invalid,
				"invalid cursor; use the sort order of the previous page, or omit the cursor").At(
				"cursor")
	}
	return p, nil
}

// Page collects the items after a position, largest value first and equal values by descending
// ID. It keeps one page of items only.
type Page[T any] struct {
	Position // end of the previous page; its ID is empty for the first page
	Limit    int
	entries  []entry[T]
	Total    int
}

type entry[T any] struct {
	value float64
	id    memory.ID
	item  T
}

// NewPage returns the page after a cursor, or the first page if the cursor is empty.
func NewPage[T any](cursor string, order byte, limit, otherwise int, now time.Time) (*Page[T], error) {
	p := &Page[T]{Position: Position{Order: order, At: now}}
	var err error
	if p.Limit, err = CheckLimit(limit, otherwise); err != nil || cursor == "" {
		return p, err
	}
	p.Position, err = parsePosition(cursor, order)
	return p, err
}

// Add offers an item. The page keeps one more than the limit, to know whether there is another
// page.
func (p *Page[T]) Add(value float64, id memory.ID, item T) {
	p.Total++
	e := entry[T]{value, id, item}
	if p.ID != "" && inOrder(e, entry[T]{value: p.value, id: p.ID}) <= 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(p.entries, e, inOrder)
	if i > p.Limit {
		return
	}
	p.entries = slices.Insert(p.entries, i, e)
	p.entries = p.entries[:min(len(p.entries), p.Limit+1)]
}

func inOrder[T any](a, b entry[T]) int {
	return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(b.id, a.id))
}

// Finish returns the items in order and the cursor of the next page, "" for none.
func (p *Page[T]) Finish() (items []T, next string) {
	shown := p.entries[:min(len(p.entries), p.Limit)]
	for _, e := range shown {
		items = append(items, e.item)
	}
	if len(p.entries) > p.Limit {
		last := shown[len(shown)-1]
		next = Position{Order: p.Order, value: last.value, At: p.At, ID: last.id}.String()
	}
	return items, next
}
