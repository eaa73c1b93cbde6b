package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"emberd/op"
)

func (s *state) verifyCommand() *cobra.Command {
	var req op.VerifyRequest
	var noTrack bool
	cmd := &cobra.Command{
		Use:   "verify [CLAIM… | -]",
		Short: "Tell whether a statement is known, and what disagrees",
		Long: `Tell whether one statement is known already, what is known that has to do with
it, and what of that disagrees: another number, date, version, unit or name, a
denial or an opposite. Nothing is stored. The answer is one of four:

  confirmed  it is known
  related    something about it is known
  new        nothing is known about it
  conflict   something known disagrees; exit code 5 tells a script

What is compared: whole memories, long ones and notes of the vault sentence by
sentence, and of archived memories the summaries; by words, and where there is a
model that can be trusted by vectors. What disagrees is always found by words.`,
		Example: `  emberd verify "The database runs on port 5432"
  emberd verify "Ann left the billing team" || echo "look at that first"
  emberd verify --json "The database runs on port 5432" | jq -r .status`,
		Annotations: exits(endings{exitDone: "confirmed, related or new", exitNoDaemon: "", exitConflict: "something known disagrees"}),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := checkLimit(cmd, req.Limit); err != nil {
				return err
			}
			if req.Claim, err = s.given(cmd, args); err != nil {
				return err
			}
			if noTrack {
				req.Track = new(bool)
			}
			req.Project = dotted(req.Project)
			return s.verify(cmd, &req)
		},
	}
	f := cmd.Flags()
	f.StringVar(&req.Project, "project", "", "of the memories compare with those of this `PROJECT` only; a dot is the enclosing git repository")
	f.StringVar(&req.Collection, "collection", "", "of the memories compare with those of this `COLLECTION` only")
	f.IntVarP(&req.Limit, "limit", "n", 0, "at most `N` matches, 1 to 100 (default 5)")
	f.BoolVar(&noTrack, "no-track", false, "do not count this as access")
	return cmd
}

func (s *state) verify(cmd *cobra.Command, req *op.VerifyRequest) error {
	res, err := call(cmd.Context(), s, op.Verify, req)
	switch {
	case err != nil:
		return err
	case s.json:
		err = s.printJSON(res)
	default:
		s.printVerified(res)
	}
	if err == nil && res.Status == op.StatusConflict {
		err = &exit{code: exitConflict}
	}
	return err
}

func (s *state) printVerified(res *op.VerifyResult) {
	colours := map[string]style{op.StatusConfirmed: green, op.StatusRelated: cyan, op.StatusNew: bold, op.StatusConflict: red}
	s.printf("%s  %s\n", s.screen.paint(colours[res.Status], res.Status), s.screen.paint(faint, fmt.Sprintf("%.2f by %s", res.Confidence, res.Compared)))
	s.printf("%s", s.screen.paragraph(flat(res.Message), nil, "  "))
	for i := range res.Conflicts {
		s.printf("\n")
		s.printConflict(&res.Conflicts[i])
	}
	for i := range res.Matches {
		if m := &res.Matches[i]; m.Verdict != op.VerdictConflict {
			s.printf("\n")
			s.printMatch(m)
		}
	}
	for i, e := range res.Entities {
		if i == 0 {
			s.printf("\n")
		}
		s.printf("%s", s.entityLines(&e))
	}
	s.noteLoading(res.Loading)
	s.noteIndexing(res.Indexing)
}
