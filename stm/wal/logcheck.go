package wal

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"emberd/internal/durable"
	"emberd/stm/device"
	"emberd/stm/extent"
	"emberd/stm/record"
	"emberd/stm/repair"
)

// LogCheck is what reading every line of a log showed.
type LogCheck struct {
	Files []FileCheck
	// Bare are deletes of which no line has the text that they moved to the trash, by memory, unless that
	// was given up.
	Bare map[[16]byte]record.Stamp
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
	return checkLog(ctx, fsys, path, now, &QuarantineDecisions{}, nil)
}

// CheckDecidedLog is CheckLog for a log whose state folder is at hand: damaged
// lines that a human has decided about are harmless.
func CheckDecidedLog(ctx context.Context, fsys durable.FS, path, state string, now time.Time) (*LogCheck, error) {
	decided := &QuarantineDecisions{}
	if err := decided.load(fsys, state); err != nil {
		return nil, err
	}
	out, err := checkLog(ctx, fsys, path, now, decided, writtenUpto(fsys, path, state))
	if err != nil {
		return nil, err
	}
	out.short(fsys, path, state)
	return out, nil
}

// writtenUpto returns the highest number that this device gave to a caller's change, by its folder.
func writtenUpto(fsys durable.FS, data, state string) map[string]uint64 {
	dev, ok := device.Named(fsys, state)
	if !ok {
		return nil
	}
	last := uint64(0)
	for _, e := range extent.Read(fsys, state, dev) {
		last = max(last, cmp.Or(e.Change, e.Last)) // what is after a change is missed by no one
	}
	return map[string]uint64{filepath.Join(data, "stm", dev.String()): last}
}

// short adds the files of this device that hold less than was written to them, if the path is
// that of the data folder.
func (c *LogCheck) short(fsys durable.FS, data, state string) {
	if dev, ok := device.Named(fsys, state); ok {
		c.shortOf(fsys, data, state, dev)
	}
	for _, dev := range device.Predecessors(fsys, state) {
		c.shortOf(fsys, data, state, dev)
	}
}

func (c *LogCheck) shortOf(fsys durable.FS, data, state string, dev record.Device) {
	dir := filepath.Join(data, "stm", dev.String())
	if _, err := fsys.Lstat(filepath.Dir(dir)); err != nil {
		return
	}
	for _, f := range extent.ShortFiles(fsys, dir, extent.Read(fsys, state, dev)) {
		name := filepath.Join(dir, f.Name)
		i := slices.IndexFunc(c.Files, func(g FileCheck) bool { return g.File == name })
		if i < 0 {
			c.Files = append(c.Files, FileCheck{File: name})
			i = len(c.Files) - 1
		}
		if f.Change && len(c.Files[i].Findings) > 0 { // which say what is changed
			continue
		}
		c.Files[i].Findings = append(c.Files[i].Findings, LogFinding{File: name, Reason: f.String()})
	}
}

func checkLog(ctx context.Context, fsys durable.FS, path string, now time.Time,
	decided *QuarantineDecisions, upto map[string]uint64) (*LogCheck, error) {
	names, err := record.LogFiles(fsys, path)
	if err != nil {
		return nil, err
	}
	out := &LogCheck{}
	numbers, kept, bare := map[string]*sequence{}, map[string][]record.Kept{}, false // numbers are by folder
	for _, name := range names {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		dir := filepath.Dir(name)
		if numbers[dir] == nil {
			numbers[dir] = &sequence{}
		}
		c := &fileChecker{FileCheck: FileCheck{File: name}, now: now, numbers: numbers[dir], decided: decided,
			inOrder: true}
		c.file = record.ParseName(filepath.Base(name))
		c.all(fsys)
		kept[name], bare = c.kept, bare || c.bare
		out.Files = append(out.Files, c.FileCheck)
	}
	if len(names) == 1 && names[0] == path {
		return out, nil // one file says nothing about the numbers of the others
	}
	for dir, last := range upto {
		if s := numbers[dir]; s != nil {
			s.upto = max(s.upto, last)
		}
	}
	for dev, written := range repair.Believed(ctx, fsys, kept) {
		for dir, s := range numbers {
			if filepath.Base(dir) == dev.String() {
				s.known.AddAll(written)
			}
		}
	}
	if bare {
		if err := out.takeBare(ctx, fsys, path, decided); err != nil {
			return nil, err
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(numbers)) {
		out.Missing = append(out.Missing, numbers[dir].missing(dir)...)
	}
	return out, nil
}

// takeBare finds out of which deletes no line has the text. It takes as much memory as the table.
func (c *LogCheck) takeBare(ctx context.Context, fsys durable.FS, path string, decided *QuarantineDecisions) error {
	have, err := repair.Fold(ctx, fsys, path, slog.New(slog.DiscardHandler))
	if err == nil {
		c.Bare = have.Table.Bare
		maps.DeleteFunc(c.Bare, decided.gaveUp)
	}
	return err
}

// BareSince counts [LogCheck.Bare] as far as memories were deleted after a time, and can be restored still.
func (c *LogCheck) BareSince(after time.Time) (n int) {
	for _, at := range c.Bare {
		if at.Time().After(after) {
			n++
		}
	}
	return n
}

// sequence gathers the numbers of one device over its files.
type sequence struct {
	known record.Ranges // met, given up, or explained by a damaged line
	upto  uint64
	jumps []sequenceGap
}

// sequenceGap is where a file continues with another number than the next.
type sequenceGap struct {
	to uint64
	at LogFinding
}

func (s *sequence) note(from, to uint64) {
	if from <= to && to > 0 {
		s.known.Add(max(from, 1), to)
	}
}

// missing lists the numbers that nothing explains, at the first line after them.
func (s *sequence) missing(dir string) []LogFinding {
	s.known.Add(0, 0)
	s.known.Add(max(s.upto, s.known.Last())+1, max(s.upto, s.known.Last())+1)
	var out []LogFinding
	for i := 1; i < len(s.known.Spans); i++ {
		from, to := s.known.Spans[i-1][1]+1, s.known.Spans[i][0]-1
		f := LogFinding{File: dir}
		if j := slices.IndexFunc(s.jumps, func(j sequenceGap) bool { return j.to == to+1 }); j >= 0 {
			f = s.jumps[j].at
		}
		f.Reason = fmt.Sprintf("records %d to %d are missing", from, to)
		if from == to {
			f.Reason = fmt.Sprintf("record %d is missing", from)
		}
		if f.Line > 0 {
			f.Reason += " before it"
		}
		out = append(out, f)
	}
	return out
}

// fileChecker walks one file.
type fileChecker struct {
	FileCheck
	file    record.Name
	now     time.Time
	numbers *sequence
	decided *QuarantineDecisions

	device  record.Device
	lines   int // good ones, as a seal counts them
	sums    uint32
	last    record.Stamp
	seq     uint64
	kept    []record.Kept
	bare    bool // it has a delete that came back without its text
	damaged int  // lines since the last good one
	inOrder bool // nothing was met that a seal would not count
}

func (c *fileChecker) all(fsys durable.FS) {
	for l, err := range record.ReadLog(fsys, c.File) {
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
	end := record.LogLine{File: c.File, Offset: c.Bytes}
	switch {
	case c.file.Kind == record.Odd:
		c.say(&end, true, "emberd gives no such name; a sync tool may have copied it, and it is read all the same")
	case !c.Sealed && (c.file.Kind == record.Compacted || c.file.Kind == record.History):
		c.say(&end, false, "it has no seal, so it is not whole")
	}
}

func (c *fileChecker) say(l *record.LogLine, harmless bool, format string, args ...any) {
	c.Findings = append(c.Findings, LogFinding{File: c.File, Offset: l.Offset, Line: l.Number,
		Reason: fmt.Sprintf(format, args...), Harmless: harmless})
}

func (c *fileChecker) line(l *record.LogLine) {
	switch l.State {
	case record.LineGood:
		if c.Sealed {
			c.say(l, false, "it stands after the seal")
		}
		c.good(l)
		return
	case record.LineUnknown:
		c.count(l)
		c.say(l, true, "%s", l.Reason)
		return
	case record.LineDamaged, record.LineEdited:
		c.damaged++
	}
	c.inOrder = false
	// Compaction keeps unfinished lines in the history, where they end like any other.
	kept := c.file.Kind == record.History && l.Reason == record.ErrNoSum.Error()
	reason, settled := l.Reason, l.State == record.LineDamaged && c.decided.has(l.Raw)
	if settled {
		reason += ", which was decided about"
	}
	c.say(l, l.State != record.LineDamaged || kept || settled, "%s", reason)
}

// count takes a line with a right checksum into account for the seal.
func (c *fileChecker) count(l *record.LogLine) {
	c.lines++
	c.sums = crc32.Update(c.sums, record.Castagnoli, []byte(l.Sum))
}

func (c *fileChecker) good(l *record.LogLine) {
	if c.Lines == 1 && l.Op != record.OpSegment {
		c.say(l, false, "the first line is no header")
	}
	switch l.Op {
	case record.OpSegment:
		c.header(l)
	case record.OpSeal:
		c.seal(l)
		return
	default:
		c.record(l)
	}
	c.count(l)
}

func (c *fileChecker) header(l *record.LogLine) {
	h, err := record.DecodeHeader(l.Data)
	if err != nil {
		c.say(l, false, "its header cannot be read: %v", err)
		return
	}
	if c.Lines != 1 {
		c.say(l, false, "a header stands in the middle")
	}
	c.device, _ = record.ParseDevice(h.Dev)
	folder := filepath.Base(filepath.Dir(c.File))
	if _, ok := record.ParseDevice(folder); ok && h.Dev != folder {
		c.say(l, false, "its header names device %q, and it lies in the folder of %s", h.Dev, folder)
	}
	if c.file.Kind != record.Odd && (h.Segment != c.file.To || !h.Fits(c.file)) {
		c.say(l, false, "its header is of segment %d, and not of a file with this name", h.Segment)
	}
	if h.Format > record.FormatVersion {
		c.say(l, true, "it was written in format %d by a later emberd", h.Format)
	}
	c.kept = h.Kept
	for _, lost := range h.Lost {
		c.numbers.note(lost[0], lost[1])
	}
	if c.file.Kind == record.Raw {
		c.numbers.upto = max(c.numbers.upto, max(h.First, 1)-1)
	} else {
		c.numbers.note(h.First, h.Last)
	}
}

func (c *fileChecker) seal(l *record.LogLine) {
	var end record.Seal
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

func (c *fileChecker) record(l *record.LogLine) {
	if l.Verb == repair.Verb { // as old as what it brings back, which may be another device's
		c.recovered(l)
		return
	}
	if c.device != (record.Device{}) && l.Stamp.Dev != c.device {
		c.say(l, false, "it is stamped by device %s in a file of %s", l.Stamp.Dev, c.device)
	}
	if l.Stamp.Time().Sub(c.now) > record.MaxSkew {
		c.say(l, false, "it is stamped %s, more than a day ahead", l.Stamp.Time().Format(time.RFC3339))
	}
	if at := l.Stamp.Time(); at.After(c.Newest) {
		c.Newest = at
	}
	if c.file.Kind == record.Raw {
		c.order(l)
	}
	c.number(l)
}

func (c *fileChecker) recovered(l *record.LogLine) {
	c.bare = c.bare || l.Cut && slices.ContainsFunc(l.Changes, func(ch record.LogChange) bool {
		return ch.Op == record.OpDelete && ch.Prev == nil
	})
	if l.Seq > 0 {
		c.number(l)
	}
}

// order holds in a raw segment, where a device wrote one line after the other.
// Compaction puts use totals last.
func (c *fileChecker) order(l *record.LogLine) {
	if !c.last.IsZero() && !l.Stamp.After(c.last) {
		c.say(l, false, "its stamp %s is not later than %s before it", l.Stamp, c.last)
	}
	if c.seq > 0 && l.Seq <= c.seq {
		c.say(l, false, "its number %d does not follow %d", l.Seq, c.seq)
	}
	c.last = l.Stamp
}

// number notes the number of a record. The damaged lines right before it stand
// for as many numbers.
func (c *fileChecker) number(l *record.LogLine) {
	c.explain(l.Seq)
	if l.Seq != c.seq+1 {
		c.numbers.jumps = append(c.numbers.jumps, sequenceGap{to: l.Seq, at: LogFinding{File: c.File,
			Offset: l.Offset, Line: l.Number}})
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
