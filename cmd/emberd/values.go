package main

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"emberd/internal/foreign"
	"emberd/memory"
	"emberd/op"
)

// importance is the flag for a word or a number, 0 to 1. The word core also
// makes a memory one that never fades.
type importance struct {
	given bool
	value float64
	core  bool
	text  string
}

func (v *importance) Type() string   { return "importance" }
func (v *importance) String() string { return v.text }

func (v *importance) Set(text string) error {
	words := map[string]float64{"low": 0.3, "normal": 0.5, "high": 0.7, "core": 0.9}
	n, ok := words[strings.ToLower(text)]
	if !ok {
		var err error
		if n, err = strconv.ParseFloat(text, 64); err != nil || !(n >= 0 && n <= 1) {
			return memory.Errorf(memory.Invalid, "use low, normal, high, core or a number from 0 to 1")
		}
	}
	*v = importance{given: true, value: n, core: strings.EqualFold(text, "core"), text: text}
	return nil
}

// window is the flag for a stretch of time, kept in days.
type window struct {
	days float64
	text string
}

func (v *window) Type() string   { return "duration" }
func (v *window) String() string { return v.text }

func (v *window) Set(text string) error {
	units := map[string]float64{"min": 1.0 / 1440, "h": 1.0 / 24, "d": 1, "w": 7, "mo": 30, "y": 365, "": 1}
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz ")
	unit, known := units[strings.TrimSpace(text[len(digits):])]
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || !known || !(n > 0) || math.IsInf(n, 0) {
		return memory.Errorf(memory.Invalid, "use a number and a unit, as in 90min, 12h, 7d, 2w, 3mo or 1y")
	}
	*v = window{days: n * unit, text: text}
	return nil
}

// meta is the flag for KEY=VALUE pairs. A value that is JSON is kept as such,
// anything else is text.
type meta map[string]json.RawMessage

func (v *meta) Type() string   { return "KEY=VALUE" }
func (v *meta) String() string { return "" }

func (v *meta) Set(text string) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" {
		return memory.Errorf(memory.Invalid, "use KEY=VALUE")
	}
	if *v == nil {
		*v = meta{}
	}
	(*v)[key] = json.RawMessage(value)
	if !json.Valid([]byte(value)) {
		(*v)[key] = jsonText(value)
	}
	return nil
}

// filterFlags adds the flags that select memories.
func filterFlags(f *pflag.FlagSet, to *op.Filter, within *window) {
	f.StringSliceVarP(&to.Tags, "tag", "t", nil, "only with this `TAG` (a tag a/b is also found by a); repeatable")
	f.StringVar(&to.Project, "project", "", "only of this `PROJECT`; a dot is the enclosing git repository")
	f.StringVar(&to.Collection, "collection", "", "only of this `COLLECTION`")
	f.StringVar(&to.Category, "category", "", "only of this `CATEGORY`")
	f.StringVar(&to.Section, "section", "", "only of this `SECTION`, in any case")
	f.Var((*stages)(&to.Stages), "stage", "only in this `STAGE`: active, demoted, archived or rehydratable; repeatable")
	f.StringVar(&to.Status, "status", "", "only with this `STATUS`: active, promoted, archived, several joined by commas, or all")
	f.Var(within, "within", "only used or saved, or for a note changed, within this `TIME`, as in 12h, 7d or 3mo")
	f.Float64Var(&to.MinScore, "min-score", 0, "only with at least this decay `SCORE`")
	f.Float64Var(&to.MinConfidence, "min-confidence", 0, "only with at least this `CONFIDENCE`, 0 to 1")
}

// settle completes a filter from what the flags say.
func settle(f *op.Filter, within window) {
	f.WindowDays = within.days
	f.Project = dotted(f.Project)
}

// stages is the flag for a comma list of stages.
type stages []memory.Stage

func (v *stages) Type() string   { return "stage" }
func (v *stages) String() string { return "" }

func (v *stages) Set(text string) error {
	for name := range strings.SplitSeq(text, ",") {
		st, err := memory.ParseStage(name)
		if err != nil {
			return err
		}
		*v = append(*v, st)
	}
	return nil
}

// optional returns a pointer to v when the flag was given, nil when not, so
// that the request can tell "left out" from zero.
func optional[T any](f *pflag.FlagSet, name string, v T) *T {
	if !f.Changed(name) {
		return nil
	}
	return &v
}

// parseTime reads the forms that exports use: RFC 3339, the same without a
// zone (taken as UTC), a date, and seconds or milliseconds since 1970.
func parseTime(text string) (time.Time, error) {
	if t, ok := foreign.ParseTime(text); ok {
		return t, nil
	}
	return time.Time{}, memory.Errorf(memory.Invalid, "%s is no time; use RFC 3339 or seconds or milliseconds since 1970", jsonText(oneLine(cut(text, 60))))
}
