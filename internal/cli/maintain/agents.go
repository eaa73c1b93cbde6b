package maintain

import (
	"fmt"
	"slices"
	"strings"

	"emberd/internal/cli"
	"emberd/op"
)

// shownOfAgent is how many lines each agent gets.
const shownOfAgent = 5

func printAgents(s *cli.App, res *op.AgentsRunResult) {
	if res.Skipped != "" {
		s.Printf("skipped: %s; next run %s\n", cli.Clean(res.Skipped), cli.In(res.NextRun.Sub(s.Now())))
		return
	}
	for _, a := range res.Ran {
		s.Row(a.Agent, agentDid(&a, res.DryRun))
		if a.Problem != "" {
			s.Row("", cli.Clean(a.Problem))
		}
		printFew(s, agentLines(s, res, a.Agent), a.Found)
	}
	if res.DryRun {
		s.Note("nothing changed; to apply the changes, omit --dry-run")
	} else if slices.ContainsFunc(res.Ran, func(a op.AgentRan) bool { return a.Filed > 0 }) {
		s.Note("created review items; to list them, run: emberd review list")
	}
	s.UndoHint(res.Tx)
}

// agentDid sums up what one agent did.
func agentDid(a *op.AgentRan, dry bool) string {
	found := map[string]string{op.AgentDecay: "at risk", op.AgentCluster: "groups and contradictions",
		op.AgentMerge:   "to merge",
		op.AgentPromote: "to promote", op.AgentRelations: "to relate"}[a.Agent]
	done := map[string]string{op.AgentCluster: "related as contradictions", op.AgentMerge: "merged",
		op.AgentPromote: "promoted", op.AgentRelations: "related"}[a.Agent]
	if a.Agent == op.AgentCluster && a.Found == 1 {
		found = "group or contradiction"
	}
	would := ""
	if dry {
		would = "would be "
	}
	parts := []string{cli.Grouped(a.Found) + " " + found}
	for _, p := range []struct {
		n    int
		what string
	}{{a.Filed, would + "sent to review"}, {a.Changed, would + done}, {a.Waiting, "postponed to later runs"}} {
		if p.n > 0 {
			parts = append(parts, cli.Grouped(p.n)+" "+p.what)
		}
	}
	return strings.Join(parts, ", ")
}

// printFew prints the first of some lines.
func printFew(s *cli.App, all []string, total int) {
	few := all[:min(len(all), shownOfAgent)]
	for _, line := range few {
		s.Printf("  %s\n", line)
	}
	if more := total - len(few); more > 0 && len(few) > 0 {
		s.Printf("  %s\n", s.Screen.Paint(cli.Faint, "and "+cli.Grouped(more)+" more"))
	}
}

// agentLines has a line for each thing that an agent found. The ids may be painted, so that
// what comes from outside is cleaned and not the line.
func agentLines(s *cli.App, res *op.AgentsRunResult, agent string) (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	switch agent {
	case op.AgentDecay:
		for _, d := range res.Decay {
			add("%s  score %.2f, %s, %s", s.Short(d.MemoryID), d.Score, cli.Clean(d.Urgency), cli.Clean(d.Action))
		}
	case op.AgentCluster:
		for _, c := range res.Cluster {
			add("%s  %s of %s, cohesion %.2f", cli.Clean(c.ClusterID), cli.Clean(c.Action),
				strings.Join(cli.Shorts(c.MemoryIDs), ", "), c.Cohesion)
		}
	case op.AgentMerge:
		for _, m := range res.Merge {
			what := strings.Join(cli.Shorts(m.SourceIDs), ", ")
			if m.NewMemoryID != "" {
				what += " into " + s.Short(m.NewMemoryID)
			}
			add("%s%s", what, cli.Because(m.Reason))
		}
	case op.AgentPromote:
		for _, p := range res.Promote {
			add("%s  %s, by %s", s.Short(p.MemoryID), cli.Clean(p.VaultPath),
				cli.Clean(strings.Join(p.CriteriaMet, " and ")))
		}
	case op.AgentRelations:
		for _, r := range res.Relations {
			add("%s and %s  %s", s.Short(r.FromID), s.Short(r.ToID), cli.Clean(r.Reasoning))
		}
	}
	return out
}
