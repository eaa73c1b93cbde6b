package sessions

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
)

// The settings of what prompts get.
const (
	RecallOff    = "off"
	RecallShadow = "shadow" // find what would be shown, count it, and show nothing
	RecallOn     = "on"
)

// The bounds of a request.
const (
	maxName     = 200    // characters of an agent, a session and a project
	maxMessages = 20_000 // of a session
)

// Hook answers an event of a session. The error is that of a request that makes no sense; a project that is turned
// off gets an empty answer.
func (e *Sessions) Hook(ctx context.Context, req *op.HookRequest) (*op.HookResult, error) {
	if err := core.FirstError(checkRequest(req), e.Joins(req.Tx)); err != nil {
		return nil, err
	}
	if slices.Contains(e.Opt.Hooks.Off, req.Project) && req.Project != "" {
		return &op.HookResult{}, nil
	}
	if req.SearchOnly {
		return e.Transcripts.Put(ctx, req)
	}
	switch req.Event {
	case op.HookStart:
		return e.start(ctx, req)
	case op.HookPrompt:
		return e.prompt(ctx, req)
	case op.HookTurn, op.HookCompact, op.HookEnd:
		return e.turn(ctx, req)
	}
	return nil, memory.Errorf(memory.Invalid, "invalid event %.40q; use start, prompt, turn, compact or end",
		req.Event).At("event")
}

func checkRequest(req *op.HookRequest) error {
	for _, of := range []struct{ field, value string }{{"agent", req.Agent}, {"session", req.Session}} {
		if strings.TrimSpace(of.value) == "" || len(of.value) > maxName {
			return memory.Errorf(memory.Invalid, "%s has %d bytes; use 1 to %d bytes", of.field, len(of.value),
				maxName).At(of.field)
		}
	}
	for _, of := range []struct{ field, value string }{
		{"agent", req.Agent}, {"session", req.Session}, {"project", req.Project},
	} {
		if !utf8.ValidString(of.value) {
			return memory.Errorf(memory.Invalid, "%s is not valid UTF-8", of.field).At(of.field)
		}
		if strings.ContainsFunc(of.value, unicode.IsControl) {
			return memory.Errorf(memory.Invalid, "%s contains control characters; remove them", of.field).At(of.field)
		}
	}
	if len(req.Project) > maxName {
		return memory.Errorf(memory.Invalid, "too many bytes in project: %d (limit %d); use a shorter project name",
			len(req.Project), maxName).At("project")
	}
	if len(req.Messages) > maxMessages {
		return memory.Errorf(memory.TooLarge, "too many messages: %d (limit %d); send the session in parts",
			len(req.Messages), maxMessages).At("messages")
	}
	return nil
}

// repeated reports whether a prompt was asked a moment ago, by another copy of the same hook, and notes it.
func (r *record) repeated(prompt string, now time.Time) bool {
	const moment = 2 * time.Second
	d := digest(prompt)
	again := r.Asked == d && now.Sub(r.AskedAt) < moment
	r.Asked, r.AskedAt = d, now
	return again
}
