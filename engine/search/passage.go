package search

import (
	"context"
	"runtime"
	"sync/atomic"

	"emberd/internal/contain"
	"emberd/op"
)

// staleBytes is how much of a note that changed since it was indexed is searched for a
// snippet.
const staleBytes = 64 << 10

// cutSnippets sets the snippet of every hit. It reads notes in parallel.
func (a *SearchRun) cutSnippets(ctx context.Context, terms []string) error {
	var next atomic.Int64
	work := func() {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= len(a.Res.Hits) {
				return
			}
			a.cutSnippet(ctx, &a.Res.Hits[i], terms)
		}
	}
	var workers contain.Group
	for range min(runtime.GOMAXPROCS(0), len(a.found), len(a.Res.Hits)) - 1 {
		workers.Go(work)
	}
	work()
	workers.Wait()
	return ctx.Err()
}

func (a *SearchRun) cutSnippet(ctx context.Context, h *op.Hit, terms []string) {
	if h.Tier == op.TierMemory {
		h.Snippet = a.memorySnippet(h, terms)
		return
	}
	hit := a.found[h.Note.Path]
	text, err := a.E.Notes.Vault.Excerpt(&hit)
	if err == nil {
		h.Snippet = a.E.Snippet(hideComments(text), terms)
	}
	if err != nil || h.Snippet.Text == "" && a.E.Opt.PreviewLength > 0 {
		a.cutSection(ctx, h, terms)
	}
}

// memorySnippet returns the part of a memory with the most terms, or of its nearest passage by
// embedding if that adds more to its relevance than all terms.
func (a *SearchRun) memorySnippet(h *op.Hit, terms []string) op.Snippet {
	near, ok := a.Q.Near.passages[h.ID]
	if ok && a.E.Opt.PreviewLength > 0 && byMeaning(h.Explain) {
		if text := a.Q.embedding().Passage(h.Content, near); text != "" {
			return a.E.Snippet(text, terms)
		}
	}
	return a.E.Snippet(h.Content, terms)
}

// byMeaning reports whether an embedding adds more to a relevance than all terms.
func byMeaning(x *op.Explain) bool {
	if x == nil || x.Meaning == nil {
		return false
	}
	words := 0.0
	for _, t := range x.Terms {
		words += t.Score
	}
	return x.Meaning.Score > words
}

// cutSection sets the snippet of a note to the section with the most terms, the first with a text if none
// has any: of one that changed since it was indexed, or that matches by its name alone.
func (a *SearchRun) cutSection(ctx context.Context, h *op.Hit, terms []string) {
	note, err := a.E.Notes.Vault.Root.Load().Skim(ctx, h.Note.Path)
	if err != nil {
		return
	}
	seen := 0
	for i, s := range note.Sections {
		snippet := a.E.Snippet(hideComments(s.Text), terms)
		if i == 0 || h.Snippet.Text == "" || len(snippet.Marks) > len(h.Snippet.Marks) {
			h.Snippet, h.Note.Heading, h.Note.Line = snippet, s.Path, s.Line
		}
		if seen += len(s.Text); seen > staleBytes {
			return
		}
	}
}
