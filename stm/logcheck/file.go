package logcheck

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"slices"
	"time"

	"emberd/internal/durable"
	"emberd/stm/quarantine"
	"emberd/stm/record"
	"emberd/stm/repair"
)

// fileChecker walks one file.
type fileChecker struct {
	File
	name    record.Name
	now     time.Time
	numbers *sequence
	decided *quarantine.Lines

	device   record.Device
	lines    int // good ones, as a seal counts them
	sums     uint32
	last     record.Stamp
	seq      uint64
	kept     []record.Kept
	bare     bool   // it has a delete that came back without its text
	misnamed uint32 // the segment of its header, if its name is of another one
	damaged  int    // lines since the last good one
	inOrder  bool   // nothing was met that a seal would not count
}

func (c *fileChecker) all(fsys durable.FS) {
	for l, err := range record.ReadLog(fsys, c.Path) {
		if err != nil {
			c.say(&l, false, "cannot read the file: %v", err)
			return
		}
		c.Lines++
		c.Bytes = l.Offset + int64(len(l.Raw))
		c.line(&l)
	}
	if c.damaged > 0 && c.seq > 0 { // its last lines, whose numbers no record after them tells
		c.explain(c.seq + uint64(c.damaged) + 1)
	}
	end := record.LogLine{File: c.Path, Offset: c.Bytes}
	switch {
	case record.IsSaved(c.Path):
		c.say(&end, true, "a backup created this file from records that the other files of this "+
			"device did not contain; emberd reads this file like the other files")
	case c.name.Kind == record.Odd:
		c.say(&end, true, "emberd does not create files with this name; a sync tool "+
			"might have copied the file, and emberd reads it anyway")
	case !c.Sealed && (c.name.Kind == record.Compacted || c.name.Kind == record.History):
		c.say(&end, false, "the file has no seal, so it is incomplete")
	}
}

func (c *fileChecker) say(l *record.LogLine, harmless bool, format string, args ...any) {
	c.Findings = append(c.Findings, Finding{File: c.Path, Offset: l.Offset, Line: l.Number,
		Reason: fmt.Sprintf(format, args...), Harmless: harmless})
}

func (c *fileChecker) line(l *record.LogLine) {
	switch l.State {
	case record.LineGood:
		if c.Sealed {
			c.say(l, false, "the line is after the seal")
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
	kept := c.name.Kind == record.History && l.Reason == record.ErrNoSum.Error()
	reason, settled := l.Reason, l.State == record.LineDamaged && c.decided.Has(l.Raw)
	if settled {
		reason += "; you already reviewed this line"
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
		c.say(l, false, "the first line is not a header")
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
		c.say(l, false, "cannot read the header: %v", err)
		return
	}
	if c.Lines != 1 {
		c.say(l, false, "the header is not in the first line")
	}
	c.device, _ = record.ParseDevice(h.Dev)
	folder := filepath.Base(filepath.Dir(c.Path))
	if _, ok := record.ParseDevice(folder); ok && h.Dev != folder {
		c.say(l, false, "the header names device %q, but the file is in the folder of device %s", h.Dev, folder)
	}
	if c.name.Kind == record.Raw && h.Dev == folder && h.Segment != c.name.To {
		c.misnamed = h.Segment
	}
	if c.name.Kind != record.Odd && (h.Segment != c.name.To || !h.Fits(c.name)) {
		c.say(l, false, "the header is for segment %d, which does not match the name of the file", h.Segment)
	}
	if h.Format > record.FormatVersion {
		c.say(l, true, "a newer version of emberd wrote the file in format %d", h.Format)
	}
	c.kept = h.Kept
	for _, lost := range h.Lost {
		c.numbers.note(lost[0], lost[1])
	}
	if c.numbers.upto = max(c.numbers.upto, max(h.First, 1)-1, h.Last); c.name.Kind == record.Compacted {
		c.numbers.known.AddAll(h.Accounted())
	}
}

func (c *fileChecker) seal(l *record.LogLine) {
	var end record.Seal
	if err := json.Unmarshal(l.Data, &end); err != nil {
		c.say(l, false, "cannot read the seal: %v", err)
		return
	}
	sum := fmt.Sprintf("%08x", c.sums)
	switch {
	case !c.inOrder: // what is wrong has been told
	case end.Count != c.lines:
		c.say(l, false, "the seal is for %d lines, but the file has %d lines before the seal", end.Count, c.lines)
	case end.Sum != sum:
		c.say(l, false, "the seal has the checksum %s, but the lines have the checksum %s", end.Sum, sum)
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
		c.say(l, false, "the timestamp is from device %s, but the file belongs to device %s", l.Stamp.Dev, c.device)
	}
	if l.Stamp.Time().Sub(c.now) > record.MaxSkew {
		c.say(l, false, "the timestamp %s is more than a day in the future", l.Stamp.Time().Format(time.RFC3339))
	}
	if at := l.Stamp.Time(); at.After(c.Newest) {
		c.Newest = at
	}
	if c.name.Kind == record.Raw {
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
		c.say(l, false, "the timestamp %s is not later than the previous timestamp %s", l.Stamp, c.last)
	}
	if c.seq > 0 && l.Seq <= c.seq {
		c.say(l, false, "the sequence number %d does not follow %d", l.Seq, c.seq)
	}
	c.last = l.Stamp
}

// number notes the number of a record. The damaged lines right before it stand
// for as many numbers.
func (c *fileChecker) number(l *record.LogLine) {
	c.explain(l.Seq)
	if l.Seq != c.seq+1 {
		c.numbers.jumps = append(c.numbers.jumps, sequenceGap{to: l.Seq, at: Finding{File: c.Path,
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
