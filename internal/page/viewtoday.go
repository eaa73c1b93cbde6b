package page

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"emberd/memory"
	"emberd/op"
)

// today is what happened in the last 24 hours.
type today struct {
	Cards    []card
	Total    int // decisions that wait
	Waits    []op.Waiting
	Changes  []change
	Callers  []op.AuditCaller
	Sessions []op.Session
	Recall   string // how prompts are answered: off, shadow or on
}

// change is one entry that changed memories or notes.
type change struct {
	op.AuditEvent
	Verb     string
	Who      string
	Why      string  // the rule by which a hook kept it
	Memories []shown // the first of them, if they are there or in the trash
	More     int
}

// shown is a memory whose text a line shows.
type shown struct {
	op.Memory
	Trash string // the change that deleted it, "" if it is not in the trash
}

// CanUndo reports whether the change has an undo. emberd would apply the text of a note again.
func (c change) CanUndo() bool { return c.Tx != "" && !c.Undone && undoable(c.What) }

func undoable(verb string) bool { return verb != "note" && verb != "purge" }

// dropKept removes the memories that a deletion changed but did not delete, such as the one that a decision keeps.
func (c *change) dropKept(texts map[memory.ID]shown) {
	left := slices.DeleteFunc(slices.Clone(c.IDs), func(id memory.ID) bool {
		m, ok := texts[id]
		return ok && m.Trash != c.Tx
	})
	if c.Kind == op.AuditForget && len(left) > 0 {
		c.Count -= len(c.IDs) - len(left)
		c.IDs = left
	}
}

// Project is the project of all those memories, "" if they differ or have none.
func (c change) Project() string {
	if len(c.Memories) == 0 {
		return ""
	}
	name := c.Memories[0].Project
	if slices.ContainsFunc(c.Memories, func(m shown) bool { return m.Project != name }) {
		return ""
	}
	return name
}

// captured names the agent from whose session a hook kept a memory, and the rule that picked it.
func (c *change) captured() {
	if len(c.Memories) == 0 {
		return
	}
	m := &c.Memories[0]
	rule, ok := m.Meta["captured"]
	if of, found := strings.CutPrefix(m.Source, "session:"); ok && found && c.Caller == "hook" {
		c.Verb, c.Why = "captured", plain(rule)
		c.Who, _, _ = strings.Cut(of, "/")
	}
}

// window is how far back the view looks, and maxChanges how many changes it shows.
const (
	window      = "24h"
	changeKinds = op.AuditWrite + "," + op.AuditMerge + "," + op.AuditForget
	maxChanges  = 50
)

func (t *today) waiting() int { return t.Total }

// viewToday asks for its parts at the same time, since it is the view that a person waits for first.
func viewToday(ctx context.Context, p *Page, _ *http.Request) (any, error) {
	var t today
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return t.audit(ctx, p) })
	g.Go(func() (err error) {
		t.Cards, t.Total, err = p.cards(ctx, 2)
		return err
	})
	g.Go(func() error {
		res, err := op.Status.Call(ctx, p.backend, &op.StatusRequest{})
		if err == nil { // decisions have cards
			t.Waits = slices.DeleteFunc(res.Waits, func(w op.Waiting) bool { return w.Code == op.WaitsReview })
		}
		return err
	})
	g.Go(func() error {
		res, err := op.SessionList.Call(ctx, p.backend, &op.SessionListRequest{Days: 1})
		if err == nil {
			t.Sessions, t.Recall = res.Sessions, res.Recall
		}
		return err
	})
	return &t, g.Wait()
}

// audit fills in the changes and the callers.
func (t *today) audit(ctx context.Context, p *Page) error {
	res, err := op.Audit.Call(ctx, p.backend, &op.AuditRequest{Since: window, Kind: changeKinds, Limit: maxChanges})
	if err != nil {
		return err
	}
	t.Callers = slices.DeleteFunc(res.Callers, quiet)
	t.Changes, err = p.changes(ctx, res.Events)
	return err
}

// quiet reports whether a caller did nothing that the view shows.
func quiet(c op.AuditCaller) bool { return c.Searches+c.Recalled+c.Used+c.Saved+c.Wrote+c.Forgot == 0 }

// changes are events with the texts of their first memories.
func (p *Page) changes(ctx context.Context, events []op.AuditEvent) ([]change, error) {
	var all []change
	var ids []memory.ID
	for _, e := range events {
		all = append(all, change{AuditEvent: e, Verb: verbText(e.What), Who: e.Caller})
		ids = append(ids, e.IDs[:min(maxTexts, len(e.IDs))]...)
	}
	texts, err := p.texts(ctx, ids)
	if err != nil {
		return nil, err
	}
	for i := range all {
		c := &all[i]
		c.dropKept(texts)
		for _, id := range firstIDs(c.IDs) {
			if m, ok := texts[id]; ok {
				c.Memories = append(c.Memories, m)
			}
		}
		c.captured()
		c.More = max(0, c.Count-len(firstIDs(c.IDs)))
	}
	return all, nil
}

// firstIDs are those whose texts a line shows.
func firstIDs(ids []memory.ID) []memory.ID { return ids[:min(3, len(ids))] }

// maxTexts is how many texts of a change are looked at.
const maxTexts = 10

// texts returns the memories with some IDs, those in the trash too.
func (p *Page) texts(ctx context.Context, ids []memory.ID) (map[memory.ID]shown, error) {
	there, err := p.open(ctx, ids)
	if err != nil {
		return nil, err
	}
	trash, err := op.TrashList.Call(ctx, p.backend, &op.TrashListRequest{Limit: 100})
	if err != nil {
		return nil, err
	}
	all := map[memory.ID]shown{}
	for id, m := range there {
		all[id] = shown{Memory: m}
	}
	for _, t := range trash.Items {
		all[t.Memory.ID] = shown{op.Memory{Memory: t.Memory}, t.Tx}
	}
	return all, nil
}

// open returns the memories with some IDs, without those that are gone, and counts no use.
func (p *Page) open(ctx context.Context, ids []memory.ID) (map[memory.ID]op.Memory, error) {
	found := map[memory.ID]op.Memory{}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	for some := range slices.Chunk(ids, memory.MaxIDs) {
		req := &op.OpenManyRequest{Relations: new(bool), Track: new(bool)}
		for _, id := range some {
			req.IDs = append(req.IDs, string(id))
		}
		res, err := op.OpenMany.Call(ctx, p.backend, req)
		if err != nil {
			return nil, err
		}
		for _, m := range res.Memories {
			found[m.ID] = m.Memory
		}
	}
	return found, nil
}

// verbText is what the journal calls a change, in the past tense.
func verbText(verb string) string {
	words := map[string]string{
		"save": "saved", "add": "saved", "edit": "edited", "forget": "forgotten", "undo": "undone",
		"promote": "made a note", "archive": "archived", "rekindle": "restored", "demote": "faded",
		"fade": "faded further", "wake": "active again", "gc": "collected", "consolidate": "merged", "link": "linked",
		"relate": "related", "unrelate": "relation removed", "import": "imported", "note": "read from a note",
		"note gone": "note deleted", "close review": "decided", "file review": "created a review item",
		"claim review": "claimed", "confirm": "confirmed", "restore": "restored", "reinforce": "learned again",
		"observe": "used", "hook": "captured", "mend": "repaired", "recover": "restored by a log repair",
		"repeat": "saved again", "note.copy": "copy of a note merged",
	}
	if w := words[verb]; w != "" {
		return w
	}
	return verb
}
