package ledger

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"emberd/memory"
)

// What a caller is judged by: the last 30 days, and no less evidence than this.
const (
	judgedFor   = 30 * aDay
	EnoughUse   = 50 // recalls that were used or can be no more
	EnoughSaves = 20
)

// Rate is how many of some were so.
type Rate struct{ Of, Hits int64 }

// Share returns the rate, 0 to 1; 0 of none.
func (r Rate) Share() float64 { return float64(r.Hits) / float64(max(1, r.Of)) }

// Interval returns where the true rate is with 95 % confidence: the score interval of Wilson
// ("Probable inference, the law of succession, and statistical inference", 1927), which
// holds for few and for rates near 0 and 1. Of none it is 0 to 1.
func (r Rate) Interval() (low, high float64) {
	if r.Of <= 0 {
		return 0, 1
	}
	const z = 1.959964
	n, p := float64(r.Of), r.Share()
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, middle-half), min(1, middle+half)
}

// Sum is what a caller did since some day.
type Sum struct {
	Caller Caller
	Seen   time.Time
	Counts
	Useful Rate // recalls that were used, of those that are decided
	// Undecided are recalls that were not used yet and may still be.
	Undecided int64
	// Wasted are the saves that were refused, or were deleted or merged without any use, of
	// all that were watched.
	Wasted Rate
}

// Sums adds up what every caller did since the day of a moment, and of saves no more than
// the last 30 days. junk says whether a memory is gone or merged away; it is called with
// no lock held. Who was seen last comes first.
func (l *Ledger) Sums(since time.Time, junk func(memory.ID) bool) []Sum {
	wasted := l.discardedRate(since, junk)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	saves := max(dayOf(since), dayOf(now.Add(-judgedFor+aDay)))
	out := make([]Sum, 0, len(l.accounts))
	for c, of := range l.accounts {
		s := Sum{Caller: c, Seen: of.seen, Wasted: wasted[c]}
		for day, counts := range of.days {
			if day >= dayOf(since) {
				s.Counts.add(*counts)
			}
			if day >= saves {
				s.Wasted.Of, s.Wasted.Hits = s.Wasted.Of+counts.Refused, s.Wasted.Hits+counts.Refused
			}
		}
		for _, r := range of.open {
			if !r.Used && now.Sub(r.At) < useWindow && dayOf(r.At) >= dayOf(since) {
				s.Undecided++
			}
		}
		s.Useful = Rate{Of: s.Recalled - s.Undecided, Hits: s.Used}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Sum) int {
		return cmp.Or(b.Seen.Compare(a.Seen), compareCallers(a.Caller, b.Caller))
	})
	return out
}

func compareCallers(a, b Caller) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
}

// discardedRate counts the watched saves of each caller, and those that came to nothing.
func (l *Ledger) discardedRate(since time.Time, junk func(memory.ID) bool) map[Caller]Rate {
	type watchedSave struct {
		id   memory.ID
		by   Caller
		used bool
	}
	l.mu.Lock()
	now := l.now()
	var all []watchedSave
	for id, s := range l.watched {
		if dayOf(s.at) >= dayOf(since) && now.Sub(s.at) < judgedFor {
			all = append(all, watchedSave{id, s.by, s.used})
		}
	}
	l.mu.Unlock()
	rates := make(map[Caller]Rate)
	for _, s := range all {
		r := rates[s.by]
		r.Of++
		if !s.used && junk(s.id) {
			r.Hits++
		}
		rates[s.by] = r
	}
	return rates
}

// Score returns what a caller's memory earned, 0 to 1: the share of recalls that were used, or
// that of saves that were worth keeping, whichever is less. It is not known while there is
// not enough of either.
func (s *Sum) Score() (score float64, known bool) {
	score = 1
	if s.Useful.Of >= EnoughUse {
		score, known = s.Useful.Share(), true
	}
	if s.Wasted.Of >= EnoughSaves {
		score, known = min(score, 1-s.Wasted.Share()), true
	}
	return score, known
}

// Judge decides which callers are throttled from now on. junk is as of [Ledger.Sums].
func (l *Ledger) Judge(junk func(memory.ID) bool) {
	verdicts := make(map[Caller]string)
	if l.opt.Below > 0 {
		for _, s := range l.Sums(l.now().Add(-judgedFor+aDay), junk) {
			if why := s.against(l.opt.Below); why != "" {
				verdicts[s.Caller] = why
			}
		}
	}
	l.verdicts.Store(&verdicts)
}

// against returns why a caller is throttled, as a clause; "" if it is not. Only a caller whose
// whole interval is below the line is throttled. All others together are not one caller, and
// the command line and the page are the user.
func (s *Sum) against(line float64) string {
	if s.Caller.Kind == Others || s.Caller == (Caller{Via, "cli"}) || s.Caller == (Caller{Via, page}) {
		return ""
	}
	if _, high := s.Useful.Interval(); s.Useful.Of >= EnoughUse && high < line {
		return fmt.Sprintf("in 30 days, %[2]s used %[3]d of the %[1]d memories that "+
			"it received, a share below %.2[4]f (audit.throttle_below)", s.Useful.Of, s.Caller.Name, s.Useful.Hits,
			line)
	}
	if low, _ := s.Wasted.Interval(); s.Wasted.Of >= EnoughSaves && 1-low < line {
		return fmt.Sprintf("in 30 days, %[3]d of %[1]d saves by %[2]s were refused, or were deleted or merged "+
			"without use, so the share of useful saves is below %.2[4]f (audit.throttle_below)", s.Wasted.Of,
			s.Caller.Name, s.Wasted.Hits, line)
	}
	return ""
}

// Verdict returns why a caller is throttled, as last judged; "" if it is not.
func (l *Ledger) Verdict(c Caller) string {
	if verdicts := l.verdicts.Load(); verdicts != nil {
		return (*verdicts)[c]
	}
	return ""
}

// Throttled returns how many callers are throttled, as last judged.
func (l *Ledger) Throttled() int {
	if verdicts := l.verdicts.Load(); verdicts != nil {
		return len(*verdicts)
	}
	return 0
}

// Slow returns why an actor is throttled, as a clause that can follow "since"; "" if it is not.
// The command line without a token is the user, and is never throttled. Slow takes no lock.
func (l *Ledger) Slow(a memory.Actor) string {
	if l.opt.Below == 0 || a.Via == "cli" && a.Token == "" {
		return ""
	}
	return l.Verdict(Of(a))
}
