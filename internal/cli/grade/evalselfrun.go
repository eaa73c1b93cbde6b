package grade

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"emberd/internal/cli"
	"emberd/internal/config"
	"emberd/internal/eval"
	"emberd/memory"
	"emberd/op"
)

// selfRun asks a daemon questions made of its user's own words.
type selfRun struct {
	s       *cli.App
	client  op.Invoker
	own     *eval.Own
	weights []float64 // of the questions
	held    []bool    // which are held out
	seed    uint64
	meaning *op.Meaning // nil without vectors
	report  eval.SelfReport
	present []eval.Figures
	took    []time.Duration
	gained  []func(*op.SearchRequest) // what Proposed changes, by place
}

// selfSetting is a setting of which other values are tried.
type selfSetting struct {
	key    string
	values []float64
	set    func(req *op.SearchRequest, value float64)
}

// settings lists what is worth trying on this daemon.
func (g *selfRun) settings() []selfSetting {
	var all []selfSetting
	notes, memories := false, false
	for _, q := range g.own.Questions {
		memories = memories || g.own.Memory[q.Group]
		notes = notes || !g.own.Memory[q.Group]
	}
	if g.meaning != nil && g.meaning.Covered > 0 {
		all = append(all, selfSetting{key: "search.meaning", values: []float64{0, 0.25, 0.5, 0.75, 1},
			set: func(req *op.SearchRequest, v float64) { req.MeaningWeight = &v }})
	}
	if notes && memories {
		all = append(all, selfSetting{key: "search.ltm_weight", values: []float64{0.4, 0.55, 0.7, 0.85, 1, 1.2},
			set: func(req *op.SearchRequest, v float64) { req.LTMWeight = &v }})
	}
	return all
}

// minGain is the gain in nDCG@10 below which a setting is not worth changing, and
// maxLoss what a class may lose by it.
const (
	minGain = 0.005
	maxLoss = 0.01
	minOf   = 20 // questions of a class that is looked at by itself
)

func (g *selfRun) grade(ctx context.Context, c *config.Config) (*eval.SelfReport, error) {
	r := &g.report
	r.Questions, r.Seed, r.Found, r.Ambiguous = len(g.own.Questions), g.seed, g.own.Found, g.own.Ambiguous
	r.Classes, r.Trials, r.Proposed = map[string]int{}, []eval.SelfTrial{}, []eval.Proposal{}
	for i, q := range g.own.Questions {
		r.Classes[q.Category]++
		if g.held[i] {
			r.HeldOut++
		}
	}
	settings := g.settings()
	rounds := 1
	for _, st := range settings {
		rounds += len(st.values)
	}
	progress := cli.NewSteps(g.s, "asking", rounds*r.Questions)
	defer progress.Done()
	run, err := g.ask(ctx, progress, func(*op.SearchRequest) {})
	if err != nil {
		return nil, err
	}
	g.present = g.own.Gains(run)
	g.tellPresent(run)
	r.NDCG10 = eval.Mean(scoresOf(g.present), g.weights, func(int) bool { return true })
	r.Latency = eval.LatencyOf(g.took)
	for _, st := range settings {
		if err := g.try(ctx, progress, c, st); err != nil {
			return nil, err
		}
	}
	return r, g.together(ctx, progress)
}

// together asks with all that is proposed, if it is more than one setting: what is
// better alone need not be so together. If it is not, the one that gains most is left.
func (g *selfRun) together(ctx context.Context, progress *cli.Progress) error {
	r := &g.report
	if len(r.Proposed) < 2 {
		return nil
	}
	run, err := g.ask(ctx, progress, func(req *op.SearchRequest) {
		for _, change := range g.gained {
			change(req)
		}
	})
	if err != nil {
		return err
	}
	all := g.compare("all proposals", "", run)
	best, most := 0, 0.0
	for i, p := range r.Proposed {
		for _, t := range r.Trials {
			if t.Setting == p.Setting && t.Value == p.Value && t.Confirmed.Mean > most {
				best, most = i, t.Confirmed.Mean
			}
		}
	}
	if all.Confirmed.Mean < most || all.WorstLoss > maxLoss {
		all.Verdict = "one of the proposals alone is better"
		r.Proposed = r.Proposed[best : best+1]
	}
	r.Trials = append(r.Trials, all)
	return nil
}

// tellPresent fills the figures of the settings as they are.
func (g *selfRun) tellPresent(run eval.Run) {
	line := func(name string, in func(category string) bool) {
		var questions []eval.Question
		for _, q := range g.own.Questions {
			if in(q.Category) {
				questions = append(questions, q)
			}
		}
		if len(questions) > 0 {
			g.report.Present = append(g.report.Present, eval.Result{Judgements: "own words", Scope: eval.ScopeAll,
				Category: name,
				System:   "emberd", Figures: g.own.Judgements.Measure(questions, run)})
		}
	}
	line("", func(category string) bool { return category != eval.Named })
	for _, class := range slices.Sorted(maps.Keys(g.report.Classes)) {
		line(class, func(category string) bool { return category == class })
	}
}

// ask asks every question with changed settings.
func (g *selfRun) ask(ctx context.Context, progress *cli.Progress, change func(*op.SearchRequest)) (eval.Run, error) {
	run := eval.Run{}
	for _, q := range g.own.Questions {
		req := &op.SearchRequest{Query: q.Text, Limit: 10, Trial: true}
		change(req)
		start := time.Now()
		res, err := op.Search.Call(ctx, g.client, req)
		g.took = append(g.took, time.Since(start))
		switch memory.CodeOf(err) {
		case "":
			run[q.ID] = namesOf(res, q.Group)
		case memory.Invalid, memory.TooLarge: // a text that reads as an operator
			if g.present == nil {
				g.report.Failed++
			}
		default:
			return nil, fmt.Errorf("question %s: %w", q.ID, err)
		}
		progress.Add(1, 0)
	}
	return run, nil
}

// namesOf are the names of hits, one each. A hit of a memory that has a note is either,
// whichever was asked for.
func namesOf(res *op.SearchResult, answer string) []string {
	var names []string
	for _, h := range res.Hits {
		var all []string
		if h.Note != nil {
			all = append(all, h.Note.Path, string(h.Note.MemoryID))
		}
		if h.Memory != nil {
			all = append(all, string(h.ID))
		}
		if slices.Contains(all, answer) {
			all[0] = answer
		}
		names = append(names, all[0])
	}
	return names
}

// try asks with every value of a setting, and proposes the best one if it holds.
func (g *selfRun) try(ctx context.Context, progress *cli.Progress, c *config.Config, st selfSetting) error {
	now, err := c.Explain(st.key)
	if err != nil {
		return err
	}
	first := len(g.report.Trials)
	for _, value := range st.values {
		text := strconv.FormatFloat(value, 'g', -1, 64)
		if text == now.Value {
			progress.Add(len(g.own.Questions), 0)
			continue
		}
		run, err := g.ask(ctx, progress, func(req *op.SearchRequest) { st.set(req, value) })
		if err != nil {
			return err
		}
		g.report.Trials = append(g.report.Trials, g.compare(st.key, text, run))
	}
	trials := g.report.Trials[first:]
	if len(trials) == 0 {
		return nil
	}
	best := 0
	for i := range trials {
		if trials[i].Chosen.Mean > trials[best].Chosen.Mean {
			best = i
		}
	}
	for i := range trials {
		trials[i].Verdict = verdict(&trials[i], i == best)
	}
	if trials[best].Verdict == "" {
		g.report.Proposed = append(g.report.Proposed, eval.Proposal{Setting: st.key, Value: trials[best].Value,
			Was: now.Value, From: now.From})
		value, _ := strconv.ParseFloat(trials[best].Value, 64) // it was written by us
		g.gained = append(g.gained, func(req *op.SearchRequest) { st.set(req, value) })
	}
	return nil
}

// verdict says what speaks against a value.
func verdict(t *eval.SelfTrial, best bool) string {
	switch {
	case t.Chosen.Mean <= 0:
		return "no better"
	case !best:
		return "another value is better"
	case t.Chosen.Mean < minGain || t.Confirmed.Mean < minGain:
		return "hardly better"
	case t.Confirmed.Low <= 0:
		return "might be chance"
	case t.WorstLoss > maxLoss:
		return className(t.Worst) + " lose"
	}
	return ""
}

// compare measures a run beside that of the present settings.
func (g *selfRun) compare(key, value string, run eval.Run) eval.SelfTrial {
	t := eval.SelfTrial{Setting: key, Value: value}
	gains := g.own.Gains(run)
	var halves [2]struct{ differences, weights []float64 }
	scores, classes, counts := scoresOf(gains), map[string]float64{}, map[string]int{}
	for i, q := range g.own.Questions {
		by := scores[i] - g.present[i].NDCG10
		half := &halves[0]
		if g.held[i] {
			half = &halves[1]
		}
		half.differences, half.weights = append(half.differences, by), append(half.weights, g.weights[i])
		classes[q.Category] -= by
		counts[q.Category]++
	}
	t.NDCG10 = eval.Mean(scores, g.weights, func(int) bool { return true })
	t.Chosen = eval.Compare(halves[0].differences, halves[0].weights, g.seed)
	t.Confirmed = eval.Compare(halves[1].differences, halves[1].weights, g.seed)
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		if loss := classes[class] / float64(counts[class]); counts[class] >= minOf && loss > t.WorstLoss {
			t.Worst, t.WorstLoss = class, loss
		}
	}
	return t
}

func scoresOf(gains []eval.Figures) []float64 {
	scores := make([]float64, len(gains))
	for i, g := range gains {
		scores[i] = g.NDCG10
	}
	return scores
}
