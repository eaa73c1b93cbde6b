package evalcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/internal/eval"
	"emberd/memory"
	"emberd/op"
)

// A life is a lifetime under way in an engine.
type life struct {
	*lifetime
	e     *engine.Engine
	now   atomic.Int64 // in milliseconds, as the engine takes it to be
	names map[memory.ID]string
	texts map[memory.ID]string // as they were saved
	row   eval.LifecycleRow
	opens bool // each question opens what it offers
	stop  func() error
	heap  int64 // of this program without the engine
}

// live saves, fades and asks in a folder, which is made.
func (s *session) live(ctx context.Context, l *lifetime, o *engine.Options, home string, f *fading) (eval.LifecycleRow,
	error) {
	life := &life{lifetime: l, names: map[memory.ID]string{}, texts: map[memory.ID]string{},
		row: eval.LifecycleRow{Name: f.name}, opens: f.opens}
	o.Data, o.State, o.Socket = filepath.Join(home, "data"), filepath.Join(home, "state"), ""
	o.Vaults = []string{filepath.Join(home, "vault")}
	o.Now = func() time.Time { return time.UnixMilli(life.now.Load()).UTC() }
	life.at(l.days[0][0].Created)
	if err := os.MkdirAll(o.Vaults[0], 0o700); err != nil {
		return life.row, err
	}
	life.heap = heapInUse()
	if err := life.start(ctx, o); err != nil {
		return life.row, err
	}
	err := life.all(ctx, s, o)
	return life.row, errors.Join(err, life.stop())
}

// start opens an engine and runs it until stop.
func (l *life) start(ctx context.Context, o *engine.Options) error {
	e, err := engine.Open(*o)
	if err != nil {
		return err
	}
	chores, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	var failed error
	wg.Go(func() { failed = e.Run(chores) })
	l.e, l.stop = e, func() error {
		cancel()
		wg.Wait()
		return errors.Join(failed, e.Close())
	}
	return l.ready(ctx)
}

// weekLater measures the size after a start a week later, when the log has let go of what its notes have.
func (l *life) weekLater(ctx context.Context, o *engine.Options) error {
	if err := l.stop(); err != nil {
		return err
	}
	l.at(l.end().Add(8 * 24 * time.Hour))
	if err := l.start(ctx, o); err != nil {
		return err
	}
	err := l.measureSize(ctx)
	l.at(l.end())
	return err
}

func (l *life) at(t time.Time) { l.now.Store(t.UnixMilli()) }

func (l *life) all(ctx context.Context, s *session, o *engine.Options) error {
	for _, day := range l.days {
		if err := l.grow(ctx, day); err != nil {
			return err
		}
	}
	l.at(l.end())
	if err := l.rest(ctx); err != nil {
		return err
	}
	if err := l.weigh(ctx); err != nil {
		return err
	}
	if err := l.weekLater(ctx, o); err != nil {
		return err
	}
	if err := core.FirstError(l.restated(ctx), l.recency(ctx), l.ask(ctx, s)); err != nil {
		return err
	}
	return l.readBack(ctx)
}

// ready waits until the engine looks after its vault.
func (l *life) ready(ctx context.Context) error {
	return until(ctx, func() (bool, error) {
		st, err := op.Status.Call(ctx, l.e, &op.StatusRequest{})
		if err != nil {
			return false, err
		}
		found, err := op.Search.Call(ctx, l.e, &op.SearchRequest{Query: "emberd", Limit: 1, Track: new(bool)})
		return err == nil && st.Loading == nil && found.Indexing == nil, err
	})
}

// until waits until something is so.
func until(ctx context.Context, is func() (bool, error)) error {
	for start := time.Now(); ; {
		so, err := is()
		if so || err != nil {
			return err
		}
		if time.Since(start) > maxIdle {
			return fmt.Errorf("nothing has moved for %s", maxIdle)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// grow runs the lifecycle on the morning of a day, and saves what the day brings.
func (l *life) grow(ctx context.Context, day []eval.Doc) error {
	l.at(day[0].Created)
	if _, err := l.run(ctx); err != nil {
		return err
	}
	l.at(day[len(day)-1].Created)
	for docs := day; len(docs) > 0; {
		some := docs[:min(op.MaxBatch, len(docs))]
		docs = docs[len(some):]
		var items []op.SaveRequest
		for _, d := range some {
			items = append(items, op.SaveRequest{Content: d.Content, Context: d.Context, Collection: d.Group,
				CreatedAt: d.Created, LastUsed: d.Created, AllowSecret: true})
		}
		res, err := op.SaveBatch.Call(ctx, l.e, &op.SaveBatchRequest{Items: items})
		if err != nil {
			return err
		}
		for i, answer := range res.Results {
			if answer.Error != nil {
				return fmt.Errorf("%s: %s", some[i].Name, answer.Error.Detail)
			}
			l.names[answer.ID], l.texts[answer.ID] = some[i].Name, some[i].Content
		}
	}
	return nil
}

func (l *life) run(ctx context.Context) (*op.LifecycleRunResult, error) {
	return op.LifecycleRun.Call(ctx, l.e, &op.LifecycleRunRequest{})
}

// rest runs the lifecycle until nothing is due any more.
func (l *life) rest(ctx context.Context) error {
	for {
		res, err := l.run(ctx)
		if err != nil {
			return err
		}
		if res.Waiting == 0 {
			return nil
		}
		if len(res.Moves) == 0 {
			return fmt.Errorf("%d memories do not fade: %s", res.Waiting, res.Why)
		}
	}
}

func (l *life) show(ctx context.Context, id memory.ID) (*op.Memory, error) {
	res, err := op.Show.Call(ctx, l.e, &op.ShowRequest{ID: string(id), Track: new(bool)})
	if err != nil {
		return nil, err
	}
	return &res.Memory, nil
}

// weigh counts what is hot before the first question.
func (l *life) weigh(ctx context.Context) error {
	l.row.Stages = map[string]int{}
	cold := 0
	for id := range l.texts {
		m, err := l.show(ctx, id)
		if err != nil {
			return err
		}
		l.row.Stages[string(m.Stage)]++
		l.row.Hot += int64(len(m.Content) + len(strings.Join(m.KeyTerms, " ")))
		if m.Stage.Cold() {
			cold++
		}
	}
	l.row.Cold = float64(cold) / float64(len(l.texts))
	return until(ctx, func() (bool, error) { // the notes of all cold ones are known
		st, err := op.Status.Call(ctx, l.e, &op.StatusRequest{})
		return err == nil && st.Vaults[0].Waiting == 0 && st.Vaults[0].Notes+st.Vaults[0].Archived >= cold, err
	})
}

// ask asks all questions in order, each after what the one before brought back is back.
func (l *life) ask(ctx context.Context, s *session) error {
	run := eval.Run{}
	var took []time.Duration
	for _, q := range l.set.Questions {
		start := time.Now()
		res, err := op.Search.Call(ctx, l.e, &op.SearchRequest{Query: q.Text, Limit: 10})
		if err != nil {
			return fmt.Errorf("question %s: %w", q.ID, err)
		}
		took = append(took, time.Since(start))
		for _, h := range res.Hits {
			id := hitMemory(&h)
			run[q.ID] = append(run[q.ID], l.names[id])
			if h.Rekindle != "" && l.opens {
				if _, err := op.Show.Call(ctx, l.e, &op.ShowRequest{ID: string(id)}); err != nil {
					return fmt.Errorf("question %s: %w", q.ID, err)
				}
				if err := l.back(ctx, id); err != nil {
					return fmt.Errorf("question %s: %w", q.ID, err)
				}
				l.row.Rekindled++
			}
		}
	}
	l.row.Latency = eval.LatencyOf(took)
	for _, j := range l.set.Judgements {
		l.row.Figures = append(l.row.Figures, eval.Result{Judgements: j.File, Scope: eval.ScopeAll,
			System: l.row.Name, Figures: j.Measure(l.set.Questions, run)})
		var halves [2]eval.Figures
		for i := range halves {
			halves[i] = j.Measure(halfOf(l.set.Questions, i), run)
		}
		l.row.Halves = append(l.row.Halves, halves)
	}
	return nil
}

// halfOf returns every second question, from the first or the second on.
func halfOf(questions []eval.Question, from int) (half []eval.Question) {
	for i := from; i < len(questions); i += 2 {
		half = append(half, questions[i])
	}
	return half
}

// hitMemory names the memory that a hit is, or whose note it is.
func hitMemory(h *op.Hit) memory.ID {
	if h.Memory != nil {
		return h.ID
	}
	return h.Note.MemoryID
}

// back waits until a memory is warm again.
func (l *life) back(ctx context.Context, id memory.ID) error {
	return until(ctx, func() (bool, error) {
		m, err := l.show(ctx, id)
		return err == nil && !m.Stage.Cold(), err
	})
}

// readBack brings everything back and compares it with what was saved.
func (l *life) readBack(ctx context.Context) error {
	for id, text := range l.texts {
		m, err := l.show(ctx, id)
		if err != nil {
			return err
		}
		if m.Stage.Cold() {
			res, err := op.Rekindle.Call(ctx, l.e, &op.RekindleRequest{Query: string(id)})
			if err != nil {
				return err
			}
			m = &res.Results[0].Memory
		} else if m.VaultPath == "" {
			continue // it never left
		}
		l.row.Read++
		if m.Content == text {
			l.row.Identical++
		}
	}
	return nil
}

// maxIdle is how long an index may stand still until a measurement gives up.
const maxIdle = time.Minute
