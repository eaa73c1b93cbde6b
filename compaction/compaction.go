// Package compaction decides when to compact the log and which files of it, and compacts them: it
// folds files of one device into one, writes it with a history segment of what was
// superseded, reads both back, compares, and gives them their names. It knows no store:
// it is handed a [Source] and returns an [Output] for the store to take into use.
//
// It guarantees that an error leaves the inputs as they are, that nothing is published
// which does not add up to what the inputs add up to, and that any mix of inputs and
// outputs that a crash leaves says the same.
//
// A log is worth compacting when a start would have to read many files, or much
// that no longer counts. The newest files are folded first, with older ones only
// while those are small beside them, so that a large compacted file is not
// written again for a few lines (the rule of size-tiered compaction; O'Neil et
// al., "The Log-Structured Merge-Tree", 1996). When half of everything is dead,
// everything is folded.
package compaction

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"emberd/stm/record"
)

// Rules decide when a compaction is worth its writing, and how careful it is.
type Rules struct {
	Files     int     // sealed files that a start may have to read
	DeadShare float64 // part of their bytes that may be dead
	DeadBytes int64   // and how many must be before that matters
	// Factor is how many times as large as what is chosen already an older file
	// may be and still be rewritten with it.
	Factor int64
	// UnlinkDelay is how long replaced files stay, so that programs that copy
	// the folder elsewhere bring the new file first.
	UnlinkDelay time.Duration
	// TombstoneKeep is how long a deletion is remembered at least.
	TombstoneKeep time.Duration
}

// Defaults are the rules emberd goes by.
func Defaults() Rules {
	return Rules{Files: 8, DeadShare: 0.5, DeadBytes: 1 << 20, Factor: 4,
		UnlinkDelay: 10 * time.Minute, TombstoneKeep: 90 * 24 * time.Hour}
}

// Rest is how much longer than it works a background compaction
// should rest in between.
const Rest = 4

// Plan is what to compact, and why or why not.
type Plan struct {
	Due    bool
	Reason string   // one clause, for people
	Inputs []string // for stm.Compaction; set when there is anything to fold, due or not
	Bytes  int64    // of the inputs
}

// Plan looks at the files of the log, of which dead bytes go with a compaction; that may be
// an estimate. With all, everything that can be folded is, however little.
func (r Rules) Plan(files []record.Segment, dead int64, all bool) Plan {
	own := candidates(files)
	total := bytesOf(own)
	dead = min(dead, total)
	p := Plan{}
	mostlyDead := dead >= r.DeadBytes && float64(dead) > r.DeadShare*float64(total)
	switch {
	case len(own) == 0:
		p.Reason = "the log has no sealed segment"
		return p
	case len(own) == 1 && own[0].Kind == record.Compacted && !all && dead == 0:
		p.Reason = "the log is already compacted into one file"
		return p
	case mostlyDead:
		p.Due, p.Reason = true, fmt.Sprintf("%d of %d bytes of the log are superseded", dead, total)
	case len(own) > r.Files:
		p.Due, p.Reason = true, fmt.Sprintf("too many sealed segments: %d (limit %d)", len(own), r.Files)
	default:
		p.Reason = fmt.Sprintf("sealed segments: %d (limit %d); superseded bytes: %d of %d", len(own), r.Files, dead,
			total)
	}
	chosen := own
	if !all && !mostlyDead {
		chosen = r.newest(own)
	}
	for _, g := range withReplaced(chosen, files) {
		p.Inputs = append(p.Inputs, g.Name)
	}
	p.Bytes = bytesOf(chosen)
	return p
}

// withReplaced adds files that could not be removed although something chosen
// replaces them: another program may have changed them since.
func withReplaced(chosen, files []record.Segment) []record.Segment {
	out := slices.Clone(chosen)
	for _, g := range files {
		if g.Own && g.Replaced && g.Kind != record.Odd && overlaps(g, chosen) {
			out = append(out, g)
		}
	}
	return out
}

// candidates are the files after the last that must not be touched, oldest
// first, with odd copies at the end.
func candidates(files []record.Segment) []record.Segment {
	own := slices.DeleteFunc(slices.Clone(files), func(g record.Segment) bool {
		return !g.Own || g.Kind == record.History || g.Active || g.Replaced
	})
	slices.SortStableFunc(own, func(a, b record.Segment) int {
		switch {
		case (a.Kind == record.Odd) == (b.Kind == record.Odd):
			return cmp.Compare(a.To, b.To)
		case a.Kind == record.Odd:
			return 1
		}
		return -1
	})
	for i, g := range slices.Backward(own) {
		if g.Later {
			own = own[i+1:]
			break
		}
	}
	if len(own) > 0 && own[0].Kind == record.Odd {
		return nil // copies go along with a segment, never alone
	}
	return own
}

// newest chooses backwards from the newest file while the next older one is not
// much larger than what is chosen already.
func (r Rules) newest(own []record.Segment) []record.Segment {
	from := len(own)
	var size int64
	for from > 0 {
		next := own[from-1]
		if len(own)-from >= 2 && next.Bytes > r.Factor*size {
			break
		}
		from--
		size += next.Bytes
	}
	return own[from:]
}

func overlaps(g record.Segment, chosen []record.Segment) bool {
	return slices.ContainsFunc(chosen, func(c record.Segment) bool {
		return c.Kind != record.Odd && c.From <= g.To && g.From <= c.To
	})
}

func bytesOf(files []record.Segment) (n int64) {
	for _, g := range files {
		n += g.Bytes
	}
	return n
}

// Peer is another device that shares the folder.
type Peer struct {
	Device string
	Seen   time.Time // when it last told anything, zero when unknown
	Has    uint64    // it has all our lines up to this sequence number
}

// Droppable returns the rule for dropping a tombstone: it is old enough, and
// every other device that was seen lately, or of which that is not known, has the
// line that deletes. A device that comes back after longer than TombstoneKeep may
// still hold what was deleted; what it says then is stale.
func (r Rules) Droppable(now time.Time, peers []Peer) func(deleted time.Time, seq uint64) bool {
	oldest := now.Add(-r.TombstoneKeep)
	minimum, all := uint64(0), true
	for _, p := range peers {
		if !p.Seen.IsZero() && p.Seen.Before(oldest) {
			continue
		}
		if all || p.Has < minimum {
			minimum, all = p.Has, false
		}
	}
	return func(deleted time.Time, seq uint64) bool {
		return deleted.Before(oldest) && (all || seq <= minimum)
	}
}

// Backoff is how long to wait after so many failures in a row: a minute, twice
// as long each time, at most an hour; 0 after none.
func Backoff(failures int) time.Duration {
	if failures == 0 {
		return 0
	}
	return min(time.Minute<<min(failures-1, 10), time.Hour)
}
