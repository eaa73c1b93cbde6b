package search

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/op"
)

func WhyNotCommand(s *cli.App) *cobra.Command {
	var o searchOptions
	cmd := cli.Command("why-not QUERY ID|NOTE", cli.ArgCount(2, 2, "a query, and a memory ID or a note"), s.CompleteIDs,
		func(cmd *cobra.Command, args []string) error {
			if err := o.complete(cmd); err != nil {
				return err
			}
			r := &o.req
			res, err := cli.Call(cmd.Context(), s, op.WhyNot, &op.WhyNotRequest{Query: args[0], Of: args[1],
				Scope:  r.Scope,
				Filter: r.Filter, Limit: r.Limit, IncludeReview: r.IncludeReview})
			if err != nil {
				return err
			}
			return s.Answer(res, func() { printWhyNot(s, res) })
		})
	o.searchFlags(cmd.Flags())
	o.narrowFlags(cmd.Flags())
	return cmd
}

func printWhyNot(s *cli.App, r *op.WhyNotResult) {
	what := cli.Flat(r.Note)
	if r.ID != "" {
		what = s.Short(r.ID)
	}
	switch {
	case r.Shown && r.As != "":
		s.Printf("%s is result %d, shown as %s\n", what, r.Place, cli.Flat(r.As))
	case r.Shown:
		s.Printf("%s is result %d\n", what, r.Place)
	}
	for _, c := range r.Causes {
		s.Printf("%s\n", strings.TrimSpace(s.Screen.Paint(cli.Red, c.Stage)+"  "+what))
		s.Printf("%s", s.Screen.Paragraph(cli.Clean(c.Reason), nil, "  "))
		if c.Fix != "" {
			s.Printf("%s", s.Screen.Paragraph("→ "+cli.Clean(c.Fix), nil, "  "))
		}
	}
	for _, d := range r.Drags {
		s.Printf("  %s\n", s.Screen.Paint(cli.Faint, fmt.Sprintf(
			"%s × %.2f: without this factor, the memory or note would be result %s", d.What, d.Factor,
			cli.Grouped(d.Place))))
	}
	if len(r.Causes) > 1 {
		s.Note("each of these reasons excludes the memory or note from the results; fix all reasons")
	}
}
