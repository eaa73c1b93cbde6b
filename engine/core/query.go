package core

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"emberd/internal/notegen"
	"emberd/internal/text/analysis"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// CheckQuery returns an error if a query is not valid UTF-8 or too long.
func CheckQuery(q string) error {
	if !utf8.ValidString(q) {
		return memory.Errorf(memory.Invalid, "invalid query: the text is not UTF-8; send UTF-8 text").At("q")
	}
	if len(q) > memory.MaxQueryBytes {
		return memory.Errorf(memory.TooLarge, "too many bytes in the query: %d (limit %d); use fewer words", len(q),
			memory.MaxQueryBytes).At("q")
	}
	return nil
}

// TermsOf returns the texts of terms, in order.
func TermsOf(terms []analysis.Term) []string {
	out := make([]string, len(terms))
	for i, t := range terms {
		out[i] = t.Text
	}
	return out
}

// Distinct returns the texts of terms, sorted and each once.
func Distinct(terms []analysis.Term) []string {
	out := TermsOf(terms)
	slices.Sort(out)
	return slices.Compact(out)
}

// EveryCollection is the collection name that selects all collections.
const EveryCollection = "all"

// everyStatus selects all statuses.
const everyStatus = "all"

const MaxWindowDays = 3650

// Filter is an op.Filter after its check, at one moment.
type Filter struct {
	op.Filter
	Since time.Time // compared with the last use of a memory and the last change of a note
	// Statuses are the selected statuses, none for all.
	Statuses []string
	Score    func(*stm.Row) float64
}

// Filter checks f and fixes its moment.
func (e *View) Filter(f op.Filter, now time.Time) (*Filter, error) {
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
	err = FirstError(
		memory.CheckRange("window_days", f.WindowDays, 0, MaxWindowDays),
		checkMinScore(f.MinScore),
		memory.CheckRange("min_confidence", f.MinConfidence, 0, 1),
		CheckNames(Name{"project", f.Project}, Name{"collection", f.Collection}, Name{"category", f.Category},
			Name{"section", f.Section}),
	)
	if err != nil {
		return nil, err
	}
	out := &Filter{Filter: f, Score: func(r *stm.Row) float64 { return e.Score(r, now) }}
	out.Tags, out.Stages, out.Statuses = tags, stages, statuses
	out.Section = notegen.SectionKey(f.Section)
	if f.WindowDays > 0 {
		out.Since = now.Add(-time.Duration(f.WindowDays * float64(24*time.Hour)))
	}
	if f.Collection == EveryCollection {
		out.Collection = ""
	}
	return out, nil
}

// parseStatuses parses comma-separated statuses, or all.
func parseStatuses(list string) ([]string, error) {
	list = strings.ToLower(strings.TrimSpace(list))
	if list == "" || list == everyStatus {
		return nil, nil
	}
	names := strings.Split(list, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		if !slices.Contains(memory.Statuses(), names[i]) {
			return nil, memory.Errorf(memory.Invalid, "invalid status %.40q; use active, promoted, archived or all",
				names[i]).At("status")
		}
	}
	return names, nil
}

func checkMinScore(v float64) error {
	if !(v >= 0) || math.IsInf(v, 1) {
		return memory.Errorf(memory.Invalid, "invalid min_score %v; use 0 or more", v).At("min_score")
	}
	return nil
}

// Accept returns the filter of a search, nil if it accepts everything.
func (f *Filter) Accept() func(*stm.Row) bool {
	if f.Project == "" && f.Collection == "" && f.Category == "" && f.Section == "" && len(f.Stages) == 0 &&
		len(f.Statuses) == 0 && len(f.Tags) == 0 && f.Since.IsZero() && f.MinScore == 0 && f.MinConfidence == 0 {
		return nil
	}
	return f.Accepts
}

// Accepts reports whether the filter selects the memory. A memory's last use is never before
// its creation, so Since is compared with the last use only.
func (f *Filter) Accepts(r *stm.Row) bool {
	switch {
	case f.Project != "" && r.Project() != f.Project,
		f.Collection != "" && r.Collection() != f.Collection,
		f.Category != "" && r.Category() != f.Category,
		f.Section != "" && notegen.SectionKey(r.Section()) != f.Section,
		len(f.Stages) > 0 && !slices.Contains(f.Stages, r.Stage()),
		len(f.Statuses) > 0 && !slices.Contains(f.Statuses, RowStatus(r)),
		r.LastUsed().Before(f.Since),
		f.MinConfidence > 0 && r.Confidence() < f.MinConfidence:
		return false
	}
	for _, tag := range f.Tags {
		if !r.HasTag(tag) {
			return false
		}
	}
	return f.MinScore == 0 || f.Score(r) >= f.MinScore
}

// CheckCollection returns an error if the collection does not exist. Callers use it when a
// search has no results: a wrong name is the caller's mistake, not an empty answer.
func CheckCollection(in *stm.MemorySet, collection string) error {
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
	return memory.Errorf(memory.NotFound,
		"collection %q not found; existing collections: %s; to select all collections, use all", collection,
		strings.Join(names[:min(most, len(names))], ", ")).At("collection")
}

// CheckLimit returns the requested number of results.
func CheckLimit(limit, otherwise int) (int, error) {
	if limit == 0 {
		return otherwise, nil
	}
	return limit, FirstError(memory.CheckRange("limit", float64(limit), 1, memory.MaxResults))
}
