package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Bounds of what a caller says of where a text comes from, in characters.
const (
	maxFile  = 500
	maxQuote = 1_000
	// maxLink bounds what a link has of both: evidence that is given beside a quote.
	maxLink = 2*maxQuote + 1
)

// checkProvenance refuses what a caller cannot say of where a text comes from.
func checkProvenance(p *op.Provenance) error {
	switch {
	case p.Origin != "" && !slices.Contains(claimable, p.Origin):
		return memory.Errorf(memory.Invalid, "origin %.40q is unknown; use %s", p.Origin, strings.Join(claimable, ", ")).At("origin")
	case p.Line < 0:
		return memory.Errorf(memory.Invalid, "line is %d; lines are counted from 1", p.Line).At("line")
	case p.Line > 0 && p.File == "":
		return memory.Errorf(memory.Invalid, "line %d is given without a file; name the file, or leave the line out", p.Line).At("line")
	}
	return firstError(memory.CheckText("file", p.File, maxFile), memory.CheckText("quote", p.Quote, maxQuote))
}

// claimable are the origins that a caller can say.
var claimable = []string{memory.FromUser, memory.FromAgent, memory.FromTool, memory.FromWeb}

// claimedPassages are the texts of a provenance that end up in the log, for the secret scan.
func claimedPassages(p *op.Provenance) []passage {
	return []passage{{field: "file", text: p.File}, {field: "quote", text: p.Quote}}
}

// source is the link of the provenance chain for what a caller writes.
func (e *Engine) source(ctx context.Context, p *op.Provenance, project string) memory.Source {
	by := op.CallerFrom(ctx)
	return memory.Source{
		Kind: cmp.Or(p.Origin, by.Origin()), Ref: p.File, Line: p.Line, Evidence: p.Quote,
		Project: project, At: stampTime(e.opt.Now()), By: &by,
	}
}

// importLink is the link for an item of a batch, which at the command line is an import.
func (e *Engine) importLink(ctx context.Context, req *op.SaveRequest) memory.Source {
	link := e.source(ctx, &req.Provenance, req.Project)
	if req.Origin == "" && link.Kind == memory.FromUser {
		link.Kind = memory.FromImport
	}
	return link
}

// The ways in of somebody at a terminal, and of a model.
const (
	viaCLI = "cli"
	viaMCP = "mcp"
)

// byNote is the link for a text that a person wrote into the memory's note.
func (e *Engine) byNote(path, project string) memory.Source {
	by := vaultActor()
	return memory.Source{Kind: memory.FromUser, Ref: path, Project: project, At: stampTime(e.opt.Now()), By: &by}
}

// inChain reports whether a field of a memory is its provenance chain.
func inChain(field string) bool { return field == "sources" || field == "sources_dropped" }

// learn adds to set that a memory, whose row is locked, was learned once more.
func (e *Engine) learn(row *stm.Row, link memory.Source, set map[string]json.RawMessage) {
	key, value := e.stm.Learned(row, link)
	set[key] = value
}
