package transfer

import (
	"context"
	"slices"
	"time"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Limits of a page of an export. Pages are large, because each starts with a pass over all
// IDs.
const (
	exportRecords = 5_000
	exportBytes   = 4 << 20
)

// Export returns a page of all memories by ascending ID. A memory created in the meantime may
// be missing, and each memory has the state of the time of its page.
func (e *Transfer) Export(ctx context.Context, req *op.ExportRequest) (*op.ExportResult, error) {
	if req.Cursor != "" {
		if _, err := memory.ParseID(req.Cursor); err != nil {
			return nil, core.BadCursor()
		}
	}
	x := newExportRun(e, memory.ID(req.Cursor))
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
			continue // it was purged in the meantime
		}
		for key, value := range rec.Fields {
			size += len(key) + len(value)
		}
		res.Records = append(res.Records, rec)
	}
	return res, nil
}

// exportRun is one page of an export.
type exportRun struct {
	e          *Transfer
	ids        []memory.ID // live and trashed IDs after the previous page, in order
	trash      []memory.ID // trashed IDs that were not read yet, in order
	trashCache map[memory.ID]stm.TrashedMemory
}

// newExportRun lists all live and trashed memories after an ID, in order.
func newExportRun(e *Transfer, after memory.ID) *exportRun {
	x := &exportRun{e: e}
	for r := range e.Stm.Rows() {
		if id := r.ID(); id > after {
			x.ids = append(x.ids, id)
		}
	}
	for _, it := range e.Stm.Trash() {
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

// record returns the record of a memory; ok is false if it no longer exists.
func (x *exportRun) record(id memory.ID) (rec op.Record, ok bool, err error) {
	if row, ok := x.e.Stm.Get(id); ok {
		return op.Record{ID: id, Fields: row.Fields(), Rev: row.Rev(),
			Use: useTotals(row.UseCount(), row.LastUsed(), row.AccessCount(), row.LastAccessed())}, true, nil
	}
	b, ok, err := x.trashed(id)
	m := &b.Memory
	return op.Record{ID: id, Fields: b.Fields, Forgotten: b.Forgotten,
		Use: useTotals(m.UseCount, m.LastUsed, m.AccessCount, m.LastAccessed)}, ok, err
}

// trashed reads a memory in the trash, together with the next ones.
func (x *exportRun) trashed(id memory.ID) (b stm.TrashedMemory, ok bool, err error) {
	if b, ok = x.trashCache[id]; ok {
		return b, true, nil
	}
	at, waits := slices.BinarySearch(x.trash, id)
	some := []memory.ID{id} // deleted after the list was made, or the first one on it
	if waits {
		some = x.trash[at:min(at+exportRecords, len(x.trash))]
	}
	found, n, err := x.e.Stm.ReadTrash(some)
	if err != nil {
		return b, false, err
	}
	if waits {
		x.trashCache, x.trash = found, x.trash[at+n:]
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
