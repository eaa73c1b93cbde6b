package memories

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"emberd/internal/cli"
	"emberd/op"
)

type editOptions struct {
	project    string
	req        op.EditRequest
	importance cli.Importance
	meta       cli.Meta
}

func EditCommand(s *cli.App) *cobra.Command {
	var o editOptions
	cmd := cli.Command("edit ID [TEXT… | -]", cli.ArgCount(1, -1, "a memory ID"), s.CompleteIDs,
		func(cmd *cobra.Command, args []string) error {
			return edit(s, cmd, &o, args)
		})
	editFlags(s, cmd, &o)
	return cmd
}

func editFlags(s *cli.App, cmd *cobra.Command, o *editOptions) {
	f := cmd.Flags()
	f.Var(&o.importance, "importance", "")
	f.Var(&o.meta, "meta", "")
	cli.Bind(f, &o.req, "tag:tags,t", "entity:entities,e", "add-tag:add_tags", "remove-tag:remove_tags", "supersedes",
		"allow-secret", "if-match:IfMatch",
		"source", "context", "category", "type", "section", "collection", "core", "strength",
		"confidence=1")
	cli.ProjectField(f, &o.project)
}

func edit(s *cli.App, cmd *cobra.Command, o *editOptions, args []string) error {
	o.req.ID = args[0]
	changed := o.collect(cmd)
	switch text := args[1:]; {
	case len(text) == 1 && text[0] == "-":
		content, err := s.ReadText(cmd.Context())
		if err != nil {
			return err
		}
		o.req.Content = &content
	case len(text) > 0:
		content := strings.Join(text, " ")
		o.req.Content = &content
	case !changed:
		return editByHand(s, cmd, o)
	}
	return sendEdit(cmd.Context(), s, &o.req)
}

// collect moves the flags that were given into the request and reports
// whether there were any.
func (o *editOptions) collect(cmd *cobra.Command) bool {
	r := &o.req
	r.Meta = o.meta
	if cmd.Flags().Changed("project") {
		r.Project = &o.project
	}
	if o.importance.Given {
		r.Importance = &o.importance.Value
		if o.importance.Core && r.Core == nil {
			r.Core = &o.importance.Core
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
func editByHand(s *cli.App, cmd *cobra.Command, o *editOptions) error {
	if !s.Interactive() && namedEditor() == "" {
		return cli.UsageError(cmd, "nothing to edit; pass a text or a flag, or set EDITOR")
	}
	ctx := cmd.Context()
	shown, err := cli.Call(ctx, s, op.Show, &op.ShowRequest{ID: o.req.ID, Track: new(bool)})
	if err != nil {
		return err
	}
	draft, err := compose(ctx, s, shown.Memory.Content+"\n")
	if err != nil {
		return err
	}
	if text := strings.TrimSpace(draft.text); text == "" || text == strings.TrimSpace(shown.Memory.Content) {
		draft.discard()
		s.Note("no changes")
		return nil
	}
	o.req.ID, o.req.Content = string(shown.Memory.ID), &draft.text
	if o.req.IfMatch == "" {
		o.req.IfMatch = shown.Memory.Rev
	}
	if err := sendEdit(ctx, s, &o.req); err != nil {
		return draft.keep(err)
	}
	draft.discard()
	return nil
}

func sendEdit(ctx context.Context, s *cli.App, req *op.EditRequest) error {
	res, err := cli.Call(ctx, s, op.Edit, req)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.PrintJSON(res)
	}
	if len(res.Changed) == 0 {
		s.Note("no changes")
		return nil
	}
	s.Printf("edited %s  %s\n", s.Short(res.Memory.ID), s.Gist(res.Memory.Content, len("edited 12345678  ")))
	s.Note("changed: %s", strings.Join(res.Changed, ", "))
	cli.PrintPending(s, res.Pending)
	cli.WarnHidden(s, &res.Memory)
	s.UndoHint(res.Tx)
	return nil
}
