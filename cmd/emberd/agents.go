package main

import (
	"fmt"
	"slices"
	"strings"

	"emberd/op"
)

// shownOfAgent is how many lines each agent gets.
const shownOfAgent = 5

func (s *state) printAgents(res *op.AgentsRunResult) {
	if res.Skipped != "" {
		s.printf("not yet: %s; next %s\n", clean(res.Skipped), in(res.NextRun.Sub(s.now())))
		return
	}
	for _, a := range res.Ran {
		s.row(a.Agent, agentDid(&a, res.DryRun))
		if a.Problem != "" {
			s.row("", clean(a.Problem))
		}
		s.printFew(s.agentLines(res, a.Agent), a.Found)
	}
	if res.DryRun {
		s.note("nothing was changed; without --dry-run it is")
	} else if slices.ContainsFunc(res.Ran, func(a op.AgentRan) bool { return a.Filed > 0 }) {
		s.note("what was filed waits for you: emberd review list")
	}
	s.undoHint(res.Tx)
}

// agentDid sums up what one agent did.
func agentDid(a *op.AgentRan, dry bool) string {
	found := map[string]string{op.AgentDecay: "at risk", op.AgentCluster: "groups and contradictions", op.AgentMerge: "to merge",
		op.AgentPromote: "to promote", op.AgentRelations: "to relate"}[a.Agent]
	done := map[string]string{op.AgentCluster: "related as contradictions", op.AgentMerge: "merged", op.AgentPromote: "promoted", op.AgentRelations: "related"}[a.Agent]
	if a.Agent == op.AgentCluster && a.Found == 1 {
		found = "group or contradiction"
	}
	would := ""
	if dry {
		would = "would be "
	}
	parts := []string{grouped(a.Found) + " " + found}
	for _, p := range []struct {
		n    int
		what string
	}{{a.Filed, would + "filed for review"}, {a.Changed, would + done}, {a.Waiting, "left to later runs"}} {
		if p.n > 0 {
			parts = append(parts, grouped(p.n)+" "+p.what)
		}
	}
	return strings.Join(parts, ", ")
}

// printFew prints the first of some lines.
func (s *state) printFew(all []string, total int) {
	few := all[:min(len(all), shownOfAgent)]
	for _, line := range few {
		s.printf("  %s\n", line)
	}
	if more := total - len(few); more > 0 && len(few) > 0 {
		s.printf("  %s\n", s.screen.paint(faint, "and "+grouped(more)+" more"))
	}
}

// agentLines has a line for each thing that an agent found. The ids may be painted, so that
// what comes from outside is cleaned and not the line.
func (s *state) agentLines(res *op.AgentsRunResult, agent string) (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	switch agent {
	case op.AgentDecay:
		for _, d := range res.Decay {
			add("%s  score %.2f, %s, %s", s.short(d.MemoryID), d.Score, clean(d.Urgency), clean(d.Action))
		}
	case op.AgentCluster:
		for _, c := range res.Cluster {
			add("%s  %s of %s, cohesion %.2f", clean(c.ClusterID), clean(c.Action), strings.Join(shorts(c.MemoryIDs), ", "), c.Cohesion)
		}
	case op.AgentMerge:
		for _, m := range res.Merge {
			what := strings.Join(shorts(m.SourceIDs), ", ")
			if m.NewMemoryID != "" {
				what += " into " + s.short(m.NewMemoryID)
			}
			add("%s%s", what, because(m.Reason))
		}
	case op.AgentPromote:
		for _, p := range res.Promote {
			add("%s  %s, by %s", s.short(p.MemoryID), clean(p.VaultPath), clean(strings.Join(p.CriteriaMet, " and ")))
		}
	case op.AgentRelations:
		for _, r := range res.Relations {
			add("%s and %s  %s", s.short(r.FromID), s.short(r.ToID), clean(r.Reasoning))
		}
	}
	return out
}
