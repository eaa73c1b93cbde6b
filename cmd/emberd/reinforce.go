package main

import (
	"github.com/spf13/cobra"

	"emberd/op"
)

type reinforceOptions struct {
	req        op.ReinforceRequest
	provenance provenanceFlags
}

func (s *state) reinforceCommand() *cobra.Command {
	var o reinforceOptions
	cmd := &cobra.Command{
		Use:   "reinforce [TEXT… | - | --id ID]",
		Short: "Say that something known was learned once more",
		Long: `Say that something known was learned once more. The memory that says the text
best is looked up, or named by --id; its importance rises by 0.1 up to 1, it
counts as used, and where it was learned joins its sources. What disagrees with
the text is not reinforced, and nothing is stored when nothing says it.`,
		Example: `  emberd reinforce "The database runs on port 5432" --evidence "deploy log"
  emberd reinforce --id 456789ab --from config/db.yml:12`,
		Annotations: exits(endings{exitNothing: "nothing known says it", exitNoDaemon: "", exitConflict: "what is nearest disagrees with it",
			exitDisk: "", exitSecret: "", exitAgain: ""}),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.reinforce(cmd, &o, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.req.ID, "id", "", "reinforce the memory `ID`, whatever it says")
	f.StringVar(&o.req.Evidence, "evidence", "", "`TEXT` that supports it: a quote, a source or what you saw")
	f.StringVar(&o.req.Project, "project", "", "only a memory of this `PROJECT`; a dot is the enclosing git repository")
	f.StringVar(&o.req.SessionID, "session", "", "`ID` of the conversation it comes from")
	o.provenance.add(f)
	f.BoolVar(&o.req.AllowSecret, "allow-secret", false, "keep the evidence although it looks like a credential")
	return cmd
}

func (s *state) reinforce(cmd *cobra.Command, o *reinforceOptions, args []string) (err error) {
	switch {
	case o.req.ID == "":
		o.req.Content, err = s.given(cmd, args)
	case len(args) > 0:
		err = wrong(cmd, "--id names the memory already, and a text looks it up; give one of them")
	}
	if err != nil {
		return err
	}
	o.req.Provenance = o.provenance.claimed()
	o.req.Project = dotted(o.req.Project)
	res, err := call(cmd.Context(), s, op.Reinforce, &o.req)
	switch {
	case err != nil:
		return err
	case s.json:
		err = s.printJSON(res)
	default:
		if res.Found && o.req.ID != "" {
			res.Reinforced.Similarity = 0 // there was nothing to compare
		}
		s.printReinforced(res)
	}
	switch {
	case err != nil || res.Found:
		return err
	case len(res.Conflicts) > 0:
		return &exit{code: exitConflict}
	}
	return &exit{code: exitNothing}
}

func (s *state) printReinforced(res *op.ReinforceResult) {
	for i := range res.Conflicts {
		if i > 0 {
			s.printf("\n")
		}
		s.printConflict(&res.Conflicts[i])
	}
	switch {
	case res.Found:
		s.printf("reinforced %s  %s\n", s.short(res.Memory.ID), s.gist(res.Memory.Content, len("reinforced 12345678  ")))
		s.printReinforcement(res.Reinforced)
		s.printPending(res.Pending)
		s.noteReinforcement(res.Reinforced, res.Memory.ID)
		s.undoHint(res.Tx)
	case len(res.Conflicts) > 0:
		s.note("what is nearest disagrees, so nothing was reinforced; emberd add stores the text")
	default:
		s.note("nothing known says that, so nothing was reinforced; emberd add stores it")
	}
}
