package memories

import (
	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/op"
)

type reinforceOptions struct {
	req        op.ReinforceRequest
	provenance cli.ProvenanceFlags
}

func ReinforceCommand(s *cli.App) *cobra.Command {
	var o reinforceOptions
	cmd := cli.Command("reinforce [TEXT… | - | --id ID]", nil, nil, func(cmd *cobra.Command, args []string) error {
		return reinforce(s, cmd, &o, args)
	})
	f := cmd.Flags()
	cli.Bind(f, &o.req, "id", "evidence:new_evidence", "allow-secret")
	cli.ProjectFilter(f, &o.req.Project)
	o.provenance.Add(f)
	return cmd
}

func reinforce(s *cli.App, cmd *cobra.Command, o *reinforceOptions, args []string) (err error) {
	switch {
	case o.req.ID == "":
		o.req.Content, err = givenText(s, cmd, args)
	case len(args) > 0:
		err = cli.UsageError(cmd, "--id and a text cannot be combined")
	}
	if err != nil {
		return err
	}
	o.req.Provenance = o.provenance.Claimed()
	res, err := cli.Call(cmd.Context(), s, op.Reinforce, &o.req)
	switch {
	case err != nil:
		return err
	case s.JSON:
		err = s.PrintJSON(res)
	default:
		if res.Found && o.req.ID != "" {
			res.Reinforced.Similarity = 0 // there was nothing to compare
		}
		printReinforced(s, res)
	}
	switch {
	case err != nil || res.Found:
		return err
	case len(res.Conflicts) > 0:
		return &cli.Exit{Code: cli.ExitConflict}
	}
	return &cli.Exit{Code: cli.ExitNothing}
}

func printReinforced(s *cli.App, res *op.ReinforceResult) {
	for i := range res.Conflicts {
		if i > 0 {
			s.Printf("\n")
		}
		cli.PrintConflict(s, &res.Conflicts[i])
	}
	switch {
	case res.Found:
		s.Printf("reinforced %s  %s\n", s.Short(res.Memory.ID),
			s.Gist(res.Memory.Content, len("reinforced 12345678  ")))
		cli.PrintReinforcement(s, res.Reinforced)
		cli.PrintPending(s, res.Pending)
		cli.NoteReinforcement(s, res.Reinforced, res.Memory.ID)
		s.UndoHint(res.Tx)
	case len(res.Conflicts) > 0:
		s.Note("the best match contradicts the text, so emberd reinforced " +
			"no memory; to save the text, run: emberd save --if-new")
	default:
		s.Note(
			"no memory matches the text, so emberd reinforced no memory; to save the text, run: emberd save --if-new")
	}
}
