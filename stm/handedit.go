package stm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"emberd/memory"
)

// handEdit is a line whose checksum a human removed.
type handEdit struct {
	key   string // names the line, so that it is taken once
	seq   uint64
	stamp Stamp // zero when the human wrote the line without one
	id    memory.ID
	op    string
	data  []byte
}

const handPrefix = "hand:"

// isHandKey reports whether an idempotency key says which hand edit was taken.
func isHandKey(key string) bool { return strings.HasPrefix(key, handPrefix) }

// handEdit takes a line that is a valid put or set but for its checksum:
// somebody changed it in an editor and took the checksum out on purpose. It
// counts at its own stamp, so what was written later stays; the transaction
// that makes it a line like any other follows when the log can be written.
func (r *recovery) handEdit(b []byte) bool {
	b = bytes.Clone(bytes.TrimSpace(b))
	l, err := parseEdit(b)
	if err != nil || !isHandEdit(b) {
		return false
	}
	if r.clock.future(l.stamp) { // it would drag our clock along
		return false
	}
	if !l.stamp.IsZero() {
		cell, err := r.s.table.apply(&l.changes[0], &l, l.at)
		if err != nil {
			return false
		}
		r.s.index.drop(cell)
		r.clock.observe(l.stamp)
	}
	r.edits = append(r.edits, handEdit{key: handPrefix + nameOf(b),
		seq: l.seq, stamp: l.stamp, id: l.changes[0].id, op: l.op, data: l.data})
	r.count.HandEdited++
	return true
}

// nameOf names the bytes of a line, so that it is met once.
func nameOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// isHandEdit reports whether b is a put or set that could count if only it had
// a checksum, which it has not.
func isHandEdit(b []byte) bool {
	names, _ := members(b)
	_, err := parseEdit(b)
	return err == nil && !names["c"]
}

// parseEdit decodes a line whose bytes no checksum vouches for, and refuses
// what is not a whole and valid put or set of a valid memory.
func parseEdit(b []byte) (line, error) {
	if !json.Valid(b) || !utf8.Valid(b) {
		return line{}, errors.New("it is not valid JSON")
	}
	l, err := decodeLine(b)
	switch {
	case err != nil:
		return line{}, err
	case l.version != formatVersion:
		return line{}, fmt.Errorf("it is of version %d", l.version)
	case l.op != opPut && l.op != opSet:
		return line{}, fmt.Errorf("operation %q cannot be taken from a line without its checksum", l.op)
	}
	for _, object := range [][]byte{b, l.data} {
		if _, once := members(object); !once {
			return line{}, errors.New("it has a member twice")
		}
	}
	doc, err := withKeys(l.data, nil)
	if err == nil {
		err = checkDoc(doc)
	}
	return l, err
}

// members returns the names of an object's members, and whether each is there
// only once.
func members(obj []byte) (names map[string]bool, once bool) {
	names, once = map[string]bool{}, true
	// What is no object is refused by others.
	_ = eachField(obj, func(name, _ []byte) bool {
		once = once && !names[string(name)]
		names[string(name)] = true
		return true
	})
	return names, once
}

// takeEdits writes the hand edits that were not taken before.
func (s *Store) takeEdits(edits []handEdit) {
	for _, e := range edits {
		_, err := s.Update(context.Background(), []memory.ID{e.id}, e.key, func(rows []*Row) (*Tx, error) {
			return e.tx(rows[0]), nil
		})
		if err != nil {
			s.log.Warn("hand edit of the log counts, but was not written again", "id", e.id, "error", err)
		}
	}
}

// tx sets the keys that still hold what the edited line says. Of a line
// without a stamp, all count.
func (e *handEdit) tx(row *Row) *Tx {
	if row == nil && (e.op == opSet || !e.stamp.IsZero()) {
		return nil // forgotten since
	}
	set := map[string]json.RawMessage{}
	// The edit was decoded before.
	_ = eachField(e.data, func(name, value []byte) bool {
		if key := string(name); e.stamp.IsZero() || row.stampOf(key) == e.stamp {
			set[key] = value
		}
		return true
	})
	if len(set) == 0 {
		return nil
	}
	return &Tx{Verb: "edit", By: memory.Actor{Via: "hand edit of the log"}, Key: e.key, Changes: []Change{{ID: e.id, Set: set, Allowed: true}}}
}

// edited returns the hand edits that were not taken at an earlier start.
func (r *recovery) edited() []handEdit {
	var out []handEdit
	for _, e := range r.edits {
		if !r.taken[e.key] {
			out = append(out, e)
		}
	}
	return out
}
