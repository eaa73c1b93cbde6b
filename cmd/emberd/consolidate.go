package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"emberd/op"
)

func (s *state) consolidateCommand() *cobra.Command {
	var c consolidation
	cmd := &cobra.Command{
		Use:   "consolidate [CLUSTER | --auto]",
		Short: "Look after memories, or merge those that say nearly the same",
		Long: `Without arguments, run the agents that look after the memories, one after the
other: decay files what is about to be forgotten for review, cluster what is
alike or contradicts, merge merges what may be, promote gives notes to memories
that deserve one, and relations relates those that name the same. The keeper
does so by itself; see consolidation.interval. All of it is one journal entry,
which undo takes back. Without consolidation.auto_merge nothing is merged,
unless --agent merge asks for it.

With the id of a group that emberd cluster shows, or with --auto for every
group that is cohesive enough, merge the memories of a group. Without --apply
or --link it only tells what would come of it. The merged memory has every
different text, all tags, entities and relations, the earliest creation and the
latest use, and more strength. Its parts are archived, with their texts in the
vault, and searches that match one answer with the merged memory. --link leaves
the memories alone and relates them to each other. If other memories have come
to the group since it was shown, nothing is done.`,
		Example: `  emberd consolidate --dry-run
  emberd consolidate --agent decay
  emberd consolidate --scheduled --interval-hours 1
  emberd consolidate cluster-3f9a1c5d7e2b4860 --apply
  emberd consolidate --auto --cohesion 0.9 --apply`,
		Annotations: exits(endings{
			exitNothing: "no such group, none with --auto, nothing for the agents, or no vault", exitNoDaemon: "",
			exitConflict: "the group changed, a part stays as it is, or another is the keeper",
			exitDisk:     "", exitAgain: "the agents are running, or the vault is away",
		}),
		Args:              takes(0, 1, "the id of a group, as emberd cluster shows it"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !c.groups.AutoDetect {
				return s.runAgents(cmd, &c)
			}
			return s.runGroups(cmd, &c, strings.Join(args, ""))
		},
	}
	c.flags(cmd)
	return cmd
}

// consolidation is what the flags say.
type consolidation struct {
	groups      op.ConsolidateRequest
	agents      op.AgentsRunRequest
	cohesion    float64
	hours       float64
	apply, link bool
}

func (c *consolidation) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.agents.Agent, "agent", "", "only `AGENT`: decay, cluster, merge, promote or relations")
	f.BoolVar(&c.agents.DryRun, "dry-run", false, "tell what the agents would do, change nothing")
	f.BoolVar(&c.agents.Scheduled, "scheduled", false, "run the agents only if their last run is long enough ago")
	f.Float64Var(&c.hours, "interval-hours", 0, "with --scheduled: how long, in `HOURS`, not consolidation.interval")
	f.BoolVar(&c.agents.Force, "force", false, "with --scheduled: even if it is not")
	f.BoolVar(&c.groups.AutoDetect, "auto", false, "merge every group that is cohesive enough")
	f.BoolVar(&c.apply, "apply", false, "with a group or --auto: merge")
	f.BoolVar(&c.link, "link", false, "with a group or --auto: relate the memories instead")
	f.Float64Var(&c.cohesion, "cohesion", op.CohesionThreshold, "with --auto: least `COHESION`, 0 to 1")
	f.IntVarP(&c.groups.Limit, "limit", "n", longestList, "with --auto: at most `N` groups")
	completeWords(cmd, "agent", op.Agents()...)
}

// given is the first of some flags that was given, "" for none.
func given(cmd *cobra.Command, names ...string) string {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return "--" + name
		}
	}
	return ""
}

// runGroups merges or links groups, or tells what would come of it.
func (s *state) runGroups(cmd *cobra.Command, c *consolidation, id string) error {
	req := &c.groups
	if flag := given(cmd, "agent", "dry-run", "scheduled", "interval-hours", "force"); flag != "" {
		return wrong(cmd, "%s is about the agents, and groups are chosen; leave it out", flag)
	}
	switch {
	case c.apply && c.link:
		return wrong(cmd, "--apply and --link exclude each other; leave one out")
	case !req.AutoDetect && cmd.Flags().Changed("cohesion"):
		return wrong(cmd, "--cohesion chooses groups for --auto, and one is named; leave it out")
	case c.apply:
		req.Mode = op.ModeApply
	case c.link:
		req.Mode = op.ModeLink
	}
	req.ClusterID, req.CohesionThreshold = id, &c.cohesion
	res, err := call(cmd.Context(), s, op.Consolidate, req)
	if err != nil {
		return err
	}
	return s.found(res, res.Found-len(res.Refused), func() { s.printConsolidated(res) })
}

// runAgents runs the agents. That it is not time yet is no failure.
func (s *state) runAgents(cmd *cobra.Command, c *consolidation) error {
	if flag := given(cmd, "apply", "link", "cohesion", "limit"); flag != "" {
		return wrong(cmd, "%s is about groups; name one, or add --auto", flag)
	}
	if flag := given(cmd, "interval-hours", "force"); flag != "" && !c.agents.Scheduled {
		return wrong(cmd, "%s goes with --scheduled; add that", flag)
	}
	if cmd.Flags().Changed("interval-hours") {
		if c.hours < 1.0/60 || c.hours > 720 {
			return wrong(cmd, "--interval-hours is %v, outside 1/60 to 720", c.hours)
		}
		c.agents.IntervalSeconds = int64(c.hours*3600 + 0.5)
	}
	res, err := call(cmd.Context(), s, op.AgentsRun, &c.agents)
	if err != nil {
		return err
	}
	found := 0
	for _, a := range res.Ran {
		found += a.Found
	}
	if c.agents.Scheduled {
		found = 1
	}
	return s.found(res, found, func() { s.printAgents(res) })
}

func (s *state) printConsolidated(res *op.ConsolidateResult) {
	for i := range res.Previews {
		s.printMergePreview(&res.Previews[i])
	}
	for _, m := range res.Merged {
		s.printf("merged %s into %s\n", strings.Join(shorts(m.SourceIDs), ", "), s.short(m.NewMemoryID))
	}
	for _, l := range res.Linked {
		s.printf("linked %s, %s made\n", strings.Join(shorts(l.MemoryIDs), ", "), count(len(l.RelationIDs), "relation", "relations"))
	}
	for _, r := range res.Refused {
		s.note("%s stays as it is: %s", r.ClusterID, clean(r.Reason))
	}
	if res.Mode == op.ModePreview {
		s.printf("%s\n", count(res.Found, "group", "groups"))
	} else {
		s.printf("%s\n", clean(res.Message))
	}
	if len(res.Previews) > 0 {
		s.note("nothing was changed; --apply merges, --link relates them")
	}
	s.undoHint(res.Tx)
}

func (s *state) printMergePreview(p *op.MergePreview) {
	s.printf("%s  %s\n", p.ClusterID, s.screen.paint(faint, fmt.Sprintf("cohesion %.2f; of %s", p.Cohesion, strings.Join(shorts(p.MemoryIDs), ", "))))
	s.printf("%s", s.screen.paragraph(clean(p.MergedContentPreview), nil, "  "))
	about := append(nonEmpty(tagged(p.MergedTags), strings.Join(p.MergedEntities, ", ")), fmt.Sprintf("strength %.2f", p.CalculatedStrength))
	s.printf("  %s\n", s.screen.paint(faint, clean(strings.Join(about, "; "))))
	if p.Refused != "" {
		s.printf("  not to be merged: %s\n", clean(p.Refused))
	}
}
