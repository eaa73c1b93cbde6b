package engine

import (
	"context"
	"encoding/json"
	"time"

	"emberd/memory"
	"emberd/rekindle"
	"emberd/stm"
	"emberd/vault"
)

// mendVerb is the journal's for a memory that two devices have changed at once, so that
// its stage is from one and its text from the other.
const mendVerb = "mend"

func mendingActor() memory.Actor { return memory.Actor{Via: stm.Itself, Client: "merge"} }

// torn reports whether what a memory holds is not what its stage says. Every key keeps
// its latest value, so that one device may have archived what the other changed, woken
// or faded before it heard of that; an editor in the log may do the same.
func torn(row *stm.Row) bool {
	if !row.Has("text_digest") {
		return row.Stage().Cold() && !row.Changed("text_digest").IsZero()
	}
	return !row.Stage().Cold() || row.Later(contentField, "text_digest") || row.Has("text_edges") && row.Later("text_digest", "text_edges")
}

// joined makes one of a torn memory: a text that is there wins, and where there is a
// summary only, the memory is archived. It is false when the memory is whole.
func joined(m *memory.Memory, row *stm.Row) bool {
	if !torn(row) {
		return false
	}
	switch {
	case !shortened(m), row.Later(contentField, "text_digest"):
		whole(m, m.Content)
	case !m.Stage.Cold():
		m.Stage = memory.Archived
	}
	if shortened(m) && row.Later("text_digest", "text_edges") {
		m.TextEdges = nil // of another text
	}
	return true
}

// whole makes a memory one that has its text, and leaves its note to be what it is: one
// that has another text is behind.
func whole(m *memory.Memory, text string) {
	m.Content = text
	m.TextDigest, m.TextEdges, m.KeyTerms = "", nil, nil
	m.ArchivedAt, m.ArchiveReason = time.Time{}, ""
	if m.Stage.Cold() {
		m.Stage = memory.Active
	}
}

// mendAll looks for torn memories among all.
func (e *Engine) mendAll(ctx context.Context) {
	var ids []memory.ID
	for row := range e.stm.Rows() {
		if torn(row) {
			ids = append(ids, row.ID())
		}
	}
	e.mend(ctx, ids)
}

// mend makes one of those memories that are torn. One that was used elsewhere while it
// was archived here comes back with its text.
func (e *Engine) mend(ctx context.Context, ids []memory.ID) {
	for _, id := range ids {
		if row, live := e.stm.Get(id); !live || !torn(row) || ctx.Err() != nil {
			continue
		}
		woken := false
		err := e.change(ctx, id, mendVerb, mendingActor(), func(row *stm.Row, m *memory.Memory) bool {
			woken = shortened(m) && m.Stage == memory.Active
			return joined(m, row)
		})
		if row, live := e.stm.Get(id); err == nil && woken && live && cold(row) {
			_, err = e.rekindleMemory(ctx, id, mendingActor())
		}
		if err != nil && ctx.Err() == nil {
			e.opt.Logger.Warn("memory that two devices changed at once is not put right yet", "memory", id, "error", err)
		}
	}
}

// reconcileTexts gives memories the text back that an entry of another device gave them
// before they were archived or rekindled here, where it was not known yet: neither has
// the last word on what somebody wrote.
func (e *Engine) reconcileTexts(ctx context.Context, entry *stm.Entry) {
	if ages(entry.Verb) {
		return
	}
	here := e.stm.Status().Device
	for _, id := range entry.IDs {
		row, live := e.stm.Get(id)
		if !live || row.ChangedBy(contentField).String() != here || entry.At.After(row.Changed(contentField)) {
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
		err = e.change(ctx, id, mendVerb, mendingActor(), func(now *stm.Row, m *memory.Memory) bool {
			if now.Rev() != row.Rev() {
				return false
			}
			whole(m, text)
			return true
		})
		if err != nil && ctx.Err() == nil {
			e.opt.Logger.Warn("text that another device gave a memory is in its history only", "memory", id, "error", err)
		}
	}
}

// missedText is the text that somebody gave a memory last, if the archiving or rekindling
// that has taken its place did not know it. It reads the whole log.
func (e *Engine) missedText(ctx context.Context, m *memory.Memory) (text string, missed bool) {
	versions, err := e.stm.History(ctx, m.ID)
	if err != nil {
		e.opt.Logger.Warn("history not read", "memory", m.ID, "error", err)
		return "", false
	}
	for _, v := range versions {
		content, digest := fieldOf(v, contentField), fieldOf(v, "text_digest")
		var now, was, is string
		_ = json.Unmarshal(content.To, &now) // none is ""
		_ = json.Unmarshal(digest.From, &was)
		_ = json.Unmarshal(digest.To, &is)
		switch {
		case v.Action == stm.Forgot || v.Cut:
			text, missed = "", false
		case is != "": // archived
			missed = text != "" && !isTextOf(text, is)
		case ages(v.Entry.Verb) && was != "": // rekindled
			missed = text != "" && !isTextOf(text, was) && vault.Body(text) != vault.Body(now)
		case content.Name != "":
			text, missed = now, false
		}
	}
	return text, missed
}

// isTextOf reports whether a note of this digest was made of a text, or is it as a human left it.
func isTextOf(text, digest string) bool {
	return digest == rekindle.Digest(vault.Body(text)) || digest == rekindle.Digest(vault.Bare(text))
}

func fieldOf(v stm.Version, name string) stm.Field {
	for _, f := range v.Fields {
		if f.Name == name {
			return f
		}
	}
	return stm.Field{}
}

// change writes what fn makes of one memory, nothing if it is false.
func (e *Engine) change(ctx context.Context, id memory.ID, verb string, by memory.Actor, fn func(*stm.Row, *memory.Memory) bool) error {
	_, err := e.stm.Update(ctx, []memory.ID{id}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		if rows[0] == nil {
			return nil, nil
		}
		m, err := rows[0].Memory()
		if err != nil {
			return nil, err
		}
		before, err := fields(&m)
		if err != nil || !fn(rows[0], &m) {
			return nil, err
		}
		if m.Stage != rows[0].Stage() {
			if err := e.tellStage(&m, by); err != nil {
				return nil, err
			}
		}
		after, err := fields(&m)
		if err != nil {
			return nil, err
		}
		set := difference(before, after)
		if len(set) == 0 {
			return nil, nil
		}
		return &stm.Tx{Verb: verb, By: by, Changes: []stm.Change{{ID: id, Set: set}}}, nil
	})
	return err
}
