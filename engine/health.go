package engine

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"emberd/internal/similarity"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Defaults and bounds of the specification "adaptive memory health".
const (
	staleDays     = 30
	fewAccesses   = 2
	grownDays     = 7
	healthListed  = 100
	mostListedIDs = 1000
	mostDays      = 36_500
	mostAccesses  = 1 << 40

	unusedText    = 200 // characters that are shown of a text
	duplicateText = 150
	// neverDays is what is told as the days since something that never was.
	neverDays    = 999
	neverUsed    = "never"
	notSaid      = "unknown"
	hoursOfADay  = 24
	mergeVerb    = "merge"
	migrateVerb  = "migrate"
	mostMoved    = 5_000 // relations that lead to a memory
	migratedFrom = "migrated_v1"
	// migratedVersion is the model of the vectors of the system that old records come from.
	migratedVersion = "all-MiniLM-L6-v2"
)

// healthScope is a collection that somebody asks about.
type healthScope struct {
	e    *Engine
	name string // everyCollection for all
}

// scopeOf checks the name of a collection, which may be left out.
func (e *Engine) scopeOf(collection, otherwise string) (healthScope, error) {
	s := healthScope{e, cmp.Or(collection, otherwise)}
	return s, checkNames(name{"collection", s.name})
}

func (s healthScope) has(r *stm.Row) bool {
	return s.name == everyCollection || r.Collection() == s.name
}

// known is an error for a collection that does not exist, if nothing was found in it.
func (s healthScope) known(found int) error {
	if found > 0 || s.name == everyCollection {
		return nil
	}
	return checkCollection(&s.e.stm.Memories, s.name)
}

// lastAccess is when a search last returned a memory, for one that none returned when it
// was made. One of another system that brought no access along was never returned: that
// is the zero time, until it is migrated.
func lastAccess(r *stm.Row) time.Time {
	if at := r.LastAccessed(); !at.IsZero() {
		return at
	}
	if r.Imported() {
		return time.Time{}
	}
	return r.CreatedAt()
}

// daysSince counts whole days, and neverDays for the zero time.
func daysSince(at, now time.Time) int {
	if at.IsZero() {
		return neverDays
	}
	return int(max(0, now.Sub(at).Hours()/hoursOfADay))
}

// orDefault is what a request says, or what it leaves to the default.
func orDefault[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}

// unused is a memory that nobody asked for, in the making of a list.
type unused struct {
	row *stm.Row
	at  time.Time
}

// staleAsk is a checked HealthStaleRequest.
type staleAsk struct {
	healthScope
	days, limit int
	below       float64 // confidence
	now, cutoff time.Time
}

func (e *Engine) staleAsk(req *op.HealthStaleRequest) (a staleAsk, err error) {
	a.days, a.limit, a.below, a.now = orDefault(req.DaysUnused, staleDays), cmp.Or(req.Limit, healthListed), valueOr(req.MinConfidence, math.Inf(1)), e.opt.Now()
	a.cutoff = a.now.Add(-time.Duration(a.days) * hoursOfADay * time.Hour)
	if a.healthScope, err = e.scopeOf(req.Collection, memory.DefaultCollection); err != nil {
		return a, err
	}
	return a, firstError(
		memory.CheckRange("days_unused", float64(a.days), 0, mostDays),
		memory.CheckRange("min_confidence", valueOr(req.MinConfidence, 0), 0, 1),
		memory.CheckRange("limit", float64(a.limit), 1, mostListedIDs),
	)
}

// healthStale lists the memories that no search returned for long, the longest first.
func (e *Engine) healthStale(_ context.Context, req *op.HealthStaleRequest) (*op.HealthStaleResult, error) {
	a, err := e.staleAsk(req)
	if err != nil {
		return nil, err
	}
	stale, checked := a.find()
	res := &op.HealthStaleResult{StaleMemories: []op.UnusedMemory{}, TotalChecked: checked, Found: len(stale),
		CutoffDate: stampTime(a.cutoff), DaysThreshold: a.days}
	for _, u := range stale[:min(a.limit, len(stale))] {
		m, err := u.told(a.now)
		if err != nil {
			return nil, err
		}
		res.StaleMemories = append(res.StaleMemories, m)
	}
	res.StaleCount = len(res.StaleMemories)
	return res, a.known(checked)
}

// find sorts before anything is cut off, the longest unused first, and of equal ones the
// first by id.
func (a *staleAsk) find() (stale []unused, checked int) {
	for r := range a.e.stm.Rows() {
		if !a.has(r) {
			continue
		}
		checked++
		if at := lastAccess(r); at.Before(a.cutoff) && (math.IsInf(a.below, 1) || r.Confidence() < a.below) {
			stale = append(stale, unused{r, at})
		}
	}
	slices.SortFunc(stale, func(x, y unused) int {
		return cmp.Or(cmp.Compare(daysSince(y.at, a.now), daysSince(x.at, a.now)), x.at.Compare(y.at), x.row.CompareID(y.row))
	})
	return stale, checked
}

func (u unused) told(now time.Time) (op.UnusedMemory, error) {
	m, err := u.row.Memory()
	last := neverUsed
	if !u.at.IsZero() {
		last = u.at.UTC().Format(time.RFC3339)
	}
	return op.UnusedMemory{ID: m.ID, Text: similarity.Truncate(m.Content, unusedText), FullText: m.Content, LastAccessed: last,
		DaysSinceAccess: daysSince(u.at, now), AccessCount: m.AccessCount, Confidence: m.Confidence,
		Category: cmp.Or(m.Category, notSaid), Source: cmp.Or(m.Source, notSaid)}, err
}

// lowAsk is a checked HealthLowAccessRequest.
type lowAsk struct {
	healthScope
	most        int64
	days, limit int
	now, cutoff time.Time
}

func (e *Engine) lowAsk(req *op.HealthLowAccessRequest) (a lowAsk, err error) {
	a.most, a.days, a.limit, a.now = orDefault(req.MaxAccessCount, fewAccesses), orDefault(req.MinAgeDays, grownDays), cmp.Or(req.Limit, healthListed), e.opt.Now()
	a.cutoff = a.now.Add(-time.Duration(a.days) * hoursOfADay * time.Hour)
	if a.healthScope, err = e.scopeOf(req.Collection, memory.DefaultCollection); err != nil {
		return a, err
	}
	return a, firstError(
		memory.CheckRange("max_access_count", float64(a.most), 0, mostAccesses),
		memory.CheckRange("min_age_days", float64(a.days), 0, mostDays),
		memory.CheckRange("limit", float64(a.limit), 1, mostListedIDs),
	)
}

// healthLowAccess lists the memories that searches hardly ever returned, the least first.
func (e *Engine) healthLowAccess(_ context.Context, req *op.HealthLowAccessRequest) (*op.HealthLowAccessResult, error) {
	a, err := e.lowAsk(req)
	if err != nil {
		return nil, err
	}
	low, checked := a.find()
	res := &op.HealthLowAccessResult{LowAccessMemories: []op.LowAccessMemory{}, TotalChecked: checked, Found: len(low)}
	for _, r := range low[:min(a.limit, len(low))] {
		res.LowAccessMemories = append(res.LowAccessMemories, op.LowAccessMemory{ID: r.ID(), Text: similarity.Truncate(r.Content(), unusedText),
			AccessCount: r.AccessCount(), AgeDays: daysSince(r.CreatedAt(), a.now), Confidence: r.Confidence(), Category: cmp.Or(r.Category(), notSaid)})
	}
	res.FlaggedCount = len(res.LowAccessMemories)
	return res, a.known(checked)
}

// find sorts before anything is cut off: fewest accesses first, then oldest.
func (a *lowAsk) find() (low []*stm.Row, checked int) {
	for r := range a.e.stm.Rows() {
		if !a.has(r) {
			continue
		}
		checked++
		if r.CreatedAt().Before(a.cutoff) && r.AccessCount() <= a.most {
			low = append(low, r)
		}
	}
	slices.SortFunc(low, func(x, y *stm.Row) int {
		return cmp.Or(cmp.Compare(x.AccessCount(), y.AccessCount()), x.CreatedAt().Compare(y.CreatedAt()), x.CompareID(y))
	})
	return low, checked
}
