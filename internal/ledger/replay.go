package ledger

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"emberd/internal/ledger/chain"
)

// place is a line of a device's journal.
type place struct {
	device string
	seq    uint64
}

// sealed is a line of the chain and where it is in it.
type sealed struct {
	*chain.Line
	i int
}

// replay is what the lines of a chain add up to, in their order.
type replay struct {
	lines     []*chain.Line // of reads and changes
	reads     map[int64]sealed
	changes   map[place]sealed
	base      map[string]*chain.Line // by device, the first mark: what was before is not told
	upTo      map[string]uint64      // by device, the last line of the journal that is told
	purged    map[string]int         // by digest, the last line that says so
	lastPurge int
	expired   time.Time // changes from before may be gone
	restore   int       // the last line that says so, -1 for none

	first      *chain.Line // mark: reads before it are not told
	now, saved extent      // reads that audit.json has after the last line, and had for certain before
	lost       []extent    // reads for whose lines there was no room
	ended      bool        // in order
	crashed    bool        // the process before the present one did not end in order
	times      []time.Time // of the changes that it found without a line, after a crash
	notes      []string
	problems   []string
}

func newReplay() replay {
	return replay{reads: make(map[int64]sealed), changes: make(map[place]sealed), base: make(map[string]*chain.Line),
		upTo: make(map[string]uint64), purged: make(map[string]int), restore: -1}
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
	case restored:
		r.restore = i
		r.notef("a backup was restored on %s, so that earlier changes may be missing", line.At.Format(day))
	default:
		r.change(i, line)
	}
	if line.Stamp != "" {
		device := deviceOf(line.Stamp)
		r.upTo[device] = max(r.upTo[device], line.Seq)
	}
}

// change takes a change of the journal.
func (r *replay) change(i int, line *chain.Line) {
	r.lines = append(r.lines, line)
	if line.Stamp == "" {
		return
	}
	r.changes[place{deviceOf(line.Stamp), line.Seq}] = sealed{line, i}
	if line.Kind != found {
		return
	}
	if r.crashed {
		r.times = append(r.times, stampTime(line.Stamp))
		return
	}
	r.problemf("%s was written into the journal while emberd did not run", changeText(line))
}

// mark takes where journal and reads are, and compares that with where they were.
func (r *replay) mark(line *chain.Line) {
	if device := deviceOf(line.Stamp); line.Stamp != "" && r.base[device] == nil {
		r.base[device] = line
	}
	switch {
	case r.first == nil:
		r.first, r.crashed = line, true
	case line.Kind == started:
		r.start(line)
	case line.Read > r.now.Next:
		r.lost = append(r.lost, extent{r.now.Next, line.Read})
	}
	r.crashed = r.crashed || line.Note != ""
	if line.Read < r.now.Next { // these are not in audit.json, and their numbers are given again
		maps.DeleteFunc(r.reads, func(n int64, _ sealed) bool { return n >= line.Read })
	}
	r.now, r.ended = extent{line.First, line.Read}, line.Kind == stopped
	r.saved = extent{line.Saved[0], line.Saved[1]}
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
		r.problemf("at the start of %s audit.json had the reads number %d to %d, and the chain has %d to %d: "+
			"reads were removed or added while emberd did not run", line.At.Format(day), had.First, had.Next-1,
			r.now.First, r.now.Next-1)
		return
	}
	if n := r.now.Next - had.Next; n > 0 {
		r.notef("%s before %s in the chain and not in audit.json: emberd was killed before it wrote that",
			count(n, "read is", "reads are"), line.At.Format(day))
	}
}

// finish notes what was found at the last start.
func (r *replay) finish() {
	if len(r.times) > 0 {
		r.notef("%s in the journal and nothing vouches for who made it: emberd was killed before that was sealed "+
			"(%s to %s)", count(int64(len(r.times)), "change is", "changes are"), slices.MinFunc(r.times,
			time.Time.Compare).Format(day), slices.MaxFunc(r.times, time.Time.Compare).Format(day))
	}
	r.times = nil
	for _, gap := range r.lost {
		r.notef("%s in audit.json and nothing vouches for them: the audit chain could not be written",
			count(gap.Next-gap.First, "read is", "reads are"))
	}
}

// stampTime returns the time of a stamp, the zero time if it is none.
func stampTime(stamp string) time.Time {
	ms, err := strconv.ParseInt(stamp[:min(len(stamp), len("0192f3a1b2c3"))], 16, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
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
