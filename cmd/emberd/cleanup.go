package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"emberd/memory"
	"emberd/op"
)

func (s *state) cleanupCommand() *cobra.Command {
	var req op.CleanupRequest
	var dry bool
	cmd := &cobra.Command{
		Use:   "cleanup -c COLLECTION",
		Short: "Clean up a collection: duplicates, conflicts and junk",
		Long: `Look for memories of a collection that say the same, contradict each other or
are hardly worth keeping, and say what is to be done. By default that is all
that it does. --mode full plans what --execute would carry out, and asks the
searches by which it would be judged.

Only what somebody wrote is touched: a memory with a field of an indexer, such
as file_path, is left alone whatever its type, and so are core and promoted
ones. A run that executes makes a backup first, moves at most 15 % of the
memories to the trash, and is one journal entry, which undo takes back. If less
is found afterwards than before, or something critical is not, it takes itself
back. A run that was broken off goes on with --resume, and by itself when emberd
starts again.`,
		Example: `  emberd cleanup -c knowledge
  emberd cleanup -c knowledge --mode full
  emberd cleanup -c knowledge --mode full --execute
  emberd cleanup -c all --mode full --execute --incremental
  emberd cleanup report`,
		Annotations: exits(endings{
			exitNothing: "no such collection or run, or the run was rolled back", exitNoDaemon: "",
			exitConflict: "an earlier run was broken off and has to be seen to first",
			exitDisk:     "", exitAgain: "a run is under way, or notes are still being read",
		}),
		Args: takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f := cmd.Flags()
			switch {
			case req.Resume == "" && req.Collection == "":
				return wrong(cmd, "--collection is missing; name the one to clean up, or all")
			case req.Execute && f.Changed("dry-run") && dry:
				return wrong(cmd, "--execute and --dry-run exclude each other; leave one out")
			case f.Changed("dry-run") && !dry:
				req.Execute = true
			}
			return s.cleanUp(cmd, &req)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&req.Collection, "collection", "c", "", "the `COLLECTION` to clean up; all is every one")
	f.StringVar(&req.Mode, "mode", "", "`MODE`: analysis reports, full plans what --execute does; default analysis")
	f.BoolVar(&dry, "dry-run", true, "tell what would be done, change nothing")
	f.BoolVar(&req.Execute, "execute", false, "carry the plan out; needs --mode full")
	f.BoolVar(&req.Incremental, "incremental", false, "only what changed since the last run, and its like")
	f.StringVar(&req.Resume, "resume", "", "go on with a `RUN` that was broken off")
	cmd.AddCommand(s.cleanupReportCommand(), s.cleanupRollbackCommand(), s.cleanupHistoryCommand())
	return cmd
}

func (s *state) cleanUp(cmd *cobra.Command, req *op.CleanupRequest) error {
	tell, end := s.newShare("cleaning up")
	run, err := call(op.WithProgress(cmd.Context(), tell), s, op.Cleanup, req)
	end()
	if err != nil {
		return err
	}
	left := 1
	if run.State == op.CleanupRolledBack {
		left = 0
	}
	return s.found(run, left, func() { s.printCleanup(run) })
}

// cleanupStates are the states of a run for people.
func cleanupStates() map[string]string {
	return map[string]string{op.CleanupDryRun: "dry run", op.CleanupRunning: "running", op.CleanupDone: "done",
		op.CleanupRolledBack: "rolled back", op.CleanupBrokenOff: "broken off"}
}

func (s *state) printCleanup(r *op.CleanupRun) {
	s.row("run", fmt.Sprintf("%s of %s, %s", r.ID, clean(r.Collection), cleanupStates()[r.State]))
	s.row("memories", memoriesOf(r))
	s.row("alike", fmt.Sprintf("%s, %s", count(r.Clusters, "group", "groups"), count(r.Conflicts, "conflict", "conflicts")))
	if r.Conflicts > 0 {
		s.row("", fmt.Sprintf("%s of them resolved without a human", grouped(r.Resolved)))
	}
	s.row("quality", scoredBy(r))
	done := "would do"
	if r.State == op.CleanupDone {
		done = "did"
	}
	s.row(done, actionsOf(r.Counts))
	s.row("left", leftIn(r))
	s.printAccuracy(r)
	if r.Backup != "" {
		s.row("backup", clean(r.Backup))
	}
	if r.Report != "" {
		s.row("report", clean(r.Report))
	}
	s.printActions(r)
	s.cleanupHints(r)
}

func memoriesOf(r *op.CleanupRun) string {
	text := fmt.Sprintf("%s, %s written by somebody", grouped(r.Entries), grouped(r.Manual))
	if r.Protected > 0 {
		text += fmt.Sprintf(", %s of an index and left alone", grouped(r.Protected))
	}
	return text
}

func scoredBy(r *op.CleanupRun) string {
	if r.ScorerCalls == 0 && r.ScorerNote == "" {
		return "judged by rules"
	}
	text := fmt.Sprintf("judged by rules and a model, %s asked", count(r.ScorerCalls, "question", "questions"))
	if r.ScorerNote != "" {
		text += "; " + clean(r.ScorerNote)
	}
	return text
}

// actionsOf counts what is done, the most telling first.
func actionsOf(counts map[string]int) string {
	names := map[string][2]string{
		op.CleanupDelete: {"deletion", "deletions"}, op.CleanupMerge: {"merge", "merges"}, op.CleanupUpdate: {"update", "updates"},
		op.CleanupHierarchy: {"hierarchy", "hierarchies"}, op.CleanupReview: {"review", "reviews"},
	}
	var parts []string
	for _, kind := range []string{op.CleanupMerge, op.CleanupDelete, op.CleanupHierarchy, op.CleanupUpdate, op.CleanupReview} {
		if n := counts[kind]; n > 0 {
			parts = append(parts, count(n, names[kind][0], names[kind][1]))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing")
}

func leftIn(r *op.CleanupRun) string {
	text := count(r.After, "memory", "memories")
	if r.Entries > 0 && r.After < r.Entries {
		text += fmt.Sprintf(", %.1f %% fewer", 100*float64(r.Entries-r.After)/float64(r.Entries))
	}
	switch {
	case r.Limited > 0 && r.Counts[op.CleanupDelete] == 0:
		text += fmt.Sprintf("; %s, more than one run may make of so few", count(r.Limited, "deletion was not planned", "deletions were not planned"))
	case r.Limited > 0:
		text += fmt.Sprintf("; %s left to later runs", count(r.Limited, "deletion is", "deletions are"))
	}
	return text
}

func (s *state) printAccuracy(r *op.CleanupRun) {
	for _, a := range []struct {
		name string
		*op.CleanupAccuracy
	}{{"found", r.Before}, {"afterwards", r.Validated}} {
		if a.CleanupAccuracy == nil {
			continue
		}
		text := fmt.Sprintf("precision %.2f, recall %.2f of %s", a.Precision, a.Recall, count(a.Queries, "search", "searches"))
		if n := len(a.Missing); n > 0 {
			text += fmt.Sprintf("; %s", count(n, "critical memory is missing", "critical memories are missing"))
		}
		s.row(a.name, text)
	}
}

func (s *state) printActions(r *op.CleanupRun) {
	shown := slices.DeleteFunc(slices.Clone(r.Actions), func(a op.CleanupAction) bool { return a.Action == op.CleanupPreserve })
	for _, a := range shown[:min(longestList, len(shown))] {
		about := a.Evidence
		if a.Problem != "" {
			about = "not done: " + a.Problem
		}
		ids := strings.Join(shorts(a.MemoryIDs), " ")
		head := fmt.Sprintf("  %s %s", pad(a.Action, 9), ids)
		if a.Into != "" && a.Done {
			head += " into " + a.Into.Short()
		}
		s.printf("%s\n%s", head, s.screen.paragraph(clean(about), nil, "            "))
	}
	total := 0
	for kind, n := range r.Counts {
		if kind != op.CleanupPreserve {
			total += n
		}
	}
	if more := total - longestList; more > 0 {
		s.printf("  and %s more\n", grouped(more))
	}
}

func (s *state) cleanupHints(r *op.CleanupRun) {
	switch {
	case r.RolledBack != "":
		s.note("nothing of it stays: %s", clean(r.RolledBack))
	case r.State == op.CleanupDryRun && actionsOf(r.Counts) != "nothing":
		s.note("nothing was changed; --mode full --execute does it, emberd cleanup report tells all")
	case r.State == op.CleanupBrokenOff:
		s.note("%s", clean(r.Problem))
	case r.State == op.CleanupDone:
		s.undoHint(r.Tx)
	}
}

func (s *state) cleanupReportCommand() *cobra.Command {
	var req op.CleanupReportRequest
	return &cobra.Command{
		Use:   "report [RUN]",
		Short: "Show the report on a run, the latest by default",
		Long: `Show the report on a run in Markdown: what was found, what was done about each
memory and why, and how well searches did before and after. It has the words of
the memories as they are now.`,
		Example: `  emberd cleanup report
  emberd cleanup report 20260301-1205 > report.md`,
		Annotations:       exits(endings{exitNothing: "no such run", exitNoDaemon: ""}),
		Args:              takes(0, 1, "at most one run, as emberd cleanup history lists them"),
		ValidArgsFunction: s.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Run = strings.Join(args, "")
			res, err := call(cmd.Context(), s, op.CleanupReport, &req)
			if err != nil {
				return err
			}
			return s.found(res, 1, func() { s.printf("%s", clean(res.Markdown)) })
		},
	}
}

func (s *state) cleanupRollbackCommand() *cobra.Command {
	var req op.CleanupRollbackRequest
	cmd := &cobra.Command{
		Use:   "rollback [RUN]",
		Short: "Take a run back, the latest one that stands by default",
		Long: `Take back all that a run changed, also of one that was broken off. What was
changed again since is left and listed, unless --force; notes are never touched.`,
		Example: `  emberd cleanup rollback
  emberd cleanup rollback 20260301-120500-8c1f`,
		Annotations: exits(endings{
			exitNothing: "no such run", exitNoDaemon: "", exitConflict: "there is nothing to take back",
			exitDisk: "", exitAgain: "a run is under way",
		}),
		Args:              takes(0, 1, "at most one run, as emberd cleanup history lists them"),
		ValidArgsFunction: s.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Run = strings.Join(args, "")
			res, err := call(cmd.Context(), s, op.CleanupRollback, &req)
			if err != nil {
				return err
			}
			return s.found(res, 1, func() { s.printRollback(res, req.Force) })
		},
	}
	cmd.Flags().BoolVar(&req.Force, "force", false, "also take back what was changed again since")
	return cmd
}

func (s *state) printRollback(res *op.CleanupRollbackResult, forced bool) {
	memories := make(map[memory.ID]bool)
	for _, item := range res.Undo.Items {
		memories[item.ID] = true
	}
	left := leftOf(&res.Undo)
	s.printf("rolled back %s, %s\n", res.Run.ID, count(len(memories), "memory is as it was", "memories are as they were"))
	for _, item := range res.Undo.Items {
		if item.Reason != "" {
			s.printf("  %s %s%s\n", pad(item.Action, 8), s.short(item.ID), because(item.Reason))
		}
	}
	if left > 0 && !forced {
		s.note("%s left as it is; --force takes that back too", count(left, "memory was", "memories were"))
	}
	s.undoHint(res.Undo.Tx)
}

func (s *state) cleanupHistoryCommand() *cobra.Command {
	var req op.CleanupHistoryRequest
	cmd := &cobra.Command{
		Use:         "history",
		Short:       "List the runs, the latest first",
		Example:     `  emberd cleanup history`,
		Annotations: exits(endings{exitNothing: "there was none yet", exitNoDaemon: ""}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			res, err := call(cmd.Context(), s, op.CleanupHistory, &req)
			if err != nil {
				return err
			}
			return s.found(res, len(res.Runs), func() { s.printCleanups(res) })
		},
	}
	cmd.Flags().IntVarP(&req.Limit, "limit", "n", longestList, "at most `N` runs")
	return cmd
}

func (s *state) printCleanups(res *op.CleanupHistoryResult) {
	if len(res.Runs) == 0 {
		s.note("there was no cleanup yet; emberd cleanup -c COLLECTION looks for what there is to do")
	}
	for i := range res.Runs {
		r := &res.Runs[i]
		s.printf("%s  %s  %s\n", r.ID, pad(cleanupStates()[r.State], 11), s.screen.paint(faint, fmt.Sprintf("%s, %s", clean(r.Collection), ago(s.now(), r.Started))))
		about := actionsOf(r.Counts)
		if why := cmp.Or(r.RolledBack, r.Problem); why != "" {
			about = why
		}
		s.printf("%s", s.screen.paragraph(clean(about), nil, "    "))
	}
}
