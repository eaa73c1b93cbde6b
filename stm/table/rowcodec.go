package table

import (
	"emberd/stm/record"
)

// Encode appends the row, with the number of its document in the word index.
func (r *Row) Encode(e *record.Encoder, doc uint32) {
	e.B = append(e.B, r.Key[:]...)
	e.Uint(uint64(doc))
	e.Bytes(r.Doc)
	e.Stamp(r.Base)
	o := r.Rest()
	e.Uint(uint64(len(o.Regs)))
	for _, g := range o.Regs {
		e.Text(g.Key)
		e.Stamp(g.Stamp)
	}
	e.Stamp(o.Tomb)
	e.Stamp(o.Born)
	e.Stamp(o.rev)
	o.Forgot.encode(e)
	e.Hot(&r.Hot)
	e.Uint(uint64(len(o.Use)))
	for _, u := range o.Use {
		e.B = append(e.B, u.Dev[:]...)
		for _, n := range [4]int64{u.Uses, u.Accesses, u.Used, u.Accessed} {
			e.Uint(uint64(n))
		}
	}
}

// Opened is when a device last showed the whole of a memory. Snapshots have it in a part of its own.
type Opened struct {
	Key [16]byte
	Dev record.Device
	At  int64 // Unix milliseconds
}

// OpenedOf returns the openings of a row, nil for none.
func OpenedOf(r *Row) (out []Opened) {
	for _, u := range r.Rest().Use {
		if u.Opened > 0 {
			out = append(out, Opened{r.Key, u.Dev, u.Opened})
		}
	}
	return out
}

// WithOpened returns the row with an opening.
func WithOpened(r *Row, o Opened) *Row { return WithUse(r, record.UseTotal{Dev: o.Dev, Opened: o.At}) }

// Encode appends the opening.
func (o Opened) Encode(e *record.Encoder) {
	e.B = append(append(e.B, o.Key[:]...), o.Dev[:]...)
	e.Uint(uint64(o.At))
}

// DecodeOpened reads what Encode wrote.
func DecodeOpened(d *record.Decoder) (o Opened) {
	copy(o.Key[:], d.Take(len(o.Key)))
	copy(o.Dev[:], d.Take(len(o.Dev)))
	o.At = int64(d.Uint())
	return o
}

func (f *deletedText) encode(e *record.Encoder) {
	e.Bool(f != nil)
	if f != nil {
		e.Bool(!f.At.IsZero())
		if !f.At.IsZero() {
			e.B = append(e.B, f.Print[:]...)
		}
		e.Stamp(f.At)
		e.Stamp(f.Lifted)
	}
}

// DecodeRow reads what encode wrote.
func DecodeRow(d *record.Decoder, r *Row) (doc uint32) {
	copy(r.Key[:], d.Take(16))
	doc = uint32(d.Uint())
	r.Doc = d.Bytes()
	r.Base = d.Stamp()
	var o Extra
	for range d.Count(17) {
		o.Regs = append(o.Regs, Register{d.Name(), d.Stamp()})
	}
	o.Tomb, o.Born, o.rev = d.Stamp(), d.Stamp(), d.Stamp()
	o.Forgot = decodeForgot(d)
	d.Hot(&r.Hot)
	for range d.Count(12) {
		u := record.UseTotal{Dev: record.Device(d.Take(8))}
		u.Uses, u.Accesses = int64(d.Uint()), int64(d.Uint())
		u.Used, u.Accessed = int64(d.Uint()), int64(d.Uint())
		o.Use = append(o.Use, u)
	}
	r.keep(o)
	return doc
}

func decodeForgot(d *record.Decoder) *deletedText {
	if !d.Bool() {
		return nil
	}
	f := &deletedText{}
	if d.Bool() {
		b := d.Take(len(record.Fingerprint{}))
		if d.Err != nil {
			return nil
		}
		f.Print = record.Fingerprint(b)
	}
	f.At, f.Lifted = d.Stamp(), d.Stamp()
	return f
}
