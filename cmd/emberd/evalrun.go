package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"emberd/internal/eval"
	"emberd/memory"
	"emberd/op"
)

// evalRun is one unit of a set under way through a daemon.
type evalRun struct {
	s      *state
	set    *eval.Set
	folder string // of the set
	daemon *temporary
	report eval.SetReport

	ids   map[memory.ID]string // names of what was saved
	paths map[string]string    // names of notes
}

// measure runs a daemon in home, which is made, and fills the report.
func (r *evalRun) measure(ctx context.Context, home string) (err error) {
	if err := os.Mkdir(home, 0o700); err != nil {
		return err
	}
	if r.daemon, err = r.s.newTemporary(home); err != nil {
		return err
	}
	args, err := r.s.evalFlags()
	if err != nil {
		return err
	}
	if r.set.Root != "" {
		vault, err := filepath.Abs(filepath.Join(r.folder, filepath.FromSlash(r.set.Root)))
		if err != nil {
			return err
		}
		args = append(args, "--vault", vault)
	}
	if err := r.daemon.start(ctx, args...); err != nil {
		return ended(ctx, err)
	}
	err = r.all(ctx)
	if err != nil && ctx.Err() == nil {
		if dead := r.daemon.alive(ctx, time.Second); dead != nil {
			return ended(ctx, dead) // whatever a call said of it
		}
	}
	return errors.Join(err, r.daemon.stop(syscall.SIGTERM))
}

// evalFlags are the settings of an evaluation's daemon.
func (s *state) evalFlags() ([]string, error) {
	settings, err := s.evalSettings()
	var flags []string
	for _, set := range settings {
		flags = append(flags, "--set", set)
	}
	return flags, err
}

// evalSettings make the daemon of an evaluation hurry with vectors, and wait for that of
// a question however busy the machine is: how good they are is asked, not how fast. Of
// the user's own settings it knows where models and engines are installed.
func (s *state) evalSettings() ([]string, error) {
	c, err := s.load()
	if err != nil {
		return nil, err
	}
	settings := append([]string{"log.level=warn", "embedding.cpu_share=1", "search.meaning_wait=10s"}, s.set...)
	settings = append(settings, "embedding.folder="+c.Embedding.Folder)
	if s.sets("embedding.model") { // which may be a path from here, where the daemon is not
		settings = append(settings, "embedding.model="+cmp.Or(c.Embedding.Model, "none"))
	}
	return settings, nil
}

// ended gives the error of a daemon that is not there its exit code.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &exit{code: exitNoDaemon, err: err}
}

func (r *evalRun) all(ctx context.Context) error {
	set := r.set
	r.ids, r.paths = map[memory.ID]string{}, map[string]string{}
	r.report = eval.SetReport{Unit: set.Unit, Files: set.Files, Documents: len(set.Docs), Questions: len(set.Questions),
		Refused: []eval.Refusal{}, Failed: []eval.Refusal{}, Ambiguous: set.Ambiguous,
		Unjudged: append([]string{}, set.Unjudged...), Missing: append([]string{}, set.Missing...)}
	start := time.Now()
	load := r.save
	if set.Unit == eval.Notes {
		load = r.follow
	}
	if err := load(ctx); err != nil {
		return err
	}
	if err := r.indexed(ctx); err != nil {
		return err
	}
	r.report.LoadMillis = eval.Millis(time.Since(start))
	if err := r.embedded(ctx); err != nil {
		return err
	}
	if err := r.count(ctx); err != nil {
		return err
	}
	return r.ask(ctx)
}

// save takes the documents in, in batches.
func (r *evalRun) save(ctx context.Context) error {
	progress := r.s.newSteps("taking in "+string(r.set.Unit), len(r.set.Docs))
	defer progress.done()
	for docs := r.set.Docs; len(docs) > 0; {
		var items []op.SaveRequest
		for size := 0; len(items) < min(op.MaxBatch, len(docs)); {
			d := docs[len(items)]
			if size += len(d.Content) + len(d.Context); size > batchBytes && len(items) > 0 {
				break
			}
			items = append(items, op.SaveRequest{Content: d.Content, Context: d.Context, Collection: d.Group, CreatedAt: d.Created, AllowSecret: true})
		}
		res, err := op.SaveBatch.Call(ctx, r.daemon, &op.SaveBatchRequest{Items: items})
		if err != nil {
			return err
		}
		for i, answer := range res.Results {
			if answer.Error != nil {
				r.report.Refused = append(r.report.Refused, eval.Refusal{Name: docs[i].Name, Reason: answer.Error.Detail})
				continue
			}
			r.ids[answer.ID] = docs[i].Name
		}
		progress.add(len(items), 0)
		docs = docs[len(items):]
	}
	return nil
}

// follow names the notes, which the daemon reads by itself.
func (r *evalRun) follow(context.Context) error {
	for _, d := range r.set.Docs {
		r.paths[d.Path] = d.Name
	}
	return nil
}

// Bounds of waiting for an index.
const (
	indexPoll  = 10 * time.Millisecond
	indexStall = time.Minute
)

// indexed waits until everything can be found. It gives up when nothing has
// moved for a minute.
func (r *evalRun) indexed(ctx context.Context) error {
	progress := r.s.newSteps("indexing "+string(r.set.Unit), len(r.set.Docs))
	defer progress.done()
	before, moved := "", time.Now()
	for {
		st, err := op.Status.Call(ctx, r.daemon, &op.StatusRequest{})
		if err != nil {
			return err
		}
		// A vault whose first look is under way has nothing waiting either, but says
		// so to whoever searches it.
		found, err := op.Search.Call(ctx, r.daemon, &op.SearchRequest{Query: "emberd", Limit: 1, Track: new(bool)})
		if err != nil {
			return err
		}
		waiting, now := 0, time.Now()
		for _, v := range st.Vaults {
			waiting += v.Waiting
		}
		if st.Loading == nil && found.Indexing == nil && waiting == 0 {
			return nil
		}
		if state := fmt.Sprint(st.Loading, found.Indexing, waiting); state != before {
			before, moved = state, now
		}
		if now.Sub(moved) > indexStall {
			return fmt.Errorf("the index has not moved for %s: %s", indexStall, vaultProblem(st))
		}
		if err := r.daemon.alive(ctx, indexPoll); err != nil {
			return err
		}
	}
}

// embedded waits until everything has its vectors, if it is to have any. It gives up
// when nothing has moved for a minute.
func (r *evalRun) embedded(ctx context.Context) error {
	var progress *progress
	done, start, moved := -1, time.Now(), time.Now()
	for {
		st, err := op.Status.Call(ctx, r.daemon, &op.StatusRequest{})
		if err != nil || st.Meaning == nil {
			return err
		}
		m, all := st.Meaning, st.Memories
		for _, v := range st.Vaults {
			all += v.Notes
		}
		if m.Provider != "" && (m.Weight == 0 || m.Total >= all && m.Covered >= m.Total) {
			r.report.Vectors = &eval.Vectors{Provider: m.Provider, Model: m.Model, Weight: m.Weight, Covered: m.Covered,
				Total: m.Total, Without: m.Without, Millis: eval.Millis(time.Since(start))}
			return nil
		}
		if progress == nil {
			progress = r.s.newSteps("embedding "+string(r.set.Unit), max(all, m.Total))
			defer progress.done()
		}
		if m.Covered != done {
			progress.add(m.Covered-max(0, done), 0)
			done, moved = m.Covered, time.Now()
		}
		if time.Since(moved) > indexStall {
			return fmt.Errorf("the vectors have not moved for %s: %s", indexStall, cmp.Or(m.Without, "the daemon names no reason"))
		}
		if err := r.daemon.alive(ctx, indexPoll); err != nil {
			return err
		}
	}
}

func vaultProblem(st *op.StatusResult) string {
	for _, v := range st.Vaults {
		if v.Problem != "" {
			return v.Problem
		}
	}
	return "the daemon names no reason"
}

// count notes what cannot be found, and which judgements that makes void.
func (r *evalRun) count(ctx context.Context) error {
	r.report.Loaded = len(r.ids)
	if r.set.Unit == eval.Notes {
		if err := r.countNotes(ctx); err != nil {
			return err
		}
	}
	lost := map[string]bool{}
	for _, name := range r.set.Absent {
		lost[name] = true
	}
	judged := map[string]bool{}
	for _, j := range r.set.Judgements {
		for _, relevant := range j.Relevant {
			for name := range relevant {
				judged[name] = true
			}
		}
	}
	for _, refused := range r.report.Refused {
		if judged[refused.Name] {
			lost[refused.Name] = true
		}
	}
	r.report.Lost = len(lost)
	return nil
}

func (r *evalRun) countNotes(ctx context.Context) error {
	st, err := op.Status.Call(ctx, r.daemon, &op.StatusRequest{})
	if err != nil {
		return err
	}
	for _, v := range st.Vaults {
		r.report.Loaded += v.Notes
	}
	r.report.Loaded = min(r.report.Loaded, r.report.Documents)
	if r.report.Loaded == r.report.Documents {
		return nil
	}
	check, err := op.VaultCheck.Call(ctx, r.daemon, &op.VaultCheckRequest{Limit: 10_000})
	if err != nil {
		return err
	}
	for _, f := range check.Findings {
		if name, ok := r.paths[f.Path]; ok && f.Kind == "skipped" {
			r.report.Refused = append(r.report.Refused, eval.Refusal{Name: name, Reason: f.Text})
		}
	}
	return nil
}

// ask asks every question in every scope and judges the answers.
func (r *evalRun) ask(ctx context.Context) error {
	scopes := []string{eval.ScopeAll}
	if r.set.Grouped() {
		scopes = append(scopes, eval.ScopeGroup)
	}
	for _, scope := range scopes {
		answers, took, err := r.askIn(ctx, scope)
		if err != nil {
			return err
		}
		if scope == eval.ScopeAll {
			r.report.Latency = eval.LatencyOf(took)
		}
		r.judge(scope, answers)
	}
	return nil
}

// askIn asks every question in one scope.
func (r *evalRun) askIn(ctx context.Context, scope string) ([]eval.Answer, []time.Duration, error) {
	progress := r.s.newSteps("asking about "+string(r.set.Unit), len(r.set.Questions))
	defer progress.done()
	var answers []eval.Answer
	var took []time.Duration
	for _, q := range r.set.Questions {
		start := time.Now()
		res, err := op.Search.Call(ctx, r.daemon, r.request(q, scope))
		a := eval.Answer{Unit: r.set.Unit, Scope: scope, ID: q.ID, Category: q.Category, Top: []string{}, Millis: eval.Millis(time.Since(start))}
		switch memory.CodeOf(err) {
		case "":
			took = append(took, time.Since(start))
			a.Top = r.names(res)
		case memory.Invalid, memory.TooLarge:
			a.Error = err.Error()
			r.report.Failed = append(r.report.Failed, eval.Refusal{Name: q.ID, Reason: a.Error})
		default:
			return nil, nil, fmt.Errorf("question %s: %w", q.ID, err)
		}
		answers = append(answers, a)
		progress.add(1, 0)
	}
	return answers, took, nil
}

// request is a question as a user would ask it.
func (r *evalRun) request(q eval.Question, scope string) *op.SearchRequest {
	req := &op.SearchRequest{Query: q.Text, Limit: 10, Trial: true}
	switch {
	case scope == eval.ScopeGroup && r.set.Unit == eval.Notes:
		req.Query = "path:" + strconv.Quote(q.Group+"/") + " " + q.Text
	case scope == eval.ScopeGroup:
		req.Collection = q.Group
	}
	return req
}

// names are those that judgements use.
func (r *evalRun) names(res *op.SearchResult) []string {
	names := make([]string, 0, len(res.Hits))
	for _, h := range res.Hits {
		if h.Note != nil {
			names = append(names, cmp.Or(r.paths[h.Note.Path], h.Note.Path))
			continue
		}
		names = append(names, r.ids[h.ID])
	}
	return names
}

// judge adds the lines of one scope: all questions, then each category, with
// emberd and then plain BM25.
func (r *evalRun) judge(scope string, answers []eval.Answer) {
	raw, folded := eval.Run{}, eval.Run{}
	for _, a := range answers {
		raw[a.ID], folded[a.ID] = a.Top, eval.Distinct(a.Top)
		r.report.Repeated += len(a.Top) - len(folded[a.ID])
	}
	systems := []evalSystem{{"emberd", raw}}
	if r.report.Repeated > 0 {
		systems = append(systems, evalSystem{"emberd, each note once", folded})
	}
	for _, b := range r.set.Baselines {
		systems = append(systems, evalSystem{b.Name, r.set.Plain(b, scope == eval.ScopeGroup)})
	}
	plain := systems[slices.IndexFunc(systems, func(s evalSystem) bool { return s.name == r.set.Baselines[0].Name })].run
	for _, j := range r.set.Judgements {
		for _, category := range append([]string{""}, r.set.Categories()...) {
			for _, s := range systems {
				r.report.Results = append(r.report.Results, eval.Result{Judgements: j.File, Scope: scope, Category: category,
					System: s.name, Figures: j.Measure(r.set.In(category), s.run)})
			}
		}
		for i := range answers {
			answers[i].Judge(j, plain[answers[i].ID])
		}
	}
	r.report.Answers = append(r.report.Answers, answers...)
}

// evalSystem is something that ranks.
type evalSystem struct {
	name string
	run  eval.Run
}
