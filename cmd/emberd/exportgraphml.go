package main

import (
	"bufio"
	"context"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"emberd/engine"
	"emberd/internal/drawing"
	"emberd/memory"
)

func (s *state) exportGraphMLCommand() *cobra.Command {
	x := &graphExport{s: s, memories: make(map[memory.ID]bool), entities: make(map[string]int)}
	cmd := &cobra.Command{
		Use:   "graphml FILE|-",
		Short: "Write every memory, entity and relation as GraphML",
		Long: `Write a graph of everything for programs that draw and count, such as Gephi,
yEd, Cytoscape and networkx: a node for each memory and for each entity that one
names, an edge for each relation and each mention, all with typed attributes, to
a new FILE or, for "-", to stdout. What is in the trash is left out. The same
memories give the same bytes. Control characters, which XML cannot hold, become
U+FFFD. emberd graph --graphml has a part of the graph, with notes.

With flags of emberd list that select memories it has those that are so, what
they name, and the relations between them.`,
		Example: `  emberd export graphml all.graphml
  emberd export graphml work.graphml --tag work
  emberd export graphml - | xz > all.graphml.xz`,
		Annotations: exits(endings{exitNothing: "no memory is as the flags say", exitNoDaemon: "", exitLocked: "", exitDisk: ""}),
		Args:        takes(1, 1, "one file, or - for stdout"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := x.part.choose(cmd.Context(), s); err != nil {
				return err
			}
			write := func(w io.Writer) error { return x.write(cmd.Context(), w) }
			if args[0] == "-" {
				return write(s.stdout)
			}
			path, err := newFile(args[0], write)
			switch {
			case err != nil:
				return err
			case s.json:
				return s.printJSON(map[string]any{"file": path, "memories": len(x.memories), "entities": len(x.entities), "edges": x.edges})
			}
			s.printf("exported %s, %s and %s to %s\n", count(len(x.memories), "memory", "memories"), count(len(x.entities), "entity", "entities"),
				count(x.edges, "edge", "edges"), args[0])
			return nil
		},
	}
	x.part.add(cmd)
	return cmd
}

// graphExport writes one graph. It reads all twice, for edges come after both their ends.
type graphExport struct {
	s        *state
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
	err := x.s.eachLive(ctx, &x.part, func(m *memory.Memory, _ []memory.Relation) error {
		x.memories[m.ID] = true
		for _, name := range m.Entities {
			x.entities[name] = 0
		}
		g.Memory(m, engine.NoteTitle(m))
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
	return x.s.eachLive(ctx, &x.part, func(m *memory.Memory, from []memory.Relation) error {
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
