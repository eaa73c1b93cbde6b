package health

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"emberd/engine/core"
	"emberd/internal/dedupe/similarity"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Defaults and limits of the specification "adaptive memory health".
const (
	staleDays    = 30
	fewAccesses  = 2
	grownDays    = 7
	healthListed = 100
	maxListedIDs = 1000
	maxDays      = 36_500
	maxAccesses  = 1 << 40

	unusedText = 200 // shown characters of a text
	// neverDays is reported as the days since something that never happened.
	neverDays    = 999
	neverUsed    = "never"
	notSaid      = "unknown"
	MergeVerb    = "merge"
	migrateVerb  = "migrate"
	migratedFrom = "migrated_v1"
	// migratedVersion is the embedding model of the system that old records come from.
	migratedVersion = "all-MiniLM-L6-v2"
)

// healthScope is the collection of a request.
type healthScope struct {
	e    *Health
	name string // everyCollection for all
}

// scopeOf checks the name of a collection, which may be empty.
func (e *Health) scopeOf(collection, otherwise string) (healthScope, error) {
	s := healthScope{e, cmp.Or(collection, otherwise)}
	return s, core.CheckNames(core.Name{Field: "collection", Value: s.name})
}

func (s healthScope) has(r *stm.Row) bool {
	return s.name == core.EveryCollection || r.Collection() == s.name
}

// checkExists returns an error if nothing was found because the collection does not exist.
func (s healthScope) checkExists(found int) error {
	if found > 0 || s.name == core.EveryCollection {
		return nil
	}
	return core.CheckCollection(&s.e.Stm.MemorySet, s.name)
}

// daysSince returns whole days, and neverDays for the zero time.
func daysSince(at, now time.Time) int {
	if at.IsZero() {
		return neverDays
	}
	return int(max(0, now.Sub(at).Hours()/core.HoursOfADay))
}

// orDefault returns the value of a request, or the default.
func orDefault[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}

// unused is an unused memory in a list.
type unused struct {
	row *stm.Row
	at  time.Time
}

// staleAsk is a checked HealthStaleRequest.
type staleAsk struct {
	healthScope
	days, limit int
	below       float64 // maximum confidence, exclusive
	now, cutoff time.Time
}

func (e *Health) staleAsk(req *op.HealthStaleRequest) (a staleAsk, err error) {
	a.days, a.limit, a.below, a.now = orDefault(req.DaysUnused, staleDays), cmp.Or(req.Limit, healthListed),
		core.ValueOr(req.MinConfidence, math.Inf(1)), e.Opt.Now()
	a.cutoff = a.now.Add(-time.Duration(a.days) * core.HoursOfADay * time.Hour)
	if a.healthScope, err = e.scopeOf(req.Collection, memory.DefaultCollection); err != nil {
		return a, err
	}
	return a, core.FirstError(
		memory.CheckRange("days_unused", float64(a.days), 0, maxDays),
		memory.CheckRange("min_confidence", core.ValueOr(req.MinConfidence, 0), 0, 1),
		memory.CheckRange("limit", float64(a.limit), 1, maxListedIDs),
	)
}

// HealthStale returns the memories that no search has returned for long, the longest first.
func (e *Health) HealthStale(_ context.Context, req *op.HealthStaleRequest) (*op.HealthStaleResult, error) {
	a, err := e.staleAsk(req)
	if err != nil {
		return nil, err
	}
	stale, checked := a.find()
	e.Opt.Logger.Info("searched for stale memories", "collection", a.name, "days", a.days, "found", len(stale))
	res := &op.HealthStaleResult{StaleMemories: []op.UnusedMemory{}, TotalChecked: checked, Found: len(stale),
		CutoffDate: core.StampTime(a.cutoff), DaysThreshold: a.days}
	for _, u := range stale[:min(a.limit, len(stale))] {
		m, err := u.told(a.now)
		if err != nil {
			return nil, err
		}
		res.StaleMemories = append(res.StaleMemories, m)
	}
	res.StaleCount = len(res.StaleMemories)
	return res, a.checkExists(checked)
}

// find sorts before it truncates: the longest unused first, equal ones by ID.
func (a *staleAsk) find() (stale []unused, checked int) {
	for r := range a.e.Stm.Rows() {
		if !a.has(r) {
			continue
		}
		checked++
		doubtful := math.IsInf(a.below, 1) || r.Confidence() < a.below
		if doubtful && core.UnusedSince(r).Before(a.cutoff) {
			stale = append(stale, unused{r, core.LastAccess(r)})
		}
	}
	slices.SortFunc(stale, func(x, y unused) int {
		return cmp.Or(cmp.Compare(daysSince(y.at, a.now), daysSince(x.at, a.now)), x.at.Compare(y.at),
			x.row.CompareID(y.row))
	})
	return stale, checked
}

func (u unused) told(now time.Time) (op.UnusedMemory, error) {
	m, err := u.row.Memory()
	last := neverUsed
	if !u.at.IsZero() {
		last = u.at.UTC().Format(time.RFC3339)
	}
	return op.UnusedMemory{ID: m.ID, Text: similarity.Truncate(m.Content, unusedText), FullText: m.Content,
		LastAccessed:    last,
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

func (e *Health) lowAsk(req *op.HealthLowAccessRequest) (a lowAsk, err error) {
	a.most, a.days, a.limit, a.now = orDefault(req.MaxAccessCount, fewAccesses), orDefault(req.MinAgeDays, grownDays),
		cmp.Or(req.Limit, healthListed), e.Opt.Now()
	a.cutoff = a.now.Add(-time.Duration(a.days) * core.HoursOfADay * time.Hour)
	if a.healthScope, err = e.scopeOf(req.Collection, memory.DefaultCollection); err != nil {
		return a, err
	}
	return a, core.FirstError(
		memory.CheckRange("max_access_count", float64(a.most), 0, maxAccesses),
		memory.CheckRange("min_age_days", float64(a.days), 0, maxDays),
		memory.CheckRange("limit", float64(a.limit), 1, maxListedIDs),
	)
}

// HealthLowAccess returns the memories with few accesses, the fewest first.
func (e *Health) HealthLowAccess(_ context.Context, req *op.HealthLowAccessRequest) (*op.HealthLowAccessResult, error) {
	a, err := e.lowAsk(req)
	if err != nil {
		return nil, err
	}
	low, checked := a.find()
	res := &op.HealthLowAccessResult{LowAccessMemories: []op.LowAccessMemory{}, TotalChecked: checked, Found: len(low)}
	for _, r := range low[:min(a.limit, len(low))] {
		res.LowAccessMemories = append(res.LowAccessMemories,
			op.LowAccessMemory{ID: r.ID(), Text: similarity.Truncate(r.Content(), unusedText),
				AccessCount: r.AccessCount(), AgeDays: daysSince(r.CreatedAt(), a.now), Confidence: r.Confidence(),
				Category: cmp.Or(r.Category(), notSaid)})
	}
	res.FlaggedCount = len(res.LowAccessMemories)
	return res, a.checkExists(checked)
}

// find sorts before it truncates: fewest accesses first, then oldest. A memory that an import
// brings without a use gets its time for accesses from then on, whatever its date.
func (a *lowAsk) find() (low []*stm.Row, checked int) {
	for r := range a.e.Stm.Rows() {
		if !a.has(r) {
			continue
		}
		checked++
		if stm.StoredLastUsed(r).Before(a.cutoff) && r.AccessCount() <= a.most {
			low = append(low, r)
		}
	}
	slices.SortFunc(low, func(x, y *stm.Row) int {
		return cmp.Or(cmp.Compare(x.AccessCount(), y.AccessCount()), x.CreatedAt().Compare(y.CreatedAt()),
			x.CompareID(y))
	})
	return low, checked
}
