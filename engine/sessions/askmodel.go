package sessions

import (
	"context"

	"emberd/internal/capture"
	"emberd/memory"
	"emberd/op"
)

const (
	maxTurns     = 16  // that wait for the language model; further ones are not asked about
	answerTokens = 300 // of its answer
)

// heard is a turn that the language model is asked about, for the caller who told of it.
type heard struct {
	e        *Sessions
	by       memory.Actor
	req      op.HookRequest
	messages []op.SessionMessage
}

// askModel has the language model choose among what was said, once there is time. Nobody waits for it, and what waits
// is gone after a restart.
func (e *Sessions) askModel(ctx context.Context, req *op.HookRequest, messages []op.SessionMessage) {
	if e.Opt.Hooks.Ask == nil || req.Whole || req.DryRun {
		return
	}
	h := heard{e: e, by: op.CallerFrom(ctx), req: *req, messages: messages}
	h.req.Messages = nil
	select {
	case e.turns <- h:
	default:
	}
}

// RunModel asks the language model about one turn after another, until its context ends.
func (e *Sessions) RunModel(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case h := <-e.turns:
			e.Chores.Settle("choice of the sentences to save by the language model", h.choose(op.WithCaller(ctx, h.by)))
		}
	}
}

// choose keeps what the language model chooses, under the bounds of the session.
func (h *heard) choose(ctx context.Context) error {
	system, user := capture.Question(h.messages)
	if user == "" {
		return nil
	}
	answer, err := h.e.Opt.Hooks.Ask(ctx, system, user, answerTokens)
	if err != nil {
		return err
	}
	_, _, room, err := h.e.unseen(&h.req)
	if err != nil {
		return err
	}
	res := &op.HookResult{}
	if err := h.e.keep(ctx, &h.req, capture.Chosen(h.messages, answer), room, res); err != nil || len(res.Kept) == 0 {
		return err
	}
	return h.e.use(&h.req, func(r *record) (save, error) {
		r.keep(res.Kept)
		return now, nil
	})
}
