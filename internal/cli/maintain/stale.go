package maintain

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/doctor"
	"emberd/memory"
	"emberd/op"
)

// stale asks the daemon which memories wait for a decision. Without one that is only known
// by opening the log, which takes its lock and writes, so it is left to the command that lists
// them. Where one device alone has written, none waits.
func (e *diagnostics) stale(ctx context.Context) error {
	if e.status == nil {
		devices, err := filepath.Glob(filepath.Join(cli.Globbed(e.c.Data), "stm", "*", "s-*"))
		if err == nil && severalFolders(devices) {
			e.add(doctor.Finding{Area: "stale", Code: "stale-unasked", Severity: doctor.Note,
				Next: "emberd doctor offline-device list",
				Text: "doctor could not ask a daemon for memories of offline devices"})
		}
		return err
	}
	res, err := cli.Call(ctx, e.s, op.StaleList, &op.StaleListRequest{})
	if memory.CodeOf(err) == memory.Forbidden {
		return nil // it is not for this token to see
	}
	if err != nil || len(res.Memories) == 0 {
		return err
	}
	e.add(doctor.Finding{Area: "stale", Code: "stale", Severity: doctor.Warning, Next: "emberd doctor offline-device " +
		"list",
		Text: cli.Count(len(res.Memories), "memory of an offline device",
			"memories of offline devices") + " to review"})
	return nil
}

// severalFolders tells whether files lie in more than one folder.
func severalFolders(files []string) bool {
	return slices.ContainsFunc(files, func(f string) bool { return filepath.Dir(f) != filepath.Dir(files[0]) })
}

func offlineDeviceCommand(s *cli.App) *cobra.Command {
	return cli.Group("offline-device",
		staleListCommand(s),
		staleDecideCommand(s, "keep", "kept", true),
		staleDecideCommand(s, "drop", "dropped", false))
}

func staleListCommand(s *cli.App) *cobra.Command {
	return cli.Command("list", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		res, err := cli.Reach(cmd.Context(), s, op.StaleList, &op.StaleListRequest{})
		if err != nil {
			return err
		}
		return s.Found(res, len(res.Memories), func() {
			for _, m := range res.Memories {
				s.Printf("%s  %s of device %s, %s\n", m.ID, cli.Count(m.Changes, "change", "changes"),
					cli.Clean(m.Device), m.At.In(s.Zone).Format(time.DateTime))
			}
			if len(res.Memories) == 0 {
				s.Note("no memories to review")
			}
		})
	})
}

func staleDecideCommand(s *cli.App, name, done string, keep bool) *cobra.Command {
	return cli.Command(name+" ID", cli.ArgCount(1, 1, "the ID of one memory"), nil,
		func(cmd *cobra.Command, args []string) error {
			res, err := cli.Reach(cmd.Context(), s, op.StaleDecide, &op.StaleDecideRequest{ID: args[0], Keep: &keep})
			if err != nil {
				return err
			}
			return s.Answer(res, func() {
				s.Printf("%s memory %s\n", done, res.ID)
				s.UndoHint(res.Tx)
			})
		})
}
