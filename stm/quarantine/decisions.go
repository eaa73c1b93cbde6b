package quarantine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm/device"
	"emberd/stm/record"
)

// decision is a line of decided.jsonl:
//
//	{"line":"5f70bf18…","name":"s-00000042.jsonl@1234","was":"dropped","at":"2024-11-03T12:00:00Z"}
type decision struct {
	Line string    `json:"line"` // hash
	Name string    `json:"name"`
	Was  string    `json:"was"` // accepted or dropped
	At   time.Time `json:"at"`
}

// Open reads what was decided earlier. What cannot be decoded was not decided, and is asked again. After an
// error the result knows of no decision.
func Open(h *device.Home) (*Lines, error) {
	s := &Lines{Home: h}
	b, err := durable.ReadAll(h.FS, s.decisionsPath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, fmt.Errorf("cannot read the decisions about damaged lines: %w", err)
	}
	for text := range bytes.Lines(b) {
		var one decision
		if json.Unmarshal(text, &one) == nil && one.Line != "" {
			s.known = append(s.known, one)
		}
	}
	return s, nil
}

func (s *Lines) decisionsPath() string { return filepath.Join(s.QuarantineDir(), "decided.jsonl") }

// Has reports whether a line with these bytes was decided about.
func (s *Lines) Has(b []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	hash := record.HashOf(b)
	return slices.ContainsFunc(s.known, func(k decision) bool { return k.Line == hash })
}

// Hashes are those of the lines that were decided about by now.
func (s *Lines) Hashes() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]bool, len(s.known))
	for _, k := range s.known {
		all[k.Line] = true
	}
	return all
}

// Since counts the damaged lines that were decided about since the start.
func (s *Lines) Since() int { return int(s.since.Load()) }

// Drop says that a damaged line is not needed. Its copy is removed; the line
// itself stays in its segment until compaction and is not counted again.
func (s *Lines) Drop(name string) error {
	q, err := s.Named(name)
	if err != nil {
		return err
	}
	return s.Decide(q, "dropped")
}

// remember writes decisions. The lock is held.
func (s *Lines) remember(known []decision) error {
	var b []byte
	for _, d := range known {
		b = append(append(b, record.Encode(d)...), '\n')
	}
	err := durable.MkdirAll(s.FS, s.QuarantineDir())
	if err == nil {
		err = durable.ReplaceFile(s.FS, s.decisionsPath(), b)
	}
	if err != nil {
		return fmt.Errorf("cannot store the decision about a damaged line: %w", err)
	}
	s.known = known
	return nil
}

// Decide remembers first and removes the copy then, so that a crash in between
// leaves a copy and not a question.
func (s *Lines) Decide(q Line, was string) error {
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
		return fmt.Errorf("cannot remove the copy of a damaged line: %w", err)
	}
	return nil
}

// Settle decides about all damaged lines whose content came back from a copy. What a person may have meant to
// write is for a person.
func (s *Lines) Settle() {
	damaged, err := s.List()
	for _, q := range damaged {
		if q.Hindrance != "" || record.OneBit(q.Text) {
			err = errors.Join(err, s.Decide(q, "recovered"))
		}
	}
	if err != nil {
		s.Logger.Warn("restored damaged lines are still listed", "error", err)
	}
}

// bareLine stands for the text of a deleted memory among the decisions about damaged lines.
func bareLine(key [16]byte, deleted record.Stamp) []byte {
	return fmt.Appendf(nil, "text of %s deleted at %s", memory.IDFromBytes(key), deleted)
}

// GaveUp reports whether the text of a deleted memory is missed no more.
func (s *Lines) GaveUp(key [16]byte, deleted record.Stamp) bool { return s.Has(bareLine(key, deleted)) }

// GiveUp remembers that the texts of deleted memories are missed no more.
func (s *Lines) GiveUp(bare map[[16]byte]record.Stamp) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := slices.Clone(s.known)
	for key, at := range bare {
		known = append(known, decision{Line: record.HashOf(bareLine(key, at)),
			Name: string(memory.IDFromBytes(key)), Was: "given up", At: s.Now().UTC()})
	}
	if len(bare) == 0 {
		return nil
	}
	return s.remember(known)
}
