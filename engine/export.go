package engine

import (
	"context"
	"slices"
	"time"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Bounds of a page of an export. It is large, since each begins with a look at
// all ids.
const (
	exportRecords = 5_000
	exportBytes   = 4 << 20
)

// export gives a page of everything by ascending id. A memory that is made while
// the pages are read may be missing, and each is as it was when its page was.
func (e *Engine) export(ctx context.Context, req *op.ExportRequest) (*op.ExportResult, error) {
	if req.Cursor != "" {
		if _, err := memory.ParseID(req.Cursor); err != nil {
			return nil, memory.Errorf(memory.Invalid, "cursor is not one that emberd gave; use next_cursor of the page before, or none for the first page").At("cursor")
		}
	}
	x := newExporting(e, memory.ID(req.Cursor))
	res := &op.ExportResult{Records: []op.Record{}}
	size := 0
	for _, id := range x.ids {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if n := len(res.Records); n > 0 && (n >= exportRecords || size >= exportBytes) {
			res.NextCursor = string(res.Records[n-1].ID)
			break
		}
		rec, ok, err := x.record(id)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue // forgotten for good since
		}
		for key, value := range rec.Fields {
			size += len(key) + len(value)
		}
		res.Records = append(res.Records, rec)
	}
	return res, nil
}

// exporting is a page of an export that is being filled.
type exporting struct {
	e        *Engine
	ids      []memory.ID // live and in the trash, after the page before, in order
	trash    []memory.ID // those in the trash that were not read yet, in order
	unburied map[memory.ID]stm.Buried
}

// newExporting lists all live and trashed memories after one, in order.
func newExporting(e *Engine, after memory.ID) *exporting {
	x := &exporting{e: e}
	for r := range e.stm.Rows() {
		if id := r.ID(); id > after {
			x.ids = append(x.ids, id)
		}
	}
	for _, it := range e.stm.Trash() {
		if it.ID > after {
			x.trash = append(x.trash, it.ID)
		}
	}
	slices.Sort(x.trash)
	x.ids = append(x.ids, x.trash...)
	slices.Sort(x.ids)
	x.ids = slices.Compact(x.ids)
	return x
}

// record is that of a memory; it is not ok if it is none any more.
func (x *exporting) record(id memory.ID) (rec op.Record, ok bool, err error) {
	if row, ok := x.e.stm.Get(id); ok {
		return op.Record{ID: id, Fields: row.Fields(), Rev: row.Rev(),
			Use: useTotals(row.UseCount(), row.LastUsed(), row.AccessCount(), row.LastAccessed())}, true, nil
	}
	b, ok, err := x.buried(id)
	m := &b.Memory
	return op.Record{ID: id, Fields: b.Fields, Forgotten: b.Forgotten, Use: useTotals(m.UseCount, m.LastUsed, m.AccessCount, m.LastAccessed)}, ok, err
}

// buried reads a memory of the trash, with those that come after it.
func (x *exporting) buried(id memory.ID) (b stm.Buried, ok bool, err error) {
	if b, ok = x.unburied[id]; ok {
		return b, true, nil
	}
	at, waits := slices.BinarySearch(x.trash, id)
	some := []memory.ID{id} // forgotten since the list was made, unless it is on it
	if waits {
		some = x.trash[at:min(at+exportRecords, len(x.trash))]
	}
	found, n, err := x.e.stm.Unearth(some)
	if err != nil {
		return b, false, err
	}
	if waits {
		x.unburied, x.trash = found, x.trash[at+n:]
	}
	b, ok = found[id]
	return b, ok, nil
}

func useTotals(uses int64, used time.Time, accesses int64, accessed time.Time) *op.UseTotals {
	if uses == 0 && accesses == 0 {
		return nil
	}
	return &op.UseTotals{Uses: uses, LastUsed: used, Accesses: accesses, LastAccessed: accessed}
}
