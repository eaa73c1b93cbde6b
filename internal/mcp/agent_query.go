package mcp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"emberd/internal/mcp/answer"
	"emberd/internal/mcp/tool"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
)

// The depths of an answer.
const (
	depthIndex   = "index"
	depthExcerpt = "excerpt"
	depthWhole   = "whole"
)

type agentQueryIn struct {
	Query     string   `json:"query" min:"1" doc:"question or words, also with \"a phrase\", -word, after:2026-01 or path:folder/"`
	Scope     string   `json:"scope,omitempty" enum:"all|notes|memories|vault|knowledge|archive|sessions" default:"\"all\"" doc:"texts to search: notes (memories and vault), knowledge (entities), sessions (past messages)"`
	Tags      []string `json:"tags,omitempty" max:"50" doc:"only results with all of these tags"`
	Project   string   `json:"project,omitempty" doc:"filter by project; . is the current project"`
	Days      float64  `json:"days,omitempty" min:"0" max:"3650" doc:"only results used or changed in the last N days"`
	Depth     string   `json:"depth,omitempty" enum:"index|excerpt|whole" default:"\"excerpt\"" doc:"text to return: first words, matching part, or whole"`
	Limit     int      `json:"limit,omitempty" min:"1" max:"100" default:"5" doc:"maximum number of results"`
	Skip      int      `json:"skip,omitempty" min:"0" max:"1000" doc:"results to skip"`
	MaxTokens int      `json:"max_tokens,omitempty" min:"500" max:"20000" default:"2000" doc:"token limit of the answer"`
}

type agentQueryOut struct {
	Results  []resultItem `json:"results"`
	Nearest  []resultItem `json:"nearest,omitempty"`
	Total    int          `json:"total"`
	Compared string       `json:"compared_by"`
	Note     string       `json:"note,omitempty"`
	Advice   string       `json:"advice,omitempty"`
	continuation
	skip  int
	depth string
}

// agentQuery tells of the best results, as many as fit. Looking further down counts no
// access: the first look did.
func agentQuery(ctx context.Context, c *tool.Call, in *agentQueryIn) (*agentQueryOut, error) {
	project, err := c.NamedProject(ctx, in.Project)
	if err != nil {
		return nil, err
	}
	req := &op.QueryRequest{Query: in.Query, Scope: in.Scope, Limit: in.Limit, Offset: in.Skip, Tags: in.Tags,
		Project:    project,
		WindowDays: in.Days, IncludeReview: in.Skip == 0}
	if in.Skip > 0 {
		req.Track = new(false)
	}
	res, err := op.Query.Call(ctx, c, req)
	if err != nil {
		return nil, err
	}
	out := &agentQueryOut{Results: []resultItem{}, Total: res.Total, Compared: res.Compared, Note: asFound(res),
		skip: in.Skip, depth: in.Depth}
	left := newBudget(c, in.MaxTokens)
	next := in.Skip
	for i := range res.Results {
		s, err := showResult(ctx, c, &res.Results[i], in)
		if err != nil {
			return nil, err
		}
		if !out.add(&left, s) {
			break
		}
		if h := res.Results[i].Hit; h == nil || !h.Review { // which has no place in the order
			next++
		}
	}
	for i := range res.Nearest {
		s, err := showResult(ctx, c, &res.Nearest[i], in)
		if err != nil {
			return nil, err
		}
		if left.take(s.render(in.Depth), &s) {
			out.Nearest = append(out.Nearest, s)
		}
	}
	switch {
	case len(out.Results) == 0 && len(res.Results) > 0:
		out.continuation = continuation{true, tooSmall}
	case len(out.Results) < len(res.Results):
		out.continuation = continuation{true, fmt.Sprintf(`the same memory_query call with "skip": %d`, next)}
	case len(out.Results) == 0:
		out.Advice = noMatch(in.Scope, len(out.Nearest))
	}
	return out, nil
}

// showResult tells of a memory, a note or an entity.
func showResult(ctx context.Context, c *tool.Call, r *op.QueryHit, in *agentQueryIn) (resultItem, error) {
	if r.Entity != nil {
		return showEntity(r), nil
	}
	if r.Hit.Session != nil {
		return showSession(r, in.Depth), nil
	}
	s, err := showHit(ctx, c, r.Hit, in)
	s.Relevance, s.Source = thousandths(r.Relevance), text.Truncate(answer.OneLine(r.Source), maxSource)
	if m := r.Hit.Memory; m != nil {
		s.Importance = m.Importance
		if !m.LastAccessed.IsZero() {
			s.Accessed = day(m.LastAccessed)
		}
		if m.Stage.Cold() && !m.ArchivedAt.IsZero() {
			s.State += ", since " + day(m.ArchivedAt) + " (" +
				text.Truncate(answer.OneLine(m.ArchiveReason), maxSource) + ")"
		}
	}
	if r.Via != nil {
		s.State = strings.Join(nonEmpty(s.State, viaOf(r.Via, r.Hit.ID)), ", ")
	}
	return s, err
}

// showSession tells of a past session, with the part of a message that matches. Nobody checked what it says.
func showSession(r *op.QueryHit, depth string) resultItem {
	p := r.Hit.Session
	s := resultItem{Text: r.Hit.Snippet.Text, Cut: true, Project: p.Project, Origin: p.Role, Trust: memory.TrustData,
		State: "unconfirmed", session: p.ID,
		details: details{Relevance: thousandths(r.Relevance),
			Source: text.Truncate(answer.OneLine("session:"+p.Agent+"/"+p.ID), maxSource)}}
	if !p.At.IsZero() {
		s.When = "said " + day(p.At)
	}
	if depth == depthIndex {
		s.Text = firstWords(s.Text)
	}
	return s
}

// viaOf returns how a memory was reached.
func viaOf(v *memory.Relation, id memory.ID) string {
	kind := answer.OneLine(cmp.Or(v.Kind, v.Type))
	if v.From == id {
		return "this " + kind + " [" + v.To.Short() + "]"
	}
	return "[" + v.From.Short() + "] " + kind + " this"
}

// showEntity tells of an entity, and of what it is related to.
func showEntity(r *op.QueryHit) resultItem {
	e := r.Entity
	s := resultItem{Entity: e.Name, Path: e.Note, details: details{Relevance: thousandths(r.Relevance)},
		When: plural(e.Mentions, "mention", "mentions")}
	if !e.LastSeen.IsZero() {
		s.When += ", last seen " + day(e.LastSeen)
	}
	if len(e.Aliases) > 0 {
		s.State = "also " + answer.OneLine(strings.Join(e.Aliases[:min(len(e.Aliases), maxAliases)], ", "))
	}
	for _, to := range e.Related[:min(len(e.Related), maxRelated)] {
		said := answer.OneLine(to.Type) + " " + answer.OneLine(to.Name)
		if to.Incoming {
			said = answer.OneLine(to.Name) + " " + answer.OneLine(to.Type) + " this"
		}
		line := []string{fmt.Sprintf("%s (%g)", said, to.Weight)}
		for _, id := range to.In[:min(len(to.In), maxIn)] {
			line = append(line, "["+id.Short()+"]")
		}
		s.Links = append(s.Links, strings.Join(line, " "))
	}
	return s
}

// Of an entity so many other names and relations are shown, and of each of these so many of
// the memories that say so.
const (
	maxAliases = 5
	maxIn      = 2
	maxRelated = 5
)

// thousandths are as much of a number as means anything.
func thousandths(n float64) float64 { return math.Round(n*1000) / 1000 }

// add takes in a hit if it fits, and of the first one what fits.
func (o *agentQueryOut) add(left *budget, s resultItem) bool {
	if !left.take(s.render(o.depth), &s) {
		if len(o.Results) > 0 || !s.shorten(left, o.depth) {
			return false
		}
	}
	o.Results = append(o.Results, s)
	return true
}

// shorten cuts the text to what fits.
func (s *resultItem) shorten(left *budget, depth string) bool {
	whole := s.Text
	s.Cut = true
	s.Text = longestFit(whole, func(part string) bool {
		try, all := *s, *left
		try.Text = part
		return all.take(try.render(depth), &try)
	})
	return s.Text != "" && left.take(s.render(depth), s)
}

// showHit tells of a hit at the depth asked for.
func showHit(ctx context.Context, c *tool.Call, h *op.Hit, in *agentQueryIn) (resultItem, error) {
	var s resultItem
	if h.Memory != nil && (h.Tier == op.TierMemory || h.Note == nil) {
		s = showMemory(h.Memory, h.Content)
	} else {
		s = resultItem{Path: h.Note.Path, When: "changed " + day(h.Note.Modified), Text: h.Snippet.Text,
			Origin: fromNote,
			Trust:  memory.TrustUser}
		if h.Memory != nil {
			s = showMemory(h.Memory, h.Snippet.Text)
		}
	}
	s.State = strings.Join(nonEmpty(s.State, stateOf(h)), ", ")
	inNote := h.Memory == nil || h.Note != nil && h.Tier == op.TierNote && h.Memory.Stage.Cold() // all of its text
	switch {
	case in.Depth == depthIndex:
		s.Text = firstWords(s.Text)
	case in.Depth == depthExcerpt:
		s.Cut = inNote || len(h.Snippet.Text) < len(h.Content)
		s.Text = h.Snippet.Text
	case !inNote:
		s.Text = h.Content
	default:
		res, err := op.NoteRead.Call(ctx, c, &op.NoteReadRequest{Path: h.Note.Path, Limit: 4 * in.MaxTokens})
		if err != nil {
			return s, err
		}
		s.Text, s.Cut = res.Text, res.Left > 0
	}
	return s, nil
}

// stateOf returns what is out of the ordinary with a hit.
func stateOf(h *op.Hit) string {
	switch {
	case h.Rekindle != "":
		return "open the memory to restore its full text"
	case h.Review:
		return "about to fade; if the memory is still correct, call memory_used"
	}
	return ""
}

const (
	scopeArchive  = "archive"
	scopeSessions = "sessions"
)

const stillLoading = "emberd is still building the index; call again later for more results"

// asFound returns how an answer differs from the request.
func asFound(res *op.QueryResult) string {
	var notes []string
	for _, r := range res.Respelled {
		notes = append(notes,
			fmt.Sprintf("few or no texts contain %.40q, so emberd also searched for %.80s", answer.OneLine(r.Word),
				answer.OneLine(strings.Join(r.Words(), ", "))))
	}
	if res.Similar && len(res.Respelled) == 0 {
		notes = append(notes, "no results with all phrases in quotes; showing results without the quotes")
	}
	if res.Loading != nil || res.Indexing != nil {
		notes = append(notes, stillLoading)
	}
	if !res.Away.IsZero() {
		notes = append(notes, "the vault is not available, so results from notes might be outdated")
	}
	return strings.Join(notes, "; ")
}

// Text returns the text for the model.
func (o *agentQueryOut) Text() string {
	var b strings.Builder
	switch {
	case len(o.Results) == 0 && !o.Truncated:
		b.WriteString("No matches by " + o.methods() + ".\n")
	case o.skip > 0:
		fmt.Fprintf(&b, "Matches %d to %d of %d.\n", o.skip+1, o.skip+len(o.Results), o.Total)
	default:
		fmt.Fprintf(&b, "%d of %s by %s.\n", len(o.Results), plural(o.Total, "match", "matches"), o.methods())
	}
	if o.Note != "" {
		b.WriteString("(" + o.Note + ")\n")
	}
	for i := range o.Results {
		if i > 0 && o.depth != depthIndex {
			b.WriteByte('\n')
		}
		b.WriteString(o.Results[i].render(o.depth))
	}
	for i := range o.Nearest {
		if i == 0 {
			b.WriteString("Nearest:\n")
		}
		b.WriteString(o.Nearest[i].render(o.depth))
	}
	b.WriteString(o.Afterword())
	return b.String()
}

// methods returns what the results were compared by. Vectors add to the words and never replace them.
func (o *agentQueryOut) methods() string {
	if o.Compared == op.ComparedByVectors {
		return "words and embeddings"
	}
	return o.Compared
}

// Afterword returns what to do if there is no match, or how to continue.
func (o *agentQueryOut) Afterword() string {
	if o.Advice != "" {
		return o.Advice + "\n"
	}
	return o.line()
}

// noMatch returns what to do if nothing in a scope matches and so many results are nearest.
func noMatch(scope string, nearest int) string {
	advice := "No matching memories found. "
	if nearest > 0 {
		advice += "The nearest results are listed; they might not answer the question. "
	}
	if scope == scopeArchive || scope == scopeSessions {
		return advice + "Try other or fewer words, or fewer filters."
	}
	return advice + `Try other or fewer words, fewer filters, or "scope": "archive".`
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
