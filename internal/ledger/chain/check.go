package chain

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"emberd/internal/durable"
)

// maxProblems is how many problems a report names.
const maxProblems = 20

// Report is what a check of the chain found.
type Report struct {
	// Lines are those that hold, without anchors, in their order.
	Lines []Line
	// Problems are sentences, the first line that does not hold first; none if all hold.
	Problems []string

	reason   string // the first problem, in the words of who found it first
	segments []string
	from     int64 // the first line that is kept, 0 if unknown
	lastN    int64 // the last line, and its MAC
	lastMAC  []byte
}

// News returns the problems that no earlier process found.
func (r *Report) News() []string {
	return slices.DeleteFunc(slices.Clone(r.Problems), func(p string) bool {
		return strings.HasPrefix(p, "before ") && strings.Contains(p, ", emberd found: ")
	})
}

func (r *Report) problem(format string, args ...any) {
	r.reason = cmp.Or(r.reason, fmt.Sprintf(format, args...))
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

// found takes what an anchor says that an earlier process found: once, though each process says it again.
func (r *Report) found(at, note string) {
	r.reason = cmp.Or(r.reason, note)
	if !slices.ContainsFunc(r.Problems, func(p string) bool { return strings.HasSuffix(p, note) }) {
		r.problem("emberd found a problem before %s: %s", at, note)
	}
}

// Check reads the whole chain. A folder without one has no lines and no problems.
func (c *Chain) Check() (*Report, error) {
	if _, err := c.fs.Lstat(c.dir); errors.Is(err, fs.ErrNotExist) {
		return &Report{}, nil
	}
	if err := c.readKey(false); errors.Is(err, fs.ErrNotExist) {
		r := &Report{}
		r.problem("the key of the audit log is missing, so emberd cannot check the lines")
		return r, nil
	} else if err != nil {
		return nil, fmt.Errorf("cannot check the audit log: %w", err)
	}
	return c.check(), nil
}

func (c *Chain) check() *Report {
	r := &Report{}
	entries, err := c.fs.ReadDir(c.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.problem("cannot read the folder of the audit log: %v", err)
	}
	for _, entry := range entries {
		if segmentNumber([]string{entry.Name()}) > 0 {
			r.segments = append(r.segments, entry.Name())
		}
	}
	head, headMAC := c.readHead(r)
	if head != nil {
		r.from = head.From
	}
	for i, name := range r.segments {
		c.checkSegment(r, name, i == 0)
	}
	switch {
	case head == nil:
	case head.N > r.lastN:
		r.problem("%s missing at the end: the chain ended with line %d", span(r.lastN+1, head.N), head.N)
		r.lastN, r.lastMAC = head.N, headMAC
	}
	if n := c.End(); c.file != nil && n > r.lastN {
		r.problem("%s missing at the end: this process wrote more lines than the chain contains", span(r.lastN+1, n))
	}
	return r
}

// End returns the number of the last line that was found.
func (r *Report) End() int64 { return r.lastN }

// readHead returns what the head says, nil if it says nothing.
func (c *Chain) readHead(r *Report) (*Line, []byte) {
	text, err := durable.ReadAtMost(c.fs, filepath.Join(c.dir, headKind), maxSmall)
	if errors.Is(err, fs.ErrNotExist) && len(r.segments) == 0 {
		return nil, nil
	}
	if err != nil {
		r.problem("cannot read the head of the chain (%v), so emberd cannot detect missing lines at the end", err)
		return nil, nil
	}
	head, _, ok := c.unseal(nil, text)
	last, bad := hex.DecodeString(head.Last)
	if !ok || bad != nil || head.Kind != headKind {
		r.problem("the head of the chain was changed")
		return nil, nil
	}
	return head, last
}

// checkSegment checks the lines of a segment. A line that does not hold is named, and those after
// it are checked from what it says its MAC is. The first segment begins where its anchor says.
func (c *Chain) checkSegment(r *Report, name string, first bool) {
	text, err := durable.ReadAtMost(c.fs, filepath.Join(c.dir, name), maxRead)
	if err != nil {
		r.problem("cannot read %s: %v", name, err)
		return
	}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		at := fmt.Sprintf("line %d of %s", number, name)
		if first && number == 1 {
			c.startAt(r, line)
		}
		l, mac, ok := c.unseal(r.lastMAC, line)
		switch {
		case mac == nil && !bytes.HasSuffix(line, []byte("\n")):
			continue // torn by a crash; if it was acknowledged before, its number is missing
		case mac == nil:
			r.problem("%s was changed", at)
			r.lastN++
			continue
		case l.N > r.lastN+1:
			r.problem("%s missing before %s", span(r.lastN+1, l.N-1), at)
		case l.N <= r.lastN:
			r.problem("%s is out of order: number %d follows number %d", at, l.N, r.lastN)
		case !ok:
			r.problem("%s (number %d, %s) was changed", at, l.N, l.At.Format("2006-01-02 15:04:05"))
		case l.Kind == Anchor && l.Note != "":
			r.found(at, l.Note)
		case l.Kind != Anchor:
			r.Lines = append(r.Lines, *l)
		}
		r.lastN, r.lastMAC = l.N, mac
	}
}

// startAt takes where the chain is from the anchor of the first segment that is kept. The head
// says which line that has to be.
func (c *Chain) startAt(r *Report, line []byte) {
	l, _, _ := c.unseal(nil, line)
	last, err := hex.DecodeString(l.Last)
	if err != nil || l.Kind != Anchor || l.N < 1 {
		return // which shows as a line that does not hold
	}
	if r.from > 0 && l.N > r.from {
		r.problem("%s missing at the beginning", span(r.from, l.N-1))
	}
	r.lastN, r.lastMAC = l.N-1, last
}

// unseal reads a line. MAC is what it says, nil if it has none; ok reports whether that holds.
func (c *Chain) unseal(last, text []byte) (l *Line, mac []byte, ok bool) {
	l = &Line{}
	body := len(text) - macLength
	if body < 1 || json.Unmarshal(text, l) != nil {
		return l, nil, false
	}
	before, after, _ := strings.Cut(macForm, "%s")
	tail := string(text[body:])
	if !strings.HasPrefix(tail, before) || !strings.HasSuffix(tail, after) {
		return l, nil, false
	}
	mac, err := hex.DecodeString(tail[len(before) : len(tail)-len(after)])
	if err != nil {
		return l, nil, false
	}
	return l, mac, hmac.Equal(mac, c.mac(last, text[:body]))
}

// span names lines by their numbers.
func span(first, last int64) string {
	if first == last {
		return fmt.Sprintf("line %d of the chain is", first)
	}
	return fmt.Sprintf("lines %d to %d of the chain are", first, last)
}

// segmentNumber returns the largest number of segments, 0 for other names.
func segmentNumber(names []string) int64 {
	var all []int64
	for _, name := range names {
		digits, ok := strings.CutSuffix(name, ".jsonl")
		if n, err := strconv.ParseInt(digits, 10, 64); ok && err == nil && len(digits) == 8 {
			all = append(all, n)
		}
	}
	if len(all) == 0 {
		return 0
	}
	return slices.Max(all)
}

// firstLine returns the number of the first line of a segment.
func firstLine(disk durable.FS, name string) (int64, error) {
	text, err := durable.ReadAtMost(disk, name, maxRead)
	if err != nil {
		return 0, err
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	var l Line
	if err := json.Unmarshal(line, &l); err != nil {
		return 0, fmt.Errorf("cannot read the anchor of %s: %w", name, err)
	}
	return l.N, nil
}
