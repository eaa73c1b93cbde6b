package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"emberd/op"
)

func (s *state) lifecycleCommand() *cobra.Command {
	lifecycle := &cobra.Command{
		Use:   "lifecycle",
		Short: "What fades by itself, and when",
		Long: `Memories that are not used fade: after 7 days they rank lower (demoted), after
30 their text goes to the archive folder of the vault and a sentence of it stays
(archived), after 90 only their key terms are searched for (rehydratable). A
use, or a search that means one, brings a memory back; core memories never fade,
and nothing is deleted. The keeper does that by itself, every
consolidation.interval, and gives notes to memories that deserve them.`,
		Example: `  emberd lifecycle status
  emberd lifecycle run --dry-run`,
	}
	asGroup(lifecycle)
	lifecycle.AddCommand(s.lifecycleRunCommand(), s.lifecycleStatusCommand())
	return lifecycle
}

func (s *state) lifecycleRunCommand() *cobra.Command {
	var req op.LifecycleRunRequest
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Do now what is due",
		Long: `Do now what the keeper would do by itself, one journal entry that undo takes
back. When more than lifecycle.report_share of all memories would fade at once,
say because the clock is wrong or emberd did not run for long, that waits for
this command; the rest then follows by itself, a part each time.`,
		Example: `  emberd lifecycle run --dry-run
  emberd lifecycle run`,
		Annotations: exits(endings{
			exitNoDaemon: "", exitConflict: "another device is the keeper",
			exitDisk: "the disk is full, or the log or the vault cannot be written", exitAgain: "a run is under way",
		}),
		Args: takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			res, err := call(cmd.Context(), s, op.LifecycleRun, &req)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(res)
			}
			s.printRun(res)
			return nil
		},
	}
	cmd.Flags().BoolVar(&req.DryRun, "dry-run", false, "tell what would be done, change nothing")
	return cmd
}

// fates say what kinds of moves do to a memory.
func fates() map[string]string {
	return map[string]string{op.MovePromote: "promoted", op.MoveWake: "woken", op.MoveDemote: "demoted",
		op.MoveArchive: "archived", op.MoveFade: "faded to key terms"}
}

func (s *state) printRun(r *op.LifecycleRunResult) {
	would := ""
	if r.DryRun {
		would = "would be "
	}
	if len(r.Moves) == 0 {
		s.printf("nothing is due among %s\n", count(r.Memories, "memory", "memories"))
	}
	for _, m := range r.Moves {
		s.printf("%s %s%s\n", count(m.Count, "memory", "memories"), would, fates()[m.Kind])
		for _, id := range m.IDs[:min(longestList, len(m.IDs))] {
			s.printf("  %s\n", s.short(id))
		}
		if more := m.Count - longestList; more > 0 {
			s.printf("  and %s more\n", grouped(more))
		}
	}
	s.printSkipped(r.Skipped)
	if r.Waiting > 0 {
		s.note("%s due and left to later runs", count(r.Waiting, "more is", "more are"))
	}
	if r.Why != "" {
		s.note("%s", clean(r.Why))
	}
	s.undoHint(r.Tx)
}

// printSkipped lists what stays as it is.
func (s *state) printSkipped(all []op.Skipped) {
	for _, k := range all[:min(longestList, len(all))] {
		s.printf("left %s%s\n", s.short(k.ID), because(k.Reason))
	}
	if more := len(all) - longestList; more > 0 {
		s.printf("and %s more\n", grouped(more))
	}
}

func (s *state) lifecycleStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use:         "status",
		Short:       "Tell what fades next, and why nothing does",
		Example:     `  emberd lifecycle status`,
		Annotations: exits(endings{exitNoDaemon: ""}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			res, err := call(cmd.Context(), s, op.LifecycleStatus, &op.LifecycleStatusRequest{})
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(res)
			}
			s.printLifecycle(res)
			return nil
		},
	}
}

func (s *state) printLifecycle(r *op.LifecycleStatusResult) {
	for _, st := range r.Stages {
		after := ""
		if st.After > 0 {
			after = "  after " + lasted(time.Duration(st.After)*time.Second) + " without use"
		}
		s.printf("%s %7s%s\n", pad(string(st.Stage), 12), grouped(st.Count), s.screen.paint(faint, after))
	}
	s.row("due now", dueNow(r.Due))
	if r.Next != nil {
		s.row("next", fmt.Sprintf("%s becomes %s %s", s.short(r.Next.ID), r.Next.To, in(r.Next.At.Sub(s.now()))))
	}
	if r.Last != nil {
		s.row("last run", s.when(r.Last.At)+", "+did(r.Last))
		if r.Last.Tx != "" {
			s.row("", "emberd undo "+r.Last.Tx+" takes it back")
		}
	}
	for _, j := range r.Jobs {
		s.row(j.Name, s.jobTimes(&j))
	}
	if r.Kept > 0 {
		s.row("kept", count(r.Kept, "text stays", "texts stay")+" in the log: "+clean(r.KeptIDs[0].Reason))
		for _, k := range r.KeptIDs[:min(3, len(r.KeptIDs))] {
			s.row("", s.short(k.ID))
		}
	}
	if r.Why != "" {
		s.warn("note", clean(r.Why))
	}
}

// dueNow lists what waits, in the order of a run.
func dueNow(due map[string]int) string {
	var parts []string
	for _, kind := range []string{op.MovePromote, op.MoveWake, op.MoveDemote, op.MoveArchive, op.MoveFade} {
		if n := due[kind]; n > 0 {
			parts = append(parts, grouped(n)+" to be "+fates()[kind])
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
		parts = append(parts, grouped(m.Count)+" "+fates()[m.Kind])
	}
	if len(r.Skipped) > 0 {
		parts = append(parts, grouped(len(r.Skipped))+" left")
	}
	if len(parts) == 0 {
		return "nothing to do"
	}
	return strings.Join(parts, ", ")
}

func (s *state) jobTimes(j *op.Job) string {
	var parts []string
	if !j.Last.IsZero() {
		parts = append(parts, "last "+s.when(j.Last))
	}
	if !j.Next.IsZero() {
		parts = append(parts, "next "+in(j.Next.Sub(s.now())))
	}
	if j.Note != "" {
		parts = append(parts, j.Note)
	}
	if j.Problem != "" {
		parts = append(parts, "failed: "+clean(j.Problem))
	}
	if len(parts) == 0 {
		return "when something changes"
	}
	return strings.Join(parts, "; ")
}

// in says how far off something is.
func in(d time.Duration) string {
	if d < time.Second {
		return "now"
	}
	return "in " + lasted(d)
}
