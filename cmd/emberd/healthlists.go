package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"emberd/op"
)

func (s *state) healthStaleCommand() *cobra.Command {
	var req op.HealthStaleRequest
	var days int
	var below float64
	cmd := &cobra.Command{
		Use:   "stale",
		Short: "List memories that no search returned for long",
		Long: `List the memories that no search returned for 30 days, the longest first. One
that was never returned counts from when it was saved; one of another system
that brought no access along was never returned, until emberd migrate.`,
		Example: `  emberd health stale
  emberd health stale --days 90 --below 0.5 -c knowledge`,
		Annotations: exits(endings{exitNothing: "none is stale, or there is no such collection", exitNoDaemon: ""}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			req.DaysUnused = &days
			if cmd.Flags().Changed("below") {
				req.MinConfidence = &below
			}
			res, err := call(cmd.Context(), s, op.HealthStale, &req)
			if err != nil {
				return err
			}
			return s.found(res, res.Found, func() { s.printStale(res) })
		},
	}
	f := cmd.Flags()
	f.IntVar(&days, "days", 30, "not returned for so many `DAYS`")
	f.Float64Var(&below, "below", 0, "only with less `CONFIDENCE` than this, 0 to 1")
	healthFlags(cmd, &req.Collection, &req.Limit)
	return cmd
}

// healthFlags are those of every list of the kind.
func healthFlags(cmd *cobra.Command, collection *string, limit *int) {
	cmd.Flags().StringVarP(collection, "collection", "c", "all", "only of this `COLLECTION`")
	cmd.Flags().IntVarP(limit, "limit", "n", longestList, "show at most `N`, up to 1,000")
}

func (s *state) printStale(r *op.HealthStaleResult) {
	for _, m := range r.StaleMemories {
		days := fmt.Sprintf("%5s d", grouped(m.DaysSinceAccess))
		if m.LastAccessed == "never" {
			days = "  never"
		}
		told := fmt.Sprintf("%s, %s", days, pad(count(int(m.AccessCount), "access", "accesses"), len("12 accesses")))
		s.printf("%s  %s  %s\n", s.short(m.ID), s.screen.paint(faint, told), s.gist(m.FullText, len("12345678  ")+len(told)+2))
	}
	s.printf("%s of %s\n", count(r.Found, "stale memory", "stale memories"), grouped(r.TotalChecked))
	s.moreOf(r.Found - r.StaleCount)
}

func (s *state) moreOf(n int) {
	if n > 0 {
		s.note("%s more; --limit shows them", grouped(n))
	}
}

func (s *state) healthLowAccessCommand() *cobra.Command {
	var req op.HealthLowAccessRequest
	var most int64
	var days int
	cmd := &cobra.Command{
		Use:   "low-access",
		Short: "List memories that searches hardly ever returned",
		Long: `List the memories of more than a week that searches returned twice at most, the
least first, of equal ones the oldest.`,
		Example: `  emberd health low-access
  emberd health low-access --most 0 --days 30`,
		Annotations: exits(endings{exitNothing: "there are none, or no such collection", exitNoDaemon: ""}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			req.MaxAccessCount, req.MinAgeDays = &most, &days
			res, err := call(cmd.Context(), s, op.HealthLowAccess, &req)
			if err != nil {
				return err
			}
			return s.found(res, res.Found, func() { s.printLowAccess(res) })
		},
	}
	cmd.Flags().Int64Var(&most, "most", 2, "returned at most `N` times")
	cmd.Flags().IntVar(&days, "days", 7, "older than so many `DAYS`")
	healthFlags(cmd, &req.Collection, &req.Limit)
	return cmd
}

func (s *state) printLowAccess(r *op.HealthLowAccessResult) {
	for _, m := range r.LowAccessMemories {
		told := fmt.Sprintf("%5s d old, %s", grouped(m.AgeDays), pad(count(int(m.AccessCount), "access", "accesses"), len("12 accesses")))
		s.printf("%s  %s  %s\n", s.short(m.ID), s.screen.paint(faint, told), s.gist(m.Text, len("12345678  ")+len(told)+2))
	}
	s.printf("%s of %s\n", count(r.Found, "memory hardly ever found", "memories hardly ever found"), grouped(r.TotalChecked))
	s.moreOf(r.Found - r.FlaggedCount)
}

func (s *state) healthDuplicatesCommand() *cobra.Command {
	var req op.HealthDuplicatesRequest
	least := 0.95
	cmd := &cobra.Command{
		Use:   "duplicates",
		Short: "List pairs of memories that say nearly the same",
		Long: `List pairs of memories that say nearly the same, the most similar first, among
those of one collection and project; by their vectors where there is a model
that can be trusted, else by their words. What keeps two from being merged
unasked stands below them. emberd health merge keeps one of a pair.`,
		Example: `  emberd health duplicates
  emberd health duplicates --threshold 0.9 --sample 500`,
		Annotations: exits(endings{exitNothing: "no two are that similar, or there is no such collection", exitNoDaemon: ""}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			req.SimilarityThreshold = &least
			res, err := reporting(cmd.Context(), s, "comparing memories", op.HealthDuplicates, &req)
			if err != nil {
				return err
			}
			return s.found(res, res.Found, func() { s.printDuplicates(res) })
		},
	}
	cmd.Flags().Float64Var(&least, "threshold", least, "least `SIMILARITY`, 0 to 1")
	cmd.Flags().IntVar(&req.SampleSize, "sample", 0, "only pairs with one of the latest `N` memories")
	healthFlags(cmd, &req.Collection, &req.Limit)
	return cmd
}

func (s *state) printDuplicates(r *op.HealthDuplicatesResult) {
	for _, p := range r.DuplicatePairs {
		s.printPair(&op.SimilarPair{ID1: p.ID1, ID2: p.ID2, Content1Preview: p.Text1, Content2Preview: p.Text2, Similarity: p.Similarity, Why: p.Why})
	}
	s.printf("%s among %s\n", count(r.Found, "pair", "pairs"), count(r.TotalChecked, "memory", "memories"))
	s.moreOf(r.Found - r.DuplicatesFound)
}

func (s *state) healthMergeCommand() *cobra.Command {
	var req op.HealthMergeRequest
	cmd := &cobra.Command{
		Use:   "merge ID1 ID2",
		Short: "Keep one of two similar memories",
		Long: `Keep one of two memories that say the same: its text stays as it is, and it gets
the accesses, the higher confidence and the relations of both. The other goes to
the trash. Unless --keep says id1 or id2, nothing is done if the other has a
number, date or name that the kept one lacks, or says otherwise; that is filed
for emberd review. Core memories and those with a note are never discarded.`,
		Example: `  emberd health merge 0190a5b2 0190a5b3
  emberd health merge 0190a5b2 0190a5b3 --keep id2`,
		Annotations: exits(endings{
			exitNothing: "there is no such memory", exitNoDaemon: "", exitDisk: "", exitAgain: "",
			exitConflict: "something would be lost, or one of them stays as it is",
		}),
		Args:              takes(2, 2, "the ids of two memories"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			req.ID1, req.ID2, req.Collection = args[0], args[1], "all"
			res, err := call(cmd.Context(), s, op.HealthMerge, &req)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(res)
			}
			s.printf("kept %s, with confidence %g and %s; %s is in the trash\n", s.short(res.KeptID), res.NewConfidence,
				count(int(res.NewAccessCount), "access", "accesses"), s.short(res.DiscardedID))
			s.undoHint(res.Tx)
			return nil
		},
	}
	cmd.Flags().StringVar(&req.Keep, "keep", "", "`WHICH`: higher_confidence (default), higher_access, id1 or id2")
	return cmd
}

func (s *state) migrateCommand() *cobra.Command {
	var req op.MigrateRequest
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring records of other systems up to date",
		Long: `Give records that came in from another system what they lack: a last access,
which is when they were made, and the session and model that stand for that
system. If an import left access_count, last_accessed_ts or embedding_version
in meta, they move to their places. What emberd saved has these already. One
journal entry, which undo takes back; doing it twice changes nothing.`,
		Example: `  emberd migrate
  emberd migrate -c all`,
		Annotations: exits(endings{exitNothing: "there is no such collection", exitNoDaemon: "", exitDisk: "", exitAgain: ""}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			res, err := reporting(cmd.Context(), s, "migrating", op.Migrate, &req)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(res)
			}
			s.printf("%s\n", cmp.Or(clean(res.Message), fmt.Sprintf("%s of %s migrated, %s up to date already",
				grouped(res.Migrated), count(res.TotalVectors, "record", "records"), grouped(res.Skipped))))
			s.undoHint(res.Tx)
			return nil
		},
	}
	cmd.Flags().StringVarP(&req.Collection, "collection", "c", "", "of this `COLLECTION`, or all; default knowledge")
	return cmd
}
