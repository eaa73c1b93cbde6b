package stm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
)

// Quarantined is a damaged line of this device's log that was passed over. What
// it seems to say is as its bytes read; no checksum vouches for it.
type Quarantined struct {
	Name   string // of the file and the offset in it: s-00000042.jsonl@1234
	Text   []byte // verbatim
	Reason string
	At     time.Time // of its stamp, zero if that cannot be read
	Op     string
	Verb   string
	ID     memory.ID
	// Hindrance says why it cannot be accepted, "" when it can.
	Hindrance string
}

// decisions remembers the damaged lines that a human accepted or dropped, by
// the hash of their bytes. They stay in their segment and count no more.
type decisions struct {
	mu    sync.Mutex // guards known
	known []decision
	// since counts those of this run that recovery had counted as damaged.
	since atomic.Int64
}

// decision is a line of decided.jsonl.
type decision struct {
	Line string    `json:"line"` // hash
	Name string    `json:"name"`
	Was  string    `json:"was"` // accepted or dropped
	At   time.Time `json:"at"`
}

func (s *Store) quarantineDir() string { return filepath.Join(s.state, "quarantine") }
func (s *Store) decisionsPath() string { return decisionsPath(s.state) }

func decisionsPath(state string) string { return filepath.Join(state, "quarantine", "decided.jsonl") }

// load reads what was decided earlier. What cannot be decoded was not decided,
// and is asked again.
func (d *decisions) load(fsys durable.FS, state string) error {
	b, err := durable.ReadAll(fsys, decisionsPath(state))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read what was decided about damaged lines: %w", err)
	}
	for text := range bytes.Lines(b) {
		var one decision
		if json.Unmarshal(text, &one) == nil && one.Line != "" {
			d.known = append(d.known, one)
		}
	}
	return nil
}

func (d *decisions) has(b []byte) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	hash := hashOf(b)
	return slices.ContainsFunc(d.known, func(k decision) bool { return k.Line == hash })
}

// hashes are those of the lines that were decided about by now.
func (d *decisions) hashes() map[string]bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make(map[string]bool, len(d.known))
	for _, k := range d.known {
		all[k.Line] = true
	}
	return all
}

// hashOf is what a damaged line is known by.
func hashOf(b []byte) string { return nameOf(bytes.TrimSpace(b)) }

// Quarantine lists the damaged lines of this device that nobody has decided
// about, in the order of the log.
func (s *Store) Quarantine() ([]Quarantined, error) {
	entries, err := s.fs.ReadDir(s.quarantineDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the quarantine: %w", err)
	}
	var out []Quarantined
	for _, e := range entries {
		if !damagedName.MatchString(e.Name()) {
			continue
		}
		q, err := s.quarantined(e.Name())
		if err != nil {
			return nil, err
		}
		out = append(out, q)
	}
	slices.SortFunc(out, func(a, b Quarantined) int {
		fileA, atA, _ := strings.Cut(a.Name, "@")
		fileB, atB, _ := strings.Cut(b.Name, "@")
		if fileA == fileB { // longer offsets are larger
			return strings.Compare(fmt.Sprintf("%20s", atA), fmt.Sprintf("%20s", atB))
		}
		return strings.Compare(fileA, fileB)
	})
	return out, nil
}

// CountQuarantined counts the lines that [Store.Quarantine] of the store with this state folder
// would list. It opens no store, and only reads.
func CountQuarantined(fsys durable.FS, state string) (n int, err error) {
	entries, err := fsys.ReadDir(filepath.Join(state, "quarantine"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("list the quarantine: %w", err)
	}
	for _, e := range entries {
		if damagedName.MatchString(e.Name()) {
			n++
		}
	}
	return n, nil
}

// damagedName is what copies of damaged lines are called: a file of the log, and an offset.
var damagedName = regexp.MustCompile(`^[0-9A-Za-z_-][0-9A-Za-z._-]{0,99}@[0-9]{1,19}$`)

// Quarantined returns one damaged line by its name.
func (s *Store) Quarantined(name string) (Quarantined, error) {
	if !damagedName.MatchString(name) {
		return Quarantined{}, memory.Errorf(memory.Invalid, "%.80q names no damaged line; emberd doctor quarantine list shows names such as s-00000042.jsonl@1234", name).At("name")
	}
	return s.quarantined(name)
}

func (s *Store) quarantined(name string) (Quarantined, error) {
	b, err := durable.ReadAll(s.fs, filepath.Join(s.quarantineDir(), name))
	if errors.Is(err, fs.ErrNotExist) {
		return Quarantined{}, memory.Errorf(memory.NotFound, "no damaged line %s is in the quarantine; emberd doctor quarantine list shows those that are", name).At("name")
	}
	if err != nil {
		return Quarantined{}, fmt.Errorf("read a damaged line: %w", err)
	}
	l := readLine(LogLine{}, b, len(b), bytes.HasSuffix(b, []byte("\n")))
	q := Quarantined{Name: name, Text: b, Reason: l.Reason, Op: l.Op, Verb: l.Verb}
	if l.State == LineGood {
		q.Reason = "it is damaged in the log; the copy is not"
	}
	if !l.Stamp.IsZero() {
		q.At = l.Stamp.Time()
	}
	if len(l.Changes) == 1 {
		q.ID = l.Changes[0].ID
	}
	if _, err := s.acceptable(b); err != nil {
		q.Hindrance = err.Error()
	}
	return q, nil
}

// acceptable decodes a damaged line that a human can vouch for.
func (s *Store) acceptable(b []byte) (*line, error) {
	b = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimLeft(b, "\x00"), []byte("\ufeff")))
	l, err := parseEdit(b)
	if err == nil && (&hlc{now: s.now}).future(l.stamp) {
		err = errors.New("it is stamped more than a day ahead")
	}
	return &l, err
}

// Accept says that a damaged line is right. It counts at its own stamp: what of
// it was not written again since is written as a new transaction, and the line
// is remembered as accepted. The receipt has no entry when nothing was left to
// write. A crash in between leaves a line that can be accepted again.
func (s *Store) Accept(ctx context.Context, name string, by memory.Actor) (memory.ID, Receipt, error) {
	q, err := s.Quarantined(name)
	if err != nil {
		return "", Receipt{}, err
	}
	l, err := s.acceptable(q.Text)
	if err != nil {
		return "", Receipt{}, memory.Errorf(memory.Invalid, "the damaged line %s cannot be accepted: %w; drop it, or save what it says anew", name, err).At("name")
	}
	id := l.changes[0].id
	got, err := s.Update(ctx, []memory.ID{id}, "", func([]*Row) (*Tx, error) {
		set, err := s.heldBy(l)
		if err != nil || len(set) == 0 {
			return nil, err
		}
		return &Tx{Verb: "accept", By: by, Changes: []Change{{ID: id, Set: set, Allowed: true}}}, nil
	})
	if err != nil {
		return id, got, err
	}
	return id, got, s.decide(q, "accepted")
}

// Acceptance tells what accepting a damaged line would change now.
func (s *Store) Acceptance(q Quarantined) []Field {
	l, err := s.acceptable(q.Text)
	if err != nil {
		return nil
	}
	set, err := s.heldBy(l)
	if err != nil {
		return nil
	}
	var doc []byte
	if row := s.table.get(l.changes[0].id); row != nil {
		doc = row.doc
	}
	var out []Field
	for _, key := range slices.Sorted(maps.Keys(set)) {
		out = append(out, Field{Name: key, From: bytes.Clone(member(doc, key)), To: set[key]})
	}
	return out
}

// heldBy returns the keys of a line that would hold if it had been read like any
// other, and have another value now.
func (s *Store) heldBy(l *line) (map[string]json.RawMessage, error) {
	c := &l.changes[0]
	row := &Row{key: c.id.Bytes()}
	if cell := s.table.cell(row.key); cell != nil {
		row = cell.row.Load()
	}
	at := l.stamp
	if at.IsZero() { // a human wrote the line
		at = Stamp{T: uint64(s.now().UnixMilli()) << 16, Dev: s.device}
	}
	if !at.after(row.rest().tomb) {
		return nil, nil // forgotten since
	}
	if c.op == opSet && !row.live() {
		return nil, memory.Errorf(memory.NotFound, "memory %s, which the line changes, is not there; restore it first, or drop the line", c.id).At("name")
	}
	set := map[string]json.RawMessage{}
	err := eachField(c.data, func(name, value []byte) bool {
		key := string(name)
		switch holds := at.after(row.stampOf(key)); {
		case holds && (!row.live() || !same(row.value(key), value)):
			set[key] = bytes.Clone(value)
		case !holds && !row.live(): // a later change of a memory that is made only now
			set[key] = row.value(key)
		}
		return true
	})
	return set, err
}

// Drop says that a damaged line is not needed. Its copy is removed; the line
// itself stays in its segment until compaction and is not counted again.
func (s *Store) Drop(name string) error {
	q, err := s.Quarantined(name)
	if err != nil {
		return err
	}
	return s.decide(q, "dropped")
}

// decide remembers first and removes the copy then, so that a crash in between
// leaves a copy and not a question.
func (s *Store) decide(q Quarantined, was string) error {
	s.decided.mu.Lock()
	defer s.decided.mu.Unlock()
	known := append(slices.Clone(s.decided.known), decision{Line: hashOf(q.Text), Name: q.Name, Was: was, At: s.now().UTC()})
	var b []byte
	for _, d := range known {
		b = append(append(b, encode(d)...), '\n')
	}
	if err := durable.ReplaceFile(s.fs, s.decisionsPath(), b); err != nil {
		return fmt.Errorf("remember the decision: %w", err)
	}
	s.decided.known = known
	if bytes.HasSuffix(q.Text, []byte("\n")) { // one without was counted as unfinished
		s.decided.since.Add(1)
	}
	err := s.fs.Remove(filepath.Join(s.quarantineDir(), q.Name))
	if err == nil {
		err = s.fs.SyncDir(s.quarantineDir())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the copy of a damaged line: %w", err)
	}
	return nil
}
