package recall

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"emberd/engine/core"
	"emberd/internal/dedupe/contradiction"
	"emberd/internal/echo"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Find returns the memory or note whose text the daemon returned lately and a caller now saves, nil if
// there is none. A memory has to be live, of that collection and of that project or of no project, and
// still say the text. A note has to be unchanged. A text that quotes several results is found if each of
// them is, and so is a list whose pieces come from different places.
func (g *Guard) Find(text, collection, project string) *op.Echo {
	if g.Opt.EchoWindow <= 0 {
		return nil
	}
	var first *op.Echo
	for _, part := range echo.Parts(text) {
		found := cmp.Or(g.findPart(part, collection, project), g.findPieces(part.Pieces(), collection, project))
		if found == nil {
			return nil
		}
		first = cmp.Or(first, found)
	}
	return first
}

// findPieces returns the source of the first piece if each piece has a source of its own. Pieces of one
// text are not found: their order may be what is new.
func (g *Guard) findPieces(pieces []echo.Part, collection, project string) *op.Echo {
	if len(pieces) > maxPieces {
		return nil
	}
	var first *op.Echo
	seen := make(map[string]bool)
	for _, piece := range pieces {
		found := g.findPart(piece, collection, project)
		if found == nil || seen[found.Path+string(found.Of)] {
			return nil
		}
		seen[found.Path+string(found.Of)] = true
		first = cmp.Or(first, found)
	}
	return first
}

// maxPieces bounds the pieces of one text. Few results have more hits.
const maxPieces = 100

// findPart returns the source of a part of a text, nil if there is none.
func (g *Guard) findPart(part echo.Part, collection, project string) *op.Echo {
	for _, h := range g.Returned.Find(part.Text, g.Opt.Now()) {
		if part.ID != "" && !strings.HasPrefix(string(h.Memory), part.ID) &&
			!strings.HasSuffix(string(h.Memory), part.ID) {
			continue
		}
		row, live := g.Stm.Get(h.Memory)
		switch {
		case h.Path != "" && (h.Similarity < 1 || !g.Notes.Vault.Shows(h.Path)), // the rest of the note is unknown
			live && !g.CanWrite(row),
			live && !SameScope(row, collection, project),
			live && h.Path == "" && !g.stillSays(row, part.Text, h.Similarity),
			!live && h.Path == "",
			h.Path != "" && !g.unchanged(&h):
			continue
		}
		out := &op.Echo{Path: h.Path, Similarity: h.Similarity, RecalledAt: core.StampTime(h.At)}
		if live {
			out.Of = row.ID()
		}
		return out
	}
	return nil
}

// SameScope reports whether a memory can have the same meaning as a text of a collection and a project:
// it has the collection, and the project or none.
func SameScope(r *stm.Row, collection, project string) bool {
	if collection == "" {
		collection = memory.DefaultCollection
	}
	return r.Collection() == collection && (project == "" || r.Project() == "" || r.Project() == project)
}

// stillSays reports whether a memory contains the text now. A text that leaves out a word with a meaning
// may be a correction, so it is not the same.
func (g *Guard) stillSays(r *stm.Row, text string, similarity float64) bool {
	content := r.Content()
	return g.Returned.Similarity(text, content) > 0 &&
		(similarity == 1 || contradiction.Equal(g.Text, text, content))
}

// unchanged reports whether a note is as it was when the daemon returned its text.
func (g *Guard) unchanged(h *echo.Match) bool {
	if g.Notes.Vault == nil {
		return false
	}
	file, err := g.Notes.Vault.Root.Load().Stat(h.Path)
	return err == nil && file.ModTime.UTC().Equal(h.Modified.UTC())
}

// CountUse counts a use of the memory whose text a caller saved again, and adds the caller to its
// provenance chain. Nothing else of the memory rises, because a repeated text is not new evidence. It
// counts no use if a tool or the web repeats a confirmed text. The row is nil if only a note has the
// text, and if the memory was deleted in the meantime. A later request with the same idempotency key, ""
// for none, is answered with the memory.
func (g *Guard) CountUse(ctx context.Context, of *op.Echo, from *memory.Source, key,
	keyHash string) (*stm.Row, string, error) {
	if of.Of == "" {
		return nil, "", nil
	}
	var row *stm.Row
	receipt, err := g.Stm.Update(ctx, []memory.ID{of.Of}, key, func(rows []*stm.Row) (*stm.Tx, error) {
		if row = rows[0]; row == nil {
			return nil, nil
		}
		set, err := g.fieldsOf(row, from)
		if err != nil {
			return nil, err
		}
		return &stm.Tx{Verb: "repeat", By: op.CallerFrom(ctx), Key: key, KeyHash: keyHash,
			Changes: []stm.Change{{ID: of.Of, Set: set, Allowed: true}}}, nil
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
		now := g.Opt.Now()
		g.Lifecycle.Used(row, now)
		if counted, live := g.Stm.Get(of.Of); live {
			row = counted
		}
	}
	return row, receipt.Entry, nil
}

// fieldsOf returns the fields to write when a text of a memory is saved again: a source, and the
// confirmation if a person repeats a text of a tool or the web.
func (g *Guard) fieldsOf(row *stm.Row, from *memory.Source) (set map[string]json.RawMessage, err error) {
	if core.Confirms(*from) {
		set, err = g.ConfirmedFields(row, *from)
	}
	if err == nil && set == nil {
		set = make(map[string]json.RawMessage)
		g.AddSource(row, *from, set)
	}
	return set, err
}
