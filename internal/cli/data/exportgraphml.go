package data

import (
	"bufio"
	"context"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"emberd/engine/promote"
	"emberd/internal/cli"
	"emberd/internal/entity/drawing"
	"emberd/memory"
)

func exportGraphMLCommand(s *cli.App) *cobra.Command {
	x := &graphExport{s: s, memories: make(map[memory.ID]bool), entities: make(map[string]int)}
	cmd := cli.Command("graphml FILE|-", cli.ArgCount(1, 1, "one file, or - for stdout"), nil,
		func(cmd *cobra.Command, args []string) error {
			if err := x.part.choose(cmd.Context(), s); err != nil {
				return err
			}
			write := func(w io.Writer) error { return x.write(cmd.Context(), w) }
			if args[0] == "-" {
				return write(s.Stdout)
			}
			path, err := newFile(args[0], write)
			switch {
			case err != nil:
				return err
			case s.JSON:
				return s.PrintJSON(map[string]any{"file": path, "memories": len(x.memories),
					"entities": len(x.entities), "edges": x.edges})
			}
			s.Printf("exported %s, %s and %s to %s\n", cli.Count(len(x.memories), "memory", "memories"),
				cli.Count(len(x.entities), "entity", "entities"),
				cli.Count(x.edges, "edge", "edges"), args[0])
			return nil
		})
	x.part.add(cmd)
	return cmd
}

// graphExport writes one graph. It reads all twice, for edges come after both their ends.
type graphExport struct {
	s        *cli.App
	part     part
	memories map[memory.ID]bool
	entities map[string]int // their numbers, by name
	edges    int
}

func (x *graphExport) write(ctx context.Context, w io.Writer) error {
	out := bufio.NewWriter(w) // whose first bytes wait until somebody has answered
	g := drawing.NewStore(out)
	if err := x.nodes(ctx, g); err != nil {
		return err
	}
	if err := x.lines(ctx, g); err != nil {
		return err
	}
	if err := g.Close(); err != nil {
		return err
	}
	return out.Flush()
}

func (x *graphExport) nodes(ctx context.Context, g *drawing.Store) error {
	err := eachLive(ctx, x.s, &x.part, func(m *memory.Memory, _ []memory.Relation) error {
		x.memories[m.ID] = true
		for _, name := range m.Entities {
			x.entities[name] = 0
		}
		g.Memory(m, promote.NoteTitle(m))
		return nil
	})
	for i, name := range slices.Sorted(maps.Keys(x.entities)) {
		x.entities[name] = i
		g.Entity(i, name)
	}
	return err
}

// lines writes edges between what was written; what came since is left out.
func (x *graphExport) lines(ctx context.Context, g *drawing.Store) error {
	return eachLive(ctx, x.s, &x.part, func(m *memory.Memory, from []memory.Relation) error {
		if !x.memories[m.ID] {
			return nil
		}
		for i := range from {
			if x.memories[from[i].To] {
				g.Relation(&from[i])
				x.edges++
			}
		}
		for _, name := range m.Entities {
			if number, known := x.entities[name]; known {
				g.Mention(m.ID, number)
				x.edges++
			}
		}
		return nil
	})
}
