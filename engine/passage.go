package engine

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"emberd/ltm"
	"emberd/op"
	"emberd/vault"
)

// passageBytes is how much of a passage a snippet is looked for in: most passages are half
// as long.
const passageBytes = 2 << 10

// staleBytes is how much of a note that changed since it was indexed a snippet is looked
// for in.
const staleBytes = 64 << 10

// cut gives every hit the part of its text that matched. Notes are read side by side.
func (a *asking) cut(ctx context.Context, terms []string) error {
	var next atomic.Int64
	work := func() {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= len(a.res.Hits) {
				return
			}
			a.cutOne(ctx, &a.res.Hits[i], terms)
		}
	}
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(a.found), len(a.res.Hits)) - 1 {
		workers.Go(work)
	}
	work()
	workers.Wait()
	return ctx.Err()
}

func (a *asking) cutOne(ctx context.Context, h *op.Hit, terms []string) {
	if h.Tier == op.TierMemory {
		h.Snippet = a.e.snippet(h.Content, terms)
		return
	}
	hit := a.found[h.Note.Path]
	text, err := a.e.notes.vault.Load().Excerpt(fileOf(hit), hit.SectionLine, hit.Above, passageBytes)
	if err != nil {
		a.cutStale(ctx, h, terms)
		return
	}
	h.Snippet = a.e.snippet(text, terms)
}

// fileOf is the state of the file that was indexed.
func fileOf(h ltm.Hit) vault.File {
	c := h.Cursor
	return vault.File{Path: h.Path, Size: c.Size, ModTime: c.ModTime, ChangeTime: c.ChangeTime, Inode: c.Inode}
}

// cutStale shows of a note that is another by now than the one that was found the section
// that has most of the words.
func (a *asking) cutStale(ctx context.Context, h *op.Hit, terms []string) {
	note, err := a.e.notes.vault.Load().Skim(ctx, h.Note.Path)
	if err != nil {
		return
	}
	seen := 0
	for i, s := range note.Sections {
		snippet := a.e.snippet(s.Text, terms)
		if i == 0 || len(snippet.Marks) > len(h.Snippet.Marks) {
			h.Snippet, h.Note.Heading, h.Note.Line = snippet, s.Path, s.Line
		}
		if seen += len(s.Text); seen > staleBytes {
			return
		}
	}
}

// textOf returns the whole text of a note, false when it cannot be read now.
func (n *notes) textOf(ctx context.Context, path string) (string, bool) {
	text, err := n.vault.Load().Text(ctx, path)
	return text, err == nil
}
