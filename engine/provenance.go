package engine

import (
	"context"
	"strconv"
	"strings"

	"emberd/memory"
	"emberd/op"
)

// source is the link of the provenance chain for what a caller writes.
func (e *Engine) source(ctx context.Context, p *op.Provenance, project string) memory.Source {
	by := op.CallerFrom(ctx)
	s := memory.Source{Kind: p.Origin, Ref: p.File, Line: p.Line, Evidence: p.Quote, Project: project, At: stampTime(e.opt.Now()), By: &by}
	if s.Kind == "" {
		s.Kind = originBy(&by)
	}
	return s
}

// originBy is whose words a caller most likely gives who does not say.
func originBy(by *memory.Actor) string {
	if by.Via == "cli" {
		return memory.FromUser
	}
	return memory.FromAgent
}

// sourceText says in a few words where a memory comes from.
func sourceText(s *memory.Source) string {
	var parts []string
	parts = append(parts, s.Kind)
	if s.Ref != "" {
		ref := s.Ref
		if s.Line > 0 {
			ref += ":" + strconv.Itoa(s.Line)
		}
		parts = append(parts, ref)
	}
	return strings.Join(parts, ", ")
}
