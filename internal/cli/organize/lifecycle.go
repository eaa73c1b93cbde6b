package organize

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

func LifecycleCommand(s *cli.App) *cobra.Command {
	return cli.Group("lifecycle",
		lifecycleRunCommand(s), lifecycleStatusCommand(s), archiveCommand(s), gcCommand(s))
}

func lifecycleRunCommand(s *cli.App) *cobra.Command {
	var req op.LifecycleRunRequest
	cmd := cli.Command("run", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		res, err := cli.Call(cmd.Context(), s, op.LifecycleRun, &req)
		if err != nil {
			return err
		}
		return s.Answer(res, func() { printRun(s, res, movedTexts(cmd.Context(), s, res)) })
	})
	cli.Bind(cmd.Flags(), &req, "dry-run")
	return cmd
}

// movedTexts returns the texts of the memories that a run lists. Texts that cannot be read are left out.
func movedTexts(ctx context.Context, s *cli.App, r *op.LifecycleRunResult) map[memory.ID]string {
	texts := map[memory.ID]string{}
	if s.JSON {
		return texts
	}
	for _, m := range r.Moves {
		req := &op.OpenManyRequest{Relations: new(bool), Track: new(bool)}
		for _, id := range m.IDs[:min(cli.MaxListLen, len(m.IDs))] {
			req.IDs = append(req.IDs, string(id))
		}
		if len(req.IDs) == 0 {
			continue
		}
		res, err := cli.Call(ctx, s, op.OpenMany, req)
		if err != nil {
			continue
		}
		for i := range res.Memories {
			texts[res.Memories[i].ID] = res.Memories[i].Content
		}
	}
	return texts
}

func printRun(s *cli.App, r *op.LifecycleRunResult, texts map[memory.ID]string) {
	would := ""
	if r.DryRun {
		would = "would be "
	}
	if len(r.Moves) == 0 {
		s.Printf("checked %s: no changes are due\n", cli.Count(r.Memories, "memory", "memories"))
	}
	for _, m := range r.Moves {
		s.Printf("%s %s%s\n", cli.Count(m.Count, "memory", "memories"), would, op.MoveText(m.Kind))
		for _, id := range m.IDs[:min(cli.MaxListLen, len(m.IDs))] {
			fate := cli.Pad(op.MoveText(m.Kind), len("rehydratable"))
			s.Printf("  %s  %s  %s\n", s.Short(id), s.Screen.Paint(cli.Faint, fate),
				s.Gist(cli.Clean(texts[id]), len("  12345678  rehydratable  ")))
		}
		if more := m.Count - cli.MaxListLen; more > 0 {
			s.Printf("  and %s more\n", cli.Grouped(more))
		}
	}
	printSkipped(s, r.Skipped)
	if r.Waiting > 0 {
		s.Note("%s due in later runs", cli.Count(r.Waiting, "more memory is", "more memories are"))
	}
	if r.Why != "" {
		s.Note("%s", cli.Clean(r.Why))
	}
	s.UndoHint(r.Tx)
}

// printSkipped lists what stays as it is.
func printSkipped(s *cli.App, all []op.Skipped) {
	for _, k := range all[:min(cli.MaxListLen, len(all))] {
		s.Printf("skipped %s%s\n", s.Short(k.ID), cli.Because(k.Reason))
	}
	if more := len(all) - cli.MaxListLen; more > 0 {
		s.Printf("and %s more\n", cli.Grouped(more))
	}
}

func lifecycleStatusCommand(s *cli.App) *cobra.Command {
	return cli.Command("status", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		return cli.Show(cmd.Context(), s, op.LifecycleStatus, &op.LifecycleStatusRequest{}, printLifecycle)
	})
}

func printLifecycle(s *cli.App, r *op.LifecycleStatusResult) {
	for _, st := range r.Stages {
		after := ""
		if st.After > 0 {
			after = "  after " + cli.Lasted(time.Duration(st.After)*time.Second) + " without use"
		}
		s.Printf("%s %7s%s\n", cli.Pad(string(st.Stage), 12), cli.Grouped(st.Count), s.Screen.Paint(cli.Faint, after))
	}
	s.Row("due now", dueNow(r.Due))
	if r.Next != nil {
		s.Row("next", fmt.Sprintf("%s becomes %s %s", s.Short(r.Next.ID), r.Next.To, cli.In(r.Next.At.Sub(s.Now()))))
	}
	if r.Last != nil {
		s.Row("last run", s.When(r.Last.At)+", "+did(r.Last))
		switch {
		case r.Last.Undone:
			s.Row("", "this run was undone")
		case r.Last.Tx != "":
			s.Row("", "to undo, run: "+cli.Again(s, "undo", r.Last.Tx))
		}
	}
	for _, j := range r.Jobs {
		s.Row(j.Name, jobTimes(s, &j))
	}
	if r.Kept > 0 {
		s.Row("kept", cli.Count(r.Kept, "text stays", "texts stay")+" in the log: "+cli.Clean(r.KeptIDs[0].Reason))
		for _, k := range r.KeptIDs[:min(3, len(r.KeptIDs))] {
			s.Row("", s.Short(k.ID))
		}
	}
	if r.Why != "" {
		s.Warn("note", cli.Clean(r.Why))
	}
}

// dueNow lists what waits, in the order of a run.
func dueNow(due map[string]int) string {
	var parts []string
	for _, kind := range []string{op.MovePromote, op.MoveWake, op.MoveDemote, op.MoveArchive, op.MoveFade} {
		if n := due[kind]; n > 0 {
			parts = append(parts, cli.Grouped(n)+" to be "+op.MoveText(kind))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// did sums a run up.
func did(r *op.LifecycleRunResult) string {
	var parts []string
	for _, m := range r.Moves {
		parts = append(parts, cli.Grouped(m.Count)+" "+op.MoveText(m.Kind))
	}
	if len(r.Skipped) > 0 {
		parts = append(parts, cli.Grouped(len(r.Skipped))+" left")
	}
	if len(parts) == 0 {
		return "no changes"
	}
	return strings.Join(parts, ", ")
}

func jobTimes(s *cli.App, j *op.Job) string {
	var parts []string
	if !j.Last.IsZero() {
		parts = append(parts, "last "+s.When(j.Last))
	}
	if !j.Next.IsZero() {
		parts = append(parts, "next "+cli.In(j.Next.Sub(s.Now())))
	}
	if j.Waiting > 0 {
		parts = append(parts, cli.Grouped(j.Waiting)+" waiting")
	}
	if j.Note != "" {
		parts = append(parts, j.Note)
	}
	if j.Problem != "" {
		parts = append(parts, "failed: "+cli.Clean(j.Problem))
	}
	if len(parts) == 0 {
		return "runs when memories change"
	}
	return strings.Join(parts, "; ")
}
