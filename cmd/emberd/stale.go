package main

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"emberd/internal/doctor"
	"emberd/memory"
	"emberd/op"
)

// stale asks the daemon which memories wait for a decision. Without one that is only known
// by opening the log, which takes its lock and writes, so it is left to the command that lists
// them. Where one device alone has written, none waits.
func (e *examination) stale(ctx context.Context) error {
	if e.status == nil {
		devices, err := filepath.Glob(filepath.Join(globbed(e.c.Data), "stm", "*", "s-*"))
		if err == nil && severalFolders(devices) {
			e.add(doctor.Finding{Area: "stale", Code: "stale-unasked", Severity: doctor.Note, Next: "emberd doctor stale list",
				Text: "no daemon tells whether memories of devices that were silent for long wait for a decision"})
		}
		return err
	}
	res, err := call(ctx, e.s, op.StaleList, &op.StaleListRequest{})
	if memory.CodeOf(err) == memory.Forbidden {
		return nil // it is not for this token to see
	}
	if err != nil || len(res.Memories) == 0 {
		return err
	}
	e.add(doctor.Finding{Area: "stale", Code: "stale", Severity: doctor.Look, Next: "emberd doctor stale list",
		Text: count(len(res.Memories), "memory of a device that was silent for long waits", "memories of devices that were silent for long wait") + " for a decision"})
	return nil
}

// severalFolders tells whether files lie in more than one folder.
func severalFolders(files []string) bool {
	return slices.ContainsFunc(files, func(f string) bool { return filepath.Dir(f) != filepath.Dir(files[0]) })
}

func (s *state) staleCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stale",
		Short: "Decide about memories of a device that was silent for long",
		Long: `Decide about memories of a device that was silent for long. What it wrote may
have been deleted meanwhile, so it waits: keep takes the memory as that device
has it, drop leaves it deleted. The other devices follow.`,
		Example: `  emberd doctor stale list
  emberd doctor stale keep 01a2b3c4-0000-7000-8000-0123456789ab`,
		Annotations: exits(endings{exitNothing: "", exitNoDaemon: ""}),
	}
	asGroup(cmd)
	cmd.AddCommand(s.staleListCommand(),
		s.staleDecideCommand("keep", "Take a memory that waits", "kept", true),
		s.staleDecideCommand("drop", "Leave a memory that waits deleted", "dropped", false))
	return cmd
}

func (s *state) staleListCommand() *cobra.Command {
	return &cobra.Command{
		Use:         "list",
		Short:       "List the memories that wait for a decision",
		Example:     `  emberd doctor stale list`,
		Annotations: exits(endings{exitNothing: "there is none", exitNoDaemon: "", exitLocked: ""}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			res, err := reach(cmd.Context(), s, op.StaleList, &op.StaleListRequest{})
			if err != nil {
				return err
			}
			return s.found(res, len(res.Memories), func() {
				for _, m := range res.Memories {
					s.printf("%s  %s of device %s, %s\n", m.ID, count(m.Changes, "change", "changes"), clean(m.Device), m.At.In(s.zone).Format(time.DateTime))
				}
				if len(res.Memories) == 0 {
					s.note("no memory waits for a decision")
				}
			})
		},
	}
}

func (s *state) staleDecideCommand(name, short, done string, keep bool) *cobra.Command {
	return &cobra.Command{
		Use:         name + " ID",
		Short:       short,
		Example:     `  emberd doctor stale ` + name + ` 01a2b3c4-0000-7000-8000-0123456789ab`,
		Annotations: exits(endings{exitNothing: "it does not wait", exitNoDaemon: "", exitLocked: "", exitDisk: "", exitAgain: ""}),
		Args:        takes(1, 1, "the id of one memory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			res, err := reach(cmd.Context(), s, op.StaleDecide, &op.StaleDecideRequest{ID: args[0], Keep: &keep})
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(res)
			}
			s.printf("%s memory %s\n", done, res.ID)
			s.undoHint(res.Tx)
			return nil
		},
	}
}
