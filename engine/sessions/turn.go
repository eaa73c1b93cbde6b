package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"emberd/engine/core"
	"emberd/engine/learn"
	"emberd/internal/access"
	"emberd/internal/capture"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	maxKept = capture.MaxSession // memories of a session
	// probationStrength is the strength of what a hook kept: its score is half that of what somebody saved.
	probationStrength = 0.5
	maxQuote          = 1000 // characters
)

// turn keeps what is worth it of what was said, and counts what an answer used.
func (e *Sessions) turn(ctx context.Context, req *op.HookRequest) (*op.HookResult, error) {
	before, fresh, room, err := e.unseen(req)
	if err != nil {
		return nil, err
	}
	used, err := e.countUses(ctx, req, fresh)
	if err != nil {
		return nil, err
	}
	res := &op.HookResult{Tx: req.Tx}
	if e.Opt.Hooks.Capture && room > 0 {
		if err := e.keep(ctx, req, picked(req, before, fresh), room, res); err != nil {
			return nil, err
		}
		e.askModel(ctx, req, fresh)
	}
	if req.DryRun {
		return res, nil
	}
	return res, e.use(req, func(r *record) (save, error) {
		r.keep(res.Kept)
		r.leave(req.Messages, res)
		r.count(used)
		return now, nil
	})
}

// unseen returns the messages that no event had before, and notes them; the answer before them, which leaves nothing
// itself; and how many memories the session may still leave.
func (e *Sessions) unseen(req *op.HookRequest) (before, fresh []op.SessionMessage, room int, err error) {
	err = e.use(req, func(r *record) (save, error) {
		seen := make(map[string]bool, len(r.Seen))
		for _, d := range r.Seen {
			seen[d] = true
		}
		left, undone := e.withoutUndone(r, req)
		for i, m := range req.Messages {
			d := digestOf(&m)
			if seen[d] && !undone[m.ID] {
				continue
			}
			if len(fresh) == 0 && i > 0 && req.Messages[i-1].Final {
				before = req.Messages[i-1 : i]
			}
			fresh = append(fresh, m)
			if !req.DryRun && !seen[d] {
				r.Seen, seen[d] = append(r.Seen, d), true
			}
		}
		r.Seen = r.Seen[max(0, len(r.Seen)-maxSeen):]
		room = maxKept - len(left)
		if !req.DryRun {
			r.Memories = left
		}
		return nothing, nil
	})
	return before, fresh, room, err
}

// withoutUndone returns the memories that a session left, for an import without those of undone imports, and the
// messages that the latter are from. What a person deleted stays, so that no import brings it back.
func (e *Sessions) withoutUndone(r *record, req *op.HookRequest) (left []op.SessionMemory, messages map[string]bool) {
	if !req.Whole {
		return r.Memories, nil
	}
	messages = make(map[string]bool)
	for _, k := range r.Memories {
		if k.Imported && e.Stm.Undone(k.Tx) {
			messages[k.Message] = true
		} else {
			left = append(left, k)
		}
	}
	return left, messages
}

// picked returns the best sentences of some messages, which follow others.
func picked(req *op.HookRequest, before, messages []op.SessionMessage) []capture.Kept {
	if req.Whole {
		return capture.All(messages)
	}
	return slices.Collect(capture.Turns(before, messages))
}

// keep adds sentences, at most room of them.
func (e *Sessions) keep(ctx context.Context, req *op.HookRequest, sentences []capture.Kept, room int,
	res *op.HookResult) error {
	learned, err := e.learnedBy(req)
	if err != nil {
		return err
	}
	for _, k := range sentences {
		if k.Credential {
			res.Refused++
			continue
		}
		if k.Over || len(res.Kept) >= room {
			res.Over++
			continue
		}
		if e.Recall.Find(k.Text, "", req.Project) != nil {
			continue // the model repeats what it was told
		}
		kept, err := e.add(ctx, req, &k, learned, res.Tx)
		if memory.CodeOf(err) == memory.Forbidden { // the token may not
			res.Forbidden = append(res.Forbidden, k.Message)
			continue
		} else if err != nil {
			return err
		}
		if kept != nil {
			res.Kept = append(res.Kept, *kept)
		}
		if kept != nil && req.Whole {
			res.Tx = cmp.Or(res.Tx, kept.Tx)
		}
	}
	return nil
}

// add stores one sentence, or counts it as learned once more; once in a session. It returns nil for one that a
// person deleted before, and for one that is known. The sentences of an import join the journal entry tx.
func (e *Sessions) add(ctx context.Context, req *op.HookRequest, k *capture.Kept, learned map[memory.ID]bool,
	tx string) (*op.SessionMemory, error) {
	at, add := e.saidAt(req, k), e.addRequest(req, k)
	if !e.Grant.May(access.Subject{Tags: add.Tags, Project: add.Project}) { // a save would move it into the scope
		return nil, memory.Errorf(memory.Forbidden, "token %s cannot save memories of project %q", e.Grant.Token,
			add.Project)
	}
	out := &op.SessionMemory{Rule: k.Rule, Text: k.Text, Message: k.Message, From: k.From, Imported: req.Whole}
	if req.DryRun {
		return out, nil
	}
	with := learn.AddOptions{
		Save: func(s *op.SaveRequest) {
			describe(s, k)
			s.CreatedAt = at
		},
		Reinforce: func(id memory.ID) bool {
			again := learned[id]
			learned[id] = true
			return !again
		},
	}
	if req.Whole {
		with.Verb, with.Entry = stm.ImportVerb, tx
	}
	res, err := e.Learn.AddAs(ctx, add, with)
	switch memory.CodeOf(err) {
	case memory.Forgotten, memory.Secret:
		return nil, nil
	}
	if err != nil || res.Tx == "" {
		return nil, err
	}
	learned[res.Memory.ID] = true
	out.ID, out.New, out.Tx = res.Memory.ID, res.New, res.Tx
	return out, nil
}

// learnedBy returns the memories that a session left or learned once more.
func (e *Sessions) learnedBy(req *op.HookRequest) (map[memory.ID]bool, error) {
	learned := map[memory.ID]bool{}
	return learned, e.use(req, func(r *record) (save, error) {
		for _, k := range r.Memories {
			learned[k.ID] = true
		}
		return nothing, nil
	})
}

// saidAt returns when a sentence of a session of the past was said, zero for one of now.
func (e *Sessions) saidAt(req *op.HookRequest, k *capture.Kept) time.Time {
	for _, m := range req.Messages {
		if req.Whole && m.ID == k.Message && m.At.Before(e.Opt.Now()) {
			return m.At
		}
	}
	return time.Time{}
}

func (e *Sessions) addRequest(req *op.HookRequest, k *capture.Kept) *op.AddRequest {
	project := req.Project
	if k.Everywhere && e.Grant.May(access.Subject{}) {
		project = ""
	}
	about := memory.SaidByUser + " in a session with " + req.Agent
	if k.From == op.RoleAgent {
		about = "said by the agent in a session with " + req.Agent
	}
	if len(k.Files) > 0 {
		about += ", about " + strings.Join(k.Files, ", ")
	}
	return &op.AddRequest{Content: k.Text, Section: k.Section, Tags: e.tagsOf(k), Context: text.First(about, 1000),
		Source:  text.First(fmt.Sprintf("session:%s/%s#%s", req.Agent, req.Session, k.Message), 500),
		Project: project, ProjectInferred: true, SessionID: req.Session,
		Provenance: op.Provenance{Origin: memory.FromAgent, Quote: text.First(k.Quote, maxQuote)}}
}

// tagsOf returns the tag by which people find decisions and wishes, unless the token may not set it.
func (e *Sessions) tagsOf(k *capture.Kept) []string {
	if slices.Contains(notable(), k.Rule) && e.Grant.May(access.Subject{Tags: []string{k.Rule}}) {
		return []string{k.Rule}
	}
	return nil
}

// describe sets what a new memory of a sentence has beside the text.
func describe(s *op.SaveRequest, k *capture.Kept) {
	s.Importance, s.Strength, s.Core = new(k.Importance), new(probationStrength), false
	rule, _ := json.Marshal(k.Rule) // a string
	s.Meta = map[string]json.RawMessage{core.MetaCaptured: rule}
}
