package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"emberd/op"
)

type queryOptions struct {
	req     op.QueryRequest
	within  window
	noTrack bool
}

func (s *state) queryCommand() *cobra.Command {
	var o queryOptions
	cmd := &cobra.Command{
		Use:   "query WORDS…",
		Short: "Ask what is known: memories, notes, people and things",
		Long: `Ask what is known, most relevant first. --scope says where:

  notes      memories and the notes of the vault
  knowledge  people and things, how often they are mentioned, and with what
  archive    what has faded: the summaries that are left
  all        notes and knowledge (default)

Words and operators are those of emberd search, which shows more of each hit and
has more filters.`,
		Example: `  emberd query "who works on billing"
  emberd query Postgres --scope knowledge
  emberd query "old deploy script" --scope archive --limit 10`,
		Annotations: exits(endings{exitNothing: "nothing found", exitNoDaemon: ""}),
		Args:        takes(1, -1, "words to ask for"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.query(cmd, &o, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.req.Scope, "scope", "", "ask `WHERE`: all, notes, knowledge or archive")
	f.IntVarP(&o.req.Limit, "limit", "n", 0, "at most `N` results, 1 to 100 (default 5)")
	f.IntVar(&o.req.Offset, "offset", 0, "pass over the best `N` results")
	f.StringSliceVarP(&o.req.Tags, "tag", "t", nil, "only with this `TAG`; repeatable")
	f.StringVar(&o.req.Project, "project", "", "only of this `PROJECT`; a dot is the enclosing git repository")
	f.StringVar(&o.req.Collection, "collection", "", "only of this `COLLECTION`")
	f.Var(&o.within, "within", "only used or changed within this `TIME`, as in 12h, 7d or 3mo")
	f.BoolVar(&o.noTrack, "no-track", false, "do not count this as access, and bring nothing back")
	completeWords(cmd, "scope", "all", "notes", "knowledge", "archive")
	return cmd
}

func (s *state) query(cmd *cobra.Command, o *queryOptions, args []string) error {
	if err := checkLimit(cmd, o.req.Limit); err != nil {
		return err
	}
	o.req.Query, o.req.WindowDays = strings.Join(args, " "), o.within.days
	if o.noTrack {
		o.req.Track = new(bool)
	}
	o.req.Project = dotted(o.req.Project)
	res, err := call(cmd.Context(), s, op.Query, &o.req)
	switch {
	case err != nil:
		return err
	case s.json:
		err = s.printJSON(res)
	default:
		s.printQuery(res, o.req.Query, o.req.Scope)
	}
	if err == nil && len(res.Results) == 0 {
		err = &exit{code: exitNothing}
	}
	return err
}

func (s *state) printQuery(res *op.QueryResult, query, scope string) {
	for i := range res.Results {
		if i > 0 {
			s.printf("\n")
		}
		s.printKnown(&res.Results[i], res.Results[0].Relevance)
	}
	s.noteLoading(res.Loading)
	s.noteIndexing(res.Indexing)
	s.noteRespelled(res.Respelled, res.Similar)
	switch more := res.Total - len(res.Results); {
	case len(res.Results) == 0 && scope == "archive":
		s.note("nothing in the archive is about %s; try other words", jsonText(clean(query)))
	case len(res.Results) == 0:
		s.note("nothing is known of %s; try other words, or --scope archive", jsonText(clean(query)))
	case more > 0:
		s.note("%s of %s%s shown; --limit shows more", grouped(len(res.Results)), atLeast(res.AtLeast), count(res.Total, "result", "results"))
	}
}

// printKnown prints one result: an entity, or a hit with its relevance in place of the
// rank.
func (s *state) printKnown(r *op.QueryHit, best float64) {
	if r.Entity != nil {
		s.printf("%s", s.entityHit(r, best))
		return
	}
	hit := *r.Hit
	hit.Rank = r.Relevance
	s.printHit(&hit, best)
	if hit.Memory != nil {
		s.printSource(strings.Join(nonEmpty(s.archivedText(&hit), r.Source), "; "))
	}
}

// entityHit names what kind of thing was found where other results have their id.
func (s *state) entityHit(r *op.QueryHit, best float64) string {
	head := append([]string{s.screen.paint(yellow, pad("entity", 8))}, s.screen.ranked(&op.Hit{Rank: r.Relevance}, best)...)
	return strings.Join(slices.Concat(head, []string{s.entityLines(r.Entity)}), "  ")
}

// archivedText says since when a memory is archived, "" for others.
func (s *state) archivedText(h *op.Hit) string {
	if h.ArchivedAt.IsZero() {
		return ""
	}
	return fmt.Sprintf("archived %s", ago(s.now(), h.ArchivedAt))
}
