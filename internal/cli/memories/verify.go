package memories

import (
	"fmt"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/op"
)

func VerifyCommand(s *cli.App) *cobra.Command {
	var req op.VerifyRequest
	cmd := cli.Command("verify [CLAIM… | -]", nil, nil, func(cmd *cobra.Command, args []string) (err error) {
		if err := cli.CheckLimit(cmd, req.Limit); err != nil {
			return err
		}
		if req.Claim, err = givenText(s, cmd, args); err != nil {
			return err
		}
		return verify(s, cmd, &req)
	})
	cli.ProjectFilter(cmd.Flags(), &req.Project)
	cli.Bind(cmd.Flags(), &req, "collection", "limit,n", "no-track:!track_access")
	return cmd
}

func verify(s *cli.App, cmd *cobra.Command, req *op.VerifyRequest) error {
	res, err := cli.Call(cmd.Context(), s, op.Verify, req)
	if err != nil {
		return err
	}
	err = s.Answer(res, func() { printVerified(s, res) })
	if err == nil && res.Status == op.StatusConflict {
		err = &cli.Exit{Code: cli.ExitConflict}
	}
	return err
}

func printVerified(s *cli.App, res *op.VerifyResult) {
	colours := map[string]cli.Style{op.StatusConfirmed: cli.Green, op.StatusRelated: cli.Cyan, op.StatusNew: cli.Bold,
		op.StatusConflict: cli.Red}
	s.Printf("%s  %s\n", s.Screen.Paint(colours[res.Status], res.Status),
		s.Screen.Paint(cli.Faint, fmt.Sprintf("%.2f by %s", res.Confidence, res.Compared)))
	s.Printf("%s", s.Screen.Paragraph(cli.Flat(res.Message), nil, "  "))
	for i := range res.Conflicts {
		s.Printf("\n")
		cli.PrintConflict(s, &res.Conflicts[i])
	}
	for i := range res.Matches {
		if m := &res.Matches[i]; m.Verdict != op.VerdictConflict {
			s.Printf("\n")
			cli.PrintMatch(s, m)
		}
	}
	for i, e := range res.Entities {
		if i == 0 {
			s.Printf("\n")
		}
		s.Printf("%s", cli.EntityLines(s, &e))
	}
	cli.NoteLoading(s, res.Loading)
	cli.NoteIndexing(s, res.Indexing)
}
