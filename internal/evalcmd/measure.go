package evalcmd

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
	"emberd/internal/tempdaemon"
	"emberd/memory"
	"emberd/op"
)

// unitRun is one unit of a set under way through a daemon.
type unitRun struct {
	s       *session
	set     *eval.Set
	folder  string    // of the set
	meaning []float64 // weights of meaning that questions are asked with besides
	daemon  *tempdaemon.Daemon
	report  eval.SetReport

	ids   map[memory.ID]string // names of what was saved
	paths map[string]string    // names of notes
}

// measure runs a daemon in home, which is made, and fills the report.
func (r *unitRun) measure(ctx context.Context, home string) (err error) {
	if err := os.Mkdir(home, 0o700); err != nil {
		return err
	}
	var args []string
	if r.set.Root != "" {
		vault, err := filepath.Abs(filepath.Join(r.folder, filepath.FromSlash(r.set.Root)))
		if err != nil {
			return err
		}
		args = append(args, "--vault", vault)
	}
	return r.s.withDaemon(ctx, home, args, func(d *tempdaemon.Daemon) error {
		r.daemon = d
		err := r.all(ctx)
		if err != nil && ctx.Err() == nil {
			if dead := d.Alive(ctx, time.Second); dead != nil {
				return ended(ctx, dead) // whatever a call said of it
			}
		}
		return err
	})
}

// withDaemon calls do with a daemon in home, which has the settings of the measurement and more
// arguments, and stops the daemon.
func (s *session) withDaemon(ctx context.Context, home string, args []string,
	do func(*tempdaemon.Daemon) error) error {
	d, err := s.newDaemon(home)
	if err != nil {
		return err
	}
	flags, err := s.daemonFlags()
	if err != nil {
		return err
	}
	if err := d.Start(ctx, append(args, flags...)...); err != nil {
		return ended(ctx, err)
	}
	return errors.Join(do(d), d.Stop(syscall.SIGTERM))
}

// daemonFlags returns the settings of a daemon that is measured, as arguments.
func (s *session) daemonFlags() ([]string, error) {
	settings, err := s.settings()
	return tempdaemon.Flags(settings), err
}

func (s *session) settings() ([]string, error) {
	userHome, _ := os.UserHomeDir() // load says what to do without one
	own, err := load(s.set, s.env, "", userHome)
	if err != nil {
		return nil, err
	}
	return tempdaemon.Settings(s.set, own)
}

// ended gives the error of a daemon that is not there its exit code.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return daemonError{err}
}

func (r *unitRun) all(ctx context.Context) error {
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
	if err := r.daemon.WaitIndexed(ctx); err != nil {
		return err
	}
	r.report.LoadMillis = eval.Millis(time.Since(start))
	start = time.Now()
	m, err := r.daemon.WaitEmbedded(ctx)
	if err != nil {
		return err
	}
	if m != nil {
		r.report.Vectors = &eval.Vectors{Provider: m.Provider, Model: m.Model, Weight: m.Weight, Covered: m.Covered,
			Total: m.Total, Without: m.Without, Millis: eval.Millis(time.Since(start))}
	}
	if err := r.count(ctx); err != nil {
		return err
	}
	return r.ask(ctx)
}

// save takes the documents in, in batches.
func (r *unitRun) save(ctx context.Context) error {
	for docs := r.set.Docs; len(docs) > 0; {
		var items []op.SaveRequest
		for size := 0; len(items) < min(op.MaxBatch, len(docs)); {
			d := docs[len(items)]
			if size += len(d.Content) + len(d.Context); size > maxBatchBytes && len(items) > 0 {
				break
			}
			items = append(items, op.SaveRequest{Content: d.Content, Context: d.Context, Collection: d.Group,
				CreatedAt: d.Created, AllowSecret: true})
		}
		res, err := op.SaveBatch.Call(ctx, r.daemon, &op.SaveBatchRequest{Items: items})
		if err != nil {
			return err
		}
		for i, answer := range res.Results {
			if answer.Error != nil {
				r.report.Refused = append(r.report.Refused, eval.Refusal{Name: docs[i].Name,
					Reason: answer.Error.Detail})
				continue
			}
			r.ids[answer.ID] = docs[i].Name
		}
		docs = docs[len(items):]
	}
	return nil
}

// follow names the notes, which the daemon reads by itself.
func (r *unitRun) follow(context.Context) error {
	for _, d := range r.set.Docs {
		r.paths[d.Path] = d.Name
	}
	return nil
}

// count notes what cannot be found, and which judgements that makes void.
func (r *unitRun) count(ctx context.Context) error {
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

func (r *unitRun) countNotes(ctx context.Context) error {
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
func (r *unitRun) ask(ctx context.Context) error {
	scopes := []string{eval.ScopeAll}
	if r.set.Grouped() {
		scopes = append(scopes, eval.ScopeGroup)
	}
	for _, scope := range scopes {
		answers, took, err := r.askIn(ctx, scope, nil)
		if err != nil {
			return err
		}
		if scope == eval.ScopeAll {
			r.report.Latency = eval.LatencyOf(took)
		}
		swept, err := r.sweep(ctx, scope)
		if err != nil {
			return err
		}
		r.judge(scope, answers, swept)
	}
	return nil
}

// sweep asks every question in one scope with each weight of meaning.
func (r *unitRun) sweep(ctx context.Context, scope string) ([]system, error) {
	var swept []system
	for _, weight := range r.meaning {
		answers, _, err := r.askIn(ctx, scope, &weight)
		if err != nil {
			return nil, err
		}
		run := eval.Run{}
		for _, a := range answers {
			run[a.ID] = a.Top
		}
		swept = append(swept, system{fmt.Sprintf("emberd, meaning %g", weight), run})
	}
	return swept, nil
}

// askIn asks every question in one scope, with a weight of meaning or the daemon's own.
func (r *unitRun) askIn(ctx context.Context, scope string, meaning *float64) ([]eval.Answer, []time.Duration, error) {
	var answers []eval.Answer
	var took []time.Duration
	for _, q := range r.set.Questions {
		start := time.Now()
		req := r.request(q, scope)
		req.MeaningWeight = meaning
		res, err := op.Search.Call(ctx, r.daemon, req)
		a := eval.Answer{Unit: r.set.Unit, Scope: scope, ID: q.ID, Category: q.Category, Top: []string{},
			Millis: eval.Millis(time.Since(start))}
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
	}
	return answers, took, nil
}

// request is a question as a user would ask it.
func (r *unitRun) request(q eval.Question, scope string) *op.SearchRequest {
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
func (r *unitRun) names(res *op.SearchResult) []string {
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
func (r *unitRun) judge(scope string, answers []eval.Answer, swept []system) {
	raw, folded := eval.Run{}, eval.Run{}
	for _, a := range answers {
		raw[a.ID], folded[a.ID] = a.Top, eval.Distinct(a.Top)
		r.report.Repeated += len(a.Top) - len(folded[a.ID])
	}
	systems := []system{{"emberd", raw}}
	if r.report.Repeated > 0 {
		systems = append(systems, system{"emberd, each note once", folded})
	}
	systems = append(systems, swept...)
	for _, b := range r.set.Baselines {
		systems = append(systems, system{b.Name, r.set.Plain(b, scope == eval.ScopeGroup)})
	}
	plain := systems[slices.IndexFunc(systems, func(s system) bool { return s.name == r.set.Baselines[0].Name })].run
	for _, j := range r.set.Judgements {
		for _, category := range append([]string{""}, r.set.Categories()...) {
			for _, s := range systems {
				r.report.Results = append(r.report.Results, eval.Result{Judgements: j.File, Scope: scope,
					Category: category,
					System:   s.name, Figures: j.Measure(r.set.In(category), s.run)})
			}
		}
		for i := range answers {
			answers[i].Judge(j, plain[answers[i].ID])
		}
	}
	r.report.Answers = append(r.report.Answers, answers...)
}

// system is something that ranks.
type system struct {
	name string
	run  eval.Run
}

// maxBatchBytes keeps a batch well below the largest request that the socket takes.
const maxBatchBytes = 1 << 20
