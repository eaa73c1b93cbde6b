// Package recall recognizes texts that the daemon returned a moment ago, so that an agent that saves what
// it just read adds no second memory.
//
// Guarantee: what it finds is in a memory or a note now, and says the same. It keeps fingerprints of texts
// in memory only, and none after [Guard.Forget].
package recall

import (
	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/engine/notes"
	"emberd/engine/similar"
	"emberd/internal/echo"
	"emberd/op"
)

// Guard finds repeated texts for callers with the same permissions, among those that these callers were
// sent.
type Guard struct {
	*core.View

	Lifecycle *lifecycle.Lifecycle
	Notes     *notes.Notes
	Similar   *similar.Similar

	Returned *echo.ReturnedTexts // texts that results contained
}

// Remember adds the texts of an operation's result to those that [Guard.Find] compares with. It skips a
// result that describes an earlier moment.
func (g *Guard) Remember(res any) {
	if g.Opt.EchoWindow <= 0 {
		return
	}
	switch res := res.(type) {
	case *op.SearchResult:
		if res.AsOf == nil {
			g.addHits(res.Hits)
		}
	case *op.QueryResult:
		for i := range res.Results {
			if h := res.Results[i].Hit; h != nil {
				g.addHits([]op.Hit{*h})
			}
		}
	case *op.ListResult:
		if res.AsOf == nil {
			for i := range res.Memories {
				g.addMemory(&res.Memories[i])
			}
		}
	case *op.OpenManyResult:
		for i := range res.Memories {
			g.addMemory(&res.Memories[i].Memory)
		}
	case *op.ShowResult:
		if res.AsOf == nil {
			g.addMemory(&res.Memory)
		}
	case *op.VerifyResult:
		g.addMatches(res)
	case *op.NoteContextResult:
		g.Returned.Add(echo.Source{Path: res.Path, Modified: res.Modified}, res.Text, g.Opt.Now())
	case *op.NoteReadResult:
		g.Returned.Add(echo.Source{Path: res.Path, Modified: res.Modified}, res.Text, g.Opt.Now())
	}
}

func (g *Guard) addMemory(m *op.Memory) {
	g.Returned.Add(echo.Source{Memory: m.ID}, m.Content, g.Opt.Now())
}

func (g *Guard) addHits(hits []op.Hit) {
	for i := range hits {
		h := &hits[i]
		if h.Memory != nil {
			g.addMemory(h.Memory)
		}
		if h.Note != nil && h.Tier == op.TierNote {
			g.Returned.Add(echo.Source{Memory: h.Note.MemoryID, Path: h.Note.Path, Modified: h.Note.Modified},
				h.Snippet.Text, g.Opt.Now())
		}
	}
}

// addMatches adds the memories and notes that a claim was compared with. It skips those that only repeat
// the claim: the caller has the claim from another source, and may add it.
func (g *Guard) addMatches(res *op.VerifyResult) {
	give := func(m *op.Match) {
		switch {
		case m.Verdict == op.VerdictConfirms, m.Similarity == 1:
		case m.Memory != nil:
			g.addMemory(m.Memory)
		case m.Note != nil:
			g.Returned.Add(echo.Source{Memory: m.Note.MemoryID, Path: m.Note.Path, Modified: m.Note.Modified}, m.Text,
				g.Opt.Now())
		}
	}
	for i := range res.Matches {
		give(&res.Matches[i])
	}
	for i := range res.Conflicts {
		give(&res.Conflicts[i].Match)
	}
}

// Forget drops all fingerprints, because a memory that they may belong to was purged.
func (g *Guard) Forget() { g.Returned.Forget() }
