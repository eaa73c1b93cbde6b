package memories

import (
	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/project"
	"emberd/op"
)

type addOptions struct {
	req        op.AddRequest
	provenance cli.ProvenanceFlags
}

func AddCommand(s *cli.App) *cobra.Command {
	var o addOptions
	cmd := cli.Command("add [TEXT… | -]", nil, nil, func(cmd *cobra.Command, args []string) error {
		return add(s, cmd, &o, args)
	})
	f := cmd.Flags()
	cli.Bind(f, &o.req, "section", "importance", "tag:tags,t", "source", "collection",
		"session:session_id", "allow-secret", "again")
	cli.ProjectField(f, &o.req.Project)
	o.provenance.Add(f)
	return cmd
}

func add(s *cli.App, cmd *cobra.Command, o *addOptions, args []string) error {
	var err error
	if o.req.Content, err = newText(s, cmd, args); err != nil {
		return err
	}
	o.req.Provenance = o.provenance.Claimed()
	if !cmd.Flags().Changed("project") {
		o.req.Project, o.req.ProjectInferred = project.Here(), true
	}
	return cli.Show(cmd.Context(), s, op.Add, &o.req, printAdded)
}

func printAdded(s *cli.App, res *op.AddResult) {
	if res.Echo != nil {
		printEcho(s, res.Echo, res.Memory.Content)
		return
	}
	verb := "known"
	if res.New {
		verb = "added"
	}
	s.Printf("%s %s  %s\n", verb, s.Short(res.Memory.ID), s.Gist(res.Memory.Content, len("added 12345678  ")))
	cli.PrintReinforcement(s, res.Reinforced)
	cli.PrintPending(s, res.Pending)
	for i := range res.Conflicts {
		s.Printf("\n")
		cli.PrintConflict(s, &res.Conflicts[i])
	}
	cli.NoteReinforcement(s, res.Reinforced, res.Memory.ID)
	cli.WarnHidden(s, &res.Memory)
	noteScope(s, res.Added, res.RecordedOrigin)
	s.UndoHint(res.Tx)
}
