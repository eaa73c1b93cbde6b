package core

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

// withoutUnseen removes the IDs of other memories that the caller cannot read.
func (e *View) withoutUnseen(in *stm.MemorySet, m *memory.Memory) {
	unseen := func(id memory.ID) bool {
		_, live := in.Get(id)
		return !live
	}
	m.ConsolidatedFrom = slices.DeleteFunc(slices.Clone(m.ConsolidatedFrom), unseen)
	if m.ConsolidatedInto != "" && unseen(m.ConsolidatedInto) {
		m.ConsolidatedInto, m.ConsolidatedAt = "", time.Time{}
	}
}

// PermittedVersions removes from a history the fields about memories that the caller cannot read,
// and the versions that have no field left.
func (e *View) PermittedVersions(all []stm.Version) []stm.Version {
	var out []stm.Version
	for _, v := range all {
		fields := slices.DeleteFunc(slices.Clone(v.Fields), e.namesUnseen)
		if len(v.Fields) > 0 && len(fields) == 0 {
			continue
		}
		v.Fields = fields
		out = append(out, v)
	}
	return out
}

// namesUnseen reports whether a field names a memory that the caller cannot read. Relations
// and review items are such fields too.
func (e *View) namesUnseen(f stm.Field) bool {
	unseen := func(id memory.ID) bool { return id != "" && !e.Live(id) }
	for _, value := range []json.RawMessage{f.From, f.To} {
		switch {
		case len(value) == 0:
		case stm.IsReviewKey(f.Name):
			return true
		case stm.IsRelationKey(f.Name):
			if r, err := stm.ParseRelation("", f.Name, value); err != nil || unseen(r.To) {
				return true
			}
		case f.Name == SupersededBy || f.Name == "consolidated_into":
			if unseen(memory.ID(stringValue(value))) {
				return true
			}
		case f.Name == "consolidated_from" || f.Name == SupersededAt || f.Name == "consolidated_at":
			return true
		}
	}
	return false
}

// madeByToken reports whether a change was made with the caller's token. An earlier token of the same
// name may have had more permissions.
func (e *View) madeByToken(j *stm.Journaled) bool {
	return j.By.Token == e.Grant.Token && !j.At.Before(e.Grant.Made)
}

// Entries returns the changes of the journal; with a grant, only those made with its token. To
// count them, it reads the whole journal.
func (e *View) Entries(ctx context.Context, before stm.Stamp, limit int) (page []stm.Journaled, total int) {
	if e.Grant == nil {
		return e.Stm.Entries(before, limit)
	}
	const atOnce = 200
	var from stm.Stamp
	for ctx.Err() == nil {
		some, _ := e.Stm.Entries(from, atOnce)
		for i := range some {
			at, err := stm.ParseStamp(some[i].Tx)
			if from = at; err != nil || !e.madeByToken(&some[i]) {
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

// OwnEntry returns the change that an undo reverts. With a grant it must have been made with
// its token; the store refuses any part beyond the grant.
func (e *View) OwnEntry(ctx context.Context, entry string) (string, error) {
	if e.Grant == nil {
		return entry, nil
	}
	if entry == "" {
		return e.newestEntry(ctx)
	}
	if err := e.Joins(entry); err != nil {
		return "", err
	}
	would, err := e.Stm.Undo(ctx, stm.Undo{Entry: entry, Force: true, DryRun: true})
	if err != nil {
		return "", err
	}
	for _, id := range would.Entry.IDs {
		row, live := e.Stm.Get(id)
		if live && !e.CanWrite(row) || !live && !e.Stm.Trashed(id) {
			return "", memory.Errorf(memory.Forbidden, "token %s can no longer undo change %s, because the change "+
				"affects a memory outside %s; name another change, or ask the user to undo this change", e.Grant.Token,
				entry, ScopesOf(e.Grant.Write)).At("tx")
		}
	}
	return entry, nil
}

// newestEntry returns the newest change of the caller's token that was not undone.
func (e *View) newestEntry(ctx context.Context) (string, error) {
	all, _ := e.Entries(ctx, stm.Stamp{}, int(^uint(0)>>1))
	for _, j := range all {
		if !j.Undone && j.Undoes == "" {
			return e.OwnEntry(ctx, j.Tx)
		}
	}
	return "", memory.Errorf(memory.NotFound, "token %s has no change to undo",
		e.Grant.Token).At("tx")
}

// Joins returns an error of code NotFound for a change that the caller's token did not make.
func (e *View) Joins(entry string) error {
	if e.Grant == nil || entry == "" {
		return nil
	}
	at, err := stm.ParseStamp(entry)
	if err != nil {
		return memory.Errorf(memory.Invalid, "change %w", err).At("tx")
	}
	const atOnce = 16 // other devices may have changes with the same time
	some, _ := e.Stm.Entries(stm.Stamp{T: at.T + 1}, atOnce)
	if slices.ContainsFunc(some, func(j stm.Journaled) bool { return j.Tx == at.String() && e.madeByToken(&j) }) {
		return nil
	}
	return memory.Errorf(memory.NotFound, "change %s not found", at).At("tx")
}

// GrantedSave returns the save that the caller's grant allows, and the scope that was added to
// it, or "". Each token has its own idempotency keys.
func (e *View) GrantedSave(req *op.SaveRequest) (*op.SaveRequest, string, error) {
	if e.Grant == nil {
		return req, "", nil
	}
	own := *req
	if own.IdempotencyKey != "" { // no key of a caller contains this character
		own.IdempotencyKey = fmt.Sprintf("%s\x1f%d\x1f%s", e.Grant.Token, e.Grant.Made.Unix(), own.IdempotencyKey)
	}
	if own.Collection == memory.EntityCollection {
		own.Aliases = nil // the reference tools find an entity by its ID
	}
	elsewhere := ""
	if own.ProjectInferred && !e.Grant.May(access.Subject{Project: own.Project}) {
		own.Project, elsewhere = "", own.Project
	}
	if err := e.checkSave(&own); err != nil {
		return nil, "", err
	}
	if e.Grant.May(access.Subject{Tags: own.Tags, Project: own.Project}) {
		return &own, "", nil
	}
	for _, s := range e.Grant.Write {
		switch s.Kind {
		case access.Tag:
			own.Tags = append(slices.Clone(own.Tags), s.Value)
		case access.Project:
			if elsewhere != "" {
				return nil, "", e.errElsewhere(elsewhere)
			}
			own.Project = s.Value
		default:
			continue
		}
		return &own, s.String(), nil
	}
	if len(e.Grant.Write) == 0 {
		return nil, "", e.errReadOnly()
	}
	return nil, "",
		memory.Errorf(memory.Forbidden, "token %s cannot save memories, because its scopes (%s) include only notes "+
			"and memories with a note; ask the user for a token with a tag or project scope", e.Grant.Token,
			ScopesOf(e.Grant.Write))
}

// errElsewhere is the error for a memory of a folder whose project the token cannot write to.
func (e *View) errElsewhere(project string) error {
	return memory.Errorf(memory.Forbidden, "token %s can save only in %s, and this folder belongs to project %q; to "+
		"save in the scope of the token, pass its project", e.Grant.Token, ScopesOf(e.Grant.Write), project).
		At("project")
}

// LogIsWhole returns an error if a caller with a grant asks to read the log.
func LogIsWhole(g *access.Grant, asked bool) error {
	if !asked {
		return nil
	}
	return memory.Errorf(memory.Forbidden,
		"token %s cannot read the log, which contains all memories; omit the parameter log", g.Token).At("log")
}
