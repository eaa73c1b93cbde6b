package semantic

import (
	"cmp"
	"context"
	"errors"
	"math"
	"time"

	"emberd/embedding"
	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
)

// EngineStatus returns the state of the embedding runtime.
func (e *Semantic) EngineStatus(context.Context, *op.EngineStatusRequest) (*op.EngineStatusResult, error) {
	m := e.Meaning
	if m == nil {
		return &op.EngineStatusResult{State: op.EngineOff, Problem: e.offReason()}, nil
	}
	res := &op.EngineStatusResult{Meaning: m.Status(), Made: m.made.Load(), Share: m.Share, Folder: m.Dir}
	m.Mu.Lock()
	filling, earlier := m.Building, m.earlier
	res.State, res.Problem, res.Again, res.Skipped = m.state(), m.problem, m.again, m.Todo.Aside
	if res.State == op.EngineWaiting && m.ready() && m.waitsOnBattery() {
		res.Waits = op.WaitsOnBattery
	}
	left, pace := m.Todo.Left(), m.pace.text
	if filling != nil {
		res.Model = filling.model()
	}
	if earlier != nil {
		res.Earlier = earlier.model()
	}
	m.Mu.Unlock()
	if res.Problem == "" {
		res.Again = time.Time{}
	}
	status := m.Embedder.Status()
	if res.State == op.EngineComplete || res.State == op.EnginePaused { // only queries are embedded
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
	kept := filling.Store.Status()
	res.Vectors, res.Bytes = kept.Vectors, kept.Bytes
	if res.State == op.EngineWorking && pace > 0 {
		res.PerSecond = math.Round(100/pace.Seconds()) / 100
		parts := float64(cmp.Or(kept.Chunks, 1)) / float64(cmp.Or(kept.Docs, 1))
		res.Left = int64(math.Ceil(float64(left) * parts * pace.Seconds()))
	}
	return res, nil
}

// nativeEngine returns the state of the helper, nil without one.
func nativeEngine(n *embedding.NativeStatus) *op.NativeEngine {
	if n == nil {
		return nil
	}
	out := &op.NativeEngine{Helper: n.Helper, Folder: n.Engine, Version: n.Version, Release: n.Release,
		System: n.System, Backends: n.Backends,
		Warning: n.Warning, PID: n.PID, Started: n.Started, Restarts: n.Restarts, LastExit: n.LastExit,
		Output: n.Output, Unconfined: n.Unconfined}
	for _, b := range n.Bad {
		out.Bad = append(out.Bad, op.BadPair(b))
	}
	return out
}

// PausedWork returns how many memories and notes wait because the user paused embedding.
func (m *Embeddings) PausedWork() int {
	if m == nil {
		return 0
	}
	m.Mu.Lock()
	defer m.Mu.Unlock()
	if !m.paused || m.idle != "" {
		return 0
	}
	return m.Todo.Left()
}

// ready reports whether there is a model and it is known what to embed. Mu must be held.
func (m *Embeddings) ready() bool {
	return m.problem == "" && m.Building != nil && m.changes.begun && !m.counting
}

// state returns the state for EngineStatus. Mu must be held.
func (m *Embeddings) state() string {
	switch {
	case m.idle != "":
		return op.EngineUnused
	case m.paused:
		return op.EnginePaused
	case !m.ready() || m.waitsOnBattery():
		return op.EngineWaiting
	case m.Todo.Left() > 0 || m.looking || m.changes.all || len(m.changes.memories)+len(m.changes.notes) > 0:
		return op.EngineWorking
	}
	return op.EngineComplete
}

// offReason returns why there are no embeddings.
func (e *Semantic) offReason() string {
	return cmp.Or(e.Opt.Meaning.Off, "no provider in the setting embedding.providers is configured; choose "+
		"a model with emberd model use, such as static, which requires no file")
}

// model returns the model of the index. Embeddings.Mu must be held.
func (s *VectorIndex) model() *op.EngineModel {
	return &op.EngineModel{Provider: s.provider(), Name: s.Identity.Model, Dim: s.Identity.Dim,
		Lexical: s.Identity.Lexical,
		Trust:   math.Round(1000*s.Grade.Trust()) / 1000}
}

// EnginePause stops embedding in this run and later ones.
func (e *Semantic) EnginePause(ctx context.Context, _ *op.EnginePauseRequest) (*op.EngineStatusResult, error) {
	return e.setPaused(ctx, true)
}

// EngineResume resumes embedding, also on battery if it waits for that, and tries again what failed:
// a runtime that was given up, and texts that were skipped.
func (e *Semantic) EngineResume(ctx context.Context, _ *op.EngineResumeRequest) (*op.EngineStatusResult, error) {
	if m := e.Meaning; m != nil {
		err := m.Embedder.Retry(ctx)
		if errors.Is(err, embedding.ErrChanged) {
			m.stale.Store(true)
		} else if err != nil {
			e.Opt.Logger.Info("embeddings still unavailable after a retry", "err", err)
		}
		m.ignoreBattery()
		m.ChangedAll()
		core.Nudge(m.wake)
		core.Nudge(m.retry)
	}
	return e.setPaused(ctx, false)
}

func (e *Semantic) setPaused(ctx context.Context, paused bool) (*op.EngineStatusResult, error) {
	if e.Meaning == nil {
		return nil, memory.Errorf(memory.Invalid, "emberd computes no embeddings: %s", e.offReason())
	}
	if err := e.Meaning.Pause(paused); err != nil {
		return nil, memory.Errorf(memory.Unavailable, "cannot save whether the computation of embeddings is paused: %w",
			err)
	}
	return e.EngineStatus(ctx, &op.EngineStatusRequest{})
}
