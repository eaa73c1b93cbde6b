package evalcmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"emberd/engine"
	"emberd/internal/eval"
	"emberd/memory"
	"emberd/op"
)

// What a quarter is: its weeks, how often a day the lifecycle runs, how many questions somebody asks a day, and
// of how many of them the answer is used.
const (
	quarterWeeks   = 13
	runsADay       = 4
	questionsADay  = 3
	usedOneIn      = 3
	quarterAsks    = 60
	quarterDefault = 2_000
)

type quarterOptions struct {
	setOptions
	imported, fresh int
}

func (s *session) quarterCommand() *cobra.Command {
	var o quarterOptions
	cmd := &cobra.Command{
		Use:  "quarter DIR",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return s.measureQuarter(cmd.Context(), &o, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.unit, "unit", string(eval.Turns), "")
	f.IntVar(&o.imported, "imported", quarterDefault, "")
	f.IntVar(&o.fresh, "fresh", quarterDefault/10, "")
	f.BoolVar(&o.keep, "keep", false, "")
	return cmd
}

func (s *session) measureQuarter(ctx context.Context, o *quarterOptions, dir string) error {
	sets, err := s.readSets(ctx, &o.setOptions, dir)
	if err != nil {
		return err
	}
	set := sets[0]
	if o.imported < 1 || o.fresh < 0 || o.imported+o.fresh > len(set.Docs) {
		return memory.Errorf(memory.Invalid, "%s has %d %s, and --imported and --fresh want %d", dir, len(set.Docs),
			set.Unit, o.imported+o.fresh)
	}
	return s.inHome(o.keep, func(home string) error { return s.liveQuarter(ctx, o, set, home) })
}

// quarter is a store that somebody lives with for a quarter.
type quarter struct {
	*life
	s        *session
	fresh    []eval.Doc
	asked    []eval.Question // before and after, never in between
	others   []eval.Question
	relevant map[string]map[string]bool // by question, the names of what answers it
	stored   map[string]memory.ID       // by name
	filed    map[string]int             // review items by agent
	day, ask int
}

// week counts what a week did.
type week struct{ filed, open, promoted, archived, back int }

func (s *session) liveQuarter(ctx context.Context, o *quarterOptions, set *eval.Set, home string) error {
	q := newQuarter(s, o, set)
	opt := q.options(home)
	if err := q.begin(ctx, opt, set.Docs[len(set.Docs)-1].Created.AddDate(0, 1, 0)); err != nil {
		return err
	}
	err := q.run(ctx, set.Docs[:o.imported])
	return errors.Join(err, q.stop())
}

// begin starts the engine at a time, with an empty vault.
func (q *quarter) begin(ctx context.Context, opt *engine.Options, at time.Time) error {
	q.at(at)
	if err := os.MkdirAll(opt.Vaults[0], 0o700); err != nil {
		return err
	}
	return q.start(ctx, opt)
}

// options returns the settings of an engine that lives in a folder. Its lifecycle and agents run when asked.
func (q *quarter) options(home string) *engine.Options {
	opt := engine.DefaultOptions()
	opt.Logger = slog.New(slog.DiscardHandler)
	opt.LifecyclePeriod, opt.Agents.Interval = 0, 0 // the runs are ours
	opt.Lifecycle.Coldest = memory.Rehydratable     // there is a vault, which the settings do not name
	opt.Data, opt.State = filepath.Join(home, "data"), filepath.Join(home, "state")
	opt.Vaults = []string{filepath.Join(home, "vault")}
	opt.Now = func() time.Time { return time.UnixMilli(q.now.Load()).UTC() }
	return &opt
}

// newQuarter chooses the questions: those whose answers are all imported, evenly for both askings.
func newQuarter(s *session, o *quarterOptions, set *eval.Set) *quarter {
	q := &quarter{life: &life{names: map[memory.ID]string{}, texts: map[memory.ID]string{}}, s: s,
		fresh: set.Docs[o.imported : o.imported+o.fresh], relevant: map[string]map[string]bool{},
		stored: map[string]memory.ID{}, filed: map[string]int{}}
	there := map[string]bool{}
	for _, d := range set.Docs[:o.imported] {
		there[d.Name] = true
	}
	var able []eval.Question
	for _, question := range set.Questions {
		answers := set.Judgements[0].Relevant[question.ID]
		names := map[string]bool{}
		for name, grade := range answers {
			if grade > 0 && there[name] {
				names[name] = true
			}
		}
		if len(names) > 0 && len(names) == len(answers) {
			able, q.relevant[question.ID] = append(able, question), names
		}
	}
	every := max(1, len(able)/quarterAsks)
	for i, question := range able {
		if i%every == 0 && len(q.asked) < quarterAsks {
			q.asked = append(q.asked, question)
		} else {
			q.others = append(q.others, question)
		}
	}
	return q
}

// run imports, asks, lives for a quarter, and asks the same again.
func (q *quarter) run(ctx context.Context, imported []eval.Doc) error {
	if err := q.save(ctx, imported, true); err != nil {
		return err
	}
	before, err := q.answered(ctx)
	if err != nil {
		return err
	}
	q.s.printf("%d imported at once, %d saved over %d weeks, %d questions a day\n\n%-6s %8s %8s %9s %9s %9s\n",
		len(imported), len(q.fresh), quarterWeeks, questionsADay, "week", "filed", "open", "promoted", "archived",
		"came back")
	for n := range quarterWeeks {
		w, err := q.week(ctx)
		if err != nil {
			return err
		}
		q.s.printf("%-6d %8d %8d %9d %9d %9d\n", n+1, w.filed, w.open, w.promoted, w.archived, w.back)
	}
	after, err := q.answered(ctx)
	if err != nil {
		return err
	}
	stats, err := op.Stats.Call(ctx, q.e, &op.StatsRequest{})
	if err != nil {
		return err
	}
	q.s.printf("\nanswer among the first five, of %d questions: before %d, after %d\n", len(q.asked), before, after)
	q.s.printf("stages after it: %v\n", stats.Stages)
	q.s.printf("review items by agent: %v\n", q.filed)
	return nil
}

// save saves memories: imported ones with the dates of their set, others as of now.
func (q *quarter) save(ctx context.Context, docs []eval.Doc, imported bool) error {
	for some := range slices.Chunk(docs, op.MaxBatch) {
		var items []op.SaveRequest
		for _, d := range some {
			item := op.SaveRequest{Content: d.Content, Context: d.Context, AllowSecret: true}
			if imported {
				item.CreatedAt = d.Created
			}
			items = append(items, item)
		}
		res, err := op.SaveBatch.Call(ctx, q.e, &op.SaveBatchRequest{Items: items})
		if err != nil {
			return err
		}
		for i, answer := range res.Results {
			if answer.Error == nil { // a text twice is one memory
				q.names[answer.ID], q.stored[some[i].Name] = some[i].Name, answer.ID
				q.texts[answer.ID] = some[i].Content
			}
		}
	}
	return nil
}

// answered counts the questions that have an answer among the first five hits. Nothing is counted as use.
func (q *quarter) answered(ctx context.Context) (n int, err error) {
	for _, question := range q.asked {
		hit, _, err := q.search(ctx, &question, false)
		if err != nil {
			return n, err
		}
		if hit != "" {
			n++
		}
	}
	return n, nil
}

// search returns the first memory among five hits that answers the question, and whether it is offered to be
// brought back.
func (q *quarter) search(ctx context.Context, question *eval.Question, track bool) (memory.ID, bool, error) {
	res, err := op.Search.Call(ctx, q.e, &op.SearchRequest{Query: question.Text, Limit: 5, Track: &track})
	if err != nil {
		return "", false, fmt.Errorf("question %s: %w", strconv.Quote(question.Text), err)
	}
	for _, h := range res.Hits {
		if id := hitMemory(&h); q.relevant[question.ID][q.names[id]] {
			return id, h.Rekindle != "", nil
		}
	}
	return "", false, nil
}

func (q *quarter) week(ctx context.Context) (w week, err error) {
	for range 7 {
		from, to := q.day*len(q.fresh)/(7*quarterWeeks), (q.day+1)*len(q.fresh)/(7*quarterWeeks)
		if err := q.save(ctx, q.fresh[from:to], false); err != nil {
			return w, err
		}
		if err := q.asks(ctx, &w); err != nil {
			return w, err
		}
		for range runsADay {
			q.now.Add((24 * time.Hour / runsADay).Milliseconds())
			if err := q.tend(ctx, &w); err != nil {
				return w, err
			}
		}
		q.day++
	}
	open, err := op.ReviewList.Call(ctx, q.e, &op.ReviewListRequest{Limit: 1})
	if err == nil {
		w.open = open.Total
	}
	return w, err
}

// asks asks the questions of a day, opens what answers, and uses one answer of usedOneIn.
func (q *quarter) asks(ctx context.Context, w *week) error {
	for range questionsADay {
		question := &q.others[q.ask%len(q.others)]
		q.ask++
		id, err := q.open(ctx, question, w)
		if err != nil || id == "" {
			return err
		}
		if q.ask%usedOneIn == 0 {
			if err := q.touch(ctx, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// open asks a question, opens what answers it and brings it back if it is cold. It returns "" without an answer.
func (q *quarter) open(ctx context.Context, question *eval.Question, w *week) (memory.ID, error) {
	id, cold, err := q.search(ctx, question, true)
	if err != nil || id == "" {
		return "", err
	}
	if _, err := op.Show.Call(ctx, q.e, &op.ShowRequest{ID: string(id)}); err != nil {
		return "", err
	}
	if !cold {
		return id, nil
	}
	w.back++
	return id, q.back(ctx, id)
}

// touch counts a use.
func (q *quarter) touch(ctx context.Context, id memory.ID) error {
	_, err := op.Touch.Call(ctx, q.e, &op.TouchRequest{ID: string(id)})
	return err
}

// tend runs the lifecycle and the agents.
func (q *quarter) tend(ctx context.Context, w *week) error {
	if _, err := q.fade(ctx, w); err != nil {
		return err
	}
	agents, err := op.AgentsRun.Call(ctx, q.e, &op.AgentsRunRequest{})
	if err != nil {
		return err
	}
	for _, ran := range agents.Ran {
		w.filed += ran.Filed
		q.filed[ran.Agent] += ran.Filed
	}
	w.promoted += len(agents.Promote)
	return nil
}

// fade runs the lifecycle, counts what it did, and returns it.
func (q *quarter) fade(ctx context.Context, w *week) ([]op.LifecycleMoves, error) {
	res, err := q.life.run(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range res.Moves {
		switch m.Kind {
		case op.MovePromote:
			w.promoted += m.Count
		case op.MoveArchive:
			w.archived += m.Count
		}
	}
	return res.Moves, nil
}
