package record

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"emberd/memory"
)

// A packed line has its changes compressed, and the ids of the memories before them, so that a look for an id finds
// the line without reading more of it:
//
//	{"v":1,"q":9,"t":"…","op":"all","tx":"…","do":"archive",…,"ids":["…","…"],"z":"…","c":"9f8e7d6c"}
//
// z is base64 of what [Deflate] makes of the list that d of such a line would be, without the ids. "from":["z"] before
// it says that changes of it name the texts that theirs were made from. Lines that archive memories are packed, and
// compaction packs others about archived memories; a line that is not packed says the same.

var errPacked = errors.New("the number of packed changes differs from the number of IDs")

// textDigest is the key that archiving writes.
const textDigest = "text_digest"

// Archives reports whether a change moves the text of a memory into a note.
func (c *Change) Archives() bool { return c.Op == OpSet && !Same(Member(c.Data, textDigest), nil) }

// packs reports whether the changes of a line can be packed: those that delete have fingerprints, and relations to a
// memory are looked for by its id.
func (l *Line) packs() bool {
	return l.Op == OpAll && len(l.Changes) > 0 && !slices.ContainsFunc(l.Changes, func(c Change) bool {
		return c.IsDelete() || c.Print != nil || MayName(c.Data)
	})
}

func (l *Line) appendPacked(b []byte) []byte {
	ids, list := make([]memory.ID, len(l.Changes)), []byte{'['}
	for i, c := range l.Changes {
		if ids[i] = c.ID; i > 0 {
			list = append(list, ',')
		}
		list = append(append(append(list, `{"op":"`...), c.Op...), '"')
		list = appendRaw(appendRaw(list, "prev", c.Prev), "d", c.Data)
		list = append(list, '}')
	}
	if slices.ContainsFunc(l.Changes, func(c Change) bool { return Member(c.Prev, "from") != nil }) {
		b = append(b, `,"from":["z"]`...)
	}
	b = appendRaw(b, "ids", Encode(ids))
	b = append(b, `,"z":"`...)
	return append(base64.RawStdEncoding.AppendEncode(b, Deflate(nil, append(list, ']'))), '"')
}

// unpack takes the changes of a packed line.
func (l *Line) unpack(ids []memory.ID, packed []byte) error {
	if l.Packed = true; l.Op != OpAll || l.Data != nil {
		return errPacked
	}
	text, err := Text(packed)
	if err != nil {
		return err
	}
	short, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return fmt.Errorf("cannot decode the packed changes: %w", err)
	}
	list, err := Inflate(short)
	if err != nil {
		return err
	}
	if !json.Valid(list) {
		return errNoList
	}
	var bad error
	err = EachItem(list, func(item []byte) bool {
		bad = l.unpackOne(ids, item)
		return bad == nil
	})
	if err = errors.Join(err, bad); err == nil && len(ids) != len(l.Changes) {
		err = errPacked
	}
	return err
}

func (l *Line) unpackOne(ids []memory.ID, item []byte) error {
	n := len(l.Changes)
	if n >= len(ids) {
		return errPacked
	}
	c := Change{ID: ids[n], Prev: Member(item, "prev"), Data: Member(item, "d")}
	var err error
	if c.Op, err = Text(Member(item, "op")); err == nil && c.Op != OpPut && c.Op != OpSet {
		err = fmt.Errorf("packed changes contain the unknown operation %q", c.Op)
	}
	if err == nil {
		err = c.check()
	}
	l.Changes = append(l.Changes, c)
	return err
}
