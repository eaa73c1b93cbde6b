// Package quarantine keeps copies of the damaged lines of this device's log, and what was decided about them.
//
//	state/quarantine/s-00000042.jsonl@1234    the line at byte 1234 of stm/<device>/s-00000042.jsonl
//	state/quarantine/decided.jsonl            what was decided, one decision a line
//
// The line itself stays in its file until a compaction leaves it out. A decision is written before the
// copy is removed, so that a crash in between leaves a copy and not a question. A copy that cannot be
// made or removed costs nothing but a line in a list: the log is what counts.
package quarantine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"emberd/internal/durable"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/stm/device"
	"emberd/stm/record"
)

// A Line is a damaged line of this device's log that was passed over. What it seems to say is as its
// bytes read; no checksum vouches for it.
type Line struct {
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

// Lines are the damaged lines of this device, and the decisions about them, which go by the hash of their
// bytes. Any goroutine may use it.
type Lines struct {
	*device.Home

	mu    sync.Mutex // guards known
	known []decision
	since atomic.Int64 // see Since
}

// List returns the damaged lines of this device that no person has decided
// about, in the order of the log.
func (s *Lines) List() ([]Line, error) {
	names, err := names(s.FS, s.State)
	if err != nil {
		return nil, err
	}
	var out []Line
	for _, name := range names {
		q, err := s.read(name)
		if err != nil {
			return nil, err
		}
		out = append(out, q)
	}
	slices.SortFunc(out, func(a, b Line) int {
		fileA, atA, _ := strings.Cut(a.Name, "@")
		fileB, atB, _ := strings.Cut(b.Name, "@")
		if fileA == fileB { // longer offsets are larger
			return strings.Compare(fmt.Sprintf("%20s", atA), fmt.Sprintf("%20s", atB))
		}
		return strings.Compare(fileA, fileB)
	})
	return out, nil
}

// names lists the copies in the quarantine of a state folder.
func names(fsys durable.FS, state string) (names []string, err error) {
	entries, err := fsys.ReadDir(filepath.Join(state, "quarantine"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot list the quarantine: %w", err)
	}
	for _, e := range entries {
		if damagedName().MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Count counts the lines that [Lines.List] returns for the store with this state folder. It opens no
// store, and only reads.
func Count(fsys durable.FS, state string) (int, error) {
	names, err := names(fsys, state)
	return len(names), err
}

// damagedName is what copies of damaged lines are called: a file of the log, and an offset.
var damagedName = text.Pattern(`^[0-9A-Za-z_-][0-9A-Za-z._-]{0,99}@[0-9]{1,19}$`)

// Named returns one damaged line by its name.
func (s *Lines) Named(name string) (Line, error) {
	if !damagedName().MatchString(name) {
		return Line{}, memory.Errorf(memory.Invalid, "invalid name of a damaged line %.80q; copy a name such as "+
			"s-00000042.jsonl@1234 from emberd doctor quarantine list", name).At("name")
	}
	return s.read(name)
}

func (s *Lines) read(name string) (Line, error) {
	b, err := durable.ReadAll(s.FS, filepath.Join(s.QuarantineDir(), name))
	if errors.Is(err, fs.ErrNotExist) {
		return Line{}, memory.Errorf(memory.NotFound, "damaged line %s not found; run: emberd doctor quarantine list",
			name).At("name")
	}
	if err != nil {
		return Line{}, fmt.Errorf("cannot read a damaged line: %w", err)
	}
	l := record.ReadLine(record.LogLine{}, b, len(b), bytes.HasSuffix(b, []byte("\n")))
	q := Line{Name: name, Text: b, Reason: l.Reason, Op: l.Op, Verb: l.Verb}
	if l.State == record.LineGood {
		q.Reason = "the line is damaged in the log, but its copy is not"
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
func (s *Lines) Acceptable(b []byte) (*record.Line, error) {
	b = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimLeft(b, "\x00"), []byte("\ufeff")))
	l, err := record.ParseEdit(b)
	if err == nil && (&record.Clock{Now: s.Now}).Future(l.Stamp) {
		err = errors.New("the timestamp of the line is more than a day in the future")
	}
	return &l, err
}
