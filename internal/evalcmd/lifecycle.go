package evalcmd

import (
	"cmp"
	"context"
	"emberd/engine"
	"emberd/internal/cli"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"emberd/engine/core"
	"emberd/internal/eval"
	"emberd/memory"
	"emberd/rekindle"
)

type lifecycleOptions struct {
	setOptions
	share float64
}

func (s *session) lifecycleCommand() *cobra.Command {
	var o lifecycleOptions
	cmd := &cobra.Command{
		Use:  "lifecycle DIR",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.measureLifecycle(cmd.Context(), &o, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.unit, "unit", string(eval.Turns), "")
	f.Float64Var(&o.share, "share", 0.8, "")
	f.BoolVar(&o.keep, "keep", false, "")
	return cmd
}

func (s *session) measureLifecycle(ctx context.Context, o *lifecycleOptions, dir string) error {
	if o.unit != string(eval.Turns) && o.unit != string(eval.Facts) {
		return memory.Errorf(memory.Invalid, "unit %s does not fade; use turns or facts", strconv.Quote(o.unit))
	}
	if !(o.share > 0 && o.share < 1) {
		return memory.Errorf(memory.Invalid, "--share is %g, must be more than 0 and less than 1", o.share)
	}
	sets, err := s.readSets(ctx, &o.setOptions, dir)
	if err != nil {
		return err
	}
	l, err := newLifetime(sets[0], o.share)
	if err != nil {
		return memory.Errorf(memory.Invalid, "%s: %w", dir, err)
	}
	var report *eval.LifecycleReport
	err = s.inHome(o.keep, func(home string) error {
		report, err = s.fade(ctx, l, dir, home)
		return err
	})
	switch {
	case err != nil:
		return err
	case s.json:
		return s.printJSON(report)
	}
	s.printFading(report)
	return nil
}

// A lifetime is a judged set by date.
type lifetime struct {
	set  *eval.Set
	days [][]eval.Doc // in order, each day's memories together
	ages rekindle.Ages
}

// newLifetime orders a set by date and stretches the ages of the stages.
func newLifetime(set *eval.Set, share float64) (*lifetime, error) {
	docs := slices.SortedStableFunc(slices.Values(set.Docs), func(a,
		b eval.Doc) int {
		return a.Created.Compare(b.Created)
	})
	if len(docs) == 0 || docs[0].Created.IsZero() {
		return nil, fmt.Errorf("its %s have no dates", set.Unit)
	}
	l := &lifetime{set: set}
	for len(docs) > 0 {
		day := docs[0].Created.Truncate(24 * time.Hour)
		n := slices.IndexFunc(docs, func(d eval.Doc) bool { return !d.Created.Truncate(24 * time.Hour).Equal(day) })
		if n < 0 {
			n = len(docs)
		}
		l.days = append(l.days, docs[:n])
		docs = docs[n:]
	}
	all := slices.Concat(l.days...)
	oldest := all[min(len(all)-1, int(share*float64(len(all))))]
	p := rekindle.DefaultPolicy().Ages
	by := float64(l.end().Sub(oldest.Created)) / float64(p.Archive)
	stretch := func(d time.Duration) time.Duration { return time.Duration(by * float64(d)) }
	l.restate()
	l.ages = rekindle.Ages{Demote: stretch(p.Demote), Archive: stretch(p.Archive), Rehydrate: stretch(p.Rehydrate)}
	if l.ages.Demote <= 0 {
		return nil, fmt.Errorf("all of its %s are of one day", set.Unit)
	}
	return l, nil
}

// end is when the questions are asked.
func (l *lifetime) end() time.Time {
	last := l.days[len(l.days)-1]
	return last[len(last)-1].Created
}

// A fading is one way of growing old.
type fading struct {
	name   string
	change func(o *engine.Options)
	opens  bool // each question opens what it offers to restore
}

func fadings() []fading {
	mode := func(m core.RekindleMode) func(*engine.Options) { return func(o *engine.Options) { o.Rekindle = m } }
	coldest := func(s memory.Stage) func(*engine.Options) {
		return func(o *engine.Options) { o.Lifecycle.Coldest = s }
	}
	return []fading{
		{"nothing fades", coldest(memory.Active), false},
		{"demoted and not archived", coldest(memory.Demoted), false},
		{"archived, each question apart", mode(core.RekindleAsk), false},
		{"archived, one after another", mode(core.RekindleAuto), true},
		{"archived, no rekindling", mode(core.RekindleOff), false},
	}
}

// firstDay is the part of a lifetime without questions that its first day is.
func (l *lifetime) firstDay() *lifetime {
	set := *l.set
	set.Questions, set.Judgements = nil, set.Judgements[:0:0]
	return &lifetime{set: &set, days: l.days[:1], ages: l.ages}
}

// options returns the settings of an engine that grows old in one way.
func (l *lifetime) options(f *fading) *engine.Options {
	o := engine.DefaultOptions()
	o.Logger = slog.New(slog.DiscardHandler)
	o.Lifecycle.Ages, o.LifecyclePeriod, o.AutoPromote, o.Agents.Interval = l.ages, 0, false, 0
	o.Lifecycle.Coldest = memory.Rehydratable // there is a vault, which the settings do not name
	f.change(&o)
	return &o
}

// fade lives one lifetime after the other, each with a daemon's engine of its own.
func (s *session) fade(ctx context.Context, l *lifetime, dir, home string) (*eval.LifecycleReport, error) {
	manifest, err := s.manifest(dir, home)
	if err != nil {
		return nil, err
	}
	report := &eval.LifecycleReport{Manifest: manifest, Unit: l.set.Unit, Files: l.set.Files, Memories: len(l.set.Docs),
		Questions: len(l.set.Questions), Sessions: len(l.days)}
	for i, age := range []time.Duration{l.ages.Demote, l.ages.Archive, l.ages.Rehydrate} {
		report.Ages[i] = age.Hours() / 24
	}
	for _, d := range slices.Concat(l.days...) {
		report.Bytes += int64(len(d.Content))
	}
	first := fading{name: "the first day, which makes tables that later ones use", change: func(*engine.Options) {}}
	if _, err := s.live(ctx, l.firstDay(), l.options(&first), filepath.Join(home, "first"), &first); err != nil {
		return nil, fmt.Errorf("%s: %w", first.name, err)
	}
	for i, f := range fadings() {
		row, err := s.live(ctx, l, l.options(&f), filepath.Join(home, fmt.Sprint(i)), &f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		report.Results = append(report.Results, row)
	}
	return report, nil
}

// printFading shows one line a way of fading, for each of the judgements.
func (s *session) printFading(r *eval.LifecycleReport) {
	s.printf("%s  %s of %s, %s; archived after %.0f days\n", string(r.Unit),
		cli.Count(r.Memories, "memory", "memories"),
		cli.Count(r.Sessions, "day", "days"), cli.Count(r.Questions, "question", "questions"), r.Ages[1])
	width := len("archived, each question apart")
	for k := range r.Results[0].Figures {
		s.printf("\n%s %6s %9s %6s %6s %6s %6s %7s %9s %9s\n", cli.Pad(r.Results[0].Figures[k].Judgements, width+2),
			"cold", "hot bytes", "R@5", "odd", "even", "R@10", "nDCG@10", "rekindled", "identical")
		for _, row := range r.Results {
			f := row.Figures[k]
			s.printf("  %s %4.0f %% %7.0f %% %6.3f %6.3f %6.3f %6.3f %7.3f %9s %9s\n", cli.Pad(row.Name, width),
				100*row.Cold,
				100*float64(row.Hot)/float64(max(1, r.Bytes)), f.Recall5, row.Halves[k][1].Recall5,
				row.Halves[k][0].Recall5, f.Recall10, f.NDCG10,
				cli.Grouped(row.Rekindled), cmp.Or(identicalText(&row), "-"))
		}
	}
	s.printf("\n%s %9s %9s %9s %8s %8s %15s %15s\n", cli.Pad("", width+2), "log kB", "snap kB", "heap kB", "p50 ms",
		"p99 ms", "restated newer", "updates newer")
	for _, row := range r.Results {
		s.printf("  %s %9d %9d %9d %8.2f %8.2f %15s %15s\n", cli.Pad(row.Name, width), row.Log>>10, row.Snapshot>>10,
			row.Heap>>10, row.Latency.P50, row.Latency.P99, row.Restated, row.Recency)
	}
	s.printf("\n")
}

// identicalText is the share of texts that came back to the byte.
func identicalText(row *eval.LifecycleRow) string {
	if row.Read == 0 {
		return ""
	}
	return fmt.Sprintf("%.4g %%", 100*float64(row.Identical)/float64(row.Read))
}
