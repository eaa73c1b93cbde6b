package page

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"emberd/memory"
	"emberd/op"
)

// fading is how the memories stand, what is archived next, and what came back.
type fading struct {
	Status *op.LifecycleStatusResult
	Health *op.HealthResult
	Due    []due
	Next   []due
	Back   []change
}

// due is a memory with the stage it goes to and when.
type due struct {
	Memory op.Memory
	Stage  memory.Stage
	At     time.Time
}

// lookedAt is how many of the memories that were unused longest are looked at.
const lookedAt = 20

func viewFading(ctx context.Context, p *Page, _ *http.Request) (any, error) {
	var f fading
	var err error
	if f.Status, err = op.LifecycleStatus.Call(ctx, p.backend, &op.LifecycleStatusRequest{}); err != nil {
		return nil, err
	}
	if f.Health, err = op.Health.Call(ctx, p.backend, &op.HealthRequest{}); err != nil {
		return nil, err
	}
	if f.Next, err = p.nextDue(ctx, f.Status.Next); err != nil {
		return nil, err
	}
	audit, err := op.Audit.Call(ctx, p.backend, &op.AuditRequest{Since: "30d", Kind: op.AuditWrite, Limit: 100})
	if err != nil {
		return nil, err
	}
	f.Back, err = p.changes(ctx, slices.DeleteFunc(audit.Events, func(e op.AuditEvent) bool {
		return e.What != "rekindle" && e.What != "wake"
	}))
	return f, err
}

// nextDue are the memories that fade next, by date: the one that the daemon names, and those of the
// longest unused ones.
func (p *Page) nextDue(ctx context.Context, first *op.NextMove) ([]due, error) {
	zero := 0
	stale, err := op.HealthStale.Call(ctx, p.backend,
		&op.HealthStaleRequest{Collection: "all", DaysUnused: &zero, Limit: lookedAt})
	if err != nil {
		return nil, err
	}
	var ids []memory.ID
	if first != nil {
		ids = append(ids, first.ID)
	}
	for _, s := range stale.StaleMemories {
		if first == nil || s.ID != first.ID {
			ids = append(ids, s.ID)
		}
	}
	var all []due
	for _, id := range ids {
		why, err := op.Why.Call(ctx, p.backend, &op.WhyRequest{ID: string(id)})
		if memory.CodeOf(err) == memory.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		if len(why.Stages) > 0 {
			all = append(all, due{why.Memory, why.Stages[0].Stage, why.Stages[0].At})
		}
	}
	slices.SortStableFunc(all, func(a, b due) int { return cmp.Compare(a.At.UnixNano(), b.At.UnixNano()) })
	return all, nil
}

// Bars is the histogram of scores as an attribute contains it.
func (f fading) Bars() (string, error) { return bars(f.Health.Scores) }

func bars(bands []op.HealthBand) (string, error) {
	b, err := json.Marshal(bands)
	return string(b), err
}
