package search

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/op"
)

type queryOptions struct {
	req    op.QueryRequest
	within cli.Window
}

func QueryCommand(s *cli.App) *cobra.Command {
	var o queryOptions
	cmd := cli.Command("query WORDS…", cli.ArgCount(1, -1, "words to search for"), nil,
		func(cmd *cobra.Command, args []string) error {
			return query(s, cmd, &o, args)
		})
	f := cmd.Flags()
	cli.Bind(f, &o.req, "scope", "limit,n", "tag:tags,t", "collection", "no-track:!track_access")
	cli.ProjectFilter(f, &o.req.Project)
	f.Var(&o.within, "within", "")
	cli.CompleteWords(cmd, "scope", "all", "notes", "knowledge", "archive", "sessions")
	return cmd
}

func query(s *cli.App, cmd *cobra.Command, o *queryOptions, args []string) error {
	if err := cli.CheckLimit(cmd, o.req.Limit); err != nil {
		return err
	}
	o.req.Query, o.req.WindowDays = strings.Join(args, " "), o.within.Days
	return cli.List(cmd.Context(), s, op.Query, &o.req, func(res *op.QueryResult) int { return len(res.Results) },
		func(s *cli.App, res *op.QueryResult) { printQuery(s, res, o.req.Query, o.req.Scope) })
}

// printNearest prints what comes nearest, if nothing fits.
func printNearest(s *cli.App, res *op.QueryResult) {
	for i := range res.Nearest {
		if i == 0 {
			s.Printf("did you mean:\n")
		}
		s.Printf("\n")
		printKnown(s, &res.Nearest[i], res.Nearest[0].Relevance)
	}
}

func printQuery(s *cli.App, res *op.QueryResult, query, scope string) {
	for i := range res.Results {
		if i > 0 {
			s.Printf("\n")
		}
		printKnown(s, &res.Results[i], res.Results[0].Relevance)
	}
	cli.NoteLoading(s, res.Loading)
	cli.NoteIndexing(s, res.Indexing)
	cli.NoteAway(s, res.Away)
	noteRespelled(s, res.Respelled, res.Similar)
	printNearest(s, res)
	switch more := res.Total - len(res.Results); {
	case len(res.Results) == 0 && scope == "archive":
		s.Note("no archived memories match %s; try other words", cli.JsonText(cli.Clean(query)))
	case len(res.Results) == 0 && scope == "sessions":
		s.Note("no stored sessions match %s; try other words", cli.JsonText(cli.Clean(query)))
	case len(res.Results) == 0:
		s.Note("no results for %s; try other words or --scope archive", cli.JsonText(cli.Clean(query)))
	case more > 0:
		s.Note("%s of %s%s shown; to see more, use --limit", cli.Grouped(len(res.Results)), atLeast(res.AtLeast),
			cli.Count(res.Total, "result", "results"))
	}
}

// printKnown prints one result: an entity, or a hit with its relevance in place of the
// rank.
func printKnown(s *cli.App, r *op.QueryHit, best float64) {
	if r.Entity != nil {
		s.Printf("%s", entityHit(s, r, best))
		return
	}
	hit := *r.Hit
	hit.Rank = r.Relevance
	printHit(s, &hit, best)
	if hit.Memory != nil {
		cli.PrintSource(s, strings.Join(cli.NonEmpty(archivedText(s, &hit), r.Source), "; "))
	}
}

// entityHit names what kind of thing was found where other results have their id.
func entityHit(s *cli.App, r *op.QueryHit, best float64) string {
	head := append([]string{s.Screen.Paint(cli.Yellow, cli.Pad("entity", 8))},
		s.Screen.Ranked(&op.Hit{Rank: r.Relevance}, best)...)
	return strings.Join(slices.Concat(head, []string{cli.EntityLines(s, r.Entity)}), "  ")
}

// archivedText says since when a memory is archived, "" for others.
func archivedText(s *cli.App, h *op.Hit) string {
	if h.ArchivedAt.IsZero() {
		return ""
	}
	return fmt.Sprintf("archived %s", cli.Ago(s.Now(), h.ArchivedAt))
}
