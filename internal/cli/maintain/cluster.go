package maintain

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/op"
)

func groupsCommand(s *cli.App) *cobra.Command {
	var req op.ClustersRequest
	cmd := cli.Command("groups", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("threshold") {
			req.DuplicateThreshold = req.Threshold
		}
		return cli.List(cmd.Context(), s, op.Clusters, &req,
			func(res *op.ClustersResult) int { return res.Found }, printClusters)
	})
	cli.Bind(cmd.Flags(), &req, "threshold", "duplicates:find_duplicates", "limit,n=20")
	return cmd
}

// adviceOf is a suggested action as people read it. emberd merges nothing because of it.
func adviceOf(action string) string {
	switch action {
	case "auto-merge":
		return "can be merged"
	case "llm-review":
		return "read before you merge"
	}
	return strings.ReplaceAll(cli.Clean(action), "-", " ")
}

func printClusters(s *cli.App, res *op.ClustersResult) {
	for _, c := range res.Clusters {
		s.Printf("%s  %s\n", c.ID, s.Screen.Paint(cli.Faint, fmt.Sprintf("%s, cohesion %.2f, %s",
			cli.Count(c.Size, "memory", "memories"), c.Cohesion, adviceOf(c.SuggestedAction))))
		for i, text := range c.ContentPreviews {
			s.Printf("  %s  %s\n", s.Short(c.MemoryIDs[i]), s.Gist(text, len("  12345678  ")))
		}
		if more := c.Size - len(c.ContentPreviews); more > 0 {
			s.Printf("  and %s more\n", cli.Grouped(more))
		}
	}
	for i := range res.Pairs {
		printPair(s, &res.Pairs[i])
	}
	s.Printf("%s\n", cli.Clean(foundAmong(res)))
	if more := res.Found - len(res.Clusters) - len(res.Pairs); more > 0 {
		s.Note("%s more not shown; to see more, use --limit", cli.Grouped(more))
	}
	if len(res.Apart) == 0 {
		return
	}
	s.Printf("\n"+
		"%s, but the memories differ:\n", cli.Count(res.ApartFound, "pair is similar", "pairs are similar"))
	for i := range res.Apart {
		printPair(s, &res.Apart[i])
	}
}

// foundAmong says how much was found among how many.
func foundAmong(res *op.ClustersResult) string {
	what := cli.Count(res.Found, "group", "groups")
	if res.Mode == op.ModeDuplicates {
		what = cli.Count(res.Found, "pair", "pairs")
	}
	return fmt.Sprintf("%s among %s", what, cli.Count(res.Memories, "memory", "memories"))
}

func printPair(s *cli.App, p *op.SimilarPair) {
	s.Printf("%s  %s\n", s.Short(p.ID1), s.Gist(p.Content1Preview, len("12345678  ")))
	s.Printf("%s  %s\n", s.Short(p.ID2), s.Gist(p.Content2Preview, len("12345678  ")))
	told := fmt.Sprintf("similarity %.2f", p.Similarity)
	if p.Why != "" {
		told += "; " + cli.Clean(p.Why)
	}
	s.Printf("          %s\n", s.Screen.Paint(cli.Faint, told))
}
