package organize

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

type relateOptions struct {
	req    op.RelateRequest
	meta   cli.Meta
	remove bool
}

func relateCommand(s *cli.App) *cobra.Command {
	var o relateOptions
	cmd := cli.Command("relate FROM TYPE TO | relate --remove RELATION…", o.args, s.Offer(completeRelate),
		func(cmd *cobra.Command, args []string) error {
			if o.remove {
				return unrelate(s, cmd, args)
			}
			return relate(s, cmd, &o, args)
		})
	f := cmd.Flags()
	f.BoolVar(&o.remove, "remove", false, "")
	cli.Bind(f, &o.req, "kind", "allow-secret", "strength=1")
	f.Var(&o.meta, "meta", "")
	return cmd
}

func unrelateCommand(s *cli.App) *cobra.Command {
	return cli.Command("unrelate RELATION…", cli.ArgCount(1, -1, "one or more relation IDs"),
		func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return completeRelations(s, cmd)
		},
		func(cmd *cobra.Command, args []string) error { return unrelate(s, cmd, args) })
}

// args checks the number of arguments, which --remove changes.
func (o *relateOptions) args(cmd *cobra.Command, args []string) error {
	if o.remove {
		for _, name := range []string{"strength", "kind", "meta", "allow-secret"} {
			if cmd.Flags().Changed(name) {
				return cli.UsageError(cmd, "--%s and --remove cannot be combined", name)
			}
		}
		return cli.ArgCount(1, -1, "one or more relation IDs")(cmd, args)
	}
	return cli.ArgCount(3, 3, "a memory ID, a relation type and a second memory ID")(cmd, args)
}

func relate(s *cli.App, cmd *cobra.Command, o *relateOptions, args []string) error {
	o.req.From, o.req.Type, o.req.To = args[0], args[1], args[2]
	o.req.Metadata = o.meta
	return cli.Show(cmd.Context(), s, op.Relate, &o.req, func(s *cli.App, res *op.RelateResult) {
		s.Printf("related %s\n", spelled(s, &res.Relation))
		s.UndoHint(res.Tx)
	})
}

func unrelate(s *cli.App, cmd *cobra.Command, args []string) error {
	return cli.Show(cmd.Context(), s, op.Unrelate, &op.UnrelateRequest{ID: strings.Join(args, ",")}, func(s *cli.App,
		res *op.UnrelateResult) {
		for _, r := range res.Removed {
			s.Printf("removed %s\n", spelled(s, &r))
		}
		s.UndoHint(res.Tx)
	})
}

// spelled writes a relation with both of its ends.
func spelled(s *cli.App, r *memory.Relation) string {
	return fmt.Sprintf("%s %s %s  %s", s.Short(r.From), cli.Described(r), s.Short(r.To),
		s.Screen.Paint(cli.Faint, r.Short()))
}

// completeRelate offers ids for both ends and the types between them, or relations to
// remove.
func completeRelate(s *cli.App, cmd *cobra.Command, args []string, typed string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	if cmd.Flags().Changed("remove") {
		return completeRelations(s, cmd)
	}
	switch len(args) {
	case 0, 2:
		return s.CompleteIDs(cmd, args, typed)
	case 1:
		return memory.RelationTypes(), cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// completeRelations offers the relations of the newest memories.
func completeRelations(s *cli.App, cmd *cobra.Command) ([]cobra.Completion, cobra.ShellCompDirective) {
	res, err := cli.Call(cmd.Context(), s, op.Graph, &op.GraphRequest{Status: "all", PageSize: memory.MaxResults})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	for _, r := range res.Relations {
		out = append(out, cobra.CompletionWithDesc(r.Short(), fmt.Sprintf("%s %s %s", r.From.Short(), cli.Described(&r),
			r.To.Short())))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
