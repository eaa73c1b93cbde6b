package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"emberd/memory"
	"emberd/op"
)

// saveOptions are the flags of save as they come, before the pointers of the
// request tell "left out" from zero.
type saveOptions struct {
	req        op.SaveRequest
	id         string
	importance importance
	strength   float64
	confidence float64
	meta       meta
	plain      bool
	provenance provenanceFlags
}

func (s *state) saveCommand() *cobra.Command {
	var o saveOptions
	cmd := &cobra.Command{
		Use:   "save [TEXT… | -]",
		Short: "Save a memory",
		Long: `Save a memory. It is on disk when the command returns.

The text is what the arguments say, or what stdin holds when the only argument
is "-". Without text, on a terminal, $VISUAL or $EDITOR opens.

The project is the git repository that encloses the working directory, unless
--project names another (--project '' names none).`,
		Example: `  emberd save "Use JWT tokens for authentication in new APIs" --tag security,api
  emberd save --importance high --meta pr=412 Deploys wait for the migration job
  emberd save --origin web --from https://a.example "The broker is RabbitMQ"
  git log -1 --format=%B | emberd save - --source git`,
		Annotations: exits(endings{
			exitNoDaemon: "", exitConflict: "the id is taken by a memory with another text", exitDisk: "",
			exitSecret: "", exitAgain: "",
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.save(cmd, &o, args)
		},
	}
	s.saveFlags(cmd, &o)
	return cmd
}

func (s *state) saveFlags(cmd *cobra.Command, o *saveOptions) {
	f := cmd.Flags()
	fieldFlags(f, &o.importance, &o.strength, &o.confidence, &o.meta)
	f.StringSliceVarP(&o.req.Tags, "tag", "t", nil, "`TAG` to find it by; repeatable, or a comma list")
	f.StringSliceVarP(&o.req.Entities, "entity", "e", nil, "`NAME` of a person or thing in it, in place of those found in the text; repeatable, '' for none")
	f.StringVar(&o.req.Source, "source", "", "`PLACE` it comes from")
	f.StringVar(&o.req.Context, "context", "", "`TEXT` on when or why it came up")
	f.StringVar(&o.req.Category, "category", "", "`NAME` of a category, which searches can filter by")
	f.StringVar(&o.req.Type, "type", "", "`KIND` of memory, such as fact or decision")
	f.StringVar(&o.req.Section, "section", "", "`NAME` of what it is filed under, such as People & Entities")
	f.StringVar(&o.req.Collection, "collection", "", "`NAME` of the collection it goes to, by default "+memory.DefaultCollection)
	f.StringVar(&o.req.Project, "project", "", "`NAME` of its project, by default the enclosing git repository")
	f.StringVar(&o.req.SessionID, "session", "", "`ID` of the conversation it comes from")
	f.StringSliceVar(&o.req.Supersedes, "supersedes", nil, "takes the place of the memory `ID`, which ranks below it from now on; repeatable")
	f.BoolVar(&o.req.Core, "core", false, "never fades and is never collected")
	f.StringVar(&o.id, "id", "", "`UUID` to save it under; the same again adds nothing")
	f.StringVar(&o.req.IdempotencyKey, "key", "", "`KEY` of this request; the same again within 24 hours adds nothing")
	f.BoolVar(&o.plain, "no-enrich", false, "do not find entities and strength in the text")
	f.BoolVar(&o.req.AllowSecret, "allow-secret", false, "save although it looks like a credential")
	f.BoolVar(&o.req.Again, "again", false, "save although this text, or a memory of this id, was forgotten before or recalled just now")
	o.provenance.add(f)
}

// fieldFlags adds the flags that save and edit read alike.
func fieldFlags(f *pflag.FlagSet, imp *importance, strength, confidence *float64, m *meta) {
	f.Var(imp, "importance", "`LEVEL`: low, normal, high, core or 0 to 1")
	f.Float64Var(strength, "strength", 0, "`FACTOR` on its decay score, 0 to 2")
	f.Float64Var(confidence, "confidence", 1, "how sure it is, a `SHARE` from 0 to 1")
	f.Var(m, "meta", "anything else; a value that is JSON is kept as JSON; repeatable")
}

func (s *state) save(cmd *cobra.Command, o *saveOptions, args []string) error {
	var err error
	if o.req.Content, err = s.newText(cmd, args); err != nil {
		return err
	}
	o.req.ID, o.req.Meta, o.req.Provenance = memory.ID(o.id), o.meta, o.provenance.claimed()
	if cmd.Flags().Changed("entity") {
		o.req.Entities = nonEmpty(o.req.Entities...)
	}
	if o.plain {
		o.req.Enrich = new(false)
	}
	o.req.Strength = optional(cmd.Flags(), "strength", o.strength)
	o.req.Confidence = optional(cmd.Flags(), "confidence", o.confidence)
	if o.importance.given {
		o.req.Importance = &o.importance.value
		o.req.Core = o.req.Core || o.importance.core
	}
	if !cmd.Flags().Changed("project") {
		o.req.Project = here()
	}
	res, err := call(cmd.Context(), s, op.Save, &o.req)
	if err != nil {
		return err
	}
	return s.printSaved(res)
}

// newText is the text to keep: in the arguments, on stdin, or written in an editor.
func (s *state) newText(cmd *cobra.Command, args []string) (string, error) {
	if len(args) == 0 && s.interactive() {
		return s.write(cmd.Context())
	}
	return s.given(cmd, args)
}

// given is the text that the arguments or stdin hold.
func (s *state) given(cmd *cobra.Command, args []string) (string, error) {
	switch {
	case len(args) == 1 && args[0] == "-":
		return s.readText(cmd.Context())
	case len(args) > 0:
		return strings.Join(args, " "), nil
	}
	return "", wrong(cmd, "nothing to %s: give a text, or - to read it from stdin", cmd.Name())
}

// write has somebody write a new text.
func (s *state) write(ctx context.Context) (string, error) {
	draft, err := s.compose(ctx, "")
	if err != nil {
		return "", err
	}
	draft.discard()
	if strings.TrimSpace(draft.text) == "" {
		s.note("nothing saved: the text is empty")
		return "", &exit{code: exitDone}
	}
	return draft.text, nil
}

func (s *state) printSaved(res *op.SaveResult) error {
	if s.json {
		return s.printJSON(res)
	}
	if res.Echo != nil {
		s.printEcho(res.Echo, res.Memory.Content)
		return nil
	}
	if res.Confirmed {
		s.printf("confirmed %s  %s\n", s.short(res.Memory.ID), s.gist(res.Memory.Content, len("confirmed 12345678  ")))
		s.note("%s had said this, and counts as your word from now on; --again stores it beside that", clean(res.Memory.Origin))
		s.undoHint(res.Tx)
		return nil
	}
	verb := "saved"
	if res.Replayed {
		verb = "had"
	}
	s.printf("%s %s  %s\n", verb, s.short(res.Memory.ID), s.gist(res.Memory.Content, len("saved 12345678  ")))
	if res.Replayed {
		s.note("the same was saved before; nothing was added")
		return nil
	}
	s.warnHidden(&res.Memory)
	s.noteScope(res.Added)
	s.undoHint(res.Tx)
	return nil
}

// noteScope tells what was added to a memory so that a token may save it, "" for nothing.
func (s *state) noteScope(added string) {
	if added != "" {
		s.note("it was given %s, for the token changes nothing else", flat(added))
	}
}

// printEcho says that a text was just recalled, and what from.
func (s *state) printEcho(echo *op.Echo, content string) {
	from := flat(echo.Path)
	if echo.Of != "" {
		from = s.short(echo.Of)
	}
	s.printf("known %s  %s\n", from, s.gist(content, len("known 12345678  ")))
	s.note("this was recalled just now, so nothing was stored; --again stores it")
}

// short is the id that people read and type.
func (s *state) short(id memory.ID) string { return s.screen.paint(yellow, id.Short()) }

// gist is the beginning of a text on what is left of a line.
func (s *state) gist(text string, used int) string {
	width := 72 // enough to know it again; nothing needs the rest on a pipe
	if s.screen.width > 0 {
		width = s.screen.width - used
	}
	return cut(oneLine(text), width)
}

func (s *state) undoHint(tx string) {
	if tx != "" {
		s.note("to take it back: emberd undo %s", tx)
	}
}
