package engine

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"emberd/internal/overview"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// everyCollection is the collection name that stands for all of them.
const everyCollection = "all"

// everyStatus is the same for statuses.
const everyStatus = "all"

const maxWindowDays = 3650

// filter is a checked op.Filter at a moment.
type filter struct {
	op.Filter
	since time.Time // of a memory's last use, and a note's last change
	// statuses are those of memories, none for all.
	statuses []string
	score    func(*stm.Row) float64
}

// filter checks what f asks for and fixes the moment it is asked at.
func (e *Engine) filter(f op.Filter, now time.Time) (*filter, error) {
	tags, err := memory.NormalizeTags(f.Tags)
	if err != nil {
		return nil, err
	}
	stages := make([]memory.Stage, 0, len(f.Stages))
	for _, s := range f.Stages {
		stage, err := memory.ParseStage(string(s))
		if err != nil {
			return nil, err
		}
		stages = append(stages, stage)
	}
	statuses, err := parseStatuses(f.Status)
	if err != nil {
		return nil, err
	}
	err = firstError(
		memory.CheckRange("window_days", f.WindowDays, 0, maxWindowDays),
		checkMinScore(f.MinScore),
		memory.CheckRange("min_confidence", f.MinConfidence, 0, 1),
		checkNames(name{"project", f.Project}, name{"collection", f.Collection}, name{"category", f.Category}, name{"section", f.Section}),
	)
	if err != nil {
		return nil, err
	}
	out := &filter{Filter: f, score: func(r *stm.Row) float64 { return e.score(r, now) }}
	out.Tags, out.Stages, out.statuses = tags, stages, statuses
	out.Section = overview.SectionKey(f.Section)
	if f.WindowDays > 0 {
		out.since = now.Add(-time.Duration(f.WindowDays * float64(24*time.Hour)))
	}
	if f.Collection == everyCollection {
		out.Collection = ""
	}
	return out, nil
}

// parseStatuses takes names of statuses, joined by commas, or all.
func parseStatuses(list string) ([]string, error) {
	list = strings.ToLower(strings.TrimSpace(list))
	if list == "" || list == everyStatus {
		return nil, nil
	}
	names := strings.Split(list, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		if !slices.Contains(memory.Statuses(), names[i]) {
			return nil, memory.Errorf(memory.Invalid, "status %.40q is unknown; use active, promoted, archived or all", names[i]).At("status")
		}
	}
	return names, nil
}

func checkMinScore(v float64) error {
	if !(v >= 0) || math.IsInf(v, 1) {
		return memory.Errorf(memory.Invalid, "min_score is %v; give 0 or more", v).At("min_score")
	}
	return nil
}

// accept is what a search filters by, nil when everything passes.
func (f *filter) accept() func(*stm.Row) bool {
	if f.Project == "" && f.Collection == "" && f.Category == "" && f.Section == "" && len(f.Stages) == 0 &&
		len(f.statuses) == 0 && len(f.Tags) == 0 && f.since.IsZero() && f.MinScore == 0 && f.MinConfidence == 0 {
		return nil
	}
	return f.accepts
}

// accepts reports whether the memory is selected. A memory's last use is never
// before its creation, so the window needs to look at no more.
func (f *filter) accepts(r *stm.Row) bool {
	switch {
	case f.Project != "" && r.Project() != f.Project,
		f.Collection != "" && r.Collection() != f.Collection,
		f.Category != "" && r.Category() != f.Category,
		f.Section != "" && overview.SectionKey(r.Section()) != f.Section,
		len(f.Stages) > 0 && !slices.Contains(f.Stages, r.Stage()),
		len(f.statuses) > 0 && !slices.Contains(f.statuses, statusOf(r.Stage(), r.Promoted())),
		r.LastUsed().Before(f.since),
		f.MinConfidence > 0 && r.Confidence() < f.MinConfidence:
		return false
	}
	for _, tag := range f.Tags {
		if !r.HasTag(tag) {
			return false
		}
	}
	return f.MinScore == 0 || f.score(r) >= f.MinScore
}

// checkCollection is asked when nothing was found: a collection that does not
// exist is a mistake of the caller and not an empty answer.
func checkCollection(in *stm.Memories, collection string) error {
	if collection == "" || collection == memory.DefaultCollection {
		return nil
	}
	there := map[string]bool{memory.DefaultCollection: true}
	for r := range in.Rows() {
		if r.Collection() == collection {
			return nil
		}
		there[r.Collection()] = true
	}
	const most = 10
	names := slices.Sorted(maps.Keys(there))
	return memory.Errorf(memory.NotFound, "there is no collection %q; there are %s; all stands for every one",
		collection, strings.Join(names[:min(most, len(names))], ", ")).At("collection")
}

// checkLimit returns the number of results asked for.
func checkLimit(limit, otherwise int) (int, error) {
	if limit == 0 {
		return otherwise, nil
	}
	return limit, firstError(memory.CheckRange("limit", float64(limit), 1, memory.MaxResults))
}
