package wal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm/device"
	"emberd/stm/record"
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
	// Hindrance reports why it cannot be accepted, "" when it can.
	Hindrance string
}

// QuarantineDecisions remembers the damaged lines that a human accepted or dropped, by
// the hash of their bytes. They stay in their segment and count no more.
type QuarantineDecisions struct {
	*device.Home

	mu    sync.Mutex // guards known
	known []decision
	// since counts those of this run that recovery had counted as damaged.
	since atomic.Int64
}

// decision is a line of decided.jsonl:
//
//	{"line":"5f70bf18…","name":"s-00000042.jsonl@1234","was":"dropped","at":"2024-11-03T12:00:00Z"}
type decision struct {
	Line string    `json:"line"` // hash
	Name string    `json:"name"`
	Was  string    `json:"was"` // accepted or dropped
	At   time.Time `json:"at"`
}

// load reads what was decided earlier. What cannot be decoded was not decided,
// and is asked again.
func (s *QuarantineDecisions) load(fsys durable.FS, state string) error {
	b, err := durable.ReadAll(fsys, device.DecisionsPath(state))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read what was decided about damaged lines: %w", err)
	}
	for text := range bytes.Lines(b) {
		var one decision
		if json.Unmarshal(text, &one) == nil && one.Line != "" {
			s.known = append(s.known, one)
		}
	}
	return nil
}

func (s *QuarantineDecisions) has(b []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	hash := record.HashOf(b)
	return slices.ContainsFunc(s.known, func(k decision) bool { return k.Line == hash })
}

// hashes are those of the lines that were decided about by now.
func (s *QuarantineDecisions) hashes() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]bool, len(s.known))
	for _, k := range s.known {
		all[k.Line] = true
	}
	return all
}

// Quarantine lists the damaged lines of this device that no person has decided
// about, in the order of the log.
func (s *QuarantineDecisions) Quarantine() ([]Quarantined, error) {
	entries, err := s.FS.ReadDir(s.QuarantineDir())
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

// damagedName is what copies of damaged lines are called: a file of the log, and an offset.
var damagedName = regexp.MustCompile(`^[0-9A-Za-z_-][0-9A-Za-z._-]{0,99}@[0-9]{1,19}$`)

// Quarantined returns one damaged line by its name.
func (s *QuarantineDecisions) Quarantined(name string) (Quarantined, error) {
	if !damagedName.MatchString(name) {
		return Quarantined{}, memory.Errorf(memory.Invalid,
			"%.80q names no damaged line; emberd doctor quarantine list shows names such as s-00000042.jsonl@1234",
			name).At("name")
	}
	return s.quarantined(name)
}

func (s *QuarantineDecisions) quarantined(name string) (Quarantined, error) {
	b, err := durable.ReadAll(s.FS, filepath.Join(s.QuarantineDir(), name))
	if errors.Is(err, fs.ErrNotExist) {
		return Quarantined{}, memory.Errorf(memory.NotFound,
			"no damaged line %s is in the quarantine; emberd doctor quarantine list shows those that are",
			name).At("name")
	}
	if err != nil {
		return Quarantined{}, fmt.Errorf("read a damaged line: %w", err)
	}
	l := record.ReadLine(record.LogLine{}, b, len(b), bytes.HasSuffix(b, []byte("\n")))
	q := Quarantined{Name: name, Text: b, Reason: l.Reason, Op: l.Op, Verb: l.Verb}
	if l.State == record.LineGood {
		q.Reason = "it is damaged in the log; the copy is not"
	}
	if !l.Stamp.IsZero() {
		q.At = l.Stamp.Time()
	}
	if len(l.Changes) == 1 {
		q.ID = l.Changes[0].ID
	}
	if _, err := s.Acceptable(b); err != nil {
		q.Hindrance = err.Error()
	}
	return q, nil
}

// Acceptable decodes a damaged line that a human can vouch for.
func (s *QuarantineDecisions) Acceptable(b []byte) (*record.Line, error) {
	b = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimLeft(b, "\x00"), []byte("\ufeff")))
	l, err := record.ParseEdit(b)
	if err == nil && (&record.Clock{Now: s.Now}).Future(l.Stamp) {
		err = errors.New("it is stamped more than a day ahead")
	}
	return &l, err
}

// Drop says that a damaged line is not needed. Its copy is removed; the line
// itself stays in its segment until compaction and is not counted again.
func (s *QuarantineDecisions) Drop(name string) error {
	q, err := s.Quarantined(name)
	if err != nil {
		return err
	}
	return s.Decide(q, "dropped")
}

// remember writes decisions. The lock is held.
func (s *QuarantineDecisions) remember(known []decision) error {
	var b []byte
	for _, d := range known {
		b = append(append(b, record.Encode(d)...), '\n')
	}
	err := durable.MkdirAll(s.FS, s.QuarantineDir())
	if err == nil {
		err = durable.ReplaceFile(s.FS, s.DecisionsPath(), b)
	}
	if err != nil {
		return fmt.Errorf("remember the decision: %w", err)
	}
	s.known = known
	return nil
}

// Decide remembers first and removes the copy then, so that a crash in between
// leaves a copy and not a question.
func (s *QuarantineDecisions) Decide(q Quarantined, was string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := append(slices.Clone(s.known), decision{Line: record.HashOf(q.Text), Name: q.Name, Was: was,
		At: s.Now().UTC()})
	if err := s.remember(known); err != nil {
		return err
	}
	if bytes.HasSuffix(q.Text, []byte("\n")) { // one without was counted as unfinished
		s.since.Add(1)
	}
	err := s.FS.Remove(filepath.Join(s.QuarantineDir(), q.Name))
	if err == nil {
		err = s.FS.SyncDir(s.QuarantineDir())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the copy of a damaged line: %w", err)
	}
	return nil
}

// dropMoot removes the copies of damaged lines that are not in the log any more, while no record is missing.
func (h healer) dropMoot() {
	damaged, err := h.Decided.Quarantine()
	for _, q := range damaged {
		if !h.holds(&q) {
			err = errors.Join(err, h.FS.Remove(filepath.Join(h.QuarantineDir(), q.Name)))
		}
	}
	if err != nil {
		h.Logger.Warn("copies of damaged lines that are gone are still listed", "error", err)
	}
}

// holds reports whether a damaged line is where it was met. What cannot be read may be there.
func (h healer) holds(q *Quarantined) bool {
	base, at, _ := strings.Cut(q.Name, "@")
	offset, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return true
	}
	dir := h.OwnDir()
	if former, rest, ok := strings.Cut(base, "-"); ok && h.IsFormer(filepath.Join(h.Data, "stm", former)) {
		dir, base = filepath.Join(h.Data, "stm", former), rest
	}
	f, err := h.FS.OpenRead(filepath.Join(dir, base))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	b := make([]byte, len(q.Text))
	n, err := f.ReadAt(b, offset)
	return err != nil && !errors.Is(err, io.EOF) || bytes.Equal(b[:n], q.Text)
}
