package maintain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

func cleanupCommand(s *cli.App) *cobra.Command {
	var req op.CleanupRequest
	var dry bool
	cmd := cli.Command("cleanup -c COLLECTION", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		f := cmd.Flags()
		switch {
		case req.Resume == "" && req.Collection == "":
			return cli.UsageError(cmd, "missing --collection; pass a collection name, or all")
		case req.Execute && f.Changed("dry-run") && dry:
			return cli.UsageError(cmd, "--execute and --dry-run cannot be combined")
		case f.Changed("dry-run") && !dry:
			req.Execute = true
		}
		return cleanUp(s, cmd, &req)
	})
	f := cmd.Flags()
	cli.Bind(f, &req, "collection,c", "mode", "execute", "incremental", "resume")
	f.BoolVar(&dry, "dry-run", true, "")
	cmd.AddCommand(cleanupReportCommand(s), cleanupRollbackCommand(s), cleanupHistoryCommand(s))
	return cmd
}

func cleanUp(s *cli.App, cmd *cobra.Command, req *op.CleanupRequest) error {
	tell, end := cli.NewShare(s, "cleaning up")
	run, err := cli.Call(op.WithProgress(cmd.Context(), tell), s, op.Cleanup, req)
	end()
	if err != nil {
		return err
	}
	left := 1
	if run.State == op.CleanupRolledBack {
		left = 0
	}
	return s.Found(run, left, func() { printCleanup(s, run) })
}

// cleanupStates are the states of a run for people.
func cleanupStates() map[string]string {
	return map[string]string{op.CleanupDryRun: "dry run", op.CleanupRunning: "running", op.CleanupDone: "done",
		op.CleanupRolledBack: "rolled back", op.CleanupBrokenOff: "interrupted"}
}

func printCleanup(s *cli.App, r *op.CleanupRun) {
	s.Row("run", fmt.Sprintf("%s of %s, %s", r.ID, cli.Clean(r.Collection), cleanupStates()[r.State]))
	s.Row("memories", memoriesOf(r))
	s.Row("similar", fmt.Sprintf("%s, %s", cli.Count(r.Clusters, "group", "groups"),
		cli.Count(r.Conflicts, "contradiction", "contradictions")))
	if r.Conflicts > 0 {
		s.Row("", fmt.Sprintf("emberd resolved %s of the conflicts automatically", cli.Grouped(r.Resolved)))
	}
	s.Row("quality", scoredBy(r))
	done := "would do"
	if r.State == op.CleanupDone {
		done = "did"
	}
	s.Row(done, actionsOf(r.Counts))
	s.Row("left", leftIn(r))
	printAccuracy(s, r)
	if r.Backup != "" {
		s.Row("backup", cli.Clean(r.Backup))
	}
	if r.Report != "" {
		s.Row("report", cli.Clean(r.Report))
	}
	printActions(s, r)
	cleanupHints(s, r)
}

func memoriesOf(r *op.CleanupRun) string {
	text := fmt.Sprintf("%s, %s not created by an indexer", cli.Grouped(r.Entries), cli.Grouped(r.Manual))
	if r.Protected > 0 {
		text += fmt.Sprintf(", %s created by an indexer and skipped", cli.Grouped(r.Protected))
	}
	return text
}

func scoredBy(r *op.CleanupRun) string {
	if r.ScorerCalls == 0 && r.ScorerNote == "" {
		return "rated by rules"
	}
	text := fmt.Sprintf("rated by rules and a model; sent %s to the model",
		cli.Count(r.ScorerCalls, "question", "questions"))
	if r.ScorerNote != "" {
		text += "; " + cli.Clean(r.ScorerNote)
	}
	return text
}

// actionsOf counts what is done, the most telling first.
func actionsOf(counts map[string]int) string {
	names := map[string][2]string{
		op.CleanupDelete: {"deletion", "deletions"}, op.CleanupMerge: {"merge", "merges"},
		op.CleanupUpdate:    {"update", "updates"},
		op.CleanupHierarchy: {"hierarchy", "hierarchies"}, op.CleanupReview: {"review", "reviews"},
	}
	var parts []string
	for _, kind := range []string{op.CleanupMerge, op.CleanupDelete, op.CleanupHierarchy, op.CleanupUpdate,
		op.CleanupReview} {
		if n := counts[kind]; n > 0 {
			parts = append(parts, cli.Count(n, names[kind][0], names[kind][1]))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing")
}

func leftIn(r *op.CleanupRun) string {
	text := cli.Count(r.After, "memory", "memories")
	if r.Entries > 0 && r.After < r.Entries {
		text += fmt.Sprintf(", %.1f %% fewer", 100*float64(r.Entries-r.After)/float64(r.Entries))
	}
	switch {
	case r.Limited > 0 && r.Counts[op.CleanupDelete] == 0:
		text += fmt.Sprintf("; %s: limit of one run reached",
			cli.Count(r.Limited, "deletion was not planned", "deletions were not planned"))
	case r.Limited > 0:
		text += fmt.Sprintf("; %s postponed to later runs", cli.Count(r.Limited, "deletion is", "deletions are"))
	}
	return text
}

func printAccuracy(s *cli.App, r *op.CleanupRun) {
	for _, a := range []struct {
		name string
		*op.CleanupAccuracy
	}{{"found", r.Before}, {"afterwards", r.Validated}} {
		if a.CleanupAccuracy == nil {
			continue
		}
		text := fmt.Sprintf("precision %.2f, recall %.2f of %s", a.Precision, a.Recall,
			cli.Count(a.Queries, "search", "searches"))
		if n := len(a.Missing); n > 0 {
			text += fmt.Sprintf("; %s", cli.Count(n, "critical memory is "+
				"missing from the results", "critical memories are missing from the results"))
		}
		s.Row(a.name, text)
	}
}

func printActions(s *cli.App, r *op.CleanupRun) {
	shown := slices.DeleteFunc(slices.Clone(r.Actions),
		func(a op.CleanupAction) bool { return a.Action == op.CleanupPreserve })
	for _, a := range shown[:min(cli.MaxListLen, len(shown))] {
		about := a.Evidence
		if a.Problem != "" {
			about = "not done: " + a.Problem
		}
		ids := strings.Join(cli.Shorts(a.MemoryIDs), " ")
		head := fmt.Sprintf("  %s %s", cli.Pad(a.Action, 9), ids)
		if a.Into != "" && a.Done {
			head += " into " + a.Into.Short()
		}
		s.Printf("%s\n%s", head, s.Screen.Paragraph(cli.Clean(about), nil, "            "))
	}
	total := 0
	for kind, n := range r.Counts {
		if kind != op.CleanupPreserve {
			total += n
		}
	}
	if more := total - cli.MaxListLen; more > 0 {
		s.Printf("  and %s more\n", cli.Grouped(more))
	}
}

func cleanupHints(s *cli.App, r *op.CleanupRun) {
	switch {
	case r.RolledBack != "":
		s.Note("rolled back: %s", cli.Clean(r.RolledBack))
	case r.State == op.CleanupDryRun && actionsOf(r.Counts) != "nothing":
		s.Note("nothing changed; to apply the plan, use --mode full " +
			"--execute; to see the plan, run: emberd health cleanup report")
	case r.State == op.CleanupBrokenOff:
		s.Note("%s", cli.Clean(r.Problem))
	case r.State == op.CleanupDone:
		s.UndoHint(r.Tx)
	}
}

func cleanupReportCommand(s *cli.App) *cobra.Command {
	var req op.CleanupReportRequest
	return cli.Command("report [RUN]", cli.ArgCount(0, 1, "at most one run ID from emberd health cleanup history"),
		s.CompleteRuns,
		func(cmd *cobra.Command, args []string) error {
			req.Run = strings.Join(args, "")
			return cli.List(cmd.Context(), s, op.CleanupReport, &req,
				func(res *op.CleanupReportResult) int { return 1 },
				func(s *cli.App, res *op.CleanupReportResult) { s.Printf("%s", cli.Clean(res.Markdown)) })
		})
}

func cleanupRollbackCommand(s *cli.App) *cobra.Command {
	var req op.CleanupRollbackRequest
	cmd := cli.Command("rollback [RUN]", cli.ArgCount(0, 1, "at most one run ID from emberd health cleanup history"),
		s.CompleteRuns,
		func(cmd *cobra.Command, args []string) error {
			req.Run = strings.Join(args, "")
			return cli.List(cmd.Context(), s, op.CleanupRollback, &req,
				func(res *op.CleanupRollbackResult) int { return 1 },
				func(s *cli.App, res *op.CleanupRollbackResult) { printRollback(s, res, req.Force) })
		})
	cli.Bind(cmd.Flags(), &req, "force")
	return cmd
}

func printRollback(s *cli.App, res *op.CleanupRollbackResult, forced bool) {
	memories := make(map[memory.ID]bool)
	for _, item := range res.Undo.Items {
		memories[item.ID] = true
	}
	left := cli.LeftOf(&res.Undo)
	s.Printf("rolled back %s, %s\n", res.Run.ID, cli.Count(len(memories), "memory restored",
		"memories restored"))
	for _, item := range res.Undo.Items {
		if item.Reason != "" {
			s.Printf("  %s %s%s\n", cli.Pad(item.Action, 8), s.Short(item.ID), cli.Because(item.Reason))
		}
	}
	s.NoteLeft(left, forced)
	s.UndoHint(res.Undo.Tx)
}

func cleanupHistoryCommand(s *cli.App) *cobra.Command {
	var req op.CleanupHistoryRequest
	cmd := cli.Command("history", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		return cli.List(cmd.Context(), s, op.CleanupHistory, &req,
			func(res *op.CleanupHistoryResult) int { return len(res.Runs) }, printCleanups)
	})
	cli.Bind(cmd.Flags(), &req, "limit,n=20")
	return cmd
}

func printCleanups(s *cli.App, res *op.CleanupHistoryResult) {
	if len(res.Runs) == 0 {
		s.Note("no cleanup runs yet; run: emberd health cleanup -c COLLECTION")
	}
	for i := range res.Runs {
		r := &res.Runs[i]
		s.Printf("%s  %s  %s\n", r.ID, cli.Pad(cleanupStates()[r.State], 11),
			s.Screen.Paint(cli.Faint, fmt.Sprintf("%s, %s", cli.Clean(r.Collection), cli.Ago(s.Now(), r.Started))))
		about := actionsOf(r.Counts)
		if why := cmp.Or(r.RolledBack, r.Problem); why != "" {
			about = why
		}
		s.Printf("%s", s.Screen.Paragraph(cli.Clean(about), nil, "    "))
	}
}
