package record

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"time"

	"emberd/internal/stamp"
	"emberd/memory"
)

// What is on disk. These never change; a new meaning takes a new name.
const (
	FormatVersion = 1
	OpSegment     = "seg"   // first line of a segment
	OpSeal        = "seal"  // last line of a segment that was closed in order
	OpPut         = "put"   // a whole memory: creates it, or brings it back
	OpSet         = "set"   // new values for some keys of a memory
	OpDelete      = "del"   // a tombstone; prev holds what it covers
	OpAll         = "all"   // several of the three, all or none
	OpPurge       = "purge" // a tombstone for good: nothing of the memory is kept
	OpUse         = "use"   // running totals of use, by memory

	SuffixLen = 16 // ,"c":"9f8e7d6c"}

	// MaxLine bounds a line in bytes. The largest content, all of it control
	// characters (six bytes each in JSON), fits twice: new and superseded.
	MaxLine = 4 << 20
)

// Recovered is the verb of a line that a copy of the log brought back.
const Recovered = "recover"

var Castagnoli = crc32.MakeTable(crc32.Castagnoli)

var (
	ErrChecksum = errors.New("checksum does not match")
	ErrNoSum    = errors.New("line has no checksum")
)

// Line is one decoded line of a segment. Its slices alias the bytes it was
// decoded from.
type Line struct {
	Version int
	Seq     uint64
	Stamp   Stamp
	Op      string
	Tx      Stamp
	Verb    string
	By      []byte
	Key     string
	KeyHash string
	Ref     Stamp
	Lift    []memory.ID // forgotten memories whose text may be saved again
	Audit   string      // seal of the audit log of the device: who made the change, and when
	Cut     bool        // compaction took out what no longer counts; the whole line is in the history
	Extra   bool        // it has members that this version does not know
	Packed  bool        // an OpAll whose changes are compressed, with their ids before them
	Changes []Change
	Data    []byte // d of seg, seal and use lines
	At      Place
}

// Change is one operation on one memory.
type Change struct {
	Op   string
	ID   memory.ID
	Prev []byte // {"t":stamp,"d":{…}}: what this operation supersedes; nil when nothing
	Data []byte // JSON object of keys and values; nil for a delete

	Print *Fingerprint // of the text that a caller deleted; nil if there is none

	// ready is what ranking reads of data, where data is a whole memory that the
	// row may keep. The caller's goroutine makes it, which spares the writer's.
	Ready *Facets
}

// Verify verifies the checksum of a line without its LF.
func Verify(b []byte) error {
	n := len(b) - SuffixLen
	if n < 1 || b[0] != '{' || !bytes.HasPrefix(b[n:], []byte(`,"c":"`)) || string(b[len(b)-2:]) != `"}` {
		return ErrNoSum
	}
	var want [4]byte
	if _, err := hex.Decode(want[:], b[n+6:n+14]); err != nil {
		return ErrNoSum
	}
	if crc32.Checksum(b[:n], Castagnoli) != uint32(want[0])<<24|uint32(want[1])<<16|uint32(want[2])<<8|uint32(want[3]) {
		return ErrChecksum
	}
	return nil
}

// SealLine appends checksum, closing brace and LF to an object that was begun
// at start and is still open.
func SealLine(b []byte, start int) []byte {
	sum := crc32.Checksum(b[start:], Castagnoli)
	b = append(b, `,"c":"`...)
	b = stamp.AppendHex(b, uint64(sum), 8)
	return append(b, "\"}\n"...)
}

// Decode reads the fields of a line, checksum aside. Members it does not
// know are passed over.
func Decode(b []byte) (Line, error) {
	var l Line
	var id memory.ID
	var prev, packed []byte
	var ids []memory.ID
	var from bool
	var mark *Fingerprint
	var bad error
	err := EachField(b, func(name, value []byte) bool {
		switch string(name) {
		case "v":
			l.Version, bad = strconv.Atoi(string(value))
		case "q":
			l.Seq, bad = strconv.ParseUint(string(value), 10, 64)
		case "t":
			l.Stamp, bad = stampField(value)
		case "op":
			l.Op, bad = Text(value)
		case "id":
			id, bad = idField(value)
		case "tx":
			l.Tx, bad = stampField(value)
		case "do":
			l.Verb, bad = Text(value)
		case "by":
			l.By = value
		case "key":
			l.Key, bad = Text(value)
		case "kh":
			l.KeyHash, bad = Text(value)
		case "ref":
			l.Ref, bad = stampField(value)
		case "fp":
			mark, bad = parsePrint(value)
		case "lift":
			l.Lift, bad = idsField(value)
		case "ids":
			ids, bad = idsField(value)
		case "z":
			packed = value
		case "from": // of packed lines
			from = true
		case "au":
			l.Audit, bad = Text(value)
		case "cut":
			l.Cut = string(value) == "true"
		case "prev":
			prev = value
		case "d":
			l.Data = value
		case "c":
		default:
			l.Extra = true
		}
		return bad == nil
	})
	if err = errors.Join(err, bad); err != nil {
		return Line{}, err
	}
	if l.Tx.IsZero() {
		l.Tx = l.Stamp
	}
	if packed != nil {
		return l, l.unpack(ids, packed)
	}
	l.Extra = l.Extra || ids != nil || from // of a later version
	return l, l.takeChanges(id, prev, mark)
}

func stampField(value []byte) (Stamp, error) {
	s, err := Text(value)
	if err != nil {
		return Stamp{}, err
	}
	return ParseStamp(s)
}

func idField(value []byte) (memory.ID, error) {
	s, err := Text(value)
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

func (l *Line) takeChanges(id memory.ID, prev []byte, mark *Fingerprint) error {
	switch l.Op {
	case OpPut, OpSet, OpDelete, OpPurge:
		l.Changes = []Change{{Op: l.Op, ID: id, Prev: prev, Data: l.Data}}
		if l.Changes[0].IsDelete() {
			l.Changes[0].Print = mark
		} else {
			l.Extra = l.Extra || mark != nil // of a later version
		}
		return l.Changes[0].check()
	case OpAll:
		return l.takeAll()
	}
	return nil
}

func (l *Line) takeAll() error {
	if !json.Valid(l.Data) {
		return fmt.Errorf("d of %s: %w", OpAll, errNoList)
	}
	var bad error
	err := EachItem(l.Data, func(item []byte) bool {
		bad = l.takeOne(item)
		return bad == nil
	})
	return errors.Join(err, bad)
}

func (l *Line) takeOne(item []byte) error {
	one, err := Decode(item)
	if err != nil {
		return err
	}
	if len(one.Changes) != 1 {
		return fmt.Errorf("operation %s contains the unknown operation %q", OpAll, one.Op)
	}
	l.Changes = append(l.Changes, one.Changes[0])
	l.Extra = l.Extra || one.Extra
	return nil
}

// IsDelete reports whether the change hides what is older.
func (c *Change) IsDelete() bool { return c.Op == OpDelete || c.Op == OpPurge }

func (c *Change) check() error {
	if c.ID == "" {
		return fmt.Errorf("operation %s has no memory ID", c.Op)
	}
	if !c.IsDelete() && (len(c.Data) == 0 || c.Data[0] != '{') {
		return fmt.Errorf("%s without d", c.Op)
	}
	return nil
}

// Append encodes a transaction line and its LF onto b.
func (l *Line) Append(b []byte) []byte {
	start := len(b)
	b = append(b, `{"v":1,"q":`...)
	b = strconv.AppendUint(b, l.Seq, 10)
	b = appendStamp(b, "t", l.Stamp)
	b = appendText(b, "op", l.Op)
	if l.Op != OpUse && l.Op != OpAll {
		b = appendText(b, "id", string(l.Changes[0].ID))
	}
	if l.Op != OpUse {
		b = appendStamp(b, "tx", l.Tx)
		b = appendText(b, "do", l.Verb)
	}
	b = appendRaw(b, "by", l.By)
	if l.Key != "" {
		b = appendJSON(b, "key", l.Key)
		b = appendText(b, "kh", l.KeyHash)
	}
	if !l.Ref.IsZero() {
		b = appendStamp(b, "ref", l.Ref)
	}
	if len(l.Lift) > 0 {
		b = appendRaw(b, "lift", Encode(l.Lift))
	}
	if l.Audit != "" {
		b = appendText(b, "au", l.Audit)
	}
	if l.Cut {
		b = append(b, `,"cut":true`...)
	}
	switch {
	case l.Op == OpUse:
		b = appendRaw(b, "d", l.Data)
	case l.Packed && l.packs():
		b = l.appendPacked(b)
	case l.Op == OpAll:
		b = l.appendAll(b)
	default:
		b = l.Changes[0].appendPrint(b)
		b = appendRaw(b, "prev", l.Changes[0].Prev)
		b = appendRaw(b, "d", l.Changes[0].Data)
	}
	return SealLine(b, start)
}

func (l *Line) appendAll(b []byte) []byte {
	b = append(b, `,"d":[`...)
	for i, c := range l.Changes {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"op":"`...)
		b = append(b, c.Op...)
		b = append(b, '"')
		b = appendText(b, "id", string(c.ID))
		b = c.appendPrint(b)
		b = appendRaw(b, "prev", c.Prev)
		b = appendRaw(b, "d", c.Data)
		b = append(b, '}')
	}
	return append(b, ']')
}

func (c *Change) appendPrint(b []byte) []byte {
	if c.Print == nil {
		return b
	}
	return appendText(b, "fp", c.Print.String())
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
	return append(s.Append(b), '"')
}

func appendJSON(b []byte, name, value string) []byte {
	return appendRaw(b, name, Encode(value))
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

// Encode marshals without HTML escapes, so that the log stays greppable. It
// serves values that always marshal.
func Encode(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("stm: encode %T: %v", v, err))
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

// Clone copies what aliases the bytes that the line was read from.
func (l *Line) Clone() Line {
	c := *l
	c.By, c.Data, c.Changes = bytes.Clone(l.By), bytes.Clone(l.Data), slices.Clone(l.Changes)
	for i := range c.Changes {
		c.Changes[i].Data, c.Changes[i].Prev = bytes.Clone(c.Changes[i].Data), bytes.Clone(c.Changes[i].Prev)
	}
	return c
}

// Itself is the Via of the actor of what emberd does by itself, which an undo
// that names no entry passes over.
const Itself = "emberd"

// VaultClient is the Client of that actor where emberd writes down what a person changed in a note.
const VaultClient = "vault"

// Entry is one line of the journal: everything one request changed.
type Entry struct {
	Tx   string
	Verb string
	At   time.Time
	By   memory.Actor
	IDs  []memory.ID
	// Seq and Stamp are those of the line itself, which may join an earlier entry.
	Seq   uint64
	Stamp Stamp
}

// ImportVerb is the verb of what a caller imported.
const ImportVerb = "import"

// Unasked reports whether no caller asked for a line: emberd wrote it by itself, or for a hook of a coding agent. A
// caller asked for an import of sessions, whose actor is the hook that would have reported them.
func (l *Line) Unasked() bool {
	return bytes.Contains(l.By, []byte(`"via":"`+Itself+`"`)) ||
		l.Verb != ImportVerb && bytes.Contains(l.By, []byte(`"client":"hook/`))
}

// Unasked is [Line.Unasked] for an entry that was read before.
func (e *Entry) Unasked() bool {
	by, err := json.Marshal(e.By)
	return err == nil && (&Line{Verb: e.Verb, By: by}).Unasked()
}

func (l *Line) Purges() bool {
	return slices.ContainsFunc(l.Changes, func(c Change) bool { return c.Op == OpPurge })
}

func (l *Line) Entry() Entry {
	var by memory.Actor
	if l.By != nil {
		// The actor is for display; an invalid value becomes the zero Actor.
		_ = json.Unmarshal(l.By, &by)
	}
	return l.EntryBy(by)
}

func (l *Line) EntryBy(by memory.Actor) Entry {
	e := Entry{Tx: l.Tx.String(), Verb: l.Verb, At: l.Stamp.Time(), By: by, Seq: l.Seq, Stamp: l.Stamp}
	for _, c := range l.Changes {
		e.IDs = append(e.IDs, c.ID)
	}
	return e
}

// Superseded is what a change covered: the revision before it, the texts that a new text was
// made from, and the values of the keys it wrote (of all keys, for a delete).
type Superseded struct {
	Rev  string                     `json:"t"`
	From []string                   `json:"from"`
	Keys map[string]json.RawMessage `json:"d"`
}

func (c *Change) Superseded() (Superseded, error) {
	var p Superseded
	if c.Prev == nil {
		return p, nil
	}
	if err := json.Unmarshal(c.Prev, &p); err != nil {
		return p, fmt.Errorf("cannot decode the superseded value of memory %s: %w", c.ID, err)
	}
	return p, nil
}

// From returns the texts that a change of the text was made from, by the stamps of what wrote
// them: first the one that it replaced, then others that its writer knew. Lines of earlier versions
// do not say so, and other changes have none.
func (c *Change) From() (at []Stamp) {
	if c.Op != OpSet || c.Prev == nil {
		return nil
	}
	list := Member(c.Prev, "from")
	if list == nil {
		return nil
	}
	// A list of another shape names nothing.
	_ = EachItem(list, func(item []byte) bool {
		if s, err := stampField(item); err == nil {
			at = append(at, s)
		}
		return true
	})
	return at
}
