package stm

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"

	"emberd/memory"
)

// What is on disk. These never change; a new meaning takes a new name.
const (
	formatVersion = 1
	opSegment     = "seg"   // first line of a segment
	opSeal        = "seal"  // last line of a segment that was closed in order
	opPut         = "put"   // a whole memory: creates it, or brings it back
	opSet         = "set"   // new values for some keys of a memory
	opDelete      = "del"   // a tombstone; prev holds what it covers
	opAll         = "all"   // several of the three, all or none
	opPurge       = "purge" // a tombstone for good: nothing of the memory is kept
	opUse         = "use"   // running totals of use, by memory

	suffixLen = 16 // ,"c":"9f8e7d6c"}

	// MaxLine bounds a line in bytes. The largest content, all of it control
	// characters (six bytes each in JSON), fits twice: new and superseded.
	MaxLine = 4 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var (
	errChecksum = errors.New("checksum does not match")
	errNoSum    = errors.New("line has no checksum")
)

// line is one decoded line of a segment. Its slices alias the bytes it was
// decoded from.
type line struct {
	version int
	seq     uint64
	stamp   Stamp
	op      string
	tx      Stamp
	verb    string
	by      []byte
	key     string
	keyHash string
	ref     Stamp
	lift    []memory.ID // forgotten memories whose text may be saved again
	cut     bool        // compaction took out what no longer counts; the whole line is in the history
	extra   bool        // it has members that this version does not know
	changes []change
	data    []byte // d of seg, seal and use lines
	at      place
}

// change is one operation on one memory.
type change struct {
	op   string
	id   memory.ID
	prev []byte // {"t":stamp,"d":{…}}: what this operation supersedes; nil when nothing
	data []byte // JSON object of keys and values; nil for a delete

	print *fingerprint // of the text that a delete by somebody covers; nil if it has none

	// ready is what ranking reads of data, where data is a whole memory that the
	// row may keep. The caller's goroutine makes it, which spares the writer's.
	ready *hot
}

// checkLine verifies the checksum of a line without its LF.
func checkLine(b []byte) error {
	n := len(b) - suffixLen
	if n < 1 || b[0] != '{' || !bytes.HasPrefix(b[n:], []byte(`,"c":"`)) || string(b[len(b)-2:]) != `"}` {
		return errNoSum
	}
	var want [4]byte
	if _, err := hex.Decode(want[:], b[n+6:n+14]); err != nil {
		return errNoSum
	}
	if crc32.Checksum(b[:n], castagnoli) != uint32(want[0])<<24|uint32(want[1])<<16|uint32(want[2])<<8|uint32(want[3]) {
		return errChecksum
	}
	return nil
}

// sealLine appends checksum, closing brace and LF to an object that was begun
// at start and is still open.
func sealLine(b []byte, start int) []byte {
	sum := crc32.Checksum(b[start:], castagnoli)
	b = append(b, `,"c":"`...)
	b = appendHex(b, uint64(sum), 8)
	return append(b, "\"}\n"...)
}

// decodeLine reads the fields of a line, checksum aside. Members it does not
// know are passed over.
func decodeLine(b []byte) (line, error) {
	var l line
	var id memory.ID
	var prev []byte
	var mark *fingerprint
	var bad error
	err := eachField(b, func(name, value []byte) bool {
		switch string(name) {
		case "v":
			l.version, bad = strconv.Atoi(string(value))
		case "q":
			l.seq, bad = strconv.ParseUint(string(value), 10, 64)
		case "t":
			l.stamp, bad = stampField(value)
		case "op":
			l.op, bad = textValue(value)
		case "id":
			id, bad = idField(value)
		case "tx":
			l.tx, bad = stampField(value)
		case "do":
			l.verb, bad = textValue(value)
		case "by":
			l.by = value
		case "key":
			l.key, bad = textValue(value)
		case "kh":
			l.keyHash, bad = textValue(value)
		case "ref":
			l.ref, bad = stampField(value)
		case "fp":
			mark, bad = parsePrint(value)
		case "lift":
			l.lift, bad = idsField(value)
		case "cut":
			l.cut = string(value) == "true"
		case "prev":
			prev = value
		case "d":
			l.data = value
		case "c":
		default:
			l.extra = true
		}
		return bad == nil
	})
	if err = errors.Join(err, bad); err != nil {
		return line{}, err
	}
	if l.tx.IsZero() {
		l.tx = l.stamp
	}
	return l, l.takeChanges(id, prev, mark)
}

func stampField(value []byte) (Stamp, error) {
	s, err := textValue(value)
	if err != nil {
		return Stamp{}, err
	}
	return ParseStamp(s)
}

func idField(value []byte) (memory.ID, error) {
	s, err := textValue(value)
	if err != nil {
		return "", err
	}
	return memory.ParseID(s)
}

func idsField(value []byte) (ids []memory.ID, err error) {
	var names []string
	err = json.Unmarshal(value, &names)
	for _, name := range names {
		id, bad := memory.ParseID(name)
		ids, err = append(ids, id), errors.Join(err, bad)
	}
	return ids, err
}

func (l *line) takeChanges(id memory.ID, prev []byte, mark *fingerprint) error {
	switch l.op {
	case opPut, opSet, opDelete, opPurge:
		l.changes = []change{{op: l.op, id: id, prev: prev, data: l.data}}
		if l.changes[0].buries() {
			l.changes[0].print = mark
		} else {
			l.extra = l.extra || mark != nil // of a later version
		}
		return l.changes[0].check()
	case opAll:
		return l.takeAll()
	}
	return nil
}

func (l *line) takeAll() error {
	if !json.Valid(l.data) {
		return fmt.Errorf("d of %s: %w", opAll, errNoList)
	}
	var bad error
	err := eachItem(l.data, func(item []byte) bool {
		bad = l.takeOne(item)
		return bad == nil
	})
	return errors.Join(err, bad)
}

func (l *line) takeOne(item []byte) error {
	one, err := decodeLine(item)
	if err != nil {
		return err
	}
	if len(one.changes) != 1 {
		return fmt.Errorf("%s holds an operation %q", opAll, one.op)
	}
	l.changes = append(l.changes, one.changes[0])
	l.extra = l.extra || one.extra
	return nil
}

// buries reports whether the change hides what is older.
func (c *change) buries() bool { return c.op == opDelete || c.op == opPurge }

func (c *change) check() error {
	if c.id == "" {
		return fmt.Errorf("%s without an id", c.op)
	}
	if !c.buries() && (len(c.data) == 0 || c.data[0] != '{') {
		return fmt.Errorf("%s without d", c.op)
	}
	return nil
}

// appendLine encodes a transaction line and its LF onto b.
func (l *line) append(b []byte) []byte {
	start := len(b)
	b = append(b, `{"v":1,"q":`...)
	b = strconv.AppendUint(b, l.seq, 10)
	b = appendStamp(b, "t", l.stamp)
	b = appendText(b, "op", l.op)
	if l.op != opUse && l.op != opAll {
		b = appendText(b, "id", string(l.changes[0].id))
	}
	if l.op != opUse {
		b = appendStamp(b, "tx", l.tx)
		b = appendText(b, "do", l.verb)
	}
	b = appendRaw(b, "by", l.by)
	if l.key != "" {
		b = appendJSON(b, "key", l.key)
		b = appendText(b, "kh", l.keyHash)
	}
	if !l.ref.IsZero() {
		b = appendStamp(b, "ref", l.ref)
	}
	if len(l.lift) > 0 {
		b = appendRaw(b, "lift", encode(l.lift))
	}
	if l.cut {
		b = append(b, `,"cut":true`...)
	}
	switch {
	case l.op == opUse:
		b = appendRaw(b, "d", l.data)
	case l.op == opAll:
		b = l.appendAll(b)
	default:
		b = l.changes[0].appendPrint(b)
		b = appendRaw(b, "prev", l.changes[0].prev)
		b = appendRaw(b, "d", l.changes[0].data)
	}
	return sealLine(b, start)
}

func (l *line) appendAll(b []byte) []byte {
	b = append(b, `,"d":[`...)
	for i, c := range l.changes {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"op":"`...)
		b = append(b, c.op...)
		b = append(b, '"')
		b = appendText(b, "id", string(c.id))
		b = c.appendPrint(b)
		b = appendRaw(b, "prev", c.prev)
		b = appendRaw(b, "d", c.data)
		b = append(b, '}')
	}
	return append(b, ']')
}

func (c *change) appendPrint(b []byte) []byte {
	if c.print == nil {
		return b
	}
	return appendText(b, "fp", c.print.String())
}

func appendText(b []byte, name, value string) []byte {
	b = append(b, `,"`...)
	b = append(b, name...)
	b = append(b, `":"`...)
	b = append(b, value...)
	return append(b, '"')
}

func appendStamp(b []byte, name string, s Stamp) []byte {
	b = append(b, `,"`...)
	b = append(b, name...)
	b = append(b, `":"`...)
	return append(s.append(b), '"')
}

func appendJSON(b []byte, name, value string) []byte {
	return appendRaw(b, name, encode(value))
}

func appendRaw(b []byte, name string, value []byte) []byte {
	if value == nil {
		return b
	}
	b = append(b, `,"`...)
	b = append(b, name...)
	b = append(b, `":`...)
	return append(b, value...)
}

// encode marshals without HTML escapes, so that the log stays greppable. It
// serves values that always marshal.
func encode(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("stm: encode %T: %v", v, err))
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}
