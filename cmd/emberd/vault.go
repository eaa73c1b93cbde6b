package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"emberd/memory"
	"emberd/op"
)

func (s *state) vaultCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "vault",
		Short:       "Look after the Obsidian vault",
		Long:        `Look after the Obsidian vault. Nothing here changes a note.`,
		Example:     `  emberd vault check`,
		Annotations: exits(nil),
	}
	asGroup(cmd)
	cmd.AddCommand(s.vaultCheckCommand(), s.vaultConfirmCommand())
	return cmd
}

func (s *state) vaultCheckCommand() *cobra.Command {
	var req op.VaultCheckRequest
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Read every note and list what is wrong",
		Long: `Read every note of the vault and list what is wrong with it: links that lead to
no note, frontmatter that is not valid, files that cannot be read or are in the
cloud, copies that sync tools made, notes that carry the id of one memory twice,
notes and memories that do not agree, and changes that wait to be written, each
with what to do. Nothing is changed.`,
		Example: `  emberd vault check
  emberd vault check --json | jq -r '.findings[] | .path'`,
		Annotations: exits(endings{exitNothing: "something was found, or there is no vault", exitNoDaemon: "no daemon that answers, or the vault is not there"}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("limit") && req.Limit == 0 {
				return memory.Errorf(memory.Invalid, "limit is 0, outside 1 to 10,000").At("limit")
			}
			res, err := call(cmd.Context(), s, op.VaultCheck, &req)
			if err != nil {
				return err
			}
			if s.json {
				err = s.printJSON(res)
			} else {
				s.printVaultCheck(res)
			}
			if err == nil && res.Total > 0 {
				err = &exit{code: exitNothing}
			}
			return err
		},
	}
	cmd.Flags().IntVarP(&req.Limit, "limit", "n", 0, "list at most `N` findings, 1 to 10,000 (default 1,000)")
	return cmd
}

func (s *state) vaultConfirmCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "confirm",
		Short: "Say that notes missing together were meant to go",
		Long: `Say that notes that went missing together were meant to go. When many notes
vanish at once, or the whole folder does, searches keep finding them, since that
is more often a sync tool or a disk that is not there than somebody's wish.
emberd status tells when that is so. Once confirmed, memories whose notes are
gone go to the trash. No file is touched, and notes that come back are found
again and bring their memories back.`,
		Example: `  emberd status
  emberd vault confirm`,
		Annotations: exits(endings{exitNothing: "nothing is held back, or there is no vault", exitNoDaemon: "no daemon that answers, or the vault is not there"}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			res, err := call(cmd.Context(), s, op.VaultConfirm, &op.VaultConfirmRequest{})
			if err != nil {
				return err
			}
			switch {
			case s.json:
				err = s.printJSON(res)
			case res.Frozen == "":
				s.note("no deletion is held back")
			default:
				s.printf("confirmed: %s\n", count(res.Missing, "missing note is found no more, and its memory goes to the trash", "missing notes are found no more, and their memories go to the trash"))
				s.note("to take it back: emberd undo with the entry \"note gone\" of emberd history")
			}
			if err == nil && res.Frozen == "" {
				err = &exit{code: exitNothing}
			}
			return err
		},
	}
}

func (s *state) printVaultCheck(r *op.VaultCheckResult) {
	for _, f := range r.Findings {
		where := flat(f.Path)
		if f.Line > 0 {
			where = fmt.Sprintf("%s:%d", where, f.Line)
		}
		if s.screen.width > 0 {
			s.printf("%s\n%s", s.screen.paint(cyan, where), s.screen.paragraph(clean(f.Text), nil, "  "))
			continue
		}
		s.printf("%s: %s\n", where, clean(f.Text))
	}
	s.note("%s: %s, %s of which %s lead nowhere, %s not read", flat(r.Path), count(r.Notes, "note", "notes"),
		count(r.Links, "link", "links"), grouped(r.Broken), grouped(r.Skipped))
	if more := r.Total - len(r.Findings); more > 0 {
		s.note("%s more; --limit lists them", grouped(more))
	}
}

func (s *state) linksCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "links NOTE",
		Short: "List the links of a note, and the notes that link to it",
		Long: `List the links of a note as written and where they lead, and the notes that link
to it. A note is named by its path, its name, or an alias.`,
		Example: `  emberd links "Projects/Garden"
  emberd links Garden --json | jq -r '.incoming[]'`,
		Annotations:       exits(endings{exitNothing: "no such note, or no vault", exitNoDaemon: ""}),
		Args:              takes(1, 1, "one note"),
		ValidArgsFunction: s.completeNotes,
		RunE: func(cmd *cobra.Command, args []string) error {
			res, err := call(cmd.Context(), s, op.Links, &op.LinksRequest{Note: args[0]})
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(res)
			}
			s.printLinks(res)
			return nil
		},
	}
}

func (s *state) printLinks(r *op.LinksResult) {
	s.printf("%s\n", s.screen.paint(yellow, flat(r.Note)))
	for _, l := range r.Outgoing {
		to := flat(l.Path)
		if l.Path == "" {
			to = s.screen.paint(yellow, "leads to no note") // but may to a picture or another file
		}
		s.printf("  → %s  %s %s\n", cmp.Or(flat(l.Target), "(this note)"), to, s.screen.paint(faint, fmt.Sprintf("line %d", l.Line)))
	}
	for _, path := range r.Incoming {
		s.printf("  ← %s\n", flat(path))
	}
	if len(r.Outgoing)+len(r.Incoming) == 0 {
		s.note("no links to or from this note")
	}
}
