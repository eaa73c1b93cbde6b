package engine

import (
	"cmp"
	"context"
	"errors"
	"math"
	"time"

	"emberd/embedding"
	"emberd/memory"
	"emberd/op"
)

// engineStatus tells how vectors are made.
func (e *Engine) engineStatus(context.Context, *op.EngineStatusRequest) (*op.EngineStatusResult, error) {
	m := e.meaning
	if m == nil {
		return &op.EngineStatusResult{State: op.EngineOff, Problem: e.noVectors()}, nil
	}
	res := &op.EngineStatusResult{Meaning: m.told(), Made: m.made.Load(), Share: m.Share, Folder: m.Dir}
	m.mu.Lock()
	filling, earlier := m.filling, m.earlier
	res.State, res.Problem, res.Again, res.Skipped = m.state(), m.problem, m.again, m.todo.aside
	left, pace := m.todo.left(), m.pace.text
	if filling != nil {
		res.Model = filling.model()
	}
	if earlier != nil {
		res.Earlier = earlier.model()
	}
	m.mu.Unlock()
	if res.Problem == "" {
		res.Again = time.Time{}
	}
	status := m.Embedder.Status()
	if res.State == op.EngineComplete || res.State == op.EnginePaused { // where only queries are embedded
		res.Problem = cmp.Or(res.Problem, status.Problem)
	}
	for _, p := range status.Passed {
		res.Passed = append(res.Passed, op.PassedProvider{Provider: p.Provider, Reason: p.Reason})
	}
	res.Native = nativeEngine(status.Native)
	if filling == nil {
		return res, nil
	}
	res.Model.Loaded = status.Loaded
	kept := filling.store.Status()
	res.Vectors, res.Bytes = kept.Vectors, kept.Bytes
	if res.State == op.EngineWorking && pace > 0 {
		res.PerSecond = math.Round(100/pace.Seconds()) / 100
		parts := float64(cmp.Or(kept.Chunks, 1)) / float64(cmp.Or(kept.Docs, 1))
		res.Left = int64(math.Ceil(float64(left) * parts * pace.Seconds()))
	}
	return res, nil
}

// nativeEngine tells of the helper, nil without one.
func nativeEngine(n *embedding.NativeStatus) *op.NativeEngine {
	if n == nil {
		return nil
	}
	out := &op.NativeEngine{Helper: n.Helper, Folder: n.Engine, Version: n.Version, Release: n.Release, System: n.System, Backends: n.Backends,
		Warning: n.Warning, PID: n.PID, Started: n.Started, Restarts: n.Restarts, LastExit: n.LastExit, Output: n.Output}
	for _, b := range n.Bad {
		out.Bad = append(out.Bad, op.BadPair(b))
	}
	return out
}

// state is called with mu held.
func (m *meaning) state() string {
	switch {
	case m.idle != "":
		return op.EngineUnused
	case m.paused:
		return op.EnginePaused
	case m.problem != "" || m.filling == nil || !m.news.begun || m.counting:
		return op.EngineWaiting
	case m.todo.left() > 0 || m.looking || m.news.all || len(m.news.memories)+len(m.news.notes) > 0:
		return op.EngineWorking
	}
	return op.EngineComplete
}

// noVectors is why there are to be none.
func (e *Engine) noVectors() string {
	return cmp.Or(e.opt.Meaning.Off, "choose a model (emberd model use), or name a server in embedding.url")
}

// model is called with the meaning's mu held.
func (s *rack) model() *op.EngineModel {
	return &op.EngineModel{Provider: s.provider(), Name: s.identity.Model, Dim: s.identity.Dim, Lexical: s.identity.Lexical,
		Trust: math.Round(1000*s.grade.Trust()) / 1000}
}

func (e *Engine) enginePause(ctx context.Context, _ *op.EnginePauseRequest) (*op.EngineStatusResult, error) {
	return e.setPaused(ctx, true)
}

// engineResume also tries anew what failed: an engine that was given up, texts that were
// put aside.
func (e *Engine) engineResume(ctx context.Context, _ *op.EngineResumeRequest) (*op.EngineStatusResult, error) {
	if m := e.meaning; m != nil {
		err := m.Embedder.Retry(ctx)
		if errors.Is(err, embedding.ErrChanged) {
			m.stale.Store(true)
		} else if err != nil {
			e.opt.Logger.Info("tried again, vectors cannot be made yet", "err", err)
		}
		m.anything()
		nudge(m.wake)
		nudge(m.retry)
	}
	return e.setPaused(ctx, false)
}

func (e *Engine) setPaused(ctx context.Context, paused bool) (*op.EngineStatusResult, error) {
	if e.meaning == nil {
		return nil, memory.Errorf(memory.Invalid, "no vectors are made: %s", e.noVectors())
	}
	if err := e.meaning.pause(paused); err != nil {
		return nil, memory.Errorf(memory.Unavailable, "remember that vectors are paused, or not: %w", err)
	}
	return e.engineStatus(ctx, &op.EngineStatusRequest{})
}
