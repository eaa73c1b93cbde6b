package main

import (
	"github.com/spf13/cobra"

	"emberd/memory"
	"emberd/op"
)

type addOptions struct {
	req        op.AddRequest
	provenance provenanceFlags
}

func (s *state) addCommand() *cobra.Command {
	var o addOptions
	cmd := &cobra.Command{
		Use:   "add [TEXT… | -]",
		Short: "Save what is worth keeping, unless it is known",
		Long: `Save what is worth keeping, unless it is known: then the memory that says it is
reinforced, which raises its importance by 0.1, or to what --importance says,
and keeps where it was learned; --importance core makes it a core memory.
What is known and disagrees is shown; the text is stored all the same, with a
relation "contradicts" to each memory that it contradicts, and one undo takes
both back. emberd save stores whatever it is given.

The text is what the arguments say, or what stdin holds when the only argument
is "-". Without text, on a terminal, $VISUAL or $EDITOR opens. A known text is
looked for in the collection that it goes to, and in its project and those
memories that have none. Vectors make nothing known by themselves: what has a
word that the memory lacks, and lacks one of its words, is stored.`,
		Example: `  emberd add "The database runs on port 5432" --from config/db.yml:12
  emberd add --importance core "Ann is the owner of the billing service"
  curl -s https://example.org/a.txt | emberd add - --origin web`,
		Annotations: exits(endings{exitNoDaemon: "", exitDisk: "", exitSecret: "", exitAgain: ""}),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.add(cmd, &o, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.req.Section, "section", "", "`SECTION` it belongs to: Key Topics, Important Facts (default), People & Entities, Ongoing Threads or File Knowledge")
	f.StringVar(&o.req.Importance, "importance", "", "`LEVEL`: low, normal (default), high, or core for what must never be forgotten")
	f.StringSliceVarP(&o.req.Tags, "tag", "t", nil, "`TAG` to find it by; repeatable, or a comma list")
	f.StringVar(&o.req.Source, "source", "", "`PLACE` it comes from")
	f.StringVar(&o.req.Context, "context", "", "`TEXT` on when or why it came up")
	f.StringVar(&o.req.Collection, "collection", "", "`NAME` of the collection it goes to, by default "+memory.DefaultCollection)
	f.StringVar(&o.req.Project, "project", "", "`NAME` of its project, by default the enclosing git repository")
	f.StringVar(&o.req.SessionID, "session", "", "`ID` of the conversation it comes from")
	o.provenance.add(f)
	f.BoolVar(&o.req.AllowSecret, "allow-secret", false, "save although it looks like a credential")
	f.BoolVar(&o.req.Again, "again", false, "store it as a memory of its own although it is known, was recalled just now or was forgotten before")
	return cmd
}

func (s *state) add(cmd *cobra.Command, o *addOptions, args []string) error {
	var err error
	if o.req.Content, err = s.newText(cmd, args); err != nil {
		return err
	}
	o.req.Provenance = o.provenance.claimed()
	if !cmd.Flags().Changed("project") {
		o.req.Project = here()
	}
	res, err := call(cmd.Context(), s, op.Add, &o.req)
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(res)
	}
	s.printAdded(res)
	return nil
}

func (s *state) printAdded(res *op.AddResult) {
	if res.Echo != nil {
		s.printEcho(res.Echo, res.Memory.Content)
		return
	}
	verb := "known"
	if res.New {
		verb = "added"
	}
	s.printf("%s %s  %s\n", verb, s.short(res.Memory.ID), s.gist(res.Memory.Content, len("added 12345678  ")))
	s.printReinforcement(res.Reinforced)
	s.printPending(res.Pending)
	for i := range res.Conflicts {
		s.printf("\n")
		s.printConflict(&res.Conflicts[i])
	}
	s.noteReinforcement(res.Reinforced, res.Memory.ID)
	s.warnHidden(&res.Memory)
	s.noteScope(res.Added)
	s.undoHint(res.Tx)
}
