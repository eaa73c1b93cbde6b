package organize

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/notebase"
	"emberd/memory"
	"emberd/op"
)

func vaultLinksCommand(s *cli.App) *cobra.Command {
	var req op.VaultLinksRequest
	cmd := cli.Command("links", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		return cli.Show(cmd.Context(), s, op.VaultLinks, &req, printVaultLinks)
	})
	cli.Bind(cmd.Flags(), &req, "dry-run")
	return cmd
}

func printVaultLinks(s *cli.App, r *op.VaultLinksResult) {
	for _, c := range r.Changed[:min(cli.MaxListLen, len(r.Changed))] {
		s.Printf("%s  %s\n", cli.Flat(c.Path), s.Screen.Paint(cli.Faint, strings.Join(c.Properties, ", ")))
	}
	if more := r.Total - min(cli.MaxListLen, len(r.Changed)); more > 0 {
		s.Printf("and %s more\n", cli.Grouped(more))
	}
	did := "wrote links into"
	if r.DryRun {
		did = "would write links into"
	}
	n := r.Written
	if r.DryRun {
		n = r.Total
	}
	s.Printf("%s %s of %s\n", did, cli.Grouped(n), cli.Count(r.Notes, "note", "notes"))
	if r.Added+r.Removed > 0 {
		s.Printf("relations from links in notes: %s added, %s removed\n", cli.Grouped(r.Added), cli.Grouped(r.Removed))
	}
	if r.Waiting > 0 {
		s.Note("cannot write %s now; emberd retries automatically", cli.Count(r.Waiting, "note", "notes"))
	}
	s.UndoHint(r.Tx)
	s.UndoHint(r.RelationsTx)
}

// baseWritten is the result of vault bases.
type baseWritten struct {
	File    string `json:"file"`
	Written bool   `json:"written"`
	Changed bool   `json:"changed,omitempty"` // it was there, and is not as emberd writes it
}

func vaultBasesCommand(s *cli.App) *cobra.Command {
	return cli.Command("bases", cli.NoArgs, nil, func(*cobra.Command, []string) error {
		c, err := s.Load()
		if err != nil {
			return err
		}
		if len(c.Vaults) == 0 {
			return memory.Errorf(memory.NotFound,
				"no vault is configured; in the config file, set vaults to the folder of a vault")
		}
		if _, err := os.Stat(c.Vaults[0]); err != nil {
			return memory.Errorf(memory.Unavailable, "cannot read the vault %s: %w", c.Vaults[0], err)
		}
		var done baseWritten
		done.File, done.Written, done.Changed, err = notebase.Write(c.Vaults[0], c.Vault.PromotedFolder,
			c.Vault.ArchiveFolder)
		if errors.Is(err, fs.ErrPermission) {
			return memory.Errorf(memory.ReadOnly, "cannot write %s: %w", done.File, err)
		}
		if err != nil {
			return err
		}
		return s.Answer(done, func() { printBase(s, &done) })
	})
}

func printBase(s *cli.App, done *baseWritten) {
	switch {
	case done.Written:
		s.Printf("wrote %s\n", cli.Flat(done.File))
		s.Note("to use this file, open it in Obsidian 1.10 or later")
	case done.Changed:
		s.Printf("%s already exists\n", cli.Flat(done.File))
		s.Note("did not replace the file, because it differs from the version of " +
			"emberd; to get that version, rename the file and run: emberd vault bases")
	default:
		s.Printf("%s already exists and is up to date\n", cli.Flat(done.File))
	}
}
