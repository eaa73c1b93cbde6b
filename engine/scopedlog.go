package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"emberd/internal/access"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// withoutUnseen takes the ids of memories out of one that are not there for who asks.
func (e *Engine) withoutUnseen(in *stm.Memories, m *memory.Memory) {
	unseen := func(id memory.ID) bool {
		_, live := in.Get(id)
		return !live
	}
	m.ConsolidatedFrom = slices.DeleteFunc(slices.Clone(m.ConsolidatedFrom), unseen)
	if m.ConsolidatedInto != "" && unseen(m.ConsolidatedInto) {
		m.ConsolidatedInto, m.ConsolidatedAt = "", time.Time{}
	}
}

// seenVersions leaves out of a history what it says of memories that are not there, and
// the versions of which nothing is left then.
func (e *Engine) seenVersions(all []stm.Version) []stm.Version {
	var out []stm.Version
	for _, v := range all {
		fields := slices.DeleteFunc(slices.Clone(v.Fields), e.tellsOfUnseen)
		if len(v.Fields) > 0 && len(fields) == 0 {
			continue
		}
		v.Fields = fields
		out = append(out, v)
	}
	return out
}

// tellsOfUnseen reports whether a field names a memory, or is a relation or a review item
// with one, that is not there.
func (e *Engine) tellsOfUnseen(f stm.Field) bool {
	unseen := func(id memory.ID) bool { return id != "" && !e.live(id) }
	for _, value := range []json.RawMessage{f.From, f.To} {
		switch {
		case len(value) == 0:
		case stm.IsReviewKey(f.Name):
			return true
		case stm.IsRelationKey(f.Name):
			if r, err := stm.ParseRelation("", f.Name, value); err != nil || unseen(r.To) {
				return true
			}
		case f.Name == supersededBy || f.Name == "consolidated_into":
			if unseen(memory.ID(textIn(value))) {
				return true
			}
		case f.Name == "consolidated_from" || f.Name == supersededAt || f.Name == "consolidated_at":
			return true
		}
	}
	return false
}

// own reports whether a journal entry is of who has the grant. A token that had the name
// before may have reached further.
func (e *Engine) own(j *stm.Journaled) bool {
	return j.By.Token == e.grant.Token && !j.At.Before(e.grant.Made)
}

// entries are those of the journal, with a grant those alone that were made with its
// token. To count these all are read.
func (e *Engine) entries(ctx context.Context, before stm.Stamp, limit int) (page []stm.Journaled, total int) {
	if e.grant == nil {
		return e.stm.Entries(before, limit)
	}
	const atOnce = 200
	var from stm.Stamp
	for ctx.Err() == nil {
		some, _ := e.stm.Entries(from, atOnce)
		for i := range some {
			at, err := stm.ParseStamp(some[i].Tx)
			if from = at; err != nil || !e.own(&some[i]) {
				continue
			}
			if total++; len(page) < limit && (before.IsZero() || before.Compare(at) > 0) {
				page = append(page, some[i])
			}
		}
		if len(some) < atOnce {
			break
		}
	}
	return page, total
}

// ownEntry is the journal entry that an undo is about, with a grant one that was made
// with its token: what is left of it the store refuses to change beyond the grant.
func (e *Engine) ownEntry(ctx context.Context, entry string) (string, error) {
	if e.grant == nil {
		return entry, nil
	}
	if entry == "" {
		return e.newestEntry(ctx)
	}
	if err := e.joins(entry); err != nil {
		return "", err
	}
	would, err := e.stm.Undo(ctx, stm.Undo{Entry: entry, Force: true, DryRun: true})
	if err != nil {
		return "", err
	}
	for _, id := range would.Entry.IDs {
		row, live := e.stm.Get(id)
		if live && !e.may(row) || !live && !e.stm.Trashed(id) {
			return "", memory.Errorf(memory.Forbidden, "token %s may not undo entry %s any more: it is about a memory beyond %s; ask the owner",
				e.grant.Token, entry, scopesOf(e.grant.Write)).At("tx")
		}
	}
	return entry, nil
}

// newestEntry is the newest of who has the grant that still stands.
func (e *Engine) newestEntry(ctx context.Context) (string, error) {
	all, _ := e.entries(ctx, stm.Stamp{}, int(^uint(0)>>1))
	for _, j := range all {
		if !j.Undone && j.Undoes == "" {
			return e.ownEntry(ctx, j.Tx)
		}
	}
	return "", memory.Errorf(memory.NotFound, "the journal has no entry of token %s that could be undone", e.grant.Token).At("tx")
}

// joins refuses a journal entry that is not of who has the grant as if there were none.
func (e *Engine) joins(entry string) error {
	if e.grant == nil || entry == "" {
		return nil
	}
	at, err := stm.ParseStamp(entry)
	if err != nil {
		return memory.Errorf(memory.Invalid, "journal entry %w", err).At("tx")
	}
	const atOnce = 16 // those of other devices in the same moment
	some, _ := e.stm.Entries(stm.Stamp{T: at.T + 1}, atOnce)
	if slices.ContainsFunc(some, func(j stm.Journaled) bool { return j.Tx == at.String() && e.own(&j) }) {
		return nil
	}
	return memory.Errorf(memory.NotFound, "the journal has no entry %s", at).At("tx")
}

// grantedSave is a save as who has the grant may make it, and the scope that was added to it,
// "" if none was. Its idempotency key is the token's own.
func (e *Engine) grantedSave(req *op.SaveRequest) (*op.SaveRequest, string, error) {
	if e.grant == nil {
		return req, "", nil
	}
	own := *req
	if own.IdempotencyKey != "" { // no key that is asked for has this character
		own.IdempotencyKey = fmt.Sprintf("%s\x1f%d\x1f%s", e.grant.Token, e.grant.Made.Unix(), own.IdempotencyKey)
	}
	if e.grant.May(access.Subject{Tags: own.Tags, Project: own.Project}) {
		return &own, "", nil
	}
	for _, s := range e.grant.Write {
		switch s.Kind {
		case access.Tag:
			own.Tags = append(slices.Clone(own.Tags), s.Value)
		case access.Project:
			own.Project = s.Value
		default:
			continue
		}
		return &own, s.String(), nil
	}
	if len(e.grant.Write) == 0 {
		return nil, "", memory.Errorf(memory.Forbidden, "token %s may only read; ask the owner for one with a scope to write", e.grant.Token)
	}
	return nil, "", memory.Errorf(memory.Forbidden, "token %s may not save: it changes %s, and what is saved has no note yet; ask the owner for a scope of a tag or a project",
		e.grant.Token, scopesOf(e.grant.Write))
}

// logIsWhole refuses what reads the log to who has a grant.
func logIsWhole(g *access.Grant, asked bool) error {
	if !asked {
		return nil
	}
	return memory.Errorf(memory.Forbidden, "token %s may not read the log, which is that of all memories; leave log out", g.Token).At("log")
}
