package mcp

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"emberd/internal/mcp/answer"
	"emberd/internal/mcp/tool"
	"emberd/memory"
	"emberd/op"
)

type agentStatusIn struct{}

type agentStatusOut struct {
	Health   string               `json:"health"`
	Memories int                  `json:"memories"`
	Stages   map[memory.Stage]int `json:"stages"`
	Notes    int                  `json:"notes"`
	Tags     []string             `json:"tags"`
	Projects []string             `json:"projects"`
	Current  string               `json:"current_project,omitempty"`
	Warnings []string             `json:"warnings"`
	Changes  []agentChange        `json:"changes"`
}

// agentChange is an entry of the journal.
type agentChange struct {
	Tx   string `json:"tx"`
	What string `json:"what"`
	When string `json:"when"`
	By   string `json:"by,omitempty"`
}

const (
	maxWarnings = 5
	maxChanges  = 5
	maxProjects = 10
)

func agentStatus(ctx context.Context, c *tool.Call, _ *agentStatusIn) (*agentStatusOut, error) {
	status, err := op.Status.Call(ctx, c, &op.StatusRequest{})
	if err != nil {
		return nil, err
	}
	stats, err := op.Stats.Call(ctx, c, &op.StatsRequest{})
	if err != nil {
		return nil, err
	}
	journal, err := op.Journal.Call(ctx, c, &op.JournalRequest{Limit: maxChanges})
	if err != nil {
		return nil, err
	}
	out := &agentStatusOut{Health: status.Health, Memories: stats.Total, Stages: stats.Stages, Current: c.Project(ctx),
		Tags: []string{}, Projects: []string{}, Warnings: status.Warnings[:min(len(status.Warnings), maxWarnings)],
		Changes: []agentChange{}}
	for _, v := range status.Vaults {
		out.Notes += v.Notes
	}
	for _, t := range stats.TopTags {
		out.Tags = append(out.Tags, t.Tag)
	}
	projects := slices.SortedFunc(maps.Keys(stats.Projects), func(a, b string) int {
		return cmp.Or(cmp.Compare(stats.Projects[b], stats.Projects[a]), cmp.Compare(a, b))
	})
	out.Projects = append(out.Projects, projects[:min(len(projects), maxProjects)]...)
	for _, e := range journal.Entries {
		c := agentChange{Tx: e.Tx, What: e.Verb + " of " + plural(e.Changed()),
			When: e.At.Format("2006-01-02 15:04"),
			By:   answer.OneLine(e.By.Via + " " + e.By.Client)}
		if e.Undone {
			c.What += " (undone)"
		}
		out.Changes = append(out.Changes, c)
	}
	return out, nil
}

// Text returns the text for the model.
func (o *agentStatusOut) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s\n", o.Health, plural(o.Memories, "memory", "memories"),
		plural(o.Notes, "note", "notes"))
	for _, stage := range memory.Stages() {
		if n := o.Stages[stage]; n > 0 && stage != memory.Active {
			fmt.Fprintf(&b, "%d %s\n", n, stage)
		}
	}
	if o.Current != "" {
		b.WriteString("project here: " + answer.OneLine(o.Current) + "\n")
	}
	if len(o.Tags) > 0 {
		b.WriteString("tags: " + answer.OneLine(strings.Join(o.Tags, ", ")) + "\n")
	}
	if len(o.Projects) > 0 {
		b.WriteString("projects: " + answer.OneLine(strings.Join(o.Projects, ", ")) + "\n")
	}
	for _, w := range o.Warnings {
		b.WriteString("warning: " + w + "\n")
	}
	for _, c := range o.Changes {
		b.WriteString(strings.Join(nonEmpty(c.When, c.What, c.By, "tx "+c.Tx), ", ") + "\n")
	}
	return b.String()
}
