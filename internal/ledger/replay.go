package ledger

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"emberd/internal/ledger/chain"
	"emberd/internal/stamp"
)

// place is a line of a device's journal.
type place struct {
	device stamp.Device
	seq    uint64
}

// sealed is a line of the chain and where it is in it.
type sealed struct {
	*chain.Line
	i int
}

// replay is what the lines of a chain add up to, in their order.
type replay struct {
	lines   []*chain.Line // of reads and changes
	reads   map[int64]sealed
	changes map[place]sealed
	// base is of each device that this one is or was the first mark: what was before is not told.
	base      map[stamp.Device]*chain.Line
	upTo      map[stamp.Device]point // the last line of the journal that is told
	seals     map[stamp.Device]bool  // its changes have seals
	purged    map[string]int         // by digest, the last line that says so
	lastPurge int
	expired   time.Time // changes from before may be gone
	restore   int       // the last line that says so, -1 for none

	first      *chain.Line // mark: reads before it are not told
	now, saved extent      // reads that audit.json has after the last line, and had for certain before
	lost       []extent    // reads for whose lines there was no room
	noted      int         // of lost
	counts     []string    // digests of the counts that audit.json can have, nil if unknown
	ended      bool        // in order
	crashed    bool        // the process before the present one did not end in order
	times      []time.Time // of the changes that it found without a line, after a crash
	vouched    int         // changes that it found, for which their seals vouch
	notes      []string
	problems   []string
}

func newReplay() replay {
	return replay{reads: make(map[int64]sealed), changes: make(map[place]sealed),
		base: make(map[stamp.Device]*chain.Line), upTo: make(map[stamp.Device]point),
		seals: make(map[stamp.Device]bool), purged: make(map[string]int), restore: -1}
}

const day = "2006-01-02 15:04:05"

func (r *replay) notef(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

func (r *replay) problemf(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// add takes the next line.
func (r *replay) add(i int, line *chain.Line) {
	switch line.Kind {
	case started, kept, stopped:
		r.mark(line)
	case Looked:
		r.lines = append(r.lines, line)
		r.reads[line.Read] = sealed{line, i}
		r.now.Next = max(r.now.Next, line.Read+1)
	case purging:
		for _, id := range line.IDs {
			r.purged[id], r.lastPurge = i, i
		}
	case expired:
		if line.Before.After(r.expired) {
			r.expired = line.Before
		}
	case ahead:
		r.problemf("%s", line.Note)
	case restored:
		r.restore = i
		r.notef("a backup was restored at %s, so earlier changes can be missing", line.At.Format(day))
	default:
		r.change(i, line)
	}
	if line.Stamp != "" {
		if device := deviceOf(line.Stamp); line.Seq >= r.upTo[device].Seq {
			r.upTo[device] = point{Seq: line.Seq, Stamp: line.Stamp}
		}
	}
}

// change takes a change of the journal.
func (r *replay) change(i int, line *chain.Line) {
	r.lines = append(r.lines, line)
	if line.Stamp == "" {
		return
	}
	r.changes[place{deviceOf(line.Stamp), line.Seq}] = sealed{line, i}
	if line.Kind == found {
		r.found(line)
	}
}

// found judges a change that was in the journal without a line.
func (r *replay) found(line *chain.Line) {
	switch {
	case line.Note == vouched:
		r.vouched++
	case line.Note != "":
		r.problemf("the log contains %s, which was not in the audit log: %s", changeText(line), line.Note)
	case r.crashed:
		r.times = append(r.times, timeOf(line.Stamp))
	default:
		r.problemf("%s was written to the log while the daemon was not running", changeText(line))
	}
}

// mark takes where journal and reads are, and compares that with where they were.
func (r *replay) mark(line *chain.Line) {
	if device := deviceOf(line.Stamp); line.Stamp != "" {
		r.base[device] = cmp.Or(r.base[device], line)
		r.seals[device] = r.seals[device] || line.Seals
	}
	switch {
	case r.first == nil:
		r.first, r.crashed = line, true
	case line.Kind == started:
		r.start(line)
		r.startCounts(line)
	case line.Read > r.now.Next:
		r.lost = append(r.lost, extent{r.now.Next, line.Read})
	}
	r.crashed = r.crashed || line.Note != ""
	if line.Read < r.now.Next { // these are not in audit.json, and their numbers are given again
		maps.DeleteFunc(r.reads, func(n int64, _ sealed) bool { return n >= line.Read })
	}
	r.now, r.ended = extent{line.First, line.Read}, line.Kind == stopped
	r.saved = extent{line.Saved[0], line.Saved[1]}
	r.count(line)
}

// count takes which counts audit.json has or gets.
func (r *replay) count(line *chain.Line) {
	switch had := line.Counts[0]; {
	case had == "": // of an earlier version
		r.counts = nil
		return
	case len(r.counts) == 0 || r.counts[0] != had || line.Kind == stopped:
		r.counts = []string{had}
	}
	r.counts = append(r.counts, line.Counts[1])
}

// startCounts compares the counts that audit.json had at a start with those at the end before.
func (r *replay) startCounts(line *chain.Line) {
	if had := line.Counts[0]; r.counts != nil && had != "" && !slices.Contains(r.counts, had) {
		r.problemf("when emberd started at %s, the counts per caller in "+
			"audit.json differed from those that emberd had written", line.At.Format(day))
	}
}

// start compares what audit.json had at a start with what it had at the end before.
func (r *replay) start(line *chain.Line) {
	had := extent{line.First, line.Read}
	least := r.saved
	if r.ended {
		least = r.now
	}
	r.finish()
	r.crashed = !r.ended
	if had.Next < least.Next || had.Next > r.now.Next || had.First < least.First || had.First > r.now.First {
		r.problemf("when the daemon started at %s, audit.json contained read records %d to %d, but the "+
			"audit log contained %d to %d: audit.json was changed while the daemon was not running",
			line.At.Format(day), had.First, had.Next-1, r.now.First, r.now.Next-1)
		return
	}
	if n := r.now.Next - had.Next; n > 0 {
		r.notef(
			"%s in the audit log but not in audit.json (before %s): the daemon was killed before it wrote audit.json",
			count(n, "read is", "reads are"), line.At.Format(day))
	}
}

// finish notes what was found at the last start.
func (r *replay) finish() {
	if len(r.times) > 0 {
		r.notef("%s in the log but not in the audit log, so emberd cannot verify the "+
			"author: the daemon was killed before it wrote the chain (%s to %s)",
			count(int64(len(r.times)), "change is", "changes are"),
			slices.MinFunc(r.times, time.Time.Compare).Format(day),
			slices.MaxFunc(r.times, time.Time.Compare).Format(day))
	}
	if r.vouched > 0 {
		r.notef("%s missing from the audit log: the daemon stopped before it "+
			"wrote the chain; seals in the log prove the author and the time",
			count(int64(r.vouched), "change was", "changes were"))
	}
	r.times, r.vouched = nil, 0
	for _, gap := range r.lost[r.noted:] {
		r.notef("%s in audit.json but cannot be verified: the daemon could not write the audit log",
			count(gap.Next-gap.First, "read is", "reads are"))
	}
	r.noted = len(r.lost)
}

// timeOf returns the time of a stamp.
func timeOf(text string) time.Time {
	at, _ := stamp.Parse(text)
	return at.Time()
}

func count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func changeText(line *chain.Line) string {
	return fmt.Sprintf("the change %s (%s by %s)", line.Tx, line.What, line.By)
}
