package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"emberd/op"
)

func (s *state) whyNotCommand() *cobra.Command {
	var o searchOptions
	cmd := &cobra.Command{
		Use:   "why-not QUERY ID|NOTE",
		Short: "Tell what keeps a memory or note out of a search",
		Long: `Tell which stage of a search keeps a memory or a note out of its answer, and the
smallest change that would bring it in. Give the query as one argument, with the
flags of the search; a note is named by its path, its name or an alias.

The search itself is asked: as you typed it, then for that one thing alone with
each filter and operator by itself. Nothing is counted or changed.`,
		Example: `  emberd why-not 'rotation tag:security' 456789ab
  emberd why-not tomatoes Garden/Soil.md --notes`,
		Annotations:       exits(endings{exitNoDaemon: ""}),
		Args:              takes(2, 2, "a query, and a memory id or a note"),
		ValidArgsFunction: s.completeIDs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(cmd); err != nil {
				return err
			}
			r := &o.req
			res, err := call(cmd.Context(), s, op.WhyNot, &op.WhyNotRequest{Query: args[0], Of: args[1], Scope: r.Scope,
				Filter: r.Filter, Limit: r.Limit, IncludeReview: r.IncludeReview})
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(res)
			}
			s.printWhyNot(res)
			return nil
		},
	}
	o.searchFlags(cmd.Flags())
	return cmd
}

func (s *state) printWhyNot(r *op.WhyNotResult) {
	what := flat(r.Note)
	if r.ID != "" {
		what = s.short(r.ID)
	}
	switch {
	case r.Shown && r.As != "":
		s.printf("%s is hit %d of the answer, as %s\n", what, r.Place, flat(r.As))
	case r.Shown:
		s.printf("%s is hit %d of the answer\n", what, r.Place)
	}
	for _, c := range r.Causes {
		s.printf("%s\n", strings.TrimSpace(s.screen.paint(red, c.Stage)+"  "+what))
		s.printf("%s", s.screen.paragraph(clean(c.Reason), nil, "  "))
		if c.Fix != "" {
			s.printf("%s", s.screen.paragraph("→ "+clean(c.Fix), nil, "  "))
		}
	}
	for _, d := range r.Drags {
		s.printf("  %s\n", s.screen.paint(faint, fmt.Sprintf("%s × %.2f: without it number %s", d.What, d.Factor, grouped(d.Place))))
	}
	if len(r.Causes) > 1 {
		s.note("each of these keeps it out, so all of them have to go")
	}
}
