package main

import (
	"strings"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"emberd/op"
)

func (s *state) entitiesCommand() *cobra.Command {
	var req op.EntityListRequest
	cmd := &cobra.Command{
		Use:   "entities [WORDS…]",
		Short: "List who and what memories and notes name",
		Long: `List the entities that memories and notes name, those that are mentioned most
first. WORDS are words of their names or aliases, or beginnings of them. How
often one is mentioned is how often memories that name it were learned, and how
many notes link to it or are tagged with it.`,
		Example: `  emberd entities
  emberd entities ada
  emberd entities --sort recent --limit 50`,
		Annotations: exits(endings{exitNothing: "there is no such entity", exitNoDaemon: ""}),
		Args:        cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Query = strings.Join(args, " ")
			return s.entities(cmd, &req)
		},
	}
	f := cmd.Flags()
	f.StringVar(&req.Project, "project", "", "named by memories of this `PROJECT`")
	f.StringVar(&req.Sort, "sort", "mentions", "`BY` mentions, recent or name")
	f.IntVarP(&req.Limit, "limit", "n", 20, "at most `N`, up to 100")
	f.IntVar(&req.Offset, "offset", 0, "pass over the first `N`, up to 1,000")
	_ = cmd.RegisterFlagCompletionFunc("sort", cobra.FixedCompletions([]cobra.Completion{"mentions", "recent", "name"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (s *state) entities(cmd *cobra.Command, req *op.EntityListRequest) error {
	res, err := reach(cmd.Context(), s, op.EntityList, req)
	if err != nil {
		return err
	}
	return s.found(res, len(res.Entities), func() { s.printEntities(res, req) })
}

func (s *state) printEntities(res *op.EntityListResult, req *op.EntityListRequest) {
	if len(res.Entities) == 0 {
		s.note("%s", noEntities(req))
		return
	}
	s.printf("%s\n", s.screen.paint(faint, "MENTIONS  MEMORIES  NOTES  LAST    NAME"))
	for i := range res.Entities {
		k := &res.Entities[i]
		last := "never"
		if !k.LastSeen.IsZero() {
			last = age(s.now(), k.LastSeen)
		}
		s.printf("%8s  %8s %6s  %s  %s\n", grouped(k.Mentions), grouped(k.Memories), grouped(k.Notes), pad(last, 6), s.entityName(k))
	}
	if more := res.Total - req.Offset - len(res.Entities); more > 0 {
		s.note("%s of %s shown; --limit and --offset show others", grouped(len(res.Entities)), count(res.Total, "entity", "entities"))
	}
	s.notePartial(res.Partial)
}

// entityName is the last column: the name, and as much of what it is called besides and of
// its note as is room for.
func (s *state) entityName(k *op.Entity) string {
	about := ""
	if len(k.Aliases) > 0 {
		about = "also " + strings.Join(k.Aliases, ", ")
	}
	if k.Note != "" {
		about = strings.TrimPrefix(about+"; note "+k.Note, "; ")
	}
	name := oneLine(k.Name)
	if s.screen.width > 0 {
		room := max(12, s.screen.width-len("MENTIONS  MEMORIES  NOTES  LAST    "))
		name = cut(name, room)
		const least = 8 // which tells something
		if room -= uniseg.StringWidth(name) + 2; room < least {
			return name
		}
		about = cut(oneLine(about), room)
	}
	if about == "" {
		return name
	}
	return name + "  " + s.screen.paint(faint, oneLine(about))
}

func noEntities(req *op.EntityListRequest) string {
	if req.Query != "" || req.Project != "" {
		return "no entity is like that; emberd entities shows them all"
	}
	return "no entities here; save memories that name somebody or something, or link notes"
}

// notePartial says that notes are still being read.
func (s *state) notePartial(partial bool) {
	if partial {
		s.note("notes are still being read, so some may be missing; ask again in a moment")
	}
}
