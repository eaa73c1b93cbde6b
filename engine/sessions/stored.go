package sessions

import (
	"context"

	"emberd/engine/core"
	"emberd/engine/transcripts"
	"emberd/memory"
	"emberd/op"
)

// sessionOrStored returns the session with an id or the beginning of one, and its messages that are stored to be
// searched, nil for none. A session of which nothing else is known has only these.
func (e *Sessions) sessionOrStored(ctx context.Context, id string) (known, *transcripts.Found, error) {
	s, err := e.sessionOf(id)
	if err != nil && memory.CodeOf(err) != memory.NotFound {
		return s, nil, err
	}
	if err == nil {
		stored, err := e.Transcripts.Find(ctx, s.Agent, s.ID)
		return s, stored, err
	}
	stored, failed := e.Transcripts.Find(ctx, "", id)
	if failed != nil || stored == nil {
		return s, nil, core.FirstError(failed, err)
	}
	return known{Session: op.Session{ID: stored.ID}}, stored, nil
}

// forgetStored removes the messages of a session that are stored to be searched.
func (e *Sessions) forgetStored(ctx context.Context, stored *transcripts.Found, res *op.SessionForgetResult) error {
	if stored == nil {
		return nil
	}
	if res.Messages = stored.Messages; res.DryRun {
		return nil
	}
	return e.Transcripts.Forget(ctx, stored)
}
