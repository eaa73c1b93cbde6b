package memories

import (
	"strings"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/op"
)

func EntitiesCommand(s *cli.App) *cobra.Command {
	var req op.EntityListRequest
	cmd := cli.Command("entities [WORDS…]", cobra.ArbitraryArgs, nil, func(cmd *cobra.Command, args []string) error {
		req.Query = strings.Join(args, " ")
		return entities(s, cmd, &req)
	})
	cli.ProjectFilter(cmd.Flags(), &req.Project)
	cli.Bind(cmd.Flags(), &req, "limit,n=20")
	return cmd
}

func entities(s *cli.App, cmd *cobra.Command, req *op.EntityListRequest) error {
	res, err := cli.Reach(cmd.Context(), s, op.EntityList, req)
	if err != nil {
		return err
	}
	return s.Found(res, len(res.Entities), func() { printEntities(s, res, req) })
}

func printEntities(s *cli.App, res *op.EntityListResult, req *op.EntityListRequest) {
	if len(res.Entities) == 0 {
		s.Note("%s", noEntities(req))
		return
	}
	s.Printf("%s\n", s.Screen.Paint(cli.Faint, "MENTIONS  MEMORIES  NOTES  LAST    NAME"))
	for i := range res.Entities {
		k := &res.Entities[i]
		last := "never"
		if !k.LastSeen.IsZero() {
			last = cli.Age(s.Now(), k.LastSeen)
		}
		s.Printf("%8s  %8s %6s  %s  %s\n", cli.Grouped(k.Mentions), cli.Grouped(k.Memories), cli.Grouped(k.Notes),
			cli.Pad(last, 6), entityName(s, k))
	}
	if more := res.Total - len(res.Entities); more > 0 {
		s.Note("%s of %s shown; to see others, use --limit and --offset", cli.Grouped(len(res.Entities)),
			cli.Count(res.Total, "entity", "entities"))
	}
	cli.NotePartial(s, res.Partial)
}

// entityName is the last column: the name, and as much of what it is called besides and of
// its note as is room for.
func entityName(s *cli.App, k *op.Entity) string {
	about := ""
	if len(k.Aliases) > 0 {
		about = "also " + strings.Join(k.Aliases, ", ")
	}
	if k.Note != "" {
		about = strings.TrimPrefix(about+"; note "+k.Note, "; ")
	}
	name := cli.OneLine(k.Name)
	if s.Screen.Width > 0 {
		room := max(12, s.Screen.Width-len("MENTIONS  MEMORIES  NOTES  LAST    "))
		name = cli.Cut(name, room)
		const least = 8 // which tells something
		if room -= uniseg.StringWidth(name) + 2; room < least {
			return name
		}
		about = cli.Cut(cli.OneLine(about), room)
	}
	if about == "" {
		return name
	}
	return name + "  " + s.Screen.Paint(cli.Faint, cli.OneLine(about))
}

func noEntities(req *op.EntityListRequest) string {
	if req.Query != "" || req.Project != "" {
		return "no matching entities; run: emberd list --entities"
	}
	return "no entities yet; save memories that name a person or project, or link notes"
}
