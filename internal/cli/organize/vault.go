package organize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

func VaultCommand(s *cli.App) *cobra.Command {
	return cli.Group("vault",
		vaultCheckCommand(s), openCommand(s), backlinksCommand(s), vaultLinksCommand(s), vaultBasesCommand(s),
		vaultConfirmCommand(s), vaultReleaseCommand(s), vaultReopenCommand(s), vaultPluginCommand(s))
}

func vaultCheckCommand(s *cli.App) *cobra.Command {
	var req op.VaultCheckRequest
	cmd := cli.Command("check", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("limit") && req.Limit == 0 {
			return memory.Errorf(memory.Invalid, "limit 0 is out of range (1 to 10,000)").At("limit")
		}
		res, err := cli.Call(cmd.Context(), s, op.VaultCheck, &req)
		if err != nil {
			return err
		}
		if s.JSON {
			err = s.PrintJSON(res)
		} else {
			printVaultCheck(s, res)
		}
		if err == nil && res.Total > 0 {
			err = &cli.Exit{Code: cli.ExitNothing}
		}
		return err
	})
	cli.Bind(cmd.Flags(), &req, "limit,n")
	return cmd
}

func vaultConfirmCommand(s *cli.App) *cobra.Command {
	return cli.Command("confirm-deletions", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		res, err := cli.Call(cmd.Context(), s, op.VaultConfirm, &op.VaultConfirmRequest{})
		if err != nil {
			return err
		}
		switch {
		case s.JSON:
			err = s.PrintJSON(res)
		case res.Frozen == "":
			s.Note("no note deletions to confirm")
		default:
			s.Printf("confirmed: %s\n", cli.Count(res.Missing,
				"note deletion; emberd moves the memory of this note to the trash",
				"note deletions; emberd moves the memories of these notes to the trash"))
			s.Note("to keep the memories without notes, wait until emberd history lists the change \"note gone\", " +
				"and run: emberd undo TX")
		}
		if err == nil && res.Frozen == "" {
			err = &cli.Exit{Code: cli.ExitNothing}
		}
		return err
	})
}

func vaultReleaseCommand(s *cli.App) *cobra.Command {
	return cli.Command("release", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		return cli.Show(cmd.Context(), s, op.VaultRelease, &op.VaultReleaseRequest{},
			func(s *cli.App, r *op.VaultHoldResult) {
				s.Printf("released %s\n", cli.Flat(r.Path))
				s.Note("you can now unmount the disk of this vault; to open the vault again, run: emberd vault reopen")
			})
	})
}

func vaultReopenCommand(s *cli.App) *cobra.Command {
	return cli.Command("reopen", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		return reopenVault(cmd.Context(), s)
	})
}

func reopenVault(ctx context.Context, s *cli.App) error {
	return cli.Show(ctx, s, op.VaultOpen, &op.VaultOpenRequest{}, func(s *cli.App, r *op.VaultHoldResult) {
		if !r.Changed {
			s.Note("nothing to reopen: the vault was not released")
		}
		if _, err := os.Stat(r.Path); errors.Is(err, fs.ErrNotExist) {
			s.Printf("folder %s not found; emberd opens the vault when this folder appears\n", cli.Flat(r.Path))
			return
		}
		if !r.Changed {
			return
		}
		s.Printf("watching %s again\n", cli.Flat(r.Path))
		s.Note("if this path now leads to another folder, emberd does not use " +
			"that folder as the vault; to check the vault, run: emberd status")
	})
}

func printVaultCheck(s *cli.App, r *op.VaultCheckResult) {
	for _, f := range r.Findings {
		where := cli.Flat(f.Path)
		if f.Line > 0 {
			where = fmt.Sprintf("%s:%d", where, f.Line)
		}
		if s.Screen.Width > 0 {
			s.Printf("%s\n%s", s.Screen.Paint(cli.Cyan, where), s.Screen.Paragraph(cli.Clean(f.Text), nil, "  "))
			continue
		}
		s.Printf("%s: %s\n", where, cli.Clean(f.Text))
	}
	s.Note("%s: %s, %s (%s broken), %s skipped", cli.Flat(r.Path), cli.Count(r.Notes, "note", "notes"),
		cli.Count(r.Links, "link", "links"), cli.Grouped(r.Broken), cli.Grouped(r.Skipped))
	if more := r.Total - len(r.Findings); more > 0 {
		s.Note("%s more not shown; to see more, use --limit", cli.Grouped(more))
	}
}

func backlinksCommand(s *cli.App) *cobra.Command {
	return cli.Command("backlinks NOTE", cli.ArgCount(1, 1, "one note"), s.CompleteNotes,
		func(cmd *cobra.Command, args []string) error {
			return cli.Show(cmd.Context(), s, op.Links, &op.LinksRequest{Note: args[0]}, printLinks)
		})
}

func printLinks(s *cli.App, r *op.LinksResult) {
	s.Printf("%s\n", s.Screen.Paint(cli.Yellow, cli.Flat(r.Note)))
	for _, l := range r.Outgoing {
		to := cli.Flat(l.Path)
		if l.Path == "" {
			to = s.Screen.Paint(cli.Yellow, "note not found") // but may to a picture or another file
		}
		s.Printf("  → %s  %s %s\n", cmp.Or(cli.Flat(l.Target), "(this note)"), to,
			s.Screen.Paint(cli.Faint, fmt.Sprintf("line %d", l.Line)))
	}
	for _, path := range r.Incoming {
		s.Printf("  ← %s\n", cli.Flat(path))
	}
	if len(r.Outgoing)+len(r.Incoming) == 0 {
		s.Note("no links to or from this note")
	}
}
