package main

import (
	"io"

	"github.com/spf13/cobra"

	"emberd/internal/drawing"
	"emberd/op"
)

type graphOptions struct {
	req                   op.KnowledgeRequest
	dot, mermaid, graphml bool
}

func (s *state) graphCommand() *cobra.Command {
	var o graphOptions
	cmd := &cobra.Command{
		Use:   "graph [ID|PATH|ENTITY]",
		Short: "Show what is known around something",
		Long: `Show the memories, notes and entities around a memory, a note or an entity:
people, projects and whatever else memories and notes name. Without an argument,
show what is mentioned most, and what that is mentioned with.

Entities are what memories name, notes that others link to, and links and tags
that name them. What more than a fifth of all memories and notes mention tells
little, and leads nowhere unless it is asked for. emberd entities lists all.`,
		Example: `  emberd graph
  emberd graph 'Ada Lovelace' --depth 2
  emberd graph 456789ab --dot | dot -Tsvg > graph.svg
  emberd graph --graphml --limit 1000 > graph.graphml`,
		Annotations:       exits(endings{exitNothing: "nothing is known by that name", exitNoDaemon: ""}),
		Args:              takes(0, 1, "one memory id, note or entity"),
		ValidArgsFunction: s.completeGraph,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.req.Of = args[0]
			}
			return s.graph(cmd, &o)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.req.Depth, "depth", 1, "`STEPS` from there, 1 to 3")
	f.IntVarP(&o.req.Limit, "limit", "n", 0, "at most `N` memories, notes and entities, up to 1,000 (default 30, or 100 for other programs)")
	f.StringVar(&o.req.Project, "project", "", "memories of this `PROJECT` only")
	f.BoolVar(&o.dot, "dot", false, "write it for Graphviz")
	f.BoolVar(&o.mermaid, "mermaid", false, "write it as a Mermaid flowchart, as notes and GitHub show it")
	f.BoolVar(&o.graphml, "graphml", false, "write it as GraphML")
	return cmd
}

// graphOnScreen is how many nodes people read.
const graphOnScreen = 30

func (s *state) graph(cmd *cobra.Command, o *graphOptions) error {
	write, err := o.format(cmd, s.json)
	if err != nil {
		return err
	}
	if o.req.Limit == 0 && write == nil && !s.json {
		o.req.Limit = graphOnScreen
	}
	res, err := reach(cmd.Context(), s, op.Knowledge, &o.req)
	switch {
	case err != nil:
		return err
	case s.json:
		return s.printJSON(res)
	case write != nil:
		return write(s.stdout, res)
	}
	s.printGraph(res, o.req.Of != "")
	return nil
}

// format is what writes the graph for other programs, nil for people.
func (o *graphOptions) format(cmd *cobra.Command, json bool) (func(io.Writer, *op.KnowledgeResult) error, error) {
	var asked []func(io.Writer, *op.KnowledgeResult) error
	for _, f := range []struct {
		on    bool
		write func(io.Writer, *op.KnowledgeResult) error
	}{{json, nil}, {o.dot, drawing.DOT}, {o.mermaid, drawing.Mermaid}, {o.graphml, drawing.GraphML}} {
		if f.on {
			asked = append(asked, f.write)
		}
	}
	switch len(asked) {
	case 0:
		return nil, nil
	case 1:
		return asked[0], nil
	}
	return nil, wrong(cmd, "--json, --dot, --mermaid and --graphml are one of each other; leave all but one out")
}

// completeGraph offers entities, and memories for what looks like an id.
func (s *state) completeGraph(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return s.completeOneOf(cmd, args, typed, op.CompleteEntities, op.CompleteIDs)
}
