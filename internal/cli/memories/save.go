// Package memories has the commands that save, show, list, change, delete and restore
// memories. All of them run through the daemon, except those that only read: these open the
// folders themselves if no daemon is running.
package memories

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/project"
	"emberd/memory"
	"emberd/op"
)

// saveOptions are the flags of save as they come, before the pointers of the
// request tell "left out" from zero.
type saveOptions struct {
	req        op.SaveRequest
	id         string
	importance cli.Importance
	meta       cli.Meta
	provenance cli.ProvenanceFlags
}

func SaveCommand(s *cli.App) *cobra.Command {
	var o saveOptions
	cmd := cli.Command("save [TEXT… | -]", nil, nil, func(cmd *cobra.Command, args []string) error {
		return save(s, cmd, &o, args)
	})
	saveFlags(s, cmd, &o)
	return cmd
}

func saveFlags(s *cli.App, cmd *cobra.Command, o *saveOptions) {
	f := cmd.Flags()
	f.Var(&o.importance, "importance", "")
	f.Var(&o.meta, "meta", "")
	cli.Bind(f, &o.req, "tag:tags,t", "entity:entities,e", "source", "context", "category", "type", "section",
		"collection", "session:session_id", "supersedes", "core", "allow-secret", "again",
		"strength", "confidence=1", "no-enrich:!enrich", "key:IdempotencyKey")
	cli.ProjectField(f, &o.req.Project)
	f.StringVar(&o.id, "id", "", "")
	o.provenance.Add(f)
}

func save(s *cli.App, cmd *cobra.Command, o *saveOptions, args []string) error {
	var err error
	if o.req.Content, err = newText(s, cmd, args); err != nil {
		return err
	}
	o.req.ID, o.req.Meta, o.req.Provenance = memory.ID(o.id), o.meta, o.provenance.Claimed()
	if cmd.Flags().Changed("entity") {
		o.req.Entities = cli.NonEmpty(o.req.Entities...)
	}
	if o.importance.Given {
		o.req.Importance = &o.importance.Value
		o.req.Core = o.req.Core || o.importance.Core
	}
	if !cmd.Flags().Changed("project") {
		o.req.Project, o.req.ProjectInferred = project.Here(), true
	}
	res, err := cli.Call(cmd.Context(), s, op.Save, &o.req)
	if err != nil {
		return err
	}
	return printSaved(s, res)
}

// newText is the text to keep: in the arguments, on stdin, or written in an editor.
func newText(s *cli.App, cmd *cobra.Command, args []string) (string, error) {
	if len(args) == 0 && s.Interactive() {
		return composeText(cmd.Context(), s)
	}
	return givenText(s, cmd, args)
}

// givenText is the text that the arguments or stdin hold.
func givenText(s *cli.App, cmd *cobra.Command, args []string) (string, error) {
	switch {
	case len(args) == 1 && args[0] == "-":
		return s.ReadText(cmd.Context())
	case strings.TrimSpace(strings.Join(args, "")) != "":
		return strings.Join(args, " "), nil
	}
	return "", cli.UsageError(cmd, "missing text; pass the text as an argument, or - to read the text from stdin")
}

// composeText has somebody write a new text.
func composeText(ctx context.Context, s *cli.App) (string, error) {
	draft, err := compose(ctx, s, "")
	if err != nil {
		return "", err
	}
	draft.discard()
	if strings.TrimSpace(draft.text) == "" {
		s.Note("nothing saved: the text is empty")
		return "", &cli.Exit{Code: cli.ExitDone}
	}
	return draft.text, nil
}

func printSaved(s *cli.App, res *op.SaveResult) error {
	if s.JSON {
		return s.PrintJSON(res)
	}
	if res.Echo != nil {
		printEcho(s, res.Echo, res.Memory.Content)
		return nil
	}
	if res.Confirmed {
		s.Printf("confirmed %s  %s\n", s.Short(res.Memory.ID), s.Gist(res.Memory.Content, len("confirmed 12345678  ")))
		s.Note("confirmed a memory from %s with the same text; to save a separate memory, use --again",
			cli.Clean(res.Memory.Origin))
		s.UndoHint(res.Tx)
		return nil
	}
	verb := "saved"
	if res.Replayed {
		verb = "had"
	}
	s.Printf("%s %s  %s\n", verb, s.Short(res.Memory.ID), s.Gist(res.Memory.Content, len("saved 12345678  ")))
	if res.Replayed {
		s.Note("already saved; nothing changed")
		return nil
	}
	for _, id := range res.Superseded {
		s.Note("marked %s as superseded", s.Short(id))
	}
	cli.WarnHidden(s, &res.Memory)
	noteScope(s, res.Added, res.RecordedOrigin)
	s.UndoHint(res.Tx)
	return nil
}

// noteScope prints the scope that a save added to a memory for the caller's token, and the origin that
// it recorded in place of the claimed one; "" for none.
func noteScope(s *cli.App, added, origin string) {
	if origin != "" {
		s.Note("the origin is %s, because a token with limited scopes cannot save texts with the origin \"user\"",
			cli.Flat(origin))
	}
	if added != "" {
		s.Note("added %s, because the token can change only memories in its scopes", cli.Flat(added))
	}
}

// printEcho says that a text was just recalled, and what from.
func printEcho(s *cli.App, echo *op.Echo, content string) {
	from := cli.Flat(echo.Path)
	if echo.Of != "" {
		from = s.Short(echo.Of)
	}
	s.Printf("known %s  %s\n", from, s.Gist(content, len("known 12345678  ")))
	s.Note("emberd returned this text in the last hour, so it recorded a use and " +
		"did not save the text again; to save the text anyway, use --again")
}
