package page

import (
	"context"
	"encoding/json"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"emberd/memory"
	"emberd/op"
)

// obsidianLink is an address that begins with obsidian://open; html/template would refuse it otherwise.
type obsidianLink = template.URL

// whole is everything about one memory.
type whole struct {
	Memory    *op.Memory
	Why       *op.WhyResult
	Outgoing  []related
	Incoming  []related
	Versions  []version
	Total     int // versions
	Chain     []op.ChainLink
	Link      obsidianLink
	Curve     curve
	Timeline  *op.TimelineResult
	Tags      string
	Cold      bool
	HasVault  bool
	Successor *op.Memory
}

// related is the other end of a relation.
type related struct {
	Type string
	ID   memory.ID
	Text string
}

// version is one change with its fields.
type version struct {
	op.HistoryVersion
	Did     string
	Changes []fieldChange
}

type fieldChange struct {
	Name     string
	From, To []part
	Set, Had bool
}

// curve is a line for the script to draw: seconds since 1970, scores, and what stands beside it.
type curve struct {
	X      []int64   `json:"x"`
	Y      []float64 `json:"y"`
	Now    int64     `json:"now"`
	Events []mark    `json:"events"`
	Lines  []line    `json:"lines"`
}

type mark struct {
	X    int64  `json:"x"`
	Text string `json:"text"`
}

type line struct {
	Y    float64 `json:"y"`
	Text string  `json:"text"`
}

// JSON is the curve as an attribute contains it.
func (c curve) JSON() (string, error) {
	b, err := json.Marshal(c)
	return string(b), err
}

func viewMemory(ctx context.Context, p *Page, r *http.Request) (any, error) {
	track := false
	id := r.PathValue("id")
	shown, err := op.Show.Call(ctx, p.backend, &op.ShowRequest{ID: id, Track: &track})
	if err != nil {
		return nil, err
	}
	m := &shown.Memory
	w := &whole{Memory: m, Tags: strings.Join(m.Tags, ", "), Cold: m.Stage.Cold()}
	if w.Why, err = op.Why.Call(ctx, p.backend, &op.WhyRequest{ID: string(m.ID)}); err != nil {
		return nil, err
	}
	if w.Timeline, err = op.Timeline.Call(ctx, p.backend, &op.TimelineRequest{ID: string(m.ID)}); err != nil {
		return nil, err
	}
	w.Curve = curveOf(w.Timeline)
	history, err := op.History.Call(ctx, p.backend, &op.HistoryRequest{ID: string(m.ID)})
	if err != nil {
		return nil, err
	}
	w.Total, w.Chain = history.Total, history.Chain
	for _, v := range history.Versions {
		w.Versions = append(w.Versions, versionOf(v))
	}
	return w, w.around(ctx, p, shown.Relations)
}

// around fills in what is related to the memory, and the link to its note.
func (w *whole) around(ctx context.Context, p *Page, r *op.RelationsOf) error {
	if r == nil {
		r = &op.RelationsOf{}
	}
	ids := []memory.ID{}
	for _, o := range r.Outgoing {
		ids = append(ids, o.To)
	}
	for _, i := range r.Incoming {
		ids = append(ids, i.From)
	}
	if w.Memory.SupersededBy != "" {
		ids = append(ids, w.Memory.SupersededBy)
	}
	texts, err := p.open(ctx, ids)
	if err != nil {
		return err
	}
	for _, o := range r.Outgoing {
		w.Outgoing = append(w.Outgoing, related{relationText(&o, false), o.To, texts[o.To].Content})
	}
	for _, i := range r.Incoming {
		w.Incoming = append(w.Incoming, related{relationText(&i, true), i.From, texts[i.From].Content})
	}
	if m, ok := texts[w.Memory.SupersededBy]; ok {
		w.Successor = &m
	}
	if w.Memory.PromotedTo != "" || w.Memory.VaultPath != "" {
		if res, err := op.Open.Call(ctx, p.backend, &op.OpenRequest{Ref: string(w.Memory.ID)}); err == nil {
			w.Link = linkOf(res.URI)
		}
	}
	return nil
}

// relationText is what a relation says, read from either end.
func relationText(r *memory.Relation, reversed bool) string {
	type ends struct{ to, from string }
	words := map[string]ends{
		memory.Related:          {"related to", "related to"},
		memory.Causes:           {"causes", "caused by"},
		memory.Supports:         {"supports", "supported by"},
		memory.Contradicts:      {"contradicts", "contradicted by"},
		memory.HasDecision:      {"has the decision", "decision of"},
		memory.ConsolidatedFrom: {"merged from", "merged into"},
	}
	w := words[r.Type]
	if r.IsSupersession() {
		w = ends{"replaces", "replaced by"}
	} else if r.Kind != "" {
		w = ends{r.Kind, r.Kind + " (from)"}
	}
	if reversed {
		return w.from
	}
	return w.to
}

func curveOf(t *op.TimelineResult) curve {
	c := curve{Now: t.Now.Unix(), Events: []mark{}, Lines: []line{}}
	for _, pt := range t.Points {
		c.X, c.Y = append(c.X, pt.At.Unix()), append(c.Y, pt.Score)
	}
	for _, e := range t.Events {
		c.Events = append(c.Events, mark{e.At.Unix(), e.What})
	}
	for _, th := range t.Thresholds {
		c.Lines = append(c.Lines, line{th.Score, crossingText(th.Name)})
	}
	return c
}

// crossingText says what a threshold means.
func crossingText(name string) string {
	words := map[string]string{op.CrossPromote: "worth a note", op.CrossReview: "shown in searches " +
		"before the memory fades",
		op.CrossFading: "about to fade", op.CrossForget: "can be deleted"}
	if w := words[name]; w != "" {
		return w
	}
	return name
}

// isShown reports whether a person wants to see that a field changed: what was said, and not when or by whom, which
// stands above. Of a new memory most fields have their defaults.
func isShown(field string, created bool) bool {
	if created {
		return slices.Contains([]string{"content", "tags", "project"}, field)
	}
	own := []string{"stage", "promoted_to", "superseded_by", "confirmed_at", "consolidated_into"}
	return memory.Stated(field) || slices.Contains(own, field) || strings.HasPrefix(field, "meta.")
}

// CanUndo is [change.CanUndo] for one version.
func (v version) CanUndo() bool { return v.Tx != "" && undoable(v.Verb) }

func versionOf(v op.HistoryVersion) version {
	out := version{HistoryVersion: v, Did: verbText(v.Verb)}
	for _, f := range v.Fields {
		if !isShown(f.Name, v.Action == "created") {
			continue
		}
		c := fieldChange{Name: strings.ReplaceAll(f.Name, "_", " "), Had: f.From != nil, Set: f.To != nil}
		from, to := plain(f.From), plain(f.To)
		c.From, c.To = []part{{Text: from}}, []part{{Text: to}}
		if f.Name == "content" && c.Had && c.Set {
			c.From, c.To = differing(from, to), differing(to, from)
		}
		out.Changes = append(out.Changes, c)
	}
	return out
}

// plain is a JSON value as a person reads it.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return strings.Join(list, ", ")
	}
	return string(raw)
}
