package record

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
)

// Encoder and decoder are the primitives of the snapshot: unsigned varints,
// and texts and byte strings behind their length.
type Encoder struct{ B []byte }

func AppendUint32(b []byte, n uint32) []byte { return binary.LittleEndian.AppendUint32(b, n) }

func AppendUint64(b []byte, n uint64) []byte { return binary.LittleEndian.AppendUint64(b, n) }

func (e *Encoder) Uint(n uint64) { e.B = binary.AppendUvarint(e.B, n) }

func (e *Encoder) Text(s string) {
	e.Uint(uint64(len(s)))
	e.B = append(e.B, s...)
}

func (e *Encoder) Bytes(s []byte) {
	e.Uint(uint64(len(s)))
	e.B = append(e.B, s...)
}

func (e *Encoder) Bool(v bool) {
	if v {
		e.B = append(e.B, 1)
	} else {
		e.B = append(e.B, 0)
	}
}

func (e *Encoder) Stamp(s Stamp) {
	e.B = binary.LittleEndian.AppendUint64(e.B, s.T)
	e.B = append(e.B, s.Dev[:]...)
}

func (e *Encoder) Place(p Place) {
	e.Uint(uint64(p.File))
	e.Uint(uint64(p.Off))
	e.Uint(uint64(p.N))
}

func (e *Encoder) Spans(r *Ranges) {
	e.Uint(uint64(len(r.Spans)))
	for _, s := range r.Spans {
		e.Uint(s[0])
		e.Uint(s[1])
	}
}

func (e *Encoder) Hot(h *Facets) {
	l := h.Labels()
	e.Uint(uint64(len(l.Tags)))
	for _, t := range l.Tags {
		e.Text(t)
	}
	e.Text(l.Project)
	e.Text(l.Collection)
	e.Text(l.Category)
	e.B = append(e.B, byte(h.Stage))
	e.Uint(uint64(math.Float32bits(h.Strength)))
	e.Bool(h.Core)
	e.Bool(h.Promoted)
	for _, n := range [5]int64{h.Created, h.Updated, h.LastUsed, int64(h.Uses), int64(h.Accesses)} {
		e.Uint(uint64(n))
	}
}

var (
	errShort = errors.New("unexpected end of data")
	errPlace = errors.New("invalid reference to missing data")
)

// Decoder reads what encoder wrote. After the first fault err is set and
// everything reads as zero.
type Decoder struct {
	B     []byte
	At    int
	Err   error
	names map[string]string // each distinct short text once
	name  string            // the last of them
	// labels are those of the last item, nil before the first; tags is room for those of the next.
	labels *Labels
	tags   []string
}

func (d *Decoder) Take(n int) []byte {
	if d.Err != nil || n < 0 || n > len(d.B)-d.At {
		d.Err = errShort
		return make([]byte, min(max(n, 0), 16))
	}
	d.At += n
	return d.B[d.At-n : d.At : d.At]
}

func (d *Decoder) Uint() uint64 {
	n, size := binary.Uvarint(d.B[d.At:])
	if d.Err != nil || size <= 0 {
		d.Err = errShort
		return 0
	}
	d.At += size
	return n
}

func (d *Decoder) Uint32() uint32 { return binary.LittleEndian.Uint32(d.Take(4)) }

func (d *Decoder) Uint64() uint64 { return binary.LittleEndian.Uint64(d.Take(8)) }

// Fail notes that what was read cannot be so.
func (d *Decoder) Fail() { d.Err = errors.Join(d.Err, errPlace) }

// Count reads how many items of at least size bytes follow, bounded by the
// bytes there are.
func (d *Decoder) Count(size int) int {
	n := d.Uint()
	if n > uint64((len(d.B)-d.At)/size) {
		d.Err = errShort
		return 0
	}
	return int(n)
}

func (d *Decoder) Bytes() []byte { return d.Take(d.Count(1)) }

func (d *Decoder) Text() string { return string(d.Bytes()) }

// Name is text for what repeats: tags, projects, keys.
func (d *Decoder) Name() string {
	b := d.Bytes()
	if string(b) == d.name { // as most items have what the one before has
		return d.name
	}
	if len(b) == 0 {
		return ""
	}
	if s, ok := d.names[string(b)]; ok {
		d.name = s
		return s
	}
	if d.names == nil {
		d.names = map[string]string{}
	}
	s := strings.Clone(string(b))
	d.names[s], d.name = s, s
	return s
}

func (d *Decoder) Bool() bool { return d.Take(1)[0] == 1 }

func (d *Decoder) Stamp() Stamp {
	b := d.Take(16)
	return Stamp{T: binary.LittleEndian.Uint64(b), Dev: Device(b[8:16])}
}

func (d *Decoder) Place() Place {
	return Place{File: uint32(d.Uint()), Off: int64(d.Uint()), N: uint32(d.Uint())}
}

func (d *Decoder) Spans() *Ranges {
	r := &Ranges{}
	for range d.Count(2) {
		r.Spans = append(r.Spans, [2]uint64{d.Uint(), d.Uint()})
	}
	return r
}

// labelsOf reads labels, which most items have in common with the one before.
func (d *Decoder) labelsOf() *Labels {
	l := Labels{Tags: d.tags[:0]}
	for range d.Count(1) {
		l.Tags = append(l.Tags, d.Name())
	}
	d.tags = l.Tags
	l.Project, l.Collection, l.Category = d.Name(), d.Name(), d.Name()
	if d.labels == nil || !d.labels.equal(&l) {
		l.Tags = append([]string(nil), l.Tags...)
		d.labels = l.shared()
	}
	return d.labels
}

func (d *Decoder) Hot(h *Facets) {
	h.labels = d.labelsOf()
	h.Stage = min(Stage(d.Take(1)[0]), Stage(len(Stages)-1))
	h.Strength = math.Float32frombits(uint32(d.Uint()))
	h.Core, h.Promoted = d.Bool(), d.Bool()
	h.Created, h.Updated, h.LastUsed = int64(d.Uint()), int64(d.Uint()), int64(d.Uint())
	h.Uses, h.Accesses = uint32(d.Uint()), uint32(d.Uint())
}
