package cli

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"emberd/internal/config"
	"emberd/internal/importer"
	"emberd/internal/project"
	"emberd/memory"
	"emberd/op"
)

// Importance is the flag for a word or a number, 0 to 1. The word core also
// makes a memory one that never fades.
type Importance struct {
	Given bool
	Value float64
	Core  bool
	text  string
}

func (v *Importance) Type() string   { return "importance" }
func (v *Importance) String() string { return v.text }

func (v *Importance) Set(text string) error {
	words := map[string]float64{"low": 0.3, "normal": 0.5, "high": 0.7, "core": 0.9}
	n, ok := words[strings.ToLower(text)]
	if !ok {
		var err error
		if n, err = strconv.ParseFloat(text, 64); err != nil || !(n >= 0 && n <= 1) {
			return memory.Errorf(memory.Invalid, "use low, normal, high, core, or a number from 0 to 1")
		}
	}
	*v = Importance{Given: true, Value: n, Core: strings.EqualFold(text, "core"), text: text}
	return nil
}

// Window is the flag for a stretch of time, kept in days.
type Window struct {
	Days float64
	text string
}

func (v *Window) Type() string   { return "duration" }
func (v *Window) String() string { return v.text }

func (v *Window) Set(text string) error {
	units := map[string]float64{"min": 1.0 / 1440, "h": 1.0 / 24, "d": 1, "w": 7, "mo": 30, "y": 365, "": 1}
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz ")
	unit, known := units[strings.TrimSpace(text[len(digits):])]
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || !known || !(n > 0) || math.IsInf(n, 0) {
		return memory.Errorf(memory.Invalid, "use a number with a unit, such as 90min, 12h, 7d, 2w, 3mo or 1y")
	}
	*v = Window{Days: n * unit, text: text}
	return nil
}

// Meta is the flag for KEY=VALUE pairs. A value that is JSON is kept as such,
// anything else is text.
type Meta map[string]json.RawMessage

func (v *Meta) Type() string   { return "KEY=VALUE" }
func (v *Meta) String() string { return "" }

func (v *Meta) Set(text string) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" {
		return memory.Errorf(memory.Invalid, "use KEY=VALUE")
	}
	if *v == nil {
		*v = Meta{}
	}
	(*v)[key] = json.RawMessage(value)
	if !json.Valid([]byte(value)) {
		(*v)[key] = JsonText(value)
	}
	return nil
}

// FilterFlags adds the flags that select memories.
func FilterFlags(f *pflag.FlagSet, to *op.Filter, within *Window) {
	Bind(f, to, "tag:tags,t", "collection", "section", "status")
	ProjectFilter(f, &to.Project)
	f.Var((*stages)(&to.Stages), "stage", "")
	f.Var(within, "within", "")
}

// ProjectFilter adds the flag that selects a project. A dot is the git repository around the working directory.
// Without a project the flag is refused, because a request without one selects memories of all projects.
func ProjectFilter(f *pflag.FlagSet, to *string) { f.Var(&projectFlag{to: to}, "project", "") }

// ProjectField adds the flag that sets the project of a memory; "" is none.
func ProjectField(f *pflag.FlagSet, to *string) {
	f.Var(&projectFlag{to: to, field: true}, "project", "")
}

type projectFlag struct {
	to    *string
	field bool
}

func (v *projectFlag) Type() string { return "string" }

func (v *projectFlag) String() string {
	if v.to == nil {
		return ""
	}
	return *v.to
}

func (v *projectFlag) Set(name string) error {
	switch {
	case name == ".":
		if name = project.Here(); name == "" {
			return memory.Errorf(memory.Invalid, "the working directory is not in a git repository; "+
				"use the name of a project, or omit --project")
		}
	case name == "" && !v.field:
		return memory.Errorf(memory.Invalid, "use the name of a project, or omit --project for all memories")
	}
	*v.to = name
	return nil
}

// VaultFlag adds the flag that names the one vault.
func VaultFlag(cmd *cobra.Command, to *string) { cmd.Flags().Var(&vaultFlag{to: to}, "vault", "") }

type vaultFlag struct {
	to    *string
	given bool
}

func (v *vaultFlag) Type() string { return "string" }

func (v *vaultFlag) String() string {
	if v.to == nil {
		return ""
	}
	return *v.to
}

func (v *vaultFlag) Set(dir string) error {
	if v.given {
		return memory.Errorf(memory.Invalid, "use one --vault; %s", config.OtherVault)
	}
	*v.to, v.given = dir, true
	return nil
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

// ParseTime reads the forms that exports and spreadsheets use, see [importer.ParseTime].
func ParseTime(text string) (time.Time, error) { return ParseDate(text, importer.OrderUnknown) }

// ParseDate is [ParseTime] with the order of a date such as 04/11/2025.
func ParseDate(text string, order importer.DateOrder) (time.Time, error) {
	if t, ok := importer.ParseDate(text, order); ok {
		return t, nil
	}
	if importer.HasMissingDay(text) {
		return time.Time{}, memory.Errorf(memory.Invalid, "invalid time %s; this day does not exist",
			JsonText(OneLine(Cut(text, 60))))
	}
	return time.Time{}, memory.Errorf(memory.Invalid, "invalid time %s; use a date such as 2026-03-09, 09.03.2026, "+
		"9 March 2026 or \"2026-03-09 14:30\" (UTC), RFC 3339 such as 2026-03-09T14:30:00+01:00, or "+
		"seconds or milliseconds since 1970",
		JsonText(OneLine(Cut(text, 60))))
}
