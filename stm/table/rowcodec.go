package table

import (
	"bytes"
	"slices"

	"emberd/stm/record"
)

// Encode appends the row, with the number of its document in the word index. files are those that documents may be
// in, by their place in the snapshot's list; a document in any other file is appended itself. An error says that it
// cannot be read.
func (r *Row) Encode(e *record.Encoder, doc uint32, files []*DocFile) error {
	e.B = append(e.B, r.Key[:]...)
	e.Uint(uint64(doc))
	if i := slices.Index(files, r.away.in); i >= 0 && r.away.in != nil {
		e.Uint(uint64(i + 1))
		e.Uint(uint64(r.away.at))
		e.Uint(uint64(r.away.n))
	} else {
		text, err := stored(r)
		if err != nil {
			return err
		}
		e.Uint(0)
		e.Bytes(text)
	}
	parts, err := partsOf(r)
	encodeRest(e, r)
	e.B = append(e.B, byte(parts))
	return err
}

// partsOf returns the parts of a row, which one of an older snapshot does not know.
func partsOf(r *Row) (record.Parts, error) {
	if parts := r.Hot.Parts(); parts != 0 {
		return parts, nil
	}
	doc, err := r.Document()
	if err != nil {
		return 0, err
	}
	h, err := record.FacetsOf(doc)
	if err != nil { // not of a document that was merged here
		return 0, nil
	}
	return h.Parts(), nil
}

// encodeRest appends the stamps, the hot fields and the counts.
func encodeRest(e *record.Encoder, r *Row) {
	o := r.Rest()
	stamps := stampList{r.Base}
	at := [3]uint64{placeOf(&stamps, o.Tomb), placeOf(&stamps, o.Born), placeOf(&stamps, o.rev)}
	places := make([]uint64, len(o.Regs))
	for i, g := range o.Regs {
		places[i] = placeOf(&stamps, g.Stamp)
	}
	encodeStamps(e, stamps)
	for _, n := range at {
		e.Uint(n)
	}
	e.Uint(uint64(len(o.Regs)))
	for i, g := range o.Regs {
		encodeKey(e, g.Key)
		e.Uint(places[i])
	}
	o.Forgot.encode(e)
	e.Hot(&r.Hot)
	e.B = record.AppendUint64(e.B, r.Hot.Home)
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

// SharedRegisters has the registers of rows that were read, for other rows that have the same: memories that were
// archived together. The zero value is empty.
type SharedRegisters struct {
	by  map[string][]Register
	key []byte // scratch
}

// Share gives a row, which no other goroutine has yet, the registers of an earlier one that has the same.
func (s *SharedRegisters) Share(r *Row) {
	if r.Odd == nil || len(r.Odd.Regs) == 0 {
		return
	}
	s.key = s.key[:0]
	for _, g := range r.Odd.Regs {
		s.key = g.Stamp.Append(append(append(s.key, g.Key...), 0))
	}
	if same, ok := s.by[string(s.key)]; ok {
		r.Odd.Regs = same
		return
	}
	if s.by == nil {
		s.by = map[string][]Register{}
	}
	s.by[string(s.key)] = r.Odd.Regs
}

// DecodeRow reads what Encode wrote, with the same list of files.
func DecodeRow(d *record.Decoder, r *Row, files []*DocFile) (doc uint32) {
	doc = DecodeRow8(d, r, files)
	r.Hot.SetParts(record.Parts(d.Take(1)[0]))
	return doc
}

// DecodeRow8 reads what versions of emberd wrote whose snapshots have version 8.
func DecodeRow8(d *record.Decoder, r *Row, files []*DocFile) (doc uint32) {
	copy(r.Key[:], d.Take(16))
	doc = uint32(d.Uint())
	switch n := d.Uint(); {
	case n == 0:
		r.Doc = bytes.Clone(d.Bytes()) // what is around it is not kept
	case n > uint64(len(files)):
		d.Fail()
	default:
		r.away = place{files[n-1], uint32(d.Uint()), uint32(d.Uint())}
	}
	decodeRest(d, r)
	return doc
}

// DecodeRow7 reads what versions of emberd wrote whose snapshots have version 7. The row keeps the bytes that it is
// decoded from.
func DecodeRow7(d *record.Decoder, r *Row) (doc uint32) {
	copy(r.Key[:], d.Take(16))
	doc = uint32(d.Uint())
	r.Doc = d.Bytes()
	decodeRest(d, r)
	return doc
}

func decodeRest(d *record.Decoder, r *Row) {
	var few [8]record.Stamp
	stamps := decodeStamps(d, few[:0])
	var o Extra
	r.Base, o.Tomb, o.Born, o.rev = stamps[0], stampAt(d, stamps), stampAt(d, stamps), stampAt(d, stamps)
	if n := d.Count(2); n > 0 {
		o.Regs = make([]Register, n)
		for i := range o.Regs {
			o.Regs[i] = Register{decodeKey(d), stampAt(d, stamps)}
		}
	}
	o.Forgot = decodeForgot(d)
	d.Hot(&r.Hot)
	r.Hot.Home = d.Uint64()
	decodeUse(d, &o)
	r.keep(o)
}

// DecodeRow6 reads what versions of emberd wrote whose snapshots have version 5 or 6.
func DecodeRow6(d *record.Decoder, r *Row) (doc uint32) {
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
	decodeUse(d, &o)
	r.keep(o)
	if d.Err == nil {
		pack(r)
	}
	return doc
}

func decodeUse(d *record.Decoder, o *Extra) {
	for range d.Count(12) {
		u := record.UseTotal{Dev: record.Device(d.Take(8))}
		u.Uses, u.Accesses = int64(d.Uint()), int64(d.Uint())
		u.Used, u.Accessed = int64(d.Uint()), int64(d.Uint())
		o.Use = append(o.Use, u)
	}
}

// stampList is the distinct stamps of a row, the base first: most of its keys were written by one or two lines.
type stampList []record.Stamp

// placeOf returns where a stamp is in the list, which it is added to if it is not.
func placeOf(s *stampList, at record.Stamp) uint64 {
	i := slices.Index(*s, at)
	if i < 0 {
		i = len(*s)
		*s = append(*s, at)
	}
	return uint64(i)
}

func encodeStamps(e *record.Encoder, s stampList) {
	e.Uint(uint64(len(s)))
	for _, at := range s {
		e.Stamp(at)
	}
}

// decodeStamps appends the stamps to s, at least one.
func decodeStamps(d *record.Decoder, s stampList) stampList {
	for range d.Count(16) {
		s = append(s, d.Stamp())
	}
	if len(s) == 0 {
		d.Fail()
		s = append(s, record.Stamp{})
	}
	return s
}

// stampAt reads the place of a stamp.
func stampAt(d *record.Decoder, s stampList) record.Stamp {
	i := d.Uint()
	if i >= uint64(len(s)) {
		d.Fail()
		return record.Stamp{}
	}
	return s[i]
}

// frequentKeys are keys that rows of the snapshot have by number, from 1. It is part of the format: keys may be added
// at the end with a new version of it.
var frequentKeys = []string{"stage", "content", "text_digest", "vault_path", "note_seen", "key_terms", "archived_at",
	"archive_reason", "updated_at", "entities", "tags", "strength", "text_edges", "last_used", "promoted_to",
	"promoted_at", "note_gone", "superseded_by", "superseded_at"}

func encodeKey(e *record.Encoder, key string) {
	i := slices.Index(frequentKeys, key) + 1
	if e.Uint(uint64(i)); i == 0 {
		e.Text(key)
	}
}

func decodeKey(d *record.Decoder) string {
	i := d.Uint()
	switch {
	case i == 0:
		return d.Name()
	case i > uint64(len(frequentKeys)):
		d.Fail()
		return ""
	}
	return frequentKeys[i-1]
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
