package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"emberd/internal/knowledge"
	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	defaultCompletions = 20
	// completionText is how many characters tell one memory from another.
	completionText = 60
)

// complete tells how what was begun may go on, likeliest first.
func (e *Engine) complete(_ context.Context, req *op.CompleteRequest) (*op.CompleteResult, error) {
	limit, err := checkLimit(req.Limit, defaultCompletions)
	if err != nil {
		return nil, err
	}
	if len(req.Prefix) > memory.MaxQueryBytes {
		return nil, memory.Errorf(memory.TooLarge, "the prefix has %d bytes, more than %d; shorten it", len(req.Prefix), memory.MaxQueryBytes).At("prefix")
	}
	prefix := strings.ToLower(strings.TrimSpace(req.Prefix))
	switch req.What {
	case op.CompleteTags:
		return completeCounted(e.stm.Counts().Tags, prefix, limit), nil
	case op.CompleteProjects:
		projects := e.stm.Counts().Projects
		delete(projects, "")
		return completeCounted(projects, prefix, limit), nil
	case op.CompleteIDs:
		return e.completeIDs(prefix, limit), nil
	case op.CompletePaths:
		return e.completePaths(prefix, limit)
	case op.CompleteEntities:
		return e.completeEntities(prefix, limit), nil
	}
	return nil, memory.Errorf(memory.Invalid, "what is %.20q; use tags, ids, projects, paths or entities", req.What).At("what")
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

// completeIDs offers the short form of ids unless it is the whole that was begun, or an
// alias.
func (e *Engine) completeIDs(prefix string, limit int) *op.CompleteResult {
	p := page[*stm.Row]{limit: limit}
	for r := range e.stm.Rows() {
		if begins(r.ID().Short(), prefix) || begins(string(r.ID()), prefix) || aliasThat(r, prefix) != "" {
			p.add(float64(r.CreatedAt().UnixMilli()), r.ID(), r)
		}
	}
	rows, _ := p.finish()
	res := &op.CompleteResult{Values: []op.Completion{}, Total: p.total}
	for _, r := range rows {
		c := op.Completion{Value: r.ID().Short(), ID: r.ID(), Text: beginningOf(r.Content())}
		switch {
		case begins(c.Value, prefix):
		case begins(string(c.ID), prefix):
			c.Value = string(c.ID)
		default:
			c.Value = aliasThat(r, prefix)
		}
		res.Values = append(res.Values, c)
	}
	return res
}

// aliasThat is the first alias of a memory that begins so, "" for none. Nothing at all
// begins no alias, for there are ids for that.
func aliasThat(r *stm.Row, prefix string) string {
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

// beginningOf is the first words of a text, in one line that ends with … where there is more.
func beginningOf(text string) string {
	start := text[:byteOf(text, 4*completionText)]
	line := strings.Join(strings.Fields(start), " ")
	if n := byteOf(line, completionText); n == len(line) && len(start) == len(text) {
		return line
	}
	return strings.TrimRight(line[:byteOf(line, completionText-1)], " ") + "…"
}

// completePaths offers the notes that are in the index. The beginning of a name will do,
// too, in whatever folder the note is.
func (e *Engine) completePaths(prefix string, limit int) (*op.CompleteResult, error) {
	var paths []string
	if e.notes != nil {
		err := e.notes.ask(func(index *ltm.Index) error {
			for path := range index.Known() {
				if begins(path, prefix) || begins(path[strings.LastIndexByte(path, '/')+1:], prefix) {
					paths = append(paths, path)
				}
			}
			return nil
		})
		if err != nil {
			return nil, memory.Errorf(memory.Internal, "look through the note index: %w", err)
		}
	}
	slices.Sort(paths)
	res := &op.CompleteResult{Values: []op.Completion{}, Total: len(paths)}
	for _, path := range paths[:min(limit, len(paths))] {
		res.Values = append(res.Values, op.Completion{Value: path})
	}
	return res, nil
}

// completeEntities offers entities, those that are mentioned most first. The beginning of
// any word of a name or alias will do.
func (e *Engine) completeEntities(prefix string, limit int) *op.CompleteResult {
	page, total := e.graphNow().List(knowledge.Listing{Words: prefix, Limit: limit})
	res := &op.CompleteResult{Values: []op.Completion{}, Total: total}
	for i := range page {
		res.Values = append(res.Values, op.Completion{Value: page[i].Name, Count: page[i].Mentions})
	}
	return res
}
