package stm

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
)

// encoder and decoder are the primitives of the snapshot: unsigned varints,
// and texts and byte strings behind their length.
type encoder struct{ b []byte }

func appendUint32(b []byte, n uint32) []byte { return binary.LittleEndian.AppendUint32(b, n) }

func (e *encoder) uint(n uint64) { e.b = binary.AppendUvarint(e.b, n) }

func (e *encoder) text(s string) {
	e.uint(uint64(len(s)))
	e.b = append(e.b, s...)
}

func (e *encoder) bytes(s []byte) {
	e.uint(uint64(len(s)))
	e.b = append(e.b, s...)
}

func (e *encoder) bool(v bool) {
	if v {
		e.b = append(e.b, 1)
	} else {
		e.b = append(e.b, 0)
	}
}

func (e *encoder) stamp(s Stamp) {
	e.b = binary.LittleEndian.AppendUint64(e.b, s.T)
	e.b = append(e.b, s.Dev[:]...)
}

func (e *encoder) place(p place) {
	e.uint(uint64(p.file))
	e.uint(uint64(p.off))
	e.uint(uint64(p.n))
}

func (e *encoder) spans(r *ranges) {
	e.uint(uint64(len(r.spans)))
	for _, s := range r.spans {
		e.uint(s[0])
		e.uint(s[1])
	}
}

func (e *encoder) row(r *Row, doc uint32) {
	e.b = append(e.b, r.key[:]...)
	e.uint(uint64(doc))
	e.bytes(r.doc)
	e.stamp(r.base)
	o := r.rest()
	e.uint(uint64(len(o.regs)))
	for _, g := range o.regs {
		e.text(g.key)
		e.stamp(g.stamp)
	}
	e.stamp(o.tomb)
	e.stamp(o.born)
	e.stamp(o.rev)
	e.forgot(o.forgot)
	e.hot(&r.hot)
	e.uint(uint64(len(o.use)))
	for _, u := range o.use {
		e.b = append(e.b, u.dev[:]...)
		for _, n := range [4]int64{u.uses, u.accesses, u.used, u.accessed} {
			e.uint(uint64(n))
		}
	}
}

func (e *encoder) forgot(f *forgot) {
	e.bool(f != nil)
	if f != nil {
		e.bool(!f.at.IsZero())
		if !f.at.IsZero() {
			e.b = append(e.b, f.print[:]...)
		}
		e.stamp(f.at)
		e.stamp(f.lifted)
	}
}

func (e *encoder) hot(h *hot) {
	e.uint(uint64(len(h.tags)))
	for _, t := range h.tags {
		e.text(t)
	}
	e.text(h.project)
	e.text(h.collection)
	e.text(h.category)
	e.b = append(e.b, byte(h.stage))
	e.uint(uint64(math.Float32bits(h.strength)))
	e.bool(h.core)
	e.bool(h.promoted)
	for _, n := range [5]int64{h.created, h.updated, h.lastUsed, int64(h.uses), int64(h.accesses)} {
		e.uint(uint64(n))
	}
}

var errShort = errors.New("it ends too early")

// decoder reads what encoder wrote. After the first fault err is set and
// everything reads as zero.
type decoder struct {
	b     []byte
	at    int
	err   error
	names map[string]string // each distinct short text once
}

func (d *decoder) take(n int) []byte {
	if d.err != nil || n < 0 || n > len(d.b)-d.at {
		d.err = errShort
		return make([]byte, min(max(n, 0), 16))
	}
	d.at += n
	return d.b[d.at-n : d.at : d.at]
}

func (d *decoder) uint() uint64 {
	n, size := binary.Uvarint(d.b[d.at:])
	if d.err != nil || size <= 0 {
		d.err = errShort
		return 0
	}
	d.at += size
	return n
}

func (d *decoder) uint32() uint32 { return binary.LittleEndian.Uint32(d.take(4)) }

// count reads how many items of at least size bytes follow, bounded by the
// bytes there are.
func (d *decoder) count(size int) int {
	n := d.uint()
	if n > uint64((len(d.b)-d.at)/size) {
		d.err = errShort
		return 0
	}
	return int(n)
}

func (d *decoder) bytes() []byte { return d.take(d.count(1)) }

func (d *decoder) text() string { return string(d.bytes()) }

// name is text for what repeats: tags, projects, keys.
func (d *decoder) name() string {
	b := d.bytes()
	if s, ok := d.names[string(b)]; ok {
		return s
	}
	if d.names == nil {
		d.names = map[string]string{}
	}
	s := strings.Clone(string(b))
	d.names[s] = s
	return s
}

func (d *decoder) bool() bool { return d.take(1)[0] == 1 }

func (d *decoder) stamp() Stamp {
	b := d.take(16)
	return Stamp{T: binary.LittleEndian.Uint64(b), Dev: Device(b[8:16])}
}

func (d *decoder) place() place {
	return place{file: uint32(d.uint()), off: int64(d.uint()), n: uint32(d.uint())}
}

func (d *decoder) spans() *ranges {
	r := &ranges{}
	for range d.count(2) {
		r.spans = append(r.spans, [2]uint64{d.uint(), d.uint()})
	}
	return r
}

func (d *decoder) row(r *Row) (doc uint32) {
	copy(r.key[:], d.take(16))
	doc = uint32(d.uint())
	r.doc = d.bytes()
	r.base = d.stamp()
	var o odd
	for range d.count(17) {
		o.regs = append(o.regs, register{d.name(), d.stamp()})
	}
	o.tomb, o.born, o.rev = d.stamp(), d.stamp(), d.stamp()
	o.forgot = d.forgot()
	d.hot(&r.hot)
	for range d.count(12) {
		u := useTotal{dev: Device(d.take(8))}
		u.uses, u.accesses = int64(d.uint()), int64(d.uint())
		u.used, u.accessed = int64(d.uint()), int64(d.uint())
		o.use = append(o.use, u)
	}
	r.keep(o)
	return doc
}

func (d *decoder) forgot() *forgot {
	if !d.bool() {
		return nil
	}
	f := &forgot{}
	if d.bool() {
		b := d.take(len(fingerprint{}))
		if d.err != nil {
			return nil
		}
		f.print = fingerprint(b)
	}
	f.at, f.lifted = d.stamp(), d.stamp()
	return f
}

func (d *decoder) hot(h *hot) {
	for range d.count(1) {
		h.tags = append(h.tags, d.name())
	}
	h.project, h.collection, h.category = d.name(), d.name(), d.name()
	h.stage = min(stage(d.take(1)[0]), stage(len(stages)-1))
	h.strength = math.Float32frombits(uint32(d.uint()))
	h.core, h.promoted = d.bool(), d.bool()
	h.created, h.updated, h.lastUsed = int64(d.uint()), int64(d.uint()), int64(d.uint())
	h.uses, h.accesses = uint32(d.uint()), uint32(d.uint())
}
