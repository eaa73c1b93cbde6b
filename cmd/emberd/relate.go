package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"emberd/memory"
	"emberd/op"
)

type relateOptions struct {
	req      op.RelateRequest
	strength float64
	meta     meta
	remove   bool
}

func (s *state) relateCommand() *cobra.Command {
	var o relateOptions
	cmd := &cobra.Command{
		Use:   "relate FROM TYPE TO | relate --remove RELATION…",
		Short: "Say how one memory stands to another",
		Long: `Say how one memory stands to another. TYPE is one of ` + strings.Join(memory.RelationTypes()[:3], ", ") + `,
` + strings.Join(memory.RelationTypes()[3:], ", ") + `; --kind says it in other
words. Of each type and kind there is one from one memory to another. It goes to
the trash and comes back with either of them, and is no edit of them.

show lists the relations of a memory. --remove takes some away, all of those
named or none; an id may be shortened to rel- and four or more digits.`,
		Example: `  emberd relate 456789ab supports 89ab0123
  emberd relate 456789ab related 89ab0123 --kind 'works at' --strength 0.8
  emberd relate --remove rel-3f2a91bc`,
		Annotations: exits(endings{
			exitNothing: "no memory or no relation with that id", exitNoDaemon: "",
			exitConflict: "there is this relation already", exitDisk: "", exitSecret: "", exitAgain: "",
		}),
		Args:              o.args,
		ValidArgsFunction: s.completeRelate,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.remove {
				return s.unrelate(cmd, args)
			}
			return s.relate(cmd, &o, args)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.remove, "remove", false, "take relations away that are named by their ids")
	f.Float64Var(&o.strength, "strength", 1, "`SHARE` from 0 to 1")
	f.StringVar(&o.req.Kind, "kind", "", "`WORDS` for it, up to 100 characters")
	f.Var(&o.meta, "meta", "anything else; a value that is JSON is kept as JSON; repeatable")
	f.BoolVar(&o.req.AllowSecret, "allow-secret", false, "store it although it looks like a credential")
	return cmd
}

// args checks the number of arguments, which --remove changes.
func (o *relateOptions) args(cmd *cobra.Command, args []string) error {
	if o.remove {
		for _, name := range []string{"strength", "kind", "meta", "allow-secret"} {
			if cmd.Flags().Changed(name) {
				return wrong(cmd, "--%s says what a relation is like, and --remove takes relations away; leave one out", name)
			}
		}
		return takes(1, -1, "the id of a relation, or several")(cmd, args)
	}
	return takes(3, 3, "a memory id, a type and another memory id")(cmd, args)
}

func (s *state) relate(cmd *cobra.Command, o *relateOptions, args []string) error {
	o.req.From, o.req.Type, o.req.To = args[0], args[1], args[2]
	o.req.Strength, o.req.Metadata = optional(cmd.Flags(), "strength", o.strength), o.meta
	res, err := call(cmd.Context(), s, op.Relate, &o.req)
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(res)
	}
	s.printf("related %s\n", s.spelled(&res.Relation))
	s.undoHint(res.Tx)
	return nil
}

func (s *state) unrelate(cmd *cobra.Command, args []string) error {
	res, err := call(cmd.Context(), s, op.Unrelate, &op.UnrelateRequest{ID: strings.Join(args, ",")})
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(res)
	}
	for _, r := range res.Removed {
		s.printf("removed %s\n", s.spelled(&r))
	}
	s.undoHint(res.Tx)
	return nil
}

// spelled writes a relation with both of its ends.
func (s *state) spelled(r *memory.Relation) string {
	return fmt.Sprintf("%s %s %s  %s", s.short(r.From), described(r), s.short(r.To), s.screen.paint(faint, r.Short()))
}

// described says what a relation is: its type, its kind, and how strong if not wholly.
func described(r *memory.Relation) string {
	text := r.Type
	if r.Kind != "" {
		text += fmt.Sprintf(" (%s)", clean(oneLine(r.Kind)))
	}
	if r.Strength != 1 {
		text += fmt.Sprintf(" %.2g", r.Strength)
	}
	return text
}

// printRelations prints what leads from a memory and to it, with the words that the
// other memories begin with.
func (s *state) printRelations(cmd *cobra.Command, of *op.RelationsOf, words bool) {
	out, in := of.Outgoing, of.Incoming
	shownOut, shownIn := out[:min(len(out), longestList)], in[:min(len(in), longestList)]
	texts := make(map[memory.ID]string)
	if words {
		texts = s.beginnings(cmd, shownOut, shownIn)
	}
	s.printf("\n")
	line := func(r *memory.Relation, arrow string, other memory.ID) {
		head := fmt.Sprintf("%s %s %s  ", arrow, described(r), s.short(other))
		s.printf("%s %s%s\n", s.screen.paint(faint, pad(r.Short(), 12)), head, s.gist(texts[other], len("rel-12345678 ")+len(head)))
	}
	for _, r := range shownOut {
		line(&r, "→", r.To)
	}
	for _, r := range shownIn {
		line(&r, "←", r.From)
	}
	more := len(out) - len(shownOut) + len(in) - len(shownIn)
	switch {
	case of.Truncated:
		s.printf("and more than %s more\n", grouped(more))
	case more > 0:
		s.printf("and %s more\n", grouped(more))
	}
}

// beginnings are the texts of the memories that relations lead from or to. That is no
// use of them.
func (s *state) beginnings(cmd *cobra.Command, out, in []memory.Relation) map[memory.ID]string {
	texts := make(map[memory.ID]string)
	req := &op.OpenManyRequest{Relations: new(bool), Track: new(bool)}
	add := func(id memory.ID) {
		if _, ok := texts[id]; !ok {
			texts[id] = ""
			req.IDs = append(req.IDs, string(id))
		}
	}
	for _, r := range out {
		add(r.To)
	}
	for _, r := range in {
		add(r.From)
	}
	res, err := call(cmd.Context(), s, op.OpenMany, req)
	if err != nil {
		return texts // the ids say enough
	}
	for _, m := range res.Memories {
		texts[m.ID] = m.Content
	}
	return texts
}

// completeRelate offers ids for both ends and the types between them, or relations to
// remove.
func (s *state) completeRelate(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if cmd.Flags().Changed("remove") {
		return s.completeRelations(cmd)
	}
	switch len(args) {
	case 0, 2:
		return s.completeIDs(cmd, args, typed)
	case 1:
		return memory.RelationTypes(), cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// completeRelations offers the relations of the newest memories.
func (s *state) completeRelations(cmd *cobra.Command) ([]cobra.Completion, cobra.ShellCompDirective) {
	res, err := call(cmd.Context(), s, op.Graph, &op.GraphRequest{Status: "all", PageSize: memory.MaxResults})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	for _, r := range res.Relations {
		out = append(out, cobra.CompletionWithDesc(r.Short(), fmt.Sprintf("%s %s %s", r.From.Short(), described(&r), r.To.Short())))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
