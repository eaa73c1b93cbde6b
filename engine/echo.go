package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"strings"

	"emberd/internal/conflict"
	"emberd/internal/echo"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// gave remembers the texts of an answer, so that saving one of them again is known for
// what it is. What is told of an earlier moment is not remembered.
func (e *Engine) gave(res any) {
	if e.opt.EchoWindow <= 0 {
		return
	}
	switch res := res.(type) {
	case *op.SearchResult:
		if res.AsOf == nil {
			e.gaveHits(res.Hits)
		}
	case *op.QueryResult:
		for i := range res.Results {
			if h := res.Results[i].Hit; h != nil {
				e.gaveHits([]op.Hit{*h})
			}
		}
	case *op.ListResult:
		if res.AsOf == nil {
			for i := range res.Memories {
				e.gaveMemory(&res.Memories[i])
			}
		}
	case *op.OpenManyResult:
		for i := range res.Memories {
			e.gaveMemory(&res.Memories[i].Memory)
		}
	case *op.ShowResult:
		if res.AsOf == nil {
			e.gaveMemory(&res.Memory)
		}
	case *op.VerifyResult:
		e.gaveMatches(res)
	case *op.NoteReadResult:
		e.echoes.Give(echo.Source{Path: res.Path, Modified: res.Modified}, res.Text, e.opt.Now())
	}
}

func (e *Engine) gaveMemory(m *op.Memory) {
	e.echoes.Give(echo.Source{Memory: m.ID}, m.Content, e.opt.Now())
}

func (e *Engine) gaveHits(hits []op.Hit) {
	for i := range hits {
		h := &hits[i]
		if h.Memory != nil {
			e.gaveMemory(h.Memory)
		}
		if h.Note != nil && h.Tier == op.TierNote {
			e.echoes.Give(echo.Source{Memory: h.Note.MemoryID, Path: h.Note.Path, Modified: h.Note.Modified}, h.Snippet.Text, e.opt.Now())
		}
	}
}

// gaveMatches remembers what a claim was answered with, but for what only says the claim
// itself: that the caller had from elsewhere, and may well add.
func (e *Engine) gaveMatches(res *op.VerifyResult) {
	give := func(m *op.Match) {
		switch {
		case m.Verdict == op.VerdictConfirms, m.Similarity == 1:
		case m.Memory != nil:
			e.gaveMemory(m.Memory)
		case m.Note != nil:
			e.echoes.Give(echo.Source{Memory: m.Note.MemoryID, Path: m.Note.Path, Modified: m.Note.Modified}, m.Text, e.opt.Now())
		}
	}
	for i := range res.Matches {
		give(&res.Matches[i])
	}
	for i := range res.Conflicts {
		give(&res.Conflicts[i].Match)
	}
}

// echoOf says what a text that is to be saved is an echo of, nil if it is none: of a live
// memory of that collection and project, or of none, which says it still; or of a note that
// is as it was. A text of several parts that answers decorated is an echo if each part is,
// and so is a list of pieces, each of which was recalled from another place.
func (e *Engine) echoOf(text, collection, project string) *op.Echo {
	if e.opt.EchoWindow <= 0 {
		return nil
	}
	var first *op.Echo
	for _, part := range echo.Parts(text) {
		found := cmp.Or(e.echoOfPart(part, collection, project), e.echoOfPieces(part.Pieces(), collection, project))
		if found == nil {
			return nil
		}
		first = cmp.Or(first, found)
	}
	return first
}

// echoOfPieces says what the first of pieces is an echo of, if each is one of something
// else. In pieces of one text their order may be what is new.
func (e *Engine) echoOfPieces(pieces []echo.Part, collection, project string) *op.Echo {
	if len(pieces) > mostPieces {
		return nil
	}
	var first *op.Echo
	seen := make(map[string]bool)
	for _, piece := range pieces {
		found := e.echoOfPart(piece, collection, project)
		if found == nil || seen[found.Path+string(found.Of)] {
			return nil
		}
		seen[found.Path+string(found.Of)] = true
		first = cmp.Or(first, found)
	}
	return first
}

// mostPieces are looked up of one text: an answer has hardly more hits.
const mostPieces = 100

func (e *Engine) echoOfPart(part echo.Part, collection, project string) *op.Echo {
	for _, h := range e.echoes.Find(part.Text, e.opt.Now()) {
		if part.ID != "" && !strings.HasPrefix(string(h.Memory), part.ID) && !strings.HasSuffix(string(h.Memory), part.ID) {
			continue
		}
		row, live := e.stm.Get(h.Memory)
		switch {
		case h.Path != "" && (h.Similarity < 1 || !e.notes.shows(h.Path)), // what else the note says is not known
			live && !e.may(row),
			live && !sameScope(row, collection, project),
			live && h.Path == "" && !e.stillSays(row, part.Text, h.Similarity),
			!live && h.Path == "",
			h.Path != "" && !e.unchanged(&h):
			continue
		}
		out := &op.Echo{Path: h.Path, Similarity: h.Similarity, RecalledAt: stampTime(h.At)}
		if live {
			out.Of = row.ID()
		}
		return out
	}
	return nil
}

// sameScope reports whether a memory is one that a text of a collection and a project may
// be an echo of.
func sameScope(r *stm.Row, collection, project string) bool {
	if collection == "" {
		collection = memory.DefaultCollection
	}
	return r.Collection() == collection && (project == "" || r.Project() == "" || r.Project() == project)
}

// stillSays reports whether a memory holds the text now. One that leaves something out may
// lack no word that means something, or it may be a correction.
func (e *Engine) stillSays(r *stm.Row, text string, similarity float64) bool {
	content := r.Content()
	return e.echoes.Says(text, content) > 0 &&
		(similarity == 1 || conflict.Differ(e.text, text, content) == "" && maps.Equal(e.wordsIn(text), e.wordsIn(content)))
}

// unchanged reports whether a note is as it was when its text was given out.
func (e *Engine) unchanged(h *echo.Heard) bool {
	if e.notes == nil {
		return false
	}
	file, err := e.notes.vault.Load().Stat(h.Path)
	return err == nil && file.ModTime.UTC().Equal(h.Modified.UTC())
}

// countEcho counts the use of the memory that was just recalled and is said again, and
// keeps from whom in its provenance chain: an echo is no evidence, so that nothing else
// of it rises. What a tool or the web says again of what somebody else said does not even
// count as a use. Of an echo of a note alone, and when the memory went just now, the row
// is nil. The key, "" for none, is answered with the memory from then on.
func (e *Engine) countEcho(ctx context.Context, of *op.Echo, from *memory.Source, key, keyHash string) (*stm.Row, string, error) {
	if of.Of == "" {
		return nil, "", nil
	}
	var row *stm.Row
	receipt, err := e.stm.Update(ctx, []memory.ID{of.Of}, key, func(rows []*stm.Row) (*stm.Tx, error) {
		if row = rows[0]; row == nil {
			return nil, nil
		}
		set, err := e.heardAgain(row, from)
		if err != nil {
			return nil, err
		}
		return &stm.Tx{Verb: "echo", By: op.CallerFrom(ctx), Key: key, KeyHash: keyHash, Changes: []stm.Change{{ID: of.Of, Set: set, Allowed: true}}}, nil
	})
	if err != nil || row == nil {
		return nil, "", err
	}
	row = receipt.Rows[0]
	m, err := row.Memory()
	if err != nil {
		return nil, "", err
	}
	if trusted := !m.DataOnly(); !trusted || from.Kind != memory.FromTool && from.Kind != memory.FromWeb {
		now := e.opt.Now()
		e.used(row, now)
		if counted, live := e.stm.Get(of.Of); live {
			row = counted
		}
	}
	return row, receipt.Entry, nil
}

// heardAgain is what the log is to say of a memory that was said again: a link, and that it
// holds if a person says again what a tool or the web said.
func (e *Engine) heardAgain(row *stm.Row, from *memory.Source) (set map[string]json.RawMessage, err error) {
	if confirms(*from) {
		set, err = e.confirming(row, *from)
	}
	if err == nil && set == nil {
		set = make(map[string]json.RawMessage)
		e.learn(row, *from, set)
	}
	return set, err
}

// guard says what a save is an echo of. What is imported, has an id, takes the place of
// something or is wanted all the same is stored.
func (e *Engine) guard(req *op.SaveRequest, m *memory.Memory) *op.Echo {
	if req.EvenRecalled || onPurpose(req) {
		return nil
	}
	return e.echoOf(m.Content, m.Collection, m.Project)
}

// onPurpose reports whether a save is to store a memory of its own whatever there is.
func onPurpose(req *op.SaveRequest) bool {
	return req.Again || req.ID != "" || !req.CreatedAt.IsZero() || len(req.Supersedes) > 0
}

// saveEcho answers a save with what it is an echo of.
func (e *Engine) saveEcho(ctx context.Context, req *op.SaveRequest, of *op.Echo, m *memory.Memory, tx *stm.Tx) (*op.SaveResult, error) {
	from := e.source(ctx, &req.Provenance, m.Project)
	row, entry, err := e.countEcho(ctx, of, &from, tx.Key, tx.KeyHash)
	switch {
	case err != nil:
		return nil, err
	case of.Of == "":
		said := memory.Memory{Content: m.Content, Collection: m.Collection, Project: m.Project, VaultPath: of.Path}
		return &op.SaveResult{Memory: op.Memory{Memory: said}, Echo: of}, nil
	case row == nil: // it went just now, so that this is no echo any more
		return e.saveWithin(ctx, req)
	}
	answer, err := e.view(row, e.opt.Now())
	return &op.SaveResult{Memory: answer, Tx: entry, Echo: of}, err
}
