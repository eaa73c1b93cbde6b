package memories

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/internal/entity/knowledge"
	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	defaultCompletions = 20
)

// Complete returns completions of a prefix, most likely first.
func (e *Memories) Complete(_ context.Context, req *op.CompleteRequest) (*op.CompleteResult, error) {
	limit, err := core.CheckLimit(req.Limit, defaultCompletions)
	if err != nil {
		return nil, err
	}
	if len(req.Prefix) > memory.MaxQueryBytes {
		return nil, memory.Errorf(memory.TooLarge, "too many bytes in the prefix: %d (limit %d); shorten the prefix",
			len(req.Prefix), memory.MaxQueryBytes).At("prefix")
	}
	prefix := strings.ToLower(strings.TrimSpace(req.Prefix))
	switch req.What {
	case op.CompleteTags:
		return completeCounted(e.Stm.Counts().Tags, prefix, limit), nil
	case op.CompleteProjects:
		projects := e.Stm.Counts().Projects
		delete(projects, "")
		return completeCounted(projects, prefix, limit), nil
	case op.CompleteIDs:
		return e.completeIDs(prefix, limit), nil
	case op.CompletePaths:
		return e.completePaths(prefix, limit)
	case op.CompleteEntities:
		return e.completeEntities(prefix, limit), nil
	}
	return nil, memory.Errorf(memory.Invalid,
		"invalid value %.20q of the parameter what; use tags, ids, projects, paths or entities", req.What).At("what")
}

func begins(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.HasPrefix(strings.ToLower(text), prefix)
}

func completeCounted(counts map[string]int, prefix string, limit int) *op.CompleteResult {
	out := []op.Completion{}
	for name, n := range counts {
		if begins(name, prefix) {
			out = append(out, op.Completion{Value: name, Count: n})
		}
	}
	slices.SortFunc(out, func(a, b op.Completion) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	return &op.CompleteResult{Values: out[:min(limit, len(out))], Total: len(out)}
}

// completeIDs returns the short form of IDs, unless the prefix is longer, or the alias that
// matched.
func (e *Memories) completeIDs(prefix string, limit int) *op.CompleteResult {
	p := core.Page[*stm.Row]{Limit: limit}
	for r := range e.Stm.Rows() {
		if begins(r.ID().Short(), prefix) || begins(string(r.ID()), prefix) || aliasWithPrefix(r, prefix) != "" {
			p.Add(float64(r.CreatedAt().UnixMilli()), r.ID(), r)
		}
	}
	rows, _ := p.Finish()
	res := &op.CompleteResult{Values: []op.Completion{}, Total: p.Total}
	for _, r := range rows {
		c := op.Completion{Value: r.ID().Short(), ID: r.ID(), Text: core.BeginningOf(r.Content())}
		switch {
		case begins(c.Value, prefix):
		case begins(string(c.ID), prefix):
			c.Value = string(c.ID)
		default:
			c.Value = aliasWithPrefix(r, prefix)
		}
		res.Values = append(res.Values, c)
	}
	return res
}

// aliasWithPrefix returns the first alias of a memory with this prefix, or "". An empty prefix
// matches no alias, because IDs are offered for it.
func aliasWithPrefix(r *stm.Row, prefix string) string {
	if prefix == "" {
		return ""
	}
	for _, alias := range r.Aliases() {
		if begins(alias, prefix) {
			return alias
		}
	}
	return ""
}

// completePaths returns indexed notes whose path or file name has the prefix.
func (e *Memories) completePaths(prefix string, limit int) (*op.CompleteResult, error) {
	var paths []string
	if e.Notes.Vault != nil {
		err := e.Notes.Vault.Ask(func(index *ltm.Index) error {
			for path := range index.Known() {
				if begins(path, prefix) || begins(path[strings.LastIndexByte(path, '/')+1:], prefix) {
					paths = append(paths, path)
				}
			}
			return nil
		})
		if err != nil {
			return nil, memory.Errorf(memory.Internal, "cannot search the note index: %w", err)
		}
	}
	slices.Sort(paths)
	res := &op.CompleteResult{Values: []op.Completion{}, Total: len(paths)}
	for _, path := range paths[:min(limit, len(paths))] {
		res.Values = append(res.Values, op.Completion{Value: path})
	}
	return res, nil
}

// completeEntities returns entities, those with the most mentions first. The prefix may be
// that of any word in a name or alias.
func (e *Memories) completeEntities(prefix string, limit int) *op.CompleteResult {
	page, total := e.Graph.GraphNow().List(knowledge.Listing{Words: prefix, Limit: limit})
	res := &op.CompleteResult{Values: []op.Completion{}, Total: total}
	for i := range page {
		res.Values = append(res.Values, op.Completion{Value: page[i].Name, Count: page[i].Mentions})
	}
	return res
}
