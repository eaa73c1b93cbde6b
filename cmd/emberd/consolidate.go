package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"emberd/op"
)

func (s *state) consolidateCommand() *cobra.Command {
	var req op.ConsolidateRequest
	var cohesion float64
	var apply, link bool
	cmd := &cobra.Command{
		Use:   "consolidate [CLUSTER] | --auto",
		Short: "Merge memories that say nearly the same",
		Long: `Merge the memories of a group that emberd cluster shows, or with --auto of every
group that is cohesive enough. Without --apply or --link it only tells what
would come of it.

The merged memory has every different text, all tags and entities, the earliest
creation and the latest use, and more strength. Its parts are archived, with
their texts in the vault, and searches that match one answer with the merged
memory. --link leaves the memories alone and relates them to each other. Either
is one journal entry, which undo takes back.

If other memories have come to the group since it was shown, nothing is done.`,
		Example: `  emberd consolidate cluster-3f9a1c5d7e2b4860
  emberd consolidate cluster-3f9a1c5d7e2b4860 --apply
  emberd consolidate --auto --cohesion 0.9 --apply`,
		Annotations: exits(endings{
			exitNothing: "no such group, none with --auto, or no vault", exitNoDaemon: "",
			exitConflict: "the group has other memories by now, or one of them stays as it is",
			exitDisk:     "", exitAgain: "",
		}),
		Args:              takes(0, 1, "the id of a group, as emberd cluster shows it"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case apply && link:
				return wrong(cmd, "--apply and --link exclude each other; leave one out")
			case len(args) == 0 && !req.AutoDetect:
				return wrong(cmd, "%s needs the id of a group, or --auto", cmd.CommandPath())
			case !req.AutoDetect && cmd.Flags().Changed("cohesion"):
				return wrong(cmd, "--cohesion chooses groups for --auto, and one is named; leave it out")
			case apply:
				req.Mode = op.ModeApply
			case link:
				req.Mode = op.ModeLink
			}
			req.ClusterID, req.CohesionThreshold = strings.Join(args, ""), &cohesion
			res, err := call(cmd.Context(), s, op.Consolidate, &req)
			if err != nil {
				return err
			}
			return s.found(res, res.Found-len(res.Refused), func() { s.printConsolidated(res) })
		},
	}
	f := cmd.Flags()
	f.BoolVar(&req.AutoDetect, "auto", false, "every group that is cohesive enough")
	f.BoolVar(&apply, "apply", false, "merge")
	f.BoolVar(&link, "link", false, "relate the memories instead of merging them")
	f.Float64Var(&cohesion, "cohesion", op.CohesionThreshold, "with --auto: least `COHESION`, 0 to 1")
	f.IntVarP(&req.Limit, "limit", "n", longestList, "at most `N` groups")
	return cmd
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
	s.printf("%s\n", clean(res.Message))
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
