package core

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Limits of what a caller may give as provenance, in characters.
const (
	MaxFile  = 500
	maxQuote = 1_000
	// MaxLink is the limit for the evidence and the quote of a link together.
	MaxLink = 2*maxQuote + 1
)

// CheckProvenance returns an error for a provenance that callers may not give.
func CheckProvenance(p *op.Provenance) error {
	switch {
	case p.Origin != "" && !slices.Contains(claimable, p.Origin):
		return memory.Errorf(memory.Invalid, "invalid origin %.40q; use %s", p.Origin,
			strings.Join(claimable, ", ")).At("origin")
	case p.Line < 0:
		return memory.Errorf(memory.Invalid, "invalid line %d; use 1 or more", p.Line).At("line")
	case p.Line > 0 && p.File == "":
		return memory.Errorf(memory.Invalid, "line %d requires a file",
			p.Line).At("line")
	}
	return FirstError(memory.CheckText("file", p.File, MaxFile), memory.CheckText("quote", p.Quote, maxQuote))
}

// claimable are the origins that a caller may give.
var claimable = []string{memory.FromUser, memory.FromAgent, memory.FromTool, memory.FromWeb}

// ClaimedPassages returns the texts of a provenance that the log stores, for the credential
// scan.
func ClaimedPassages(p *op.Provenance) []Passage {
	return []Passage{{Field: "file", Text: p.File}, {Field: "quote", Text: p.Quote}}
}

// Source returns the link of the provenance chain for a caller's save.
func (e *View) Source(ctx context.Context, p *op.Provenance, project string) memory.Source {
	by := op.CallerFrom(ctx)
	kind, _ := e.RecordedOrigin(p, &by)
	return memory.Source{
		Kind: kind, Ref: p.File, Line: p.Line, Evidence: p.Quote,
		Project: project, At: StampTime(e.Opt.Now()), By: &by,
	}
}

// ImportLink returns the link for an item of a batch. On the command line a batch is an
// import.
func (e *View) ImportLink(ctx context.Context, req *op.SaveRequest) memory.Source {
	link := e.Source(ctx, &req.Provenance, req.Project)
	if req.Origin == "" && link.Kind == memory.FromUser {
		link.Kind = memory.FromImport
	}
	return link
}

// Clients: the user at a terminal, and a model.
const (
	ViaCLI = "cli"
	ViaMCP = "mcp"
)

// ByNote returns the link for a text that the user wrote in the memory's note.
func (e *View) ByNote(path, project string) memory.Source {
	by := VaultActor()
	return memory.Source{Kind: memory.FromUser, Ref: path, Project: project, At: StampTime(e.Opt.Now()), By: &by}
}

// inChain reports whether a field of a memory is its provenance chain.
func inChain(field string) bool { return field == "sources" || field == "sources_dropped" }

// AddSource adds a link to the provenance chain in set. The caller holds the lock of the row.
func (e *View) AddSource(row *stm.Row, link memory.Source, set map[string]json.RawMessage) {
	key, value := e.Stm.Learned(row, link)
	set[key] = value
}

// ConfirmedFields returns the fields to write when the person of a link confirms a memory whose row is
// locked, none if the memory needs no confirmation.
func (e *View) ConfirmedFields(row *stm.Row, link memory.Source) (map[string]json.RawMessage, error) {
	m, err := row.Memory()
	if err != nil || !m.DataOnly() {
		return nil, err
	}
	set := map[string]json.RawMessage{}
	if set["confirmed_at"], err = Encode(link.At); err != nil {
		return nil, err
	}
	set["updated_at"] = set["confirmed_at"]
	link.Project = m.Project
	e.AddSource(row, link, set)
	return set, nil
}
