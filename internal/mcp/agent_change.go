package mcp

import (
	"cmp"
	"context"
	"strings"

	"emberd/internal/mcp/answer"
	"emberd/internal/mcp/tool"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
)

// agentChanged is what became of a memory that was edited.
type agentChanged struct {
	ID      memory.ID `json:"id"`
	Did     string    `json:"did"`
	Tags    []string  `json:"tags,omitempty"`
	Project string    `json:"project,omitempty"`
	Tx      string    `json:"tx,omitempty"`
}

// Text returns the text for the model.
func (o *agentChanged) Text() string {
	parts := []string{o.Did + " [" + o.ID.Short() + "]"}
	if len(o.Tags) > 0 {
		parts = append(parts, hashed(o.Tags))
	}
	if o.Project != "" {
		parts = append(parts, "project "+answer.OneLine(o.Project))
	}
	if o.Tx != "" {
		parts = append(parts, "tx "+o.Tx)
	}
	return strings.Join(parts, ", ") + "\n"
}

type agentEditIn struct {
	ID         string   `json:"id" min:"1" doc:"ID of the memory"`
	Content    *string  `json:"content,omitempty" min:"1" max:"50000" doc:"new text of the memory"`
	AddTags    []string `json:"add_tags,omitempty" max:"50" doc:"add these tags"`
	RemoveTags []string `json:"remove_tags,omitempty" max:"50" doc:"remove these tags"`
	Project    *string  `json:"project,omitempty" doc:"set the project"`
	Source     *string  `json:"source,omitempty" max:"500" doc:"set the source"`
	Context    *string  `json:"context,omitempty" max:"1000" doc:"set the context"`
	Core       *bool    `json:"core,omitempty" doc:"true: the memory never fades"`
	Supersedes []string `json:"supersedes,omitempty" max:"100" doc:"IDs of superseded memories"`
}

func agentEdit(ctx context.Context, c *tool.Call, in *agentEditIn) (*agentChanged, error) {
	if in.Project != nil {
		project, err := c.NamedProject(ctx, *in.Project)
		if err != nil {
			return nil, err
		}
		in.Project = &project
	}
	res, err := op.Edit.Call(ctx, c,
		&op.EditRequest{ID: memoryRef(in.ID), Content: in.Content, AddTags: in.AddTags, RemoveTags: in.RemoveTags,
			Project: in.Project, Source: in.Source, Context: in.Context, Core: in.Core,
			Supersedes: memoryRefs(in.Supersedes)})
	if err != nil {
		return nil, err
	}
	out := &agentChanged{ID: res.Memory.ID, Did: "changed " + strings.Join(res.Changed, ", ") + " of",
		Tags:    someTags(res.Memory.Tags),
		Project: res.Memory.Project, Tx: res.Tx}
	switch {
	case len(res.Changed) == 0:
		out.Did = "nothing to change in"
	case res.Pending != nil:
		out.Did = "changed (emberd updates the note later)"
	}
	if in.Content != nil && len(res.Memory.Hidden) > 0 {
		out.Did += " (the text contains " + strings.Join(res.Memory.Hidden, " and ") + ")"
	}
	return out, nil
}

type agentUsedIn struct {
	IDs  []string `json:"ids" min:"1" max:"50" doc:"memory IDs"`
	Tags []string `json:"tags,omitempty" max:"50" doc:"tags of the conversation"`
}

type agentUsedOut struct {
	Count    int      `json:"count"`
	Why      string   `json:"why,omitempty"`
	NotFound []string `json:"not_found,omitempty"`
	Tx       string   `json:"tx,omitempty"`
}

func agentUsed(ctx context.Context, c *tool.Call, in *agentUsedIn) (*agentUsedOut, error) {
	res, err := op.Observe.Call(ctx, c, &op.ObserveRequest{IDs: memoryRefs(in.IDs), Tags: in.Tags})
	if err != nil {
		return nil, err
	}
	out := &agentUsedOut{Count: res.Count, Why: res.Reason, Tx: res.Tx}
	for _, r := range res.Results {
		if r.Status == op.ObservedNotFound {
			out.NotFound = append(out.NotFound, shortRef(text.Truncate(answer.OneLine(r.ID), 40)))
		}
	}
	if len(out.NotFound) == len(in.IDs) {
		return nil, memory.Errorf(memory.NotFound, "memory %s not found; run: emberd list",
			strings.Join(out.NotFound, ", ")).At("ids")
	}
	return out, nil
}

// Text returns the text for the model.
func (o *agentUsedOut) Text() string {
	text := "reinforced " + plural(o.Count, "memory", "memories")
	if o.Why != "" {
		text += ": " + o.Why
	}
	if len(o.NotFound) > 0 {
		text += "; not found: " + strings.Join(o.NotFound, ", ")
	}
	if o.Tx != "" {
		text += ", tx " + o.Tx
	}
	return text + "\n"
}

type agentRelateIn struct {
	From     string   `json:"from" min:"1" doc:"ID of the source memory"`
	To       string   `json:"to" min:"1" doc:"ID of the target memory"`
	Type     string   `json:"type" enum:"related|causes|supports|contradicts|has_decision|consolidated_from" doc:"type of the relation"`
	Strength *float64 `json:"strength,omitempty" min:"0" max:"1" doc:"relation strength, default 1"`
}

type agentRelated struct {
	From memory.ID `json:"from"`
	To   memory.ID `json:"to"`
	Type string    `json:"type"`
	Tx   string    `json:"tx"`
}

func agentRelate(ctx context.Context, c *tool.Call, in *agentRelateIn) (*agentRelated, error) {
	res, err := op.Relate.Call(ctx, c,
		&op.RelateRequest{From: memoryRef(in.From), To: memoryRef(in.To), Type: in.Type, Strength: in.Strength})
	if err != nil {
		return nil, err
	}
	return &agentRelated{From: res.Relation.From, To: res.Relation.To, Type: res.Relation.Type, Tx: res.Tx}, nil
}

// Text returns the text for the model.
func (o *agentRelated) Text() string {
	return "[" + o.From.Short() + "] " + o.Type + " [" + o.To.Short() + "], tx " + o.Tx + "\n"
}

type agentForgetIn struct {
	IDs    []string `json:"ids" min:"1" max:"50" doc:"memory IDs"`
	DryRun bool     `json:"dry_run,omitempty" doc:"show what would change, without changing anything"`
}

// agentForgotten is what went to the trash, or would.
type agentForgotten struct {
	Forgotten []string `json:"forgotten"` // lines of an index
	Count     int      `json:"count"`
	DryRun    bool     `json:"dry_run,omitempty"`
	Until     string   `json:"until,omitempty"` // when the trash lets go of them
	Notes     []string `json:"notes,omitempty"` // that stay in the vault
	Tx        string   `json:"tx,omitempty"`
}

func agentForget(ctx context.Context, c *tool.Call, in *agentForgetIn) (*agentForgotten, error) {
	res, err := op.ForgetBatch.Call(ctx, c, &op.ForgetBatchRequest{IDs: memoryRefs(in.IDs), DryRun: in.DryRun})
	if err != nil {
		return nil, err
	}
	out := &agentForgotten{Forgotten: []string{}, Count: len(res.Forgotten), DryRun: res.DryRun, Tx: res.Tx,
		Notes: res.Notes[:min(len(res.Notes), maxLinks)]}
	if !res.Until.IsZero() {
		out.Until = day(res.Until)
	}
	left := newBudget(c, 2000)
	for i := range res.Forgotten {
		s := showMemory(&res.Forgotten[i], firstWords(res.Forgotten[i].Content))
		if line := strings.TrimSpace(s.render(depthIndex)); left.take(line, line) {
			out.Forgotten = append(out.Forgotten, line)
		}
	}
	return out, nil
}

// Text returns the text for the model.
func (o *agentForgotten) Text() string {
	var b strings.Builder
	switch {
	case o.DryRun:
		b.WriteString("would move " + plural(o.Count, "memory", "memories") +
			" to the trash; to apply, call again without dry_run\n")
	default:
		b.WriteString("moved " + plural(o.Count, "memory", "memories") + " to the trash until " + o.Until + ", tx " +
			o.Tx + "\n")
	}
	for _, line := range o.Forgotten {
		b.WriteString(line + "\n")
	}
	for _, n := range o.Notes {
		b.WriteString("kept the note " + answer.OneLine(n) + "\n")
	}
	return b.String()
}

type agentUndoIn struct {
	Tx string `json:"tx" min:"1" doc:"ID (tx) of the change to undo"`
}

type agentUndone struct {
	Undid string   `json:"undid"`
	Items []string `json:"items"`
	Tx    string   `json:"tx,omitempty"`
}

func agentUndo(ctx context.Context, c *tool.Call, in *agentUndoIn) (*agentUndone, error) {
	res, err := op.Undo.Call(ctx, c, &op.UndoRequest{Tx: in.Tx})
	if err != nil {
		return nil, err
	}
	out := &agentUndone{Undid: res.Entry.Verb + " of " + plural(res.Entry.Changed()), Items: []string{},
		Tx: res.Tx}
	if res.Tx == "" {
		out.Undid = "no part of the " + out.Undid
	}
	for _, item := range res.Items[:min(len(res.Items), op.MostShown/2)] {
		line := cmp.Or(item.Path, item.ID.Short()) + " " + item.Action
		if item.Reason != "" {
			line += ": " + item.Reason
		}
		out.Items = append(out.Items, line)
	}
	return out, nil
}

// Text returns the text for the model.
func (o *agentUndone) Text() string {
	what := "the " + o.Undid
	if o.Tx == "" {
		what = o.Undid
	}
	return "undid " + what + "\n" + strings.Join(append(o.Items, ""), "\n")
}
