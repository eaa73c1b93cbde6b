package api

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"emberd/memory"
	"emberd/op"
)

// shelf is a small Backend that keeps memories in a map: every operation does
// what it says, without ranking, decay or disk.
type shelf struct {
	verbs map[*op.Spec]op.Handler

	mu      sync.Mutex
	rows    map[memory.ID]*op.Memory
	trash   map[memory.ID]op.Trashed
	keys    map[string]memory.ID // by Idempotency-Key
	journal []op.Event
	undo    []func()      // the inverse of each journal entry
	news    chan struct{} // closed and replaced with each journal entry
	callers []memory.Actor
}

func newShelf() *shelf {
	s := &shelf{
		verbs: make(map[*op.Spec]op.Handler),
		rows:  make(map[memory.ID]*op.Memory),
		trash: make(map[memory.ID]op.Trashed),
		keys:  make(map[string]memory.ID),
		news:  make(chan struct{}),
	}
	add := func(spec *op.Spec, h op.Handler) { s.verbs[spec] = h }
	add(op.Save.Handle(s.save))
	add(op.SaveBatch.Handle(s.saveBatch))
	add(op.Search.Handle(s.search))
	add(op.Show.Handle(s.show))
	add(op.List.Handle(s.list))
	add(op.Edit.Handle(s.edit))
	add(op.Forget.Handle(s.forget))
	add(op.Undo.Handle(s.takeBack))
	add(op.TrashList.Handle(s.listTrash))
	add(op.TrashRestore.Handle(s.restore))
	add(op.VaultCheck.Handle(s.vaultCheck))
	add(op.VaultConfirm.Handle(s.vaultConfirm))
	add(op.Compact.Handle(s.compact))
	add(op.Links.Handle(s.links))
	add(op.Open.Handle(s.open))
	add(op.NoteRead.Handle(s.noteRead))
	add(op.Complete.Handle(s.complete))
	add(op.Keeper.Handle(s.keeper))
	add(op.KeeperHere.Handle(s.keeperHere))
	add(op.Status.Handle(s.status))
	add(op.Stats.Handle(s.stats))
	add(op.Version.Handle(s.version))
	s.addLogVerbs(add)
	return s
}

func (s *shelf) Invoke(ctx context.Context, spec *op.Spec, req any) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.callers = append(s.callers, op.CallerFrom(ctx))
	return s.verbs[spec](ctx, req)
}

func (s *shelf) Events(ctx context.Context, after string) iter.Seq[op.Event] {
	return func(yield func(op.Event) bool) {
		s.mu.Lock()
		next := len(s.journal)
		if i := slices.IndexFunc(s.journal, func(ev op.Event) bool { return ev.ID == after }); i >= 0 {
			next = i + 1
		}
		s.mu.Unlock()
		for {
			s.mu.Lock()
			late, news := slices.Clone(s.journal[next:]), s.news
			s.mu.Unlock()
			for _, ev := range late {
				if !yield(ev) {
					return
				}
			}
			next += len(late)
			select {
			case <-news:
			case <-ctx.Done():
				return
			}
		}
	}
}

// enter writes a journal entry and returns its name.
func (s *shelf) enter(verb string, undo func(), ids ...memory.ID) string {
	tx := fmt.Sprintf("tx-%d", len(s.journal)+1)
	s.journal = append(s.journal, op.Event{ID: tx, Type: verb, At: time.Now().UTC(), IDs: ids})
	s.undo = append(s.undo, undo)
	close(s.news)
	s.news = make(chan struct{})
	return tx
}

func (s *shelf) save(_ context.Context, req *op.SaveRequest) (*op.SaveResult, error) {
	if err := memory.CheckContent(req.Content); err != nil {
		return nil, err
	}
	if id, ok := s.keys[req.IdempotencyKey]; ok {
		return &op.SaveResult{Memory: *s.rows[id], Tx: s.journal[0].ID, Replayed: true}, nil
	}
	m := &op.Memory{Status: "active", Rev: "1", Score: 1}
	m.ID = memory.DeriveID([]byte(req.Content))
	m.Content, m.Tags, m.Meta = req.Content, req.Tags, req.Meta
	m.Collection, m.Stage, m.Strength = memory.DefaultCollection, memory.Active, 1
	m.CreatedAt = time.Now().UTC()
	m.LastUsed = m.CreatedAt
	s.rows[m.ID] = m
	if req.IdempotencyKey != "" {
		s.keys[req.IdempotencyKey] = m.ID
	}
	return &op.SaveResult{Memory: *m, Tx: s.enter("save", func() { delete(s.rows, m.ID) }, m.ID)}, nil
}

func (s *shelf) saveBatch(ctx context.Context, req *op.SaveBatchRequest) (*op.SaveBatchResult, error) {
	out := &op.SaveBatchResult{}
	for _, item := range req.Items {
		res, err := s.save(ctx, &item)
		if err != nil {
			p := problemOf(err)
			out.Results = append(out.Results, op.SaveBatchAnswer{Error: &p})
			continue
		}
		out.Tx = res.Tx
		out.Results = append(out.Results, op.SaveBatchAnswer{ID: res.Memory.ID})
	}
	return out, nil
}

func (s *shelf) search(_ context.Context, req *op.SearchRequest) (*op.SearchResult, error) {
	out := &op.SearchResult{Query: req.Query}
	for _, id := range slices.Sorted(maps.Keys(s.rows)) {
		at := strings.Index(s.rows[id].Content, req.Query)
		if at < 0 {
			continue
		}
		hit := op.Hit{Tier: op.TierMemory, Memory: s.rows[id], Rank: 1, Snippet: op.Snippet{Text: s.rows[id].Content, Marks: [][2]int{{at, at + len(req.Query)}}}}
		if req.Explain {
			hit.Explain = &op.Explain{Relevance: 1, Age: 1, Tier: 1}
		}
		out.Hits = append(out.Hits, hit)
	}
	out.Total = len(out.Hits)
	return out, nil
}

func (s *shelf) find(text string) (*op.Memory, error) {
	var found []*op.Memory
	for id, m := range s.rows {
		if len(text) >= 4 && strings.HasPrefix(string(id), text) {
			found = append(found, m)
		}
	}
	switch len(found) {
	case 0:
		return nil, memory.Errorf(memory.NotFound, "no memory has the id %q; see emberd list", text).At("id")
	case 1:
		return found[0], nil
	}
	return nil, memory.Errorf(memory.Ambiguous, "%d memories have an id like %q; write more of it", len(found), text).At("id")
}

func (s *shelf) show(_ context.Context, req *op.ShowRequest) (*op.ShowResult, error) {
	m, err := s.find(req.ID)
	if err != nil {
		return nil, err
	}
	if req.Track == nil || *req.Track {
		m.UseCount++
	}
	return &op.ShowResult{Memory: *m}, nil
}

func (s *shelf) list(_ context.Context, req *op.ListRequest) (*op.ListResult, error) {
	out := &op.ListResult{}
	for _, id := range slices.Sorted(maps.Keys(s.rows)) {
		tags := s.rows[id].Tags
		if string(id) > req.Cursor && !slices.ContainsFunc(req.Tags, func(t string) bool { return !slices.Contains(tags, t) }) {
			out.Memories = append(out.Memories, *s.rows[id])
		}
	}
	out.Total = len(out.Memories)
	if req.Limit > 0 && len(out.Memories) > req.Limit {
		out.Memories = out.Memories[:req.Limit]
		out.NextCursor = string(out.Memories[req.Limit-1].ID)
	}
	return out, nil
}

func (s *shelf) edit(_ context.Context, req *op.EditRequest) (*op.EditResult, error) {
	m, err := s.find(req.ID)
	if err != nil {
		return nil, err
	}
	if req.IfMatch != "" && req.IfMatch != m.Rev {
		err := memory.Errorf(memory.Conflict, "memory %s is at rev %s by now; read it again", m.ID.Short(), m.Rev)
		err.Current = m.Rev
		return nil, err
	}
	before := *m
	out := &op.EditResult{}
	if req.Content != nil && *req.Content != m.Content {
		m.Content = *req.Content
		out.Changed = append(out.Changed, "content")
	}
	if req.Tags != nil {
		m.Tags = *req.Tags
		out.Changed = append(out.Changed, "tags")
	}
	if len(out.Changed) > 0 {
		m.Rev += "1"
		out.Tx = s.enter("edit", func() { *m = before }, m.ID)
	}
	out.Memory = *m
	return out, nil
}

func (s *shelf) forget(_ context.Context, req *op.ForgetRequest) (*op.ForgetResult, error) {
	out := &op.ForgetResult{DryRun: req.DryRun}
	for text := range strings.SplitSeq(req.ID, ",") {
		m, err := s.find(text)
		if err != nil {
			return nil, err
		}
		out.Forgotten = append(out.Forgotten, *m)
	}
	if req.DryRun {
		return out, nil
	}
	var ids []memory.ID
	for _, m := range out.Forgotten {
		ids = append(ids, m.ID)
		delete(s.rows, m.ID)
	}
	out.Tx = s.enter("forget", func() { s.back(ids) }, ids...)
	for _, m := range out.Forgotten {
		s.trash[m.ID] = op.Trashed{Memory: m.Memory, Forgotten: time.Now().UTC(), Until: time.Now().UTC(), Tx: out.Tx}
	}
	return out, nil
}

// back takes memories out of the trash.
func (s *shelf) back(ids []memory.ID) (restored []op.Memory) {
	for _, id := range ids {
		m := &op.Memory{Memory: s.trash[id].Memory, Rev: "1", Status: "active"}
		s.rows[id] = m
		delete(s.trash, id)
		restored = append(restored, *m)
	}
	return restored
}

func (s *shelf) takeBack(_ context.Context, req *op.UndoRequest) (*op.UndoResult, error) {
	if len(s.journal) == 0 {
		return nil, memory.Errorf(memory.NotFound, "there is nothing to undo")
	}
	last := s.journal[len(s.journal)-1]
	out := &op.UndoResult{Entry: op.Entry{Tx: last.ID, Verb: last.Type, At: last.At, IDs: len(last.IDs)}, DryRun: req.DryRun}
	for _, id := range last.IDs {
		out.Items = append(out.Items, op.UndoItem{ID: id, Action: "reverted"})
	}
	if !req.DryRun {
		s.undo[len(s.undo)-1]()
		out.Tx = s.enter("undo", func() {}, last.IDs...)
	}
	return out, nil
}

func (s *shelf) listTrash(context.Context, *op.TrashListRequest) (*op.TrashListResult, error) {
	out := &op.TrashListResult{Total: len(s.trash)}
	for _, id := range slices.Sorted(maps.Keys(s.trash)) {
		out.Items = append(out.Items, s.trash[id])
	}
	return out, nil
}

func (s *shelf) restore(_ context.Context, req *op.TrashRestoreRequest) (*op.TrashRestoreResult, error) {
	var ids []memory.ID
	for _, id := range req.IDs {
		if _, ok := s.trash[memory.ID(id)]; !ok {
			return nil, memory.Errorf(memory.NotFound, "%q is not in the trash; see emberd list --trash", id).At("ids")
		}
		ids = append(ids, memory.ID(id))
	}
	return &op.TrashRestoreResult{Restored: s.back(ids), Tx: s.enter("restore", func() {}, ids...)}, nil
}

func (s *shelf) status(context.Context, *op.StatusRequest) (*op.StatusResult, error) {
	return &op.StatusResult{Health: "ok", Memories: len(s.rows), Trash: len(s.trash), Timers: map[string]string{"tidy": "1h"}}, nil
}

func (s *shelf) stats(context.Context, *op.StatsRequest) (*op.StatsResult, error) {
	return &op.StatsResult{Total: len(s.rows), Stages: map[memory.Stage]int{memory.Active: len(s.rows)}}, nil
}

func (s *shelf) vaultCheck(context.Context, *op.VaultCheckRequest) (*op.VaultCheckResult, error) {
	return &op.VaultCheckResult{Vault: "Notes", Notes: 1, Findings: []op.Finding{{Kind: "link", Path: "a.md", Line: 1, Text: "there is no note"}}}, nil
}

func (s *shelf) compact(_ context.Context, req *op.CompactRequest) (*op.CompactResult, error) {
	return &op.CompactResult{DryRun: req.DryRun, Reason: "the log has no sealed segment", Inputs: []string{}}, nil
}

func (s *shelf) vaultConfirm(context.Context, *op.VaultConfirmRequest) (*op.VaultConfirmResult, error) {
	return &op.VaultConfirmResult{Frozen: "60 of 100 notes are missing at once", Missing: 60}, nil
}

func (s *shelf) links(_ context.Context, req *op.LinksRequest) (*op.LinksResult, error) {
	return &op.LinksResult{Note: req.Note, Outgoing: []op.NoteLink{{Target: "b", Line: 2}}}, nil
}

func (s *shelf) noteRead(_ context.Context, req *op.NoteReadRequest) (*op.NoteReadResult, error) {
	return &op.NoteReadResult{Path: req.Path, Line: req.Line, Text: "text"}, nil
}

func (s *shelf) complete(_ context.Context, req *op.CompleteRequest) (*op.CompleteResult, error) {
	return &op.CompleteResult{Values: []op.Completion{{Value: req.Prefix + "x"}}, Total: 1}, nil
}

func (s *shelf) open(_ context.Context, req *op.OpenRequest) (*op.OpenResult, error) {
	return &op.OpenResult{URI: "obsidian://open?file=" + req.Ref, Path: req.Ref, File: "/notes/" + req.Ref}, nil
}

func (s *shelf) keeper(context.Context, *op.KeeperRequest) (*op.KeeperResult, error) {
	return &op.KeeperResult{Device: "k7q2mzxa", Name: "desk"}, nil
}

func (s *shelf) keeperHere(context.Context, *op.KeeperHereRequest) (*op.KeeperResult, error) {
	return &op.KeeperResult{Device: "k7q2mzxa", Name: "desk", Here: true, Claimed: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}, nil
}

func (s *shelf) version(context.Context, *op.VersionRequest) (*op.VersionResult, error) {
	return &op.VersionResult{Version: "test", Protocol: op.Protocol, Go: runtime.Version()}, nil
}
