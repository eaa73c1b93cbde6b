package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"emberd/op"
)

func (s *state) clusterCommand() *cobra.Command {
	var req op.ClustersRequest
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Show memories that say nearly the same",
		Long: `Show groups of memories that say nearly the same, most alike first, and what may
be done about each: auto-merge, llm-review (somebody should read them first), or
keep-separate. emberd consolidate merges or links them; this changes nothing.

Memories are compared by their vectors where there is a model that can be
trusted, else by their words, rare ones counting most; one that has no vector
yet, too. What differs in numbers, dates, names, negation or opposites is in no
group, however alike it is; such pairs are listed with the reason. Only memories
of one collection and project go together, and none that is core, promoted or
archived. With --json, "compared_by" tells what was compared by vectors.`,
		Example: `  emberd cluster
  emberd cluster --threshold 0.7 --max 5
  emberd cluster --duplicates`,
		Annotations: exits(endings{exitNothing: "no memories are that similar", exitNoDaemon: ""}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("threshold") {
				req.DuplicateThreshold = req.Threshold
			}
			res, err := call(cmd.Context(), s, op.Clusters, &req)
			if err != nil {
				return err
			}
			return s.found(res, res.Found, func() { s.printClusters(res) })
		},
	}
	f := cmd.Flags()
	f.Float64Var(&req.Threshold, "threshold", 0, "least `SIMILARITY`, up to 1; default 0.83, with --duplicates 0.88")
	f.IntVar(&req.MaxClusterSize, "max", 0, "most memories in a group, `N` up to 100; default 12")
	f.BoolVar(&req.FindDuplicates, "duplicates", false, "pairs instead of groups, core memories too")
	f.IntVarP(&req.Limit, "limit", "n", longestList, "show at most `N`")
	return cmd
}

func (s *state) printClusters(res *op.ClustersResult) {
	for _, c := range res.Clusters {
		s.printf("%s  %s\n", c.ID, s.screen.paint(faint, fmt.Sprintf("%s, cohesion %.2f, %s", count(c.Size, "memory", "memories"), c.Cohesion, c.SuggestedAction)))
		for i, text := range c.ContentPreviews {
			s.printf("  %s  %s\n", s.short(c.MemoryIDs[i]), s.gist(text, len("  12345678  ")))
		}
		if more := c.Size - len(c.ContentPreviews); more > 0 {
			s.printf("  and %s more\n", grouped(more))
		}
	}
	for i := range res.Pairs {
		s.printPair(&res.Pairs[i])
	}
	s.printf("%s\n", clean(foundAmong(res)))
	if more := res.Found - len(res.Clusters) - len(res.Pairs); more > 0 {
		s.note("%s more; --limit shows them", grouped(more))
	}
	if len(res.Apart) == 0 {
		return
	}
	s.printf("\n%s but not the same:\n", count(res.ApartFound, "pair is similar", "pairs are similar"))
	for i := range res.Apart {
		s.printPair(&res.Apart[i])
	}
}

// foundAmong says how much was found among how many.
func foundAmong(res *op.ClustersResult) string {
	what := count(res.Found, "group", "groups")
	if res.Mode == op.ModeDuplicates {
		what = count(res.Found, "pair", "pairs")
	}
	return fmt.Sprintf("%s among %s", what, count(res.Memories, "memory", "memories"))
}

func (s *state) printPair(p *op.SimilarPair) {
	s.printf("%s  %s\n", s.short(p.ID1), s.gist(p.Content1Preview, len("12345678  ")))
	s.printf("%s  %s\n", s.short(p.ID2), s.gist(p.Content2Preview, len("12345678  ")))
	told := fmt.Sprintf("similarity %.2f", p.Similarity)
	if p.Why != "" {
		told += "; " + clean(p.Why)
	}
	s.printf("          %s\n", s.screen.paint(faint, told))
}
