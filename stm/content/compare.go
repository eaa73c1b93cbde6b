package content

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
)

// Comparison is what the files of a log hold, and what of a store they lacked.
type Comparison struct {
	// Summary is of the files and of Saved together.
	Summary Summary
	// Memories counts the live memories, and deletes of memories, that the files lacked in
	// part or as a whole.
	Memories int
	// LostTrash counts memories in the trash whose text no file holds, nor the store.
	LostTrash int
	// Saved are further files of the log, which hold what the files lack.
	Saved []Saved
}

// Compare finds what the files lack of what a store knows. Files may hold more: what other
// devices wrote and the store has not read yet.
func (f *Folder) Compare(ctx context.Context, known *Known) (*Comparison, error) {
	out, made, all := &Comparison{}, lines{}, sums{}
	f.Size = known.Size()
	err := f.each(ctx, nil, func(d *fold) error {
		if err := d.supplement(known, out, made); err != nil {
			return err
		}
		d.sum(all)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if out.Memories > 0 { // what is lost may have held uses of any
		for _, row := range known.rows {
			made.uses(row)
		}
	}
	out.Summary, out.Saved = all.summary(), made.files(f, f.Now)
	return out, nil
}

// supplement merges into the fold what it lacks, and takes note of the lines that say so.
func (d *fold) supplement(known *Known, out *Comparison, made lines) error {
	for _, want := range known.rows {
		if !d.mine(want.Key) {
			continue
		}
		have := d.row(want.Key)
		if lacks(have, want) {
			out.Memories++
			for _, l := range linesOf(want, have, known.purges[want.Key]) {
				d.merge(&l)
				made.add(&l)
			}
			if lacks(d.row(want.Key), want) {
				return fmt.Errorf("cannot write memory %s without changing it", want.ID())
			}
		}
		at, trashed := known.graves[want.Key]
		if g, ok := d.table.Graves[want.Key]; trashed && at.Time().After(d.Since) &&
			(!ok || at.After(g.Stamp)) && !d.row(want.Key).Live() {
			out.LostTrash++
		}
	}
	return nil
}

// lacks reports whether have is older than want anywhere that counts. A deleted memory
// matters only where it would be alive.
func lacks(have, want *table.Row) bool {
	h, w := have.Rest(), want.Rest()
	if !want.Live() {
		return have.Live() && w.Tomb.After(h.Tomb)
	}
	if w.Tomb.After(h.Tomb) || w.Born.After(h.Born) && w.Born.After(h.Tomb) {
		return true
	}
	if have.Base == want.Base && have.Odd == nil && want.Odd == nil && bytes.Equal(have.JSON(), want.JSON()) {
		return false
	}
	older := false
	// The document was walked when it was merged.
	_ = record.EachField(want.JSON(), func(name, value []byte) bool {
		at, got := stampOf(want, name), have.StampOf(string(name))
		older = at.After(h.Tomb) && (at.After(got) || at == got && !record.Same(value, have.Value(string(name))))
		return !older
	})
	for _, g := range w.Regs {
		older = older || g.Stamp.After(h.Tomb) && g.Stamp.After(have.StampOf(g.Key))
	}
	return older
}

// linesOf are the lines that make a row: one for each stamp of its fields, and one for its
// delete. Of a memory that is alive in the files that one has what it covers, so that it can be
// restored from the trash.
func linesOf(want, have *table.Row, purged record.Stamp) (out []record.Line) {
	w := want.Rest()
	fields := map[record.Stamp]map[string]json.RawMessage{}
	set := func(at record.Stamp, name string, value []byte) {
		if fields[at] == nil {
			fields[at] = map[string]json.RawMessage{}
		}
		if name != "" {
			fields[at][name] = value
		}
	}
	if w.Born.After(w.Tomb) {
		set(w.Born, "", nil)
	}
	for _, g := range w.Regs {
		set(g.Stamp, g.Key, record.Null)
	}
	// The document was walked when it was merged.
	_ = record.EachField(want.JSON(), func(name, value []byte) bool {
		set(stampOf(want, name), string(name), value)
		return true
	})
	for at, doc := range fields {
		c := record.Change{Op: record.OpSet, ID: want.ID(), Data: record.Encode(doc)}
		if at == w.Born {
			c.Op = record.OpPut
		}
		out = append(out, lineOf(at, c))
	}
	if w.Tomb.IsZero() {
		return out
	}
	c := record.Change{Op: record.OpDelete, ID: want.ID()}
	if purged == w.Tomb {
		c.Op = record.OpPurge
	} else if have.Live() && !want.Live() {
		c.Prev = record.EncodePrev(have.Latest(), nil, have.JSON())
	}
	return append(out, lineOf(w.Tomb, c))
}

// By says that emberd wrote a line by itself.
var by = record.Encode(memory.Actor{Via: record.Itself})

func lineOf(at record.Stamp, c record.Change) record.Line {
	return record.Line{Version: record.FormatVersion, Stamp: at, Tx: at, Op: c.Op, Verb: record.Recovered, By: by,
		Changes: []record.Change{c}}
}
