package lifecycle

import (
	"context"
	"encoding/json"
	"time"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/rekindle"
	"emberd/stm"
	"emberd/vault/lex"
	"emberd/vault/neutralize"
)

func repairActor() memory.Actor { return memory.Actor{Via: stm.Itself, Client: "merge"} }

// inconsistent reports whether a memory's text does not match its stage. Each field keeps its
// latest value, so one device may have archived a memory that another changed, used or faded
// before it received that; an edit of the log can do the same.
func inconsistent(row *stm.Row) bool {
	if !row.Has("text_digest") {
		return row.Stage().Cold() && !row.Changed("text_digest").IsZero()
	}
	return !row.Stage().Cold() || row.Later(core.ContentField, "text_digest") || row.Has("text_edges") &&
		row.Later("text_digest", "text_edges")
}

// repaired repairs an inconsistent memory: a whole text stays, and with a summary only, the
// memory is archived. It returns false if the memory is consistent.
func repaired(m *memory.Memory, row *stm.Row) bool {
	if !inconsistent(row) {
		return false
	}
	switch {
	case !core.Shortened(m), row.Later(core.ContentField, "text_digest"):
		setWholeText(m, m.Content)
	case !m.Stage.Cold():
		m.Stage = memory.Archived
	}
	if core.Shortened(m) && row.Later("text_digest", "text_edges") {
		m.TextEdges = nil // of another text
	}
	return true
}

// setWholeText gives a memory its whole text. It does not touch its note, which may have an older
// text.
func setWholeText(m *memory.Memory, text string) {
	m.Content = text
	m.TextDigest, m.TextEdges, m.KeyTerms = "", nil, nil
	m.ArchivedAt, m.ArchiveReason = time.Time{}, ""
	if m.Stage.Cold() {
		m.Stage = memory.Active
	}
}

// RepairAll repairs all inconsistent memories.
func (e *Lifecycle) RepairAll(ctx context.Context) {
	var ids []memory.ID
	for row := range e.Stm.Rows() {
		if inconsistent(row) {
			ids = append(ids, row.ID())
		}
	}
	e.Repair(ctx, ids)
}

// Repair repairs those of the memories that are inconsistent. A memory that was used elsewhere
// while it was archived here gets its text back.
func (e *Lifecycle) Repair(ctx context.Context, ids []memory.ID) {
	for _, id := range ids {
		if row, live := e.Stm.Get(id); !live || !inconsistent(row) || ctx.Err() != nil {
			continue
		}
		woken := false
		err := e.Change(ctx, id, core.RepairVerb, repairActor(), func(row *stm.Row, m *memory.Memory) bool {
			woken = core.Shortened(m) && m.Stage == memory.Active
			return repaired(m, row)
		})
		if row, live := e.Stm.Get(id); err == nil && woken && live && core.Cold(row) {
			_, err = e.RekindleMemory(ctx, id, repairActor())
		}
		if err != nil && ctx.Err() == nil {
			e.Opt.Logger.Warn("conflict of two devices in a memory not resolved yet", "memory", id, "error", err)
		}
	}
}

// ReconcileTexts restores the text that a change of another device wrote, if this device
// archived or rekindled the memory before it received that change. Neither of these may
// replace a text that the user wrote.
func (e *Lifecycle) ReconcileTexts(ctx context.Context, entry *stm.Entry) {
	if core.Ages(entry.Verb) {
		return
	}
	here := e.Stm.Status().Device
	for _, id := range entry.IDs {
		row, live := e.Stm.Get(id)
		if !live || row.ChangedBy(core.ContentField).String() != here ||
			entry.At.After(row.Changed(core.ContentField)) {
			continue
		}
		m, err := row.Memory()
		if err != nil {
			continue
		}
		text, missed := e.missedText(ctx, &m)
		if !missed {
			continue
		}
		err = e.Change(ctx, id, core.RepairVerb, repairActor(), func(now *stm.Row, m *memory.Memory) bool {
			if now.Rev() != row.Rev() {
				return false
			}
			setWholeText(m, text)
			return true
		})
		if err != nil && ctx.Err() == nil {
			e.Opt.Logger.Warn("text from another device not restored; only the history of the memory contains the text",
				"memory", id, "error", err)
		}
	}
}

// missedText returns the text that the user wrote last, if the archiving or rekindling that
// replaced it did not have it. It reads the whole log.
func (e *Lifecycle) missedText(ctx context.Context, m *memory.Memory) (text string, missed bool) {
	versions, err := e.Stm.History(ctx, m.ID)
	if err != nil {
		e.Opt.Logger.Warn("history not read", "memory", m.ID, "error", err)
		return "", false
	}
	for _, v := range versions {
		content, digest := fieldOf(v, core.ContentField), fieldOf(v, "text_digest")
		var now, was, is string
		_ = json.Unmarshal(content.To, &now) // a missing value is ""
		_ = json.Unmarshal(digest.From, &was)
		_ = json.Unmarshal(digest.To, &is)
		switch {
		case v.Action == stm.Forgot || v.Cut:
			text, missed = "", false
		case is != "": // archived
			missed = text != "" && !isTextOf(text, is)
		case core.Ages(v.Entry.Verb) && was != "": // rekindled
			missed = text != "" && !isTextOf(text, was) && neutralize.Body(text) != neutralize.Body(now)
		case content.Name != "":
			text, missed = now, false
		}
	}
	return text, missed
}

// isTextOf reports whether a note with this digest was created from a text, or contains it as
// the user left it.
func isTextOf(text, digest string) bool {
	return digest == rekindle.Digest(neutralize.Body(text)) || digest == rekindle.Digest(lex.Bare(text))
}

func fieldOf(v stm.Version, name string) stm.Field {
	for _, f := range v.Fields {
		if f.Name == name {
			return f
		}
	}
	return stm.Field{}
}

// Change writes what fn changed in one memory, nothing if fn returns false.
func (e *Lifecycle) Change(ctx context.Context, id memory.ID, verb string, by memory.Actor,
	fn func(*stm.Row, *memory.Memory) bool) error {
	_, err := e.Stm.Update(ctx, []memory.ID{id}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		if rows[0] == nil {
			return nil, nil
		}
		m, err := rows[0].Memory()
		if err != nil {
			return nil, err
		}
		before, err := core.Fields(&m)
		if err != nil || !fn(rows[0], &m) {
			return nil, err
		}
		if m.Stage != rows[0].Stage() {
			if err := e.Promote.TellStages(e.Promote.StageWrites(&m, by)); err != nil {
				return nil, err
			}
		}
		after, err := core.Fields(&m)
		if err != nil {
			return nil, err
		}
		set := core.Difference(before, after)
		if len(set) == 0 {
			return nil, nil
		}
		return &stm.Tx{Verb: verb, By: by, Changes: []stm.Change{{ID: id, Set: set}}}, nil
	})
	return err
}
