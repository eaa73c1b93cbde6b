package notewrite

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"emberd/engine/core"
	"emberd/internal/notejournal"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// byActivity is the order of a list of activity, in cursors.
const byActivity = 'r'

// defaultActivity is how many items a page has.
const defaultActivity = 20

// activity is a note or memory on the way into a page.
type activity struct {
	op.Activity
	digest [sha256.Size]byte
	row    *stm.Row
}

// Recent lists notes and memories by their last change, the latest first.
func (e *NoteWrite) Recent(_ context.Context, req *op.RecentActivityRequest) (*op.RecentActivityResult, error) {
	if !slices.Contains([]string{"", op.ActivityNotes, op.ActivityMemories}, req.Of) {
		return nil, memory.Errorf(memory.Invalid, "invalid value %.80q of the parameter of; use notes or memories",
			req.Of).At("of")
	}
	p, err := core.NewPage[activity](req.Cursor, byActivity, req.Limit, defaultActivity, e.Opt.Now())
	if err != nil {
		return nil, err
	}
	if req.Of != op.ActivityNotes {
		for r := range e.Stm.Rows() {
			if at := r.UpdatedAt(); !at.Before(req.Since) {
				a := op.Activity{At: core.StampTime(at), ID: r.ID()}
				p.Add(float64(at.UnixMilli()), r.ID(), activity{Activity: a, row: r})
			}
		}
	}
	if req.Of != op.ActivityMemories && e.Notes.Vault != nil {
		e.addNotes(p, req.Since)
	}
	items, next := p.Finish()
	res := &op.RecentActivityResult{Items: []op.Activity{}, NextCursor: next}
	byNote := e.noteEntries()
	for i := range items {
		e.explain(&items[i], byNote)
		res.Items = append(res.Items, items[i].Activity)
	}
	return res, nil
}

// addNotes adds the notes that the index has.
func (e *NoteWrite) addNotes(p *core.Page[activity], since time.Time) {
	index, _ := e.Notes.Vault.Current()
	for name, cursor := range index.Known() {
		if cursor.ModTime.Before(since) {
			continue
		}
		a := activity{Activity: op.Activity{At: core.StampTime(cursor.ModTime), Path: name}, digest: cursor.Digest}
		a.ID, _ = e.Notes.Vault.Carriers.At(name)
		p.Add(float64(cursor.ModTime.UnixMilli()), nameID(name), a)
	}
}

// nameID returns an ID that orders notes of one millisecond.
func nameID(name string) memory.ID {
	sum := sha256.Sum256([]byte(name))
	return memory.IDFromBytes([16]byte(sum[:16]))
}

// noteEntries returns the latest entry about each state of a note that the caller may see.
func (e *NoteWrite) noteEntries() map[string]*notejournal.Entry {
	all, err := e.Entries()
	if err != nil {
		return nil
	}
	by := make(map[string]*notejournal.Entry)
	for i := range all {
		for _, note := range all[i].Notes {
			if key := note.Path + "\x00" + note.After; by[key] == nil {
				by[key] = &all[i]
			}
		}
	}
	return by
}

// explain fills in who changed an item, as far as a journal has it.
func (e *NoteWrite) explain(a *activity, byNote map[string]*notejournal.Entry) {
	if a.row == nil {
		if j := byNote[a.Path+"\x00"+hexDigest(a.digest)]; j != nil {
			a.What, a.By, a.Tx = j.Verb, j.By, j.Tx
		}
		return
	}
	row := a.row.Unpacked()
	a.Text, a.Path = firstLetters(row.Content()), core.NoteOfRow(row)
	tx := cmp.Or(e.Stm.EntryOf(row, "updated_at"), e.Stm.EntryOf(row, "content"))
	at, err := stm.ParseStamp(tx)
	if err != nil {
		return
	}
	const atOnce = 16 // other devices may have changes with the same time
	some, _ := e.Stm.Entries(stm.Stamp{T: at.T + 1}, atOnce)
	for _, j := range some {
		if j.Tx == tx && (e.Grant == nil || j.By.Token == e.Grant.Token) {
			a.What, a.By, a.Tx = j.Verb, j.By, j.Tx
		}
	}
}
