package page

import (
	"context"
	"iter"
	"slices"

	"emberd/memory"
	"emberd/op"
)

// allowed lists the operations that the page calls. Creating tokens is not among them, and neither
// is anything that cannot be undone, except revoking a token, for which the user types a word.
func allowed() []*op.Spec {
	return []*op.Spec{
		op.Search.Spec, op.WhyNot.Spec, op.List.Spec, op.Show.Spec, op.OpenMany.Spec, op.History.Spec, op.Timeline.Spec,
		op.Why.Spec, op.Open.Spec, op.Knowledge.Spec, op.Complete.Spec, op.Audit.Spec, op.SessionList.Spec,
		op.ReviewList.Spec, op.ReviewShow.Spec, op.HealthDuplicates.Spec, op.Health.Spec, op.LifecycleStatus.Spec,
		op.HealthStale.Spec, op.Status.Spec, op.Stats.Spec, op.EngineStatus.Spec, op.TokenList.Spec, op.TrashList.Spec,
		op.Edit.Spec, op.Confirm.Spec, op.Promote.Spec, op.Archive.Spec, op.Rekindle.Spec, op.Forget.Spec, op.Undo.Spec,
		op.ReviewClose.Spec, op.ReviewCreate.Spec, op.HealthMerge.Spec, op.SessionForget.Spec, op.TokenRevoke.Spec,
	}
}

// asPage limits a backend to what the page may do, and tells it that the page asks.
func asPage(b Backend, version string) Backend {
	return &limited{backend: b, allowed: allowed(), actor: memory.Actor{Client: "page/" + version}}
}

// limited is a backend that carries out some operations only.
type limited struct {
	backend Backend
	allowed []*op.Spec
	actor   memory.Actor
}

// Invoke implements [op.Invoker].
func (l *limited) Invoke(ctx context.Context, s *op.Spec, req any) (any, error) {
	if !slices.Contains(l.allowed, s) {
		return nil, memory.Errorf(memory.Forbidden, "the web page cannot run operation %s; use the emberd command line",
			s.Name)
	}
	return l.backend.Invoke(op.WithCaller(ctx, l.actor), s, req)
}

// Events implements [Backend].
func (l *limited) Events(ctx context.Context, after string) iter.Seq2[op.Event, error] {
	return l.backend.Events(op.WithCaller(ctx, l.actor), after)
}
