package maintain

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/op"
)

func healthStaleCommand(s *cli.App) *cobra.Command {
	var req op.HealthStaleRequest
	cmd := cli.Command("stale", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		return cli.List(cmd.Context(), s, op.HealthStale, &req,
			func(res *op.HealthStaleResult) int { return res.Found }, printStale)
	})
	cli.Bind(cmd.Flags(), &req, "days:days_unused=30", "below:min_confidence", "collection,c=all", "limit,n=20")
	return cmd
}

func printStale(s *cli.App, r *op.HealthStaleResult) {
	for _, m := range r.StaleMemories {
		days := fmt.Sprintf("%5s d", cli.Grouped(m.DaysSinceAccess))
		if m.LastAccessed == "never" {
			days = "  never"
		}
		told := fmt.Sprintf("%s, %s", days, cli.Pad(cli.Count(int(m.AccessCount), "access", "accesses"),
			len("12 accesses")))
		s.Printf("%s  %s  %s\n", s.Short(m.ID), s.Screen.Paint(cli.Faint, told),
			s.Gist(m.FullText, len("12345678  ")+len(told)+2))
	}
	s.Printf("%s of %s\n", cli.Count(r.Found, "stale memory", "stale memories"), cli.Grouped(r.TotalChecked))
	moreOf(s, r.Found-r.StaleCount)
}

func moreOf(s *cli.App, n int) {
	if n > 0 {
		s.Note("%s more not shown; to see more, use --limit", cli.Grouped(n))
	}
}

func healthUnusedCommand(s *cli.App) *cobra.Command {
	var req op.HealthLowAccessRequest
	cmd := cli.Command("unused", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		return cli.List(cmd.Context(), s, op.HealthLowAccess, &req,
			func(res *op.HealthLowAccessResult) int { return res.Found }, printLowAccess)
	})
	cli.Bind(cmd.Flags(), &req, "most:max_access_count=2", "days:min_age_days=7", "collection,c=all", "limit,n=20")
	return cmd
}

func printLowAccess(s *cli.App, r *op.HealthLowAccessResult) {
	for _, m := range r.LowAccessMemories {
		told := fmt.Sprintf("%5s d old, %s", cli.Grouped(m.AgeDays),
			cli.Pad(cli.Count(int(m.AccessCount), "access", "accesses"), len("12 accesses")))
		s.Printf("%s  %s  %s\n", s.Short(m.ID), s.Screen.Paint(cli.Faint, told),
			s.Gist(m.Text, len("12345678  ")+len(told)+2))
	}
	s.Printf("%s of %s\n", cli.Count(r.Found, "rarely found memory", "rarely found memories"),
		cli.Grouped(r.TotalChecked))
	moreOf(s, r.Found-r.FlaggedCount)
}

func healthDuplicatesCommand(s *cli.App) *cobra.Command {
	var req op.HealthDuplicatesRequest
	cmd := cli.Command("duplicates", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		res, err := reporting(cmd.Context(), s, "comparing memories", op.HealthDuplicates, &req)
		if err != nil {
			return err
		}
		return s.Found(res, res.Found, func() { printDuplicates(s, res) })
	})
	cli.Bind(cmd.Flags(), &req, "threshold:similarity_threshold=0.95", "sample:sample_size", "collection,c=all",
		"limit,n=20")
	return cmd
}

func printDuplicates(s *cli.App, r *op.HealthDuplicatesResult) {
	for _, p := range r.DuplicatePairs {
		printPair(s, &op.SimilarPair{ID1: p.ID1, ID2: p.ID2, Content1Preview: p.Text1, Content2Preview: p.Text2,
			Similarity: p.Similarity, Why: p.Why})
	}
	s.Printf("%s among %s\n", cli.Count(r.Found, "pair", "pairs"), cli.Count(r.TotalChecked, "memory", "memories"))
	moreOf(s, r.Found-r.DuplicatesFound)
}

func healthMergeCommand(s *cli.App) *cobra.Command {
	var req op.HealthMergeRequest
	cmd := cli.Command("merge ID1 ID2", cli.ArgCount(2, 2, "the IDs of two memories"), cobra.NoFileCompletions,
		func(cmd *cobra.Command, args []string) error {
			req.ID1, req.ID2, req.Collection = args[0], args[1], "all"
			return cli.Show(cmd.Context(), s, op.HealthMerge, &req, func(s *cli.App, res *op.HealthMergeResult) {
				s.Printf("kept %s (confidence %g, %s); moved %s to the trash\n", s.Short(res.KeptID), res.NewConfidence,
					cli.Count(int(res.NewAccessCount), "access", "accesses"), s.Short(res.DiscardedID))
				s.UndoHint(res.Tx)
			})
		})
	cli.Bind(cmd.Flags(), &req, "keep")
	return cmd
}

func MigrateCommand(s *cli.App) *cobra.Command {
	var req op.MigrateRequest
	cmd := cli.Command("migrate", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		res, err := reporting(cmd.Context(), s, "migrating", op.Migrate, &req)
		if err != nil {
			return err
		}
		return s.Answer(res, func() {
			s.Printf("%s\n", cmp.Or(cli.Clean(res.Message), fmt.Sprintf("migrated %s of %s; already up to date: %s",
				cli.Grouped(res.Migrated), cli.Count(res.TotalVectors, "record", "records"), cli.Grouped(res.Skipped))))
			s.UndoHint(res.Tx)
		})
	})
	cli.Bind(cmd.Flags(), &req, "collection,c")
	return cmd
}
