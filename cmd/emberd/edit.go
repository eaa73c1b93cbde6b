package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"emberd/op"
)

type editOptions struct {
	req        op.EditRequest
	tags       []string
	entities   []string
	importance importance
	strength   float64
	confidence float64
	core       bool
	meta       meta
	text       map[string]*string // by flag name
}

func (s *state) editCommand() *cobra.Command {
	var o editOptions
	cmd := &cobra.Command{
		Use:   "edit ID [TEXT… | -]",
		Short: "Change a memory; the earlier version is kept",
		Long: `Change the text or the fields of a memory. The earlier version is kept, so that
undo brings it back.

A text after the id replaces the old one, "-" reads it from stdin. With neither
text nor flags, $VISUAL or $EDITOR opens on the old text, and what was changed
by somebody else meanwhile is not overwritten.`,
		Example: `  emberd edit 456789ab
  emberd edit 456789ab Use JWT tokens with a lifetime of 15 minutes
  emberd edit 456789ab --add-tag reviewed --importance high --meta pr=null
  emberd edit 456789ab --supersedes 0123abcd`,
		Annotations: exits(endings{
			exitNothing: "no memory with that id", exitNoDaemon: "", exitConflict: "it was changed since, or superseded by what it is to supersede",
			exitDisk: "the disk is full, or the log or the note cannot be written", exitSecret: "", exitAgain: "",
		}),
		Args:              takes(1, -1, "a memory id"),
		ValidArgsFunction: s.completeIDs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.edit(cmd, &o, args)
		},
	}
	s.editFlags(cmd, &o)
	return cmd
}

func (s *state) editFlags(cmd *cobra.Command, o *editOptions) {
	f := cmd.Flags()
	fieldFlags(f, &o.importance, &o.strength, &o.confidence, &o.meta)
	f.StringSliceVarP(&o.tags, "tag", "t", nil, "`TAG` instead of all its tags; repeatable, '' for none")
	f.StringSliceVar(&o.req.AddTags, "add-tag", nil, "add this `TAG`; repeatable")
	f.StringSliceVar(&o.req.RemoveTags, "remove-tag", nil, "take this `TAG` away; repeatable")
	f.StringSliceVarP(&o.entities, "entity", "e", nil, "`NAME` instead of all its entities; repeatable, '' for none")
	o.text = map[string]*string{
		"source":     f.String("source", "", "`PLACE` it comes from"),
		"context":    f.String("context", "", "`TEXT` on when or why it came up"),
		"category":   f.String("category", "", "`NAME` of a category, which searches can filter by"),
		"type":       f.String("type", "", "`KIND` of memory, such as fact or decision"),
		"section":    f.String("section", "", "`NAME` of what it is filed under"),
		"collection": f.String("collection", "", "`NAME` of the collection it moves to"),
		"project":    f.String("project", "", "`NAME` of its project, '' for none"),
	}
	f.StringSliceVar(&o.req.Supersedes, "supersedes", nil, "takes the place of the memory `ID`, which ranks below it from now on; repeatable")
	f.BoolVar(&o.core, "core", false, "never fades; --core=false lets it fade again")
	f.StringVar(&o.req.IfMatch, "if-match", "", "only if `REV` is still the revision, as show tells it")
	f.BoolVar(&o.req.AllowSecret, "allow-secret", false, "save although it looks like a credential")
}

func (s *state) edit(cmd *cobra.Command, o *editOptions, args []string) error {
	o.req.ID = args[0]
	changed := o.collect(cmd)
	switch text := args[1:]; {
	case len(text) == 1 && text[0] == "-":
		content, err := s.readText(cmd.Context())
		if err != nil {
			return err
		}
		o.req.Content = &content
	case len(text) > 0:
		content := strings.Join(text, " ")
		o.req.Content = &content
	case !changed:
		return s.editByHand(cmd, o)
	}
	return s.sendEdit(cmd.Context(), &o.req)
}

// collect moves the flags that were given into the request and reports
// whether there were any.
func (o *editOptions) collect(cmd *cobra.Command) bool {
	r, f := &o.req, cmd.Flags()
	for name, to := range map[string]**string{
		"source": &r.Source, "context": &r.Context, "category": &r.Category, "type": &r.Type,
		"section": &r.Section, "collection": &r.Collection, "project": &r.Project,
	} {
		*to = optional(f, name, *o.text[name])
	}
	r.Tags = optional(f, "tag", nonEmpty(o.tags...))
	r.Entities = optional(f, "entity", nonEmpty(o.entities...))
	r.Strength = optional(f, "strength", o.strength)
	r.Confidence = optional(f, "confidence", o.confidence)
	r.Core = optional(f, "core", o.core)
	r.Meta = o.meta
	if o.importance.given {
		r.Importance = &o.importance.value
		if o.importance.core && r.Core == nil {
			r.Core = &o.importance.core
		}
	}
	changed := false
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		changed = changed || f.Changed && f.Name != "if-match" && f.Name != "allow-secret"
	})
	return changed
}

// editByHand opens an editor on the text and sends what came out of it, based
// on the revision that was read.
func (s *state) editByHand(cmd *cobra.Command, o *editOptions) error {
	if !s.interactive() && namedEditor() == "" {
		return wrong(cmd, "nothing to change: give a text, a flag, or set EDITOR")
	}
	ctx := cmd.Context()
	shown, err := call(ctx, s, op.Show, &op.ShowRequest{ID: o.req.ID, Track: new(bool)})
	if err != nil {
		return err
	}
	draft, err := s.compose(ctx, shown.Memory.Content+"\n")
	if err != nil {
		return err
	}
	if text := strings.TrimSpace(draft.text); text == "" || text == strings.TrimSpace(shown.Memory.Content) {
		draft.discard()
		s.note("nothing changed")
		return nil
	}
	o.req.ID, o.req.Content = string(shown.Memory.ID), &draft.text
	if o.req.IfMatch == "" {
		o.req.IfMatch = shown.Memory.Rev
	}
	if err := s.sendEdit(ctx, &o.req); err != nil {
		return draft.keep(err)
	}
	draft.discard()
	return nil
}

func (s *state) sendEdit(ctx context.Context, req *op.EditRequest) error {
	res, err := call(ctx, s, op.Edit, req)
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(res)
	}
	if len(res.Changed) == 0 {
		s.note("nothing changed")
		return nil
	}
	s.printf("edited %s  %s\n", s.short(res.Memory.ID), s.gist(res.Memory.Content, len("edited 12345678  ")))
	s.note("changed: %s", strings.Join(res.Changed, ", "))
	s.printPending(res.Pending)
	s.warnHidden(&res.Memory)
	s.undoHint(res.Tx)
	return nil
}
