package maintain

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/op"
)

func consolidateCommand(s *cli.App) *cobra.Command {
	var c consolidation
	cmd := cli.Command("consolidate [CLUSTER | --auto]",
		cli.ArgCount(0, 1, "a group ID from emberd health groups"), cobra.NoFileCompletions,
		func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !c.groups.AutoDetect {
				return runAgents(s, cmd, &c)
			}
			return runGroups(s, cmd, &c, strings.Join(args, ""))
		})
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
	cli.Bind(f, &c.agents, "agent", "dry-run", "scheduled", "force")
	f.Float64Var(&c.hours, "interval-hours", 0, "")
	cli.Bind(f, &c.groups, "auto:auto_detect", "limit,n=20")
	f.BoolVar(&c.apply, "apply", false, "")
	f.BoolVar(&c.link, "link", false, "")
	f.Float64Var(&c.cohesion, "cohesion", op.CohesionThreshold, "")
	cli.CompleteWords(cmd, "agent", op.Agents()...)
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
func runGroups(s *cli.App, cmd *cobra.Command, c *consolidation, id string) error {
	req := &c.groups
	if flag := given(cmd, "agent", "dry-run", "scheduled", "interval-hours", "force"); flag != "" {
		return cli.UsageError(cmd, "%s cannot be combined with groups; to run the maintenance agents, "+
			"omit the groups; to process the groups, omit %[1]s", flag)
	}
	switch {
	case c.apply && c.link:
		return cli.UsageError(cmd, "--apply and --link cannot be combined")
	case !req.AutoDetect && cmd.Flags().Changed("cohesion"):
		return cli.UsageError(cmd, "--cohesion requires --auto; if you name a group, omit --cohesion")
	case c.apply:
		req.Mode = op.ModeApply
	case c.link:
		req.Mode = op.ModeLink
	}
	req.ClusterID, req.CohesionThreshold = id, &c.cohesion
	return cli.List(cmd.Context(), s, op.Consolidate, req,
		func(res *op.ConsolidateResult) int { return res.Found - len(res.Refused) }, printConsolidated)
}

// runAgents runs the agents. That it is not time yet is no failure.
func runAgents(s *cli.App, cmd *cobra.Command, c *consolidation) error {
	if flag := given(cmd, "apply", "link", "cohesion", "limit"); flag != "" {
		return cli.UsageError(cmd, "%s requires a group ID or --auto", flag)
	}
	if flag := given(cmd, "interval-hours", "force"); flag != "" && !c.agents.Scheduled {
		return cli.UsageError(cmd, "%s requires --scheduled", flag)
	}
	if cmd.Flags().Changed("interval-hours") {
		if c.hours < 1.0/60 || c.hours > 720 {
			return cli.UsageError(cmd, "--interval-hours %v is out of range (1/60 to 720)", c.hours)
		}
		c.agents.IntervalSeconds = int64(c.hours*3600 + 0.5)
	}
	res, err := cli.Call(cmd.Context(), s, op.AgentsRun, &c.agents)
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
	return s.Found(res, found, func() { printAgents(s, res) })
}

func printConsolidated(s *cli.App, res *op.ConsolidateResult) {
	for i := range res.Previews {
		printMergePreview(s, &res.Previews[i])
	}
	for _, m := range res.Merged {
		s.Printf("merged %s into %s\n", strings.Join(cli.Shorts(m.SourceIDs), ", "), s.Short(m.NewMemoryID))
	}
	for _, l := range res.Linked {
		s.Printf("linked %s, %s made\n", strings.Join(cli.Shorts(l.MemoryIDs), ", "),
			cli.Count(l.Pairs(), "bidirectional relation", "bidirectional relations"))
	}
	for _, r := range res.Refused {
		s.Note("did not merge group %s: %s", r.ClusterID, cli.Clean(r.Reason))
	}
	switch {
	case res.Mode == op.ModePreview:
		s.Printf("%s\n", cli.Count(res.Found, "group", "groups"))
	case len(res.Merged) != 1 || res.Found != 1: // else the line above has all of it
		s.Printf("%s\n", cli.Clean(res.Message))
	}
	if len(res.Previews) > 0 {
		s.Note("nothing changed; to merge the memories, use --apply; to link the memories, use --link")
	}
	s.UndoHint(res.Tx)
}

func printMergePreview(s *cli.App, p *op.MergePreview) {
	s.Printf("%s  %s\n", p.ClusterID,
		s.Screen.Paint(cli.Faint, fmt.Sprintf("cohesion %.2f; of %s", p.Cohesion, strings.Join(cli.Shorts(p.MemoryIDs),
			", "))))
	s.Printf("%s", s.Screen.Paragraph(cli.Clean(p.MergedContentPreview), nil, "  "))
	about := append(cli.NonEmpty(cli.Tagged(p.MergedTags), strings.Join(p.MergedEntities, ", ")),
		fmt.Sprintf("strength %.2f", p.CalculatedStrength))
	s.Printf("  %s\n", s.Screen.Paint(cli.Faint, cli.Clean(strings.Join(about, "; "))))
	if p.Refused != "" {
		s.Printf("  emberd cannot merge this group: %s\n", cli.Clean(p.Refused))
	}
}
