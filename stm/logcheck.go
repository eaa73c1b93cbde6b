package stm

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"emberd/internal/durable"
)

// LogCheck is what reading every line of a log showed.
type LogCheck struct {
	Files []FileCheck
	// Missing are sequence numbers that no file of a device holds, unless a
	// damaged line in their place explains them.
	Missing []LogFinding
}

// FileCheck is what reading one file showed.
type FileCheck struct {
	File     string
	Lines    int
	Bytes    int64
	Sealed   bool      // its last line says that it is whole, and it is
	Newest   time.Time // stamp of a record, zero if there is none
	Findings []LogFinding
}

// LogFinding is one thing that is wrong, or, if Harmless, one that a crash or a
// later version explains and that costs nothing that was acknowledged.
type LogFinding struct {
	File     string
	Offset   int64
	Line     int // 0 for the file as a whole
	Reason   string
	Harmless bool
}

// Newest is the latest stamp of a record, zero if there is none.
func (c *LogCheck) Newest() (newest time.Time) {
	for _, f := range c.Files {
		if f.Newest.After(newest) {
			newest = f.Newest
		}
	}
	return newest
}

// Wrong counts the findings that are not harmless.
func (c *LogCheck) Wrong() int {
	n := len(c.Missing)
	for _, f := range c.Files {
		for _, g := range f.Findings {
			if !g.Harmless {
				n++
			}
		}
	}
	return n
}

// CheckLog reads the log under path, see [LogFiles], and verifies every checksum,
// header, seal, stamp and sequence number. It reads only. A file that cannot be
// read is a finding; the error is for a path that is no log, and for ctx.
func CheckLog(ctx context.Context, fsys durable.FS, path string, now time.Time) (*LogCheck, error) {
	return checkLog(ctx, fsys, path, now, &decisions{})
}

// CheckDecidedLog is CheckLog for a log whose state folder is at hand: damaged
// lines that a human has decided about are harmless.
func CheckDecidedLog(ctx context.Context, fsys durable.FS, path, state string, now time.Time) (*LogCheck, error) {
	decided := &decisions{}
	if err := decided.load(fsys, state); err != nil {
		return nil, err
	}
	return checkLog(ctx, fsys, path, now, decided)
}

func checkLog(ctx context.Context, fsys durable.FS, path string, now time.Time, decided *decisions) (*LogCheck, error) {
	names, err := LogFiles(fsys, path)
	if err != nil {
		return nil, err
	}
	out := &LogCheck{}
	numbers := map[string]*sequence{} // by folder
	for _, name := range names {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		dir := filepath.Dir(name)
		if numbers[dir] == nil {
			numbers[dir] = &sequence{}
		}
		c := &fileChecker{FileCheck: FileCheck{File: name}, now: now, numbers: numbers[dir], decided: decided, inOrder: true}
		c.file = parseFileName(filepath.Base(name))
		c.all(fsys)
		out.Files = append(out.Files, c.FileCheck)
	}
	if info, err := fsys.Lstat(path); err == nil && !info.IsDir() {
		return out, nil // one file says nothing about the numbers of the others
	}
	for _, dir := range slices.Sorted(maps.Keys(numbers)) {
		out.Missing = append(out.Missing, numbers[dir].missing(dir)...)
	}
	return out, nil
}

// sequence gathers the numbers of one device over its files.
type sequence struct {
	known ranges // met, given up, or explained by a damaged line
	upto  uint64
	jumps []jump
}

// jump is where a file goes on with another number than the next.
type jump struct {
	to uint64
	at LogFinding
}

func (s *sequence) note(from, to uint64) {
	if from <= to && to > 0 {
		s.known.add(max(from, 1), to)
	}
}

// missing lists the numbers that nothing explains, at the first line after them.
func (s *sequence) missing(dir string) []LogFinding {
	s.known.add(0, 0)
	s.known.add(max(s.upto, s.known.last())+1, max(s.upto, s.known.last())+1)
	var out []LogFinding
	for i := 1; i < len(s.known.spans); i++ {
		from, to := s.known.spans[i-1][1]+1, s.known.spans[i][0]-1
		f := LogFinding{File: dir}
		if j := slices.IndexFunc(s.jumps, func(j jump) bool { return j.to == to+1 }); j >= 0 {
			f = s.jumps[j].at
		}
		f.Reason = fmt.Sprintf("records %d to %d are missing before it", from, to)
		if from == to {
			f.Reason = fmt.Sprintf("record %d is missing before it", from)
		}
		out = append(out, f)
	}
	return out
}

// fileChecker walks one file.
type fileChecker struct {
	FileCheck
	file    fileName
	now     time.Time
	numbers *sequence
	decided *decisions

	device  Device
	lines   int // good ones, as a seal counts them
	sums    uint32
	last    Stamp
	seq     uint64
	damaged int  // lines since the last good one
	inOrder bool // nothing was met that a seal would not count
}

func (c *fileChecker) all(fsys durable.FS) {
	for l, err := range ReadLog(fsys, c.File) {
		if err != nil {
			c.say(&l, false, "it cannot be read: %v", err)
			return
		}
		c.Lines++
		c.Bytes = l.Offset + int64(len(l.Raw))
		c.line(&l)
	}
	if c.damaged > 0 && c.seq > 0 { // its last lines, whose numbers no record after them tells
		c.explain(c.seq + uint64(c.damaged) + 1)
	}
	end := LogLine{File: c.File, Offset: c.Bytes}
	switch {
	case c.file.kind == Odd:
		c.say(&end, true, "emberd gives no such name; a sync tool may have copied it, and it is read all the same")
	case !c.Sealed && (c.file.kind == Compacted || c.file.kind == History):
		c.say(&end, false, "it has no seal, so it is not whole")
	}
}

func (c *fileChecker) say(l *LogLine, harmless bool, format string, args ...any) {
	c.Findings = append(c.Findings, LogFinding{File: c.File, Offset: l.Offset, Line: l.Number,
		Reason: fmt.Sprintf(format, args...), Harmless: harmless})
}

func (c *fileChecker) line(l *LogLine) {
	switch l.State {
	case LineGood:
		if c.Sealed {
			c.say(l, false, "it stands after the seal")
		}
		c.good(l)
		return
	case LineUnknown:
		c.count(l)
		c.say(l, true, "%s", l.Reason)
		return
	case LineDamaged, LineEdited:
		c.damaged++
	}
	c.inOrder = false
	// Compaction keeps unfinished lines in the history, where they end like any other.
	kept := c.file.kind == History && l.Reason == errNoSum.Error()
	reason, settled := l.Reason, l.State == LineDamaged && c.decided.has(l.Raw)
	if settled {
		reason += ", which was decided about"
	}
	c.say(l, l.State != LineDamaged || kept || settled, "%s", reason)
}

// count takes a line with a right checksum into account for the seal.
func (c *fileChecker) count(l *LogLine) {
	c.lines++
	c.sums = crc32.Update(c.sums, castagnoli, []byte(l.sum))
}

func (c *fileChecker) good(l *LogLine) {
	if c.Lines == 1 && l.Op != opSegment {
		c.say(l, false, "the first line is no header")
	}
	switch l.Op {
	case opSegment:
		c.header(l)
	case opSeal:
		c.seal(l)
		return
	default:
		c.record(l)
	}
	c.count(l)
}

// compactedHeader has the members of a header that only compacted files have.
type compactedHeader struct {
	header
	From uint32 `json:"from"`
	Last uint64 `json:"last"`
}

func (c *fileChecker) header(l *LogLine) {
	var h compactedHeader
	if err := json.Unmarshal(l.Data, &h); err != nil {
		c.say(l, false, "its header cannot be read: %v", err)
		return
	}
	if c.Lines != 1 {
		c.say(l, false, "a header stands in the middle")
	}
	c.device, _ = parseDevice(h.Dev)
	folder := filepath.Base(filepath.Dir(c.File))
	if _, ok := parseDevice(folder); ok && h.Dev != folder {
		c.say(l, false, "its header names device %q, and it lies in the folder of %s", h.Dev, folder)
	}
	if c.file.kind != Odd && (h.Segment != c.file.to || c.file.kind != Raw && h.From != c.file.from) {
		c.say(l, false, "its header is of segment %d, which is not what its name says", h.Segment)
	}
	if h.Format > formatVersion {
		c.say(l, true, "it was written in format %d by a later emberd", h.Format)
	}
	for _, lost := range h.Lost {
		c.numbers.note(lost[0], lost[1])
	}
	if c.file.kind == Raw {
		c.numbers.upto = max(c.numbers.upto, max(h.First, 1)-1)
	} else {
		c.numbers.note(h.First, h.Last)
	}
}

func (c *fileChecker) seal(l *LogLine) {
	var end seal
	if err := json.Unmarshal(l.Data, &end); err != nil {
		c.say(l, false, "its seal cannot be read: %v", err)
		return
	}
	sum := fmt.Sprintf("%08x", c.sums)
	switch {
	case !c.inOrder: // what is wrong has been told
	case end.Count != c.lines:
		c.say(l, false, "its seal counts %d lines, and %d stand before it", end.Count, c.lines)
	case end.Sum != sum:
		c.say(l, false, "its seal has the checksum %s, and its lines have %s", end.Sum, sum)
	}
	c.Sealed = true
	c.numbers.upto = max(c.numbers.upto, end.Last)
}

func (c *fileChecker) record(l *LogLine) {
	if c.device != (Device{}) && l.Stamp.Dev != c.device {
		c.say(l, false, "it is stamped by device %s in a file of %s", l.Stamp.Dev, c.device)
	}
	if l.Stamp.Time().Sub(c.now) > maxSkew {
		c.say(l, false, "it is stamped %s, more than a day ahead", l.Stamp.Time().Format(time.RFC3339))
	}
	if at := l.Stamp.Time(); at.After(c.Newest) {
		c.Newest = at
	}
	if c.file.kind == Raw {
		c.order(l)
	}
	c.number(l)
}

// order holds in a raw segment, where a device wrote one line after the other.
// Compaction puts use totals last.
func (c *fileChecker) order(l *LogLine) {
	if !c.last.IsZero() && !l.Stamp.after(c.last) {
		c.say(l, false, "its stamp %s is not later than %s before it", l.Stamp, c.last)
	}
	if c.seq > 0 && l.Seq <= c.seq {
		c.say(l, false, "its number %d does not follow %d", l.Seq, c.seq)
	}
	c.last = l.Stamp
}

// number notes the number of a record. The damaged lines right before it stand
// for as many numbers.
func (c *fileChecker) number(l *LogLine) {
	c.explain(l.Seq)
	if l.Seq != c.seq+1 {
		c.numbers.jumps = append(c.numbers.jumps, jump{to: l.Seq, at: LogFinding{File: c.File, Offset: l.Offset, Line: l.Number}})
	}
	c.numbers.note(l.Seq, l.Seq)
	c.seq = l.Seq
}

// explain gives the numbers before one to the damaged lines before it.
func (c *fileChecker) explain(before uint64) {
	if n := min(uint64(c.damaged), max(before, 1)-1); n > 0 {
		c.numbers.note(before-n, before-1)
	}
	c.damaged = 0
}
