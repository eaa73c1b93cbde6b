package evalcmd

import (
	"cmp"
	"context"
	"emberd/internal/cli"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/eval"
	"emberd/internal/tempdaemon"
	"emberd/memory"
)

type setOptions struct {
	unit        string
	known       bool
	half        string
	sample      int
	misspelled  bool
	keep        bool
	report      string
	perQuestion string
	meaning     []float64
}

// everyUnit is the unit that stands for all that a folder has.
const everyUnit = "all"

func (s *session) runCommand() *cobra.Command {
	var o setOptions
	cmd := &cobra.Command{
		Use:  "run DIR",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.eval(cmd.Context(), &o, args[0])
		},
	}
	f := cmd.Flags()
	unitFlag(cmd, &o)
	f.BoolVar(&o.known, "known-items", false, "")
	f.StringVar(&o.half, "half", "", "")
	f.IntVar(&o.sample, "sample", 0, "")
	f.BoolVar(&o.misspelled, "misspelled", false, "")
	f.Float64SliceVar(&o.meaning, "meaning", nil, "")
	f.StringVar(&o.report, "report", "", "")
	f.StringVar(&o.perQuestion, "per-question", "", "")
	f.BoolVar(&o.keep, "keep", false, "")
	return cmd
}

func unitFlag(cmd *cobra.Command, o *setOptions) {
	cmd.Flags().StringVar(&o.unit, "unit", everyUnit, "")
	_ = cmd.RegisterFlagCompletionFunc("unit", cobra.FixedCompletions(unitNames(), cobra.ShellCompDirectiveNoFileComp))
}

func unitNames() []string {
	names := []string{everyUnit}
	for _, u := range eval.Units() {
		names = append(names, string(u))
	}
	return names
}

func (s *session) eval(ctx context.Context, o *setOptions, dir string) (err error) {
	if !slices.Contains(unitNames(), o.unit) {
		return memory.Errorf(memory.Invalid, "unit %s is unknown; use %s", strconv.Quote(o.unit),
			strings.Join(unitNames(), ", "))
	}
	if err := checkHalf(o.half); err != nil {
		return err
	}
	if slices.ContainsFunc(o.meaning, func(w float64) bool { return !(0 <= w && w <= 1) }) {
		return memory.Errorf(memory.Invalid, "a weight of meaning is from 0 to 1")
	}
	sets, err := s.readSets(ctx, o, dir)
	if err != nil {
		return err
	}
	for _, set := range sets {
		o.vary(set)
	}
	files, err := o.create()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, files.report.Close(), files.perQuestion.Close()) }()
	report := &eval.Report{}
	err = s.inHome(o.keep, func(home string) error { return s.measureAll(ctx, o, report, dir, home, sets) })
	if err != nil {
		return err
	}
	if err := s.writeReport(files, report); err != nil {
		return err
	}
	if incomplete(report) {
		return errIncomplete
	}
	return nil
}

// vary changes what is asked.
func (o *setOptions) vary(set *eval.Set) {
	if o.half != "" {
		set.Half(o.half == "odd")
	}
	if o.sample > 0 {
		set.Sample(o.sample)
	}
	if o.misspelled {
		set.Misspell()
	}
}

// readSets reads what is to be measured. A unit that was not asked for and
// cannot be read is passed over, and that is told.
func (s *session) readSets(ctx context.Context, o *setOptions, dir string) ([]*eval.Set, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, memory.Errorf(memory.Invalid,
			"%s is not a folder; pass the folder of a judged set, or a vault with --known-items", dir)
	}
	if o.known {
		set, err := eval.KnownSet(ctx, dir)
		if err != nil {
			return nil, memory.Errorf(memory.Invalid, "%s: %w", dir, err)
		}
		return []*eval.Set{set}, nil
	}
	var sets []*eval.Set
	for _, u := range eval.Units() {
		if o.unit != everyUnit && o.unit != string(u) {
			continue
		}
		set, err := eval.Read(os.DirFS(dir), u)
		switch {
		case err == nil:
			sets = append(sets, set)
		case o.unit != everyUnit:
			return nil, memory.Errorf(memory.Invalid, "%s: %w", dir, err)
		case !errors.Is(err, fs.ErrNotExist):
			s.note("%s are left out: %v", u, err)
		}
	}
	if len(sets) == 0 {
		return nil, memory.Errorf(memory.Invalid, "%s holds no judged set; see emberd-eval run --help for what one is",
			dir)
	}
	return sets, nil
}

// measureAll measures set after set, each with a daemon of its own.
func (s *session) measureAll(ctx context.Context, o *setOptions, report *eval.Report, dir, home string,
	sets []*eval.Set) error {
	var err error
	if report.Manifest, err = s.manifest(dir, home); err != nil {
		return err
	}
	for _, set := range sets {
		run := &unitRun{s: s, set: set, folder: dir, meaning: o.meaning}
		if err := run.measure(ctx, filepath.Join(home, string(set.Unit))); err != nil {
			return fmt.Errorf("%s: %w", set.Unit, err)
		}
		report.Sets = append(report.Sets, run.report)
	}
	return nil
}

// manifest says what is measured.
func (s *session) manifest(dir, home string) (eval.Manifest, error) {
	settings, err := s.settings()
	if err != nil {
		return eval.Manifest{}, err
	}
	c, err := load(settings, tempdaemon.WithoutSettings(s.env), home, home)
	if err != nil {
		return eval.Manifest{}, err
	}
	m := eval.Manifest{Version: version(), Commit: commit(), Go: runtime.Version(), GOOS: runtime.GOOS,
		GOARCH: runtime.GOARCH,
		CPUs:   runtime.NumCPU(), Date: s.now().UTC(), Folder: dir, Settings: map[string]string{}}
	for _, st := range c.Effective() {
		group, _, _ := strings.Cut(st.Key, ".")
		if slices.Contains([]string{"search", "decay", "stage_weight", "embedding"}, group) || tempdaemon.Sets(s.set,
			st.Key) {
			m.Settings[st.Key] = st.Value
		}
	}
	return m, nil
}

// version and commit are what the Go command noted of the program, or "".
func version() string { v, _ := built(); return v }

func commit() string { _, c := built(); return c }

func built() (version, commit string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", ""
	}
	noted := map[string]string{}
	for _, st := range info.Settings {
		noted[st.Key] = st.Value
	}
	return info.Main.Version, noted["vcs.revision"] + map[string]string{"true": "+changes"}[noted["vcs.modified"]]
}

func incomplete(r *eval.Report) bool {
	return slices.ContainsFunc(r.Sets, func(s eval.SetReport) bool {
		return cmp.Or(s.Documents-s.Loaded, s.Lost, len(s.Failed), len(s.Missing)) != 0
	})
}

// outputs are what is written besides the answer, or the null device.
type outputs struct{ report, perQuestion *os.File }

// create makes the files first of all, so that a name that cannot be written is
// not found out at the very end.
func (o *setOptions) create() (f outputs, err error) {
	if f.report, err = os.Create(cmp.Or(o.report, os.DevNull)); err == nil {
		f.perQuestion, err = os.Create(cmp.Or(o.perQuestion, os.DevNull))
	}
	if err != nil {
		return f, memory.Errorf(memory.Invalid, "%w; name a file that can be written", err)
	}
	return f, nil
}

// writeReport prints the report and fills the files.
func (s *session) writeReport(files outputs, r *eval.Report) error {
	if err := cli.WriteJSON(files.report, r); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	answers := json.NewEncoder(files.perQuestion)
	answers.SetEscapeHTML(false)
	for _, set := range r.Sets {
		for _, a := range set.Answers {
			if err := answers.Encode(a); err != nil {
				return fmt.Errorf("write the results of the questions: %w", err)
			}
		}
	}
	if s.json {
		return s.printJSON(r)
	}
	for i := range r.Sets {
		s.printSet(&r.Sets[i])
	}
	return nil
}

func checkHalf(half string) error {
	if slices.Contains([]string{"", "odd", "even"}, half) {
		return nil
	}
	return memory.Errorf(memory.Invalid, "half %s is unknown; use odd or even", strconv.Quote(half))
}
