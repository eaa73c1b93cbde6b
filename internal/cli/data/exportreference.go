package data

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/refgraph"
	"emberd/memory"
)

func exportReferenceCommand(s *cli.App) *cobra.Command {
	x := &referenceExport{s: s}
	cmd := cli.Command("reference FILE|-", cli.ArgCount(1, 1, "one file, or - for stdout"), nil,
		func(cmd *cobra.Command, args []string) error {
			if err := x.part.choose(cmd.Context(), s); err != nil {
				return err
			}
			if err := x.read(cmd.Context()); err != nil {
				return err
			}
			if args[0] == "-" {
				return x.write(s.Stdout)
			}
			path, err := newFile(args[0], x.write)
			if err != nil {
				return err
			}
			return x.print(args[0], path)
		})
	x.part.add(cmd)
	return cmd
}

// referenceExport writes the entities and relations of a store as the reference memory server keeps them.
type referenceExport struct {
	s         *cli.App
	part      part
	texts     archivedTexts
	entities  []memory.Memory
	relations []memory.Relation
	names     map[memory.ID]string // also of entities that only relations name
	others    int                  // memories that are not entities
}

// read collects entities and relations in the order in which the reference server keeps them.
func (x *referenceExport) read(ctx context.Context) error {
	x.names = make(map[memory.ID]string)
	err := eachLive(ctx, x.s, &x.part, func(m *memory.Memory, from []memory.Relation) error {
		name := refgraph.NameOf(m)
		if name == "" || m.Collection != refgraph.Collection {
			x.others++
			return nil
		}
		x.names[m.ID], x.relations = name, append(x.relations, from...)
		if !refgraph.Mentioned(m) {
			if x.texts.restore(ctx, x.s, m) {
				m.Stage, m.TextDigest = memory.Active, "" // all of its text is here
			}
			x.entities = append(x.entities, *m)
		}
		return nil
	})
	x.relations = slices.DeleteFunc(x.relations,
		func(r memory.Relation) bool { return x.names[r.From] == "" || x.names[r.To] == "" })
	slices.SortFunc(x.entities, func(a, b memory.Memory) int { return refgraph.Compare(&a, &b) })
	slices.SortFunc(x.relations, func(a, b memory.Relation) int { return refgraph.CompareRelations(&a, &b) })
	return err
}

func (x *referenceExport) write(w io.Writer) error {
	var lines []any
	for i := range x.entities {
		e, ok := refgraph.Of(&x.entities[i])
		if !ok {
			continue // it has a name, so it is one
		}
		if e.Observations == nil {
			e.Observations = []string{}
		}
		lines = append(lines, entityLine{"entity", e})
	}
	for i := range x.relations {
		r := &x.relations[i]
		lines = append(lines, relationLine{"relation", refgraph.RelationOf(r, x.names[r.From], x.names[r.To])})
	}
	return writeLines(w, lines)
}

type entityLine struct {
	Type string `json:"type"`
	refgraph.Entity
}

type relationLine struct {
	Type string `json:"type"`
	refgraph.Relation
}

func (x *referenceExport) print(name, path string) error {
	if x.s.JSON {
		return x.s.PrintJSON(map[string]any{"file": path, "entities": len(x.entities), "relations": len(x.relations),
			"others": x.others, "summaries": x.texts.missing})
	}
	x.s.Printf("exported %s and %s to %s\n", cli.Count(len(x.entities), "entity", "entities"),
		cli.Count(len(x.relations), "relation", "relations"), name)
	if x.others > 0 {
		x.s.Note("%s not an entity of the reference server; to export all memories, run: emberd export",
			cli.Count(x.others, "memory is", "memories are"))
	}
	x.texts.note(x.s)
	return nil
}
