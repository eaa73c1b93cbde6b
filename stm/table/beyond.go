package table

import (
	"encoding/json"
	"slices"

	"emberd/memory"
	"emberd/stm/record"
)

// Beyond returns what r says and than, another row of the same memory or nil for none,
// does not: as lines under the stamps that r has, oldest first. Merging them into than gives
// what merging every line that either row came from would, but for the totals of use, which
// [UsesBeyond] has. A delete says what it hides of than, so that it can be restored.
func Beyond(r, than *Row) []record.Line {
	if than == nil {
		than = &Row{Key: r.Key}
	}
	d := difference{row: r, than: than, sets: map[record.Stamp]map[string]json.RawMessage{}}
	d.values()
	d.births()
	lines := append(d.puts(), d.deletes()...)
	slices.SortStableFunc(lines, func(a, b record.Line) int { return a.Stamp.Compare(b.Stamp) })
	return lines
}

// difference collects what a row has beyond another.
type difference struct {
	row, than *Row
	sets      map[record.Stamp]map[string]json.RawMessage // values by the stamp that they were written at
}

func (d *difference) add(key string, value []byte, at record.Stamp) {
	if !at.After(d.than.StampOf(key)) || !at.After(d.than.Rest().Tomb) {
		return
	}
	d.at(at)[key] = value
}

func (d *difference) at(stamp record.Stamp) map[string]json.RawMessage {
	if d.sets[stamp] == nil {
		d.sets[stamp] = map[string]json.RawMessage{}
	}
	return d.sets[stamp]
}

func (d *difference) values() {
	apart := map[string]bool{}
	for _, g := range d.row.Rest().Regs {
		apart[g.Key] = true
		value := d.row.Value(g.Key)
		if value == nil {
			value = record.Null
		}
		d.add(g.Key, value, g.Stamp)
	}
	if len(d.row.JSON()) == 0 {
		return
	}
	// The document was walked when it was merged.
	_ = record.EachField(d.row.JSON(), func(name, value []byte) bool {
		if !apart[string(name)] {
			d.add(string(name), value, d.row.Base)
		}
		return true
	})
}

// births adds the put that brought the memory back, which may have no value left.
func (d *difference) births() {
	born, have := d.row.Born(), d.than.Rest()
	if born.After(have.Born) && born.After(have.Tomb) {
		d.at(born)
	}
}

func (d *difference) puts() (lines []record.Line) {
	for at, set := range d.sets {
		op := record.OpSet
		if at == d.row.Born() || at == d.row.Base {
			op = record.OpPut
		}
		l := d.line(at, record.Change{Op: op, ID: d.row.ID(), Data: record.Encode(set)})
		l.Cut = at != d.row.Born() // what the line superseded is not known
		lines = append(lines, l)
	}
	return lines
}

func (d *difference) deletes() (lines []record.Line) {
	o, have := d.row.Rest(), d.than.Rest()
	f, known := deletedText{}, deletedText{}
	if o.Forgot != nil {
		f = *o.Forgot
	}
	if have.Forgot != nil {
		known = *have.Forgot
	}
	if o.Tomb.After(have.Tomb) {
		lines = append(lines, d.delete(o.Tomb, f.At == o.Tomb, f.Print))
	}
	if f.At.After(known.At) && f.At != o.Tomb {
		lines = append(lines, d.delete(f.At, true, f.Print))
	}
	if f.Lifted.After(known.Lifted) {
		l := d.line(f.Lifted)
		l.Op, l.Lift = record.OpAll, []memory.ID{d.row.ID()}
		lines = append(lines, l)
	}
	return lines
}

func (d *difference) delete(at record.Stamp, printed bool, print record.Fingerprint) record.Line {
	c := record.Change{Op: record.OpDelete, ID: d.row.ID()}
	if printed {
		c.Print = &print
	}
	if d.than.Live() && len(d.than.JSON()) > 0 {
		c.Prev = record.EncodePrev(d.than.Latest(), nil, d.than.JSON())
	}
	l := d.line(at, c)
	l.Cut = c.Prev == nil
	return l
}

func (d *difference) line(at record.Stamp, changes ...record.Change) record.Line {
	l := record.Line{Version: record.FormatVersion, Stamp: at, Tx: at, Changes: changes}
	if len(changes) > 0 {
		l.Op = changes[0].Op
	}
	return l
}

// UsesBeyond returns the totals of the devices that r counts more of than another row of the
// same memory, nil for none, does.
func UsesBeyond(r, than *Row) (more []record.UseTotal) {
	have := map[record.Device]record.UseTotal{}
	if than != nil {
		for _, u := range than.Rest().Use {
			have[u.Dev] = u
		}
	}
	for _, u := range r.Rest().Use {
		if known := have[u.Dev]; record.MaxUse(u, known) != known && record.MaxUse(known, u) != known {
			more = append(more, u)
		}
	}
	return more
}
