package record

import (
	"bytes"
	"fmt"
	"hash/crc32"
)

// Recovery counts the lines met at start.
type Recovery struct {
	Applied     int // transactions and use lines
	Duplicate   int // the same line met again
	TornTail    int // unfinished last lines
	NulTail     int // runs of NUL bytes that a power cut left
	Quarantined int // lines with a wrong checksum, copied to state/quarantine
	HandEdited  int // lines without a checksum, taken as a human's edit
	Future      int // stamped more than a day ahead, held back
	Unknown     int // of a later version, kept and passed over
	Gaps        int // own sequence numbers that are missing
	BadSeals    int // whole segments that do not hold the lines their seal describes
	Replaced    int // files that a compacted one stands for, not read
}

// PassedOver counts the lines that a later start may take after all: in time,
// by a later version, or after a repair.
func (r *Recovery) PassedOver() int { return r.Quarantined + r.Future + r.Unknown }

// Trim strips what programs put around a line without touching it (NUL runs
// before it, a byte-order mark, CR or spaces after it) and verifies it.
func Trim(b []byte) ([]byte, error) {
	b = bytes.TrimLeft(b, "\x00")
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	b = bytes.TrimSpace(b)
	return b, Verify(b)
}

// Damaged counts the lines that no seal can fit any more, each told by itself.
func (r *Recovery) Damaged() int {
	return r.PassedOver() + r.TornTail + r.NulTail + r.HandEdited
}

// SealCheck adds up the lines of a file as its seal does.
type SealCheck struct {
	lines int
	sums  uint32
	last  uint64
	Wrong bool
}

func (k *SealCheck) Note(b []byte, l *Line) {
	k.lines++
	k.sums = crc32.Update(k.sums, Castagnoli, b[len(b)-len(`9f8e7d6c"}`):len(b)-len(`"}`)])
	k.last = max(k.last, l.Seq)
}

// Check compares with what the seal says. Numbers that were given up may make
// its last one higher than that of any line.
func (k *SealCheck) Check(end *Seal) {
	k.Wrong = k.lines != end.Count || fmt.Sprintf("%08x", k.sums) != end.Sum || k.last > end.Last
}

// Less takes out damaged lines that a human has decided about since.
func (r Recovery) Less(decided int) Recovery {
	r.Quarantined = max(0, r.Quarantined-decided)
	r.Gaps = max(0, r.Gaps-decided)
	return r
}

// Warnings says in sentences what deserves a look. A damaged line of this
// device is a missing record too; it is told once.
func (r Recovery) Warnings() []string {
	var out []string
	say := func(n int, one, many string) {
		switch {
		case n == 1:
			out = append(out, one)
		case n > 1:
			out = append(out, fmt.Sprintf(many, n))
		}
	}
	say(r.Quarantined,
		"emberd skipped a damaged log line; to review it, run: emberd doctor quarantine list",
		"emberd skipped %d damaged log lines; to review them, run: emberd doctor quarantine list")
	say(r.Gaps-r.Quarantined,
		"a log record of this device is missing; to look for it in all copies of the "+
			"log, run: emberd doctor log repair",
		"%d log records of this device are missing; to look for them in all copies of the "+
			"log, run: emberd doctor log repair")
	say(r.BadSeals,
		"a log segment does not match its seal, because another program added or removed lines; if you have a "+
			"backup, restore the segment from it",
		"%d log segments do not match their seals, because another program added or removed lines; if you have a "+
			"backup, restore the segments from it")
	say(r.Future,
		"a log line has a timestamp more than a day in the future, so emberd ignores the line until then; check the "+
			"clocks of your devices",
		"%d log lines have timestamps more than a day in the future, so emberd ignores the lines until then; check "+
			"the clocks of your devices")
	say(r.Unknown,
		"a newer version of emberd wrote a log line that this version keeps but cannot "+
			"use; upgrade emberd on this device",
		"a newer version of emberd wrote %d log lines that this version keeps but cannot "+
			"use; upgrade emberd on this device")
	return out
}
