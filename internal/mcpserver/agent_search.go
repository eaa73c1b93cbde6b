package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"emberd/memory"
	"emberd/op"
)

// The depths of an answer.
const (
	depthIndex   = "index"
	depthExcerpt = "excerpt"
	depthWhole   = "whole"
)

type agentSearchIn struct {
	Query     string   `json:"query" min:"1" doc:"words; also \"a phrase\", -without, after:2026-01, path:folder/"`
	Scope     string   `json:"scope,omitempty" enum:"all|memories|notes|archive" default:"\"all\"" doc:"archive: only what has faded to a summary"`
	Tags      []string `json:"tags,omitempty" max:"50" doc:"all of these"`
	Project   string   `json:"project,omitempty" doc:"memories of this project only; \".\" is the current one"`
	Days      float64  `json:"days,omitempty" min:"0" max:"3650" doc:"used or changed in the last so many days"`
	Depth     string   `json:"depth,omitempty" enum:"index|excerpt|whole" default:"\"excerpt\"" doc:"how much of each text: first words, what matches, all"`
	Limit     int      `json:"limit,omitempty" min:"1" max:"100" default:"10"`
	Skip      int      `json:"skip,omitempty" min:"0" max:"99" doc:"pass over the best, as a truncated answer says"`
	MaxTokens int      `json:"max_tokens,omitempty" min:"500" max:"20000" default:"2000"`
}

type agentSearchOut struct {
	Hits  []card `json:"hits"`
	Total int    `json:"total"`
	Note  string `json:"note,omitempty"`
	rest
	skip  int
	depth string
}

// agentSearch tells of the best hits, as many as fit. Looking further down counts no
// access: the first look did.
func agentSearch(ctx context.Context, c *call, in *agentSearchIn) (*agentSearchOut, error) {
	project, err := c.named(ctx, in.Project)
	if err != nil {
		return nil, err
	}
	req := &op.SearchRequest{Query: in.Query, Scope: in.Scope, Limit: min(in.Skip+in.Limit, memory.MaxResults),
		Filter: op.Filter{Tags: in.Tags, Project: project, WindowDays: in.Days}}
	if in.Skip > 0 {
		req.Track = new(false)
	}
	res, err := op.Search.Call(ctx, c, req)
	if err != nil {
		return nil, err
	}
	out := &agentSearchOut{Hits: []card{}, Total: res.Total, Note: asFound(res), skip: in.Skip, depth: in.Depth}
	left := newBudget(in.MaxTokens)
	hits := res.Hits[min(in.Skip, len(res.Hits)):]
	for i := range hits {
		s, err := c.showHit(ctx, &hits[i], in)
		if err != nil {
			return nil, err
		}
		if !out.add(&left, s) {
			break
		}
	}
	switch n := in.Skip + len(out.Hits); {
	case len(out.Hits) == 0 && len(hits) > 0:
		out.rest = rest{true, tooSmall}
	case len(out.Hits) < len(hits):
		out.rest = rest{true, fmt.Sprintf(`the same memory_search with "skip": %d`, n)}
	}
	return out, nil
}

// add takes in a hit if it fits, and of the first one what fits.
func (o *agentSearchOut) add(left *budget, s card) bool {
	if !left.take(s.render(o.depth), &s) {
		if len(o.Hits) > 0 || !s.shorten(left, o.depth) {
			return false
		}
	}
	o.Hits = append(o.Hits, s)
	return true
}

// shorten cuts the text to what fits.
func (s *card) shorten(left *budget, depth string) bool {
	whole := s.Text
	s.Cut = true
	s.Text = longest(whole, func(part string) bool {
		try, all := *s, *left
		try.Text = part
		return all.take(try.render(depth), &try)
	})
	return s.Text != "" && left.take(s.render(depth), s)
}

// showHit tells of a hit at the depth asked for.
func (c *call) showHit(ctx context.Context, h *op.Hit, in *agentSearchIn) (card, error) {
	var s card
	if h.Memory != nil && (h.Tier == op.TierMemory || h.Note == nil) {
		s = showMemory(h.Memory, h.Content)
	} else {
		s = card{Path: h.Note.Path, When: "changed " + day(h.Note.Modified), Text: h.Snippet.Text}
		if h.Memory != nil {
			s = showMemory(h.Memory, h.Snippet.Text)
		}
	}
	s.State = strings.Join(nonEmpty(s.State, stateOf(h)), ", ")
	switch {
	case in.Depth == depthIndex:
		s.Text = firstWords(s.Text)
	case in.Depth == depthExcerpt:
		s.Cut = s.ID == "" || len(h.Snippet.Text) < len(s.Text)
		s.Text = h.Snippet.Text
	case s.ID == "":
		res, err := op.NoteRead.Call(ctx, c, &op.NoteReadRequest{Path: s.Path, Limit: 4 * in.MaxTokens})
		if err != nil {
			return s, err
		}
		s.Text, s.Cut = res.Text, res.Left > 0
	}
	return s, nil
}

// stateOf is what is out of the ordinary with a hit.
func stateOf(h *op.Hit) string {
	switch {
	case h.Rekindled != nil && h.Rekindled.Verdict == "gone":
		return "its note is gone"
	case h.Rekindled != nil:
		return "rekindled from the archive"
	case h.Rekindling:
		return "being rekindled"
	case h.Review:
		return "about to fade, use it if it still holds"
	}
	return ""
}

// asFound says how an answer differs from what was asked.
func asFound(res *op.SearchResult) string {
	var notes []string
	for _, r := range res.Respelled {
		notes = append(notes, fmt.Sprintf("nothing has %.40q, so this is for %.80s", flat(r.Word), strings.Join(r.Terms, ", ")))
	}
	if res.Similar && len(res.Respelled) == 0 {
		notes = append(notes, "nothing has the phrase, so this has its words")
	}
	if res.Loading != nil || res.Indexing != nil {
		notes = append(notes, "the index is still being built; ask again for more")
	}
	return strings.Join(notes, "; ")
}

// Text is what the model reads.
func (o *agentSearchOut) Text() string {
	var b strings.Builder
	switch {
	case len(o.Hits) == 0 && !o.Truncated:
		b.WriteString("Nothing matches. Try other or fewer words, no filters, or scope archive.\n")
	case o.skip > 0:
		fmt.Fprintf(&b, "Matches %d to %d of %d. %s\n", o.skip+1, o.skip+len(o.Hits), o.Total, asData)
	default:
		fmt.Fprintf(&b, "%d of %s. %s\n", len(o.Hits), plural(o.Total, "match", "matches"), asData)
	}
	if o.Note != "" {
		b.WriteString("(" + o.Note + ")\n")
	}
	for i := range o.Hits {
		if i > 0 && o.depth != depthIndex {
			b.WriteByte('\n')
		}
		b.WriteString(o.Hits[i].render(o.depth))
	}
	b.WriteString(o.line())
	return b.String()
}

func nonEmpty(texts ...string) []string {
	var out []string
	for _, t := range texts {
		if t != "" {
			out = append(out, t)
		}
	}
	return out
}
