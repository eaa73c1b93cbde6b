package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/config"
	"emberd/internal/eval"
	"emberd/memory"
)

type evalOptions struct {
	unit        string
	known       bool
	sample      int
	misspelled  bool
	keep        bool
	report      string
	perQuestion string
}

// evalEverything is the unit that stands for all that a folder has.
const evalEverything = "all"

func (s *state) evalCommand() *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:   "eval DIR",
		Short: "Measure what search finds in a judged set",
		Long: `Measure what search finds in a judged set, beside plain BM25 over its texts. A
daemon of its own, in a temporary folder, takes the set in and is asked every
question; nothing of yours is touched. Settings are those that emberd ships
with, and what --set changes; installed models and engines are there, too.

DIR holds memories.jsonl (turns), facts.jsonl, docs.jsonl, or Markdown in notes/
or vault/; questions in queries.jsonl with qrels*.tsv, or known_item.jsonl. Each
of these units is measured by itself; questions that are about a conversation
are asked once over everything and once within it.

--known-items needs no judgements: DIR is any vault, and its titles, aliases and
link texts, and its headings, have to find the notes that they stand for.`,
		Example: `  emberd eval locomo/dev
  emberd eval locomo/dev --unit notes --set search.ltm_weight=1
  emberd eval ~/Notes --known-items
  emberd eval scifact --json > scifact.json`,
		Annotations: exits(endings{
			exitNothing:  "done, but without some documents or questions; it says which",
			exitNoDaemon: "its daemon did not start, or ended", exitDisk: "",
		}),
		Args: takes(1, 1, "the folder of a judged set"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.eval(cmd.Context(), &o, args[0])
		},
	}
	f := cmd.Flags()
	unitFlag(cmd, &o)
	f.BoolVar(&o.known, "known-items", false, "ask for the notes of a vault by their own names and headings")
	f.IntVar(&o.sample, "sample", 0, "ask at most `N` questions of a unit, spread over all of them")
	f.BoolVar(&o.misspelled, "misspelled", false, "make a slip of the keyboard in words of every question")
	f.StringVar(&o.report, "report", "", "also write the report of --json to `FILE`")
	f.StringVar(&o.perQuestion, "per-question", "", "write what became of each question to `FILE`, as JSONL")
	f.BoolVar(&o.keep, "keep", false, "leave the temporary folder in place and name it")
	cmd.AddCommand(s.evalSummariesCommand(), s.evalLifecycleCommand(), s.evalPairsCommand(), s.evalMergesCommand(), s.evalCleanupCommand(), s.evalEvolutionCommand(), s.evalSelfCommand())
	return cmd
}

func unitFlag(cmd *cobra.Command, o *evalOptions) {
	cmd.Flags().StringVar(&o.unit, "unit", evalEverything, "measure only this `UNIT`: turns, facts, notes, docs or all")
	_ = cmd.RegisterFlagCompletionFunc("unit", cobra.FixedCompletions(evalUnits(), cobra.ShellCompDirectiveNoFileComp))
}

func evalUnits() []string {
	names := []string{evalEverything}
	for _, u := range eval.Units() {
		names = append(names, string(u))
	}
	return names
}

func (s *state) eval(ctx context.Context, o *evalOptions, dir string) (err error) {
	if !slices.Contains(evalUnits(), o.unit) {
		return memory.Errorf(memory.Invalid, "unit %s is unknown; use %s", jsonText(o.unit), strings.Join(evalUnits(), ", "))
	}
	sets, err := s.evalSets(ctx, o, dir)
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
	err = s.inEvalHome(o.keep, func(home string) error { return s.evalAll(ctx, report, dir, home, sets) })
	if err != nil {
		return err
	}
	if err := s.tellEval(files, report); err != nil {
		return err
	}
	if incomplete(report) {
		return &exit{code: exitNothing}
	}
	return nil
}

// vary changes what is asked.
func (o *evalOptions) vary(set *eval.Set) {
	if o.sample > 0 {
		set.Sample(o.sample)
	}
	if o.misspelled {
		set.Misspell()
	}
}

// inEvalHome makes a folder for an evaluation, which is gone afterwards unless it is kept.
func (s *state) inEvalHome(keep bool, do func(home string) error) error {
	home, err := os.MkdirTemp("", "emberd-eval-")
	if err != nil {
		return fmt.Errorf("make a folder for the evaluation: %w", err)
	}
	err = do(home)
	if keep {
		s.note("kept %s", home)
		return err
	}
	return errors.Join(err, os.RemoveAll(home))
}

// evalSets reads what is to be measured. A unit that was not asked for and
// cannot be read is passed over, and that is told.
func (s *state) evalSets(ctx context.Context, o *evalOptions, dir string) ([]*eval.Set, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, memory.Errorf(memory.Invalid, "%s is not a folder; name that of a judged set, or a vault with --known-items", dir)
	}
	if o.known {
		set, err := knownSet(ctx, dir)
		if err != nil {
			return nil, memory.Errorf(memory.Invalid, "%s: %w", dir, err)
		}
		return []*eval.Set{set}, nil
	}
	var sets []*eval.Set
	for _, u := range eval.Units() {
		if o.unit != evalEverything && o.unit != string(u) {
			continue
		}
		set, err := eval.Read(os.DirFS(dir), u)
		switch {
		case err == nil:
			sets = append(sets, set)
		case o.unit != evalEverything:
			return nil, memory.Errorf(memory.Invalid, "%s: %w", dir, err)
		case !errors.Is(err, fs.ErrNotExist):
			s.note("%s are left out: %v", u, err)
		}
	}
	if len(sets) == 0 {
		return nil, memory.Errorf(memory.Invalid, "%s holds no judged set; see emberd eval --help for what one is", dir)
	}
	return sets, nil
}

// evalAll measures set after set, each with a daemon of its own.
func (s *state) evalAll(ctx context.Context, report *eval.Report, dir, home string, sets []*eval.Set) error {
	var err error
	if report.Manifest, err = s.manifest(dir, home); err != nil {
		return err
	}
	for _, set := range sets {
		run := &evalRun{s: s, set: set, folder: dir}
		if err := run.measure(ctx, filepath.Join(home, string(set.Unit))); err != nil {
			return fmt.Errorf("%s: %w", set.Unit, err)
		}
		report.Sets = append(report.Sets, run.report)
	}
	return nil
}

// manifest says what is measured, and refuses settings that would lead the
// daemon out of its folder.
func (s *state) manifest(dir, home string) (eval.Manifest, error) {
	for _, set := range s.set {
		key, _, _ := strings.Cut(set, "=")
		if slices.Contains([]string{"data", "state", "socket", "vaults"}, key) {
			return eval.Manifest{}, memory.Errorf(memory.Invalid, "%s is not for eval, whose daemon has a folder of its own; leave it out", key)
		}
	}
	settings, err := s.evalSettings()
	if err != nil {
		return eval.Manifest{}, err
	}
	c, err := config.Load(config.Source{Flags: settings, Env: foreignFree(s.env), Home: home, UserHome: home})
	if err != nil {
		return eval.Manifest{}, memory.Errorf(memory.Invalid, "%w", err)
	}
	m := eval.Manifest{Version: buildVersion(), Commit: commit(), Go: runtime.Version(), GOOS: runtime.GOOS, GOARCH: runtime.GOARCH,
		CPUs: runtime.NumCPU(), Date: s.now().UTC(), Folder: dir, Settings: map[string]string{}}
	for _, st := range c.Effective() {
		group, _, _ := strings.Cut(st.Key, ".")
		if slices.Contains([]string{"search", "decay", "stage_weight", "embedding"}, group) || s.sets(st.Key) {
			m.Settings[st.Key] = st.Value
		}
	}
	return m, nil
}

// sets reports whether --set names a key.
func (s *state) sets(key string) bool {
	return slices.ContainsFunc(s.set, func(set string) bool {
		name, _, _ := strings.Cut(set, "=")
		return strings.TrimSpace(name) == key
	})
}

// commit is what the Go command noted of the source, "" without.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	noted := map[string]string{}
	for _, st := range info.Settings {
		noted[st.Key] = st.Value
	}
	return noted["vcs.revision"] + map[string]string{"true": "+changes"}[noted["vcs.modified"]]
}

func incomplete(r *eval.Report) bool {
	return slices.ContainsFunc(r.Sets, func(s eval.SetReport) bool {
		return cmp.Or(s.Documents-s.Loaded, s.Lost, len(s.Failed), len(s.Missing)) != 0
	})
}

// evalFiles are what is written besides the answer, or the null device.
type evalFiles struct{ report, perQuestion *os.File }

// create makes the files first of all, so that a name that cannot be written is
// not found out at the very end.
func (o *evalOptions) create() (f evalFiles, err error) {
	if f.report, err = os.Create(cmp.Or(o.report, os.DevNull)); err == nil {
		f.perQuestion, err = os.Create(cmp.Or(o.perQuestion, os.DevNull))
	}
	if err != nil {
		return f, memory.Errorf(memory.Invalid, "%w; name a file that can be written", err)
	}
	return f, nil
}

// tellEval prints the report and fills the files.
func (s *state) tellEval(files evalFiles, r *eval.Report) error {
	if err := writeJSON(files.report, r); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	answers := json.NewEncoder(files.perQuestion)
	answers.SetEscapeHTML(false)
	for _, set := range r.Sets {
		for _, a := range set.Answers {
			if err := answers.Encode(a); err != nil {
				return fmt.Errorf("write what became of the questions: %w", err)
			}
		}
	}
	if s.json {
		return s.printJSON(r)
	}
	for i := range r.Sets {
		s.printEval(&r.Sets[i])
	}
	return nil
}
