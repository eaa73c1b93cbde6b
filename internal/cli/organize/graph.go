// Package organize has the commands for relations between memories, the review queue, the
// vault and its notes, and the lifecycle.
package organize

import (
	"io"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/entity/drawing"
	"emberd/op"
)

type graphOptions struct {
	req                   op.KnowledgeRequest
	dot, mermaid, graphml bool
}

func GraphCommand(s *cli.App) *cobra.Command {
	var o graphOptions
	cmd := cli.Command("graph [ID|PATH|ENTITY]", cli.ArgCount(0, 1, "one memory ID, note or entity"),
		s.Offer(completeGraph),
		func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.req.Of = args[0]
			}
			return graph(s, cmd, &o)
		})
	f := cmd.Flags()
	cli.Bind(f, &o.req, "depth=1", "limit,n")
	cli.ProjectFilter(f, &o.req.Project)
	f.BoolVar(&o.dot, "dot", false, "")
	f.BoolVar(&o.mermaid, "mermaid", false, "")
	f.BoolVar(&o.graphml, "graphml", false, "")
	cmd.AddCommand(relateCommand(s), unrelateCommand(s))
	return cmd
}

// graphOnScreen is how many nodes people read.
const graphOnScreen = 30

func graph(s *cli.App, cmd *cobra.Command, o *graphOptions) error {
	write, err := o.format(cmd, s.JSON)
	if err != nil {
		return err
	}
	if o.req.Limit == 0 && write == nil && !s.JSON {
		o.req.Limit = graphOnScreen
	}
	res, err := cli.Reach(cmd.Context(), s, op.Knowledge, &o.req)
	switch {
	case err != nil:
		return err
	case s.JSON:
		return s.PrintJSON(res)
	case write != nil:
		return write(s.Stdout, res)
	}
	if o.req.Of != "" {
		printAround(s, res)
		return nil
	}
	known, err := cli.Reach(cmd.Context(), s, op.EntityList, &op.EntityListRequest{Project: o.req.Project, Limit: 1})
	if err != nil {
		return err
	}
	printMost(s, res, known.Total)
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
	return nil, cli.UsageError(cmd, "--json, --dot, --mermaid and --graphml cannot be combined")
}

// completeGraph offers entities, and memories for what looks like an id.
func completeGraph(s *cli.App, cmd *cobra.Command, args []string, typed string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	return s.CompleteOneOf(cmd, args, typed, op.CompleteEntities, op.CompleteIDs)
}
