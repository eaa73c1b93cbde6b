package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"emberd/internal/mcp/answer"
	"emberd/internal/mcp/tool"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
)

// noteTools returns the tools with which agents read and write notes of the vault. Each change can be undone by
// memory_undo, and previewed.
func noteTools() []*tool.Tool {
	tools := []*tool.Tool{
		noteTool("note_context", "Read a note in context", op.Read, "Read a note with its digest, links, backlinks "+
			"and related memories. Call note_context before you change a note; to read only the text, "+
			"call memory_open. Returns the text, digest and links of the note, and the related memories.", noteContext),
		noteTool("note_write", "Write a note", op.Destructive, "Create a note, or replace a whole note. To change a "+
			"part of a note, call note_append or note_edit; to save one fact, call "+
			"memory_add. Returns the new digest of the note, and the ID (tx) for memory_undo.", noteWrite),
		noteTool("note_append", "Append to a note", op.Write, "Add Markdown at the end of a note or section. Call "+
			"note_append to add to logs and lists, without a digest. Returns "+
			"the new digest of the note, and the ID (tx) for memory_undo.", noteAppend),
		noteTool("note_edit", "Edit a note", op.Destructive, "Replace a text, section or property of a note. If most "+
			"of the note does not change, call note_edit instead of note_write. "+
			"Returns the new digest of the note, and the ID (tx) for memory_undo.", noteEdit),
		noteTool("note_move", "Move a note", op.Destructive, "Rename or move a note, and update the links to the "+
			"note. Call note_move instead of writing a copy. Returns the "+
			"notes whose links changed, and the ID (tx) for memory_undo.", noteMove),
		noteTool("recent_activity", "Show recent activity", op.Read, "List the most recently changed notes and "+
			"memories, with the author of each change. Call recent_activity to see "+
			"the changes since your last session. Returns one line per note or memory.", recentActivity),
	}
	advise := noteAdvice()
	for _, t := range tools {
		t.Outlined, t.Brief, t.Advise = true, true, advise
	}
	return tools
}

// noteTool returns a tool of the profiles notes and all.
func noteTool[In, Out any](name, title string, effect op.Effect, about string,
	run func(context.Context, *tool.Call, *In) (*Out, error)) *tool.Tool {
	t := tool.Define(name, effect, about, run, Notes, All)
	t.Def.Title = title
	return t
}

// noteAdvice names the tools in the messages of errors.
func noteAdvice() func(string) string {
	advise := agentAdvice()
	own := tool.Advice(
		tool.Replacement{Command: `to change it, run: emberd edit ([0-9a-f-]+)`,
			Tool: `to change it, call memory_edit {"id":"$1"}`},
		tool.Replacement{Command: `read (it|the note) again`, Tool: `read $1 again with note_context`},
		tool.Replacement{Command: `read the note and pass its digest`,
			Tool: `read the note with note_context and pass its digest; to append to the note, call note_append`},
	)
	return func(message string) string { return own(advise(message)) }
}

type noteWriteIn struct {
	Path    string `json:"path" min:"1" max:"1000" doc:"path of the note in the vault, such as Agents/Plan.md; emberd creates missing folders"`
	Text    string `json:"text" doc:"complete text of the note in Markdown, including the properties of the note"`
	Digest  string `json:"digest,omitempty" doc:"digest of the note to replace, from note_context; without a digest, emberd only creates a new note"`
	Preview bool   `json:"preview,omitempty" doc:"show what would change, without changing anything"`
}

// noteChanged is the answer of the tools that write notes.
type noteChanged struct {
	Path    string   `json:"path"`
	Created bool     `json:"created,omitempty"`
	Changed bool     `json:"changed"`
	Preview bool     `json:"preview,omitempty"`
	Digest  string   `json:"digest"`
	Diff    string   `json:"diff,omitempty"` // of a preview
	Cut     bool     `json:"cut,omitempty"`  // there is more of it
	Links   []string `json:"links,omitempty"`
	Left    []string `json:"left,omitempty"`
	Advice  string   `json:"advice,omitempty"`
	Tx      string   `json:"tx,omitempty"`
}

// maxDiff bounds the difference that a preview shows, in tokens.
const maxDiff = 4000

func noteWrite(ctx context.Context, c *tool.Call, in *noteWriteIn) (*noteChanged, error) {
	return changedNote(op.NoteWrite.Call(ctx, c, &op.NoteWriteRequest{Path: noteRef(in.Path), Text: in.Text,
		Digest: in.Digest, Preview: in.Preview}))
}

// noteRef returns the path of a note that may be given as the URI of a resource.
func noteRef(ref string) string {
	rest, ok := strings.CutPrefix(ref, vaultScheme)
	if !ok {
		return memoryRef(ref)
	}
	_, path, _ := strings.Cut(rest, "/")
	return cmp.Or(path, rest)
}

// changedNote returns the answer for a change, with the difference only if it is a preview.
func changedNote(res *op.NoteChangeResult, err error) (*noteChanged, error) {
	if err != nil {
		return nil, err
	}
	out := &noteChanged{Path: res.Path, Created: res.Created, Changed: res.Changed, Preview: res.Preview,
		Digest: res.Digest, Tx: res.Tx}
	if res.Preview {
		fits := func(part string) bool { return op.Tokens(part) <= maxDiff }
		out.Diff = res.Diff
		if !fits(out.Diff) {
			out.Diff, out.Cut = longestFit(res.Diff, fits), true
		}
	}
	for _, l := range res.Links {
		out.Links = append(out.Links, fmt.Sprintf("%s: %s", answer.OneLine(l.Path), plural(l.Count, "link", "links")))
	}
	for _, l := range res.Left {
		out.Left = append(out.Left, answer.OneLine(l.Path+": "+l.Reason))
	}
	if res.Neutralized {
		out.Advice = "emberd changed code in the text so that no plugin runs the code; read the note before you edit it"
	}
	return out, nil
}

// Text returns the text for the model.
func (o *noteChanged) Text() string {
	var b strings.Builder
	name := answer.OneLine(o.Path)
	switch {
	case o.Preview && o.Changed:
		b.WriteString("would change " + name + "; to apply, call again without preview\n")
	case !o.Changed:
		b.WriteString(name + " already contains this change, digest " + o.Digest + "\n")
	case o.Created:
		b.WriteString("created " + name + ", digest " + o.Digest + ", tx " + o.Tx + "\n")
	default:
		b.WriteString("changed " + name + ", digest " + o.Digest + ", tx " + o.Tx + "\n")
	}
	for _, l := range o.Links {
		b.WriteString("link updates in " + l + "\n")
	}
	for _, l := range o.Left {
		b.WriteString("links not updated in " + l + "; correct them with note_edit\n")
	}
	if o.Advice != "" {
		b.WriteString(o.Advice + "\n")
	}
	if o.Diff != "" {
		b.WriteString(text.Quote(o.Diff))
	}
	if o.Cut {
		b.WriteString("(the diff is truncated)\n")
	}
	return b.String()
}

type noteAppendIn struct {
	Path    string `json:"path" min:"1" max:"1000" doc:"path, name or alias of a note"`
	Text    string `json:"text" min:"1" doc:"Markdown to add to the note as separate lines"`
	Heading string `json:"heading,omitempty" doc:"heading of a section; emberd adds the text at the end of this section; default: the end of the note"`
	Preview bool   `json:"preview,omitempty" doc:"show what would change, without changing anything"`
}

func noteAppend(ctx context.Context, c *tool.Call, in *noteAppendIn) (*noteChanged, error) {
	return changedNote(op.NoteAppend.Call(ctx, c, &op.NoteAppendRequest{Path: noteRef(in.Path), Text: in.Text,
		Heading: in.Heading, Preview: in.Preview}))
}

type noteEditIn struct {
	Path    string                     `json:"path" min:"1" max:"1000" doc:"path, name or alias of a note"`
	Find    string                     `json:"find,omitempty" doc:"text to replace, exactly as the note contains it"`
	Replace string                     `json:"replace,omitempty" doc:"text that replaces find; an empty text deletes find"`
	Count   int                        `json:"count,omitempty" min:"1" max:"10000" default:"1" doc:"number of times that the text of parameter find must occur in the note; if the number differs, emberd does not change the note"`
	Heading string                     `json:"heading,omitempty" doc:"heading of the section to replace, such as Plan or Plan#Steps; use heading and text instead of find and replace"`
	Text    *string                    `json:"text,omitempty" doc:"new text of the section, without its heading"`
	Set     map[string]json.RawMessage `json:"set,omitempty" doc:"properties of the note to set; each value is a text, a number or a list of texts"`
	Unset   []string                   `json:"unset,omitempty" max:"50" doc:"properties of the note to remove"`
	Digest  string                     `json:"digest,omitempty" doc:"digest of the note, from note_context; if the note now has another digest, emberd changes nothing"`
	Preview bool                       `json:"preview,omitempty" doc:"show what would change, without changing anything"`
}

func noteEdit(ctx context.Context, c *tool.Call, in *noteEditIn) (*noteChanged, error) {
	if in.Find == "" { // the default is for find
		in.Count = 0
	}
	return changedNote(op.NoteEdit.Call(ctx, c, &op.NoteEditRequest{Path: noteRef(in.Path), Find: in.Find,
		Replace: in.Replace, Count: in.Count, Heading: in.Heading, Text: in.Text, Set: in.Set, Unset: in.Unset,
		Digest: in.Digest, Preview: in.Preview}))
}

type noteMoveIn struct {
	Path    string `json:"path" min:"1" max:"1000" doc:"path, name or alias of a note"`
	To      string `json:"to" min:"1" max:"1000" doc:"new path of the note in the vault, such as Agents/New name.md; emberd creates missing folders"`
	Preview bool   `json:"preview,omitempty" doc:"show what would change, without changing anything"`
}

func noteMove(ctx context.Context, c *tool.Call, in *noteMoveIn) (*noteChanged, error) {
	return changedNote(op.NoteMove.Call(ctx, c, &op.NoteMoveRequest{Path: noteRef(in.Path), To: in.To,
		Preview: in.Preview}))
}

type noteContextIn struct {
	Path      string `json:"path" min:"1" max:"1000" doc:"path, name or alias of a note, or the ID of its memory"`
	From      int    `json:"from,omitempty" min:"0" max:"1048576" doc:"number of characters of the text to skip"`
	MaxTokens int    `json:"max_tokens,omitempty" min:"500" max:"20000" default:"4000" doc:"token limit of the answer"`
}

// noteAround is a note and what is around it.
type noteAround struct {
	Path     string   `json:"path"`
	Digest   string   `json:"digest"`
	Modified string   `json:"modified"`
	Text_    string   `json:"text"`
	Writable bool     `json:"writable"`
	Advice   string   `json:"advice,omitempty"`
	Outgoing []string `json:"outgoing"`
	Incoming []string `json:"incoming"`
	Memories []string `json:"memories"`
	More     int      `json:"more,omitempty"`
	continuation
}

// noteContext asks for less than the bound, because the structured content repeats names and quotes texts.
func noteContext(ctx context.Context, c *tool.Call, in *noteContextIn) (*noteAround, error) {
	bound := max(500, (in.MaxTokens-frame)*2/3)
	res, err := op.NoteContext.Call(ctx, c,
		&op.NoteContextRequest{Path: noteRef(in.Path), From: in.From, MaxTokens: bound})
	if err != nil {
		return nil, err
	}
	out := &noteAround{Path: res.Path, Digest: res.Digest, Modified: res.Modified.Format(time.RFC3339), Text_: res.Text,
		Writable: res.Writable, Advice: noteAdvice()(res.Advice), Outgoing: []string{}, Incoming: res.Incoming,
		Memories: []string{}, More: res.More}
	for _, l := range res.Outgoing {
		to := l.Path
		if to == "" {
			to = "(no note) " + l.Target
		}
		out.Outgoing = append(out.Outgoing, to)
	}
	for _, m := range res.Memories {
		why := ""
		if m.Why == "own" {
			why = ", the memory of this note"
		}
		out.Memories = append(out.Memories, "["+m.ID.Short()+"]"+why+" "+answer.OneLine(m.Text))
	}
	if res.Next > 0 {
		out.continuation = continuation{true, fmt.Sprintf(`the same note_context call with "from": %d`, res.Next)}
	}
	return out, nil
}

// Text returns the text for the model.
func (o *noteAround) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s] note, digest %s, changed %s\n", answer.OneLine(o.Path), o.Digest, o.Modified)
	if o.Advice != "" {
		b.WriteString("not writable: " + answer.OneLine(o.Advice) + "\n")
	}
	b.WriteString(text.Quote(o.Text_))
	for _, part := range []struct {
		name string
		all  []string
	}{{"links to", o.Outgoing}, {"linked from", o.Incoming}, {"memory", o.Memories}} {
		for _, one := range part.all {
			b.WriteString(part.name + " " + answer.OneLine(one) + "\n")
		}
	}
	if o.More > 0 {
		fmt.Fprintf(&b, "%d more links and memories; to see them, use a larger max_tokens\n", o.More)
	}
	b.WriteString(o.line())
	return b.String()
}

type recentIn struct {
	Kind      string  `json:"kind,omitempty" enum:"all|notes|memories" default:"\"all\"" doc:"list only notes, only memories, or both (all)"`
	Days      float64 `json:"days,omitempty" min:"0" max:"3650" doc:"list only notes and memories that changed in the last N days"`
	Limit     int     `json:"limit,omitempty" min:"1" max:"100" default:"20" doc:"maximum number of notes and memories"`
	Cursor    string  `json:"cursor,omitempty" doc:"cursor of the previous answer, to continue"`
	MaxTokens int     `json:"max_tokens,omitempty" min:"500" max:"20000" default:"2000" doc:"token limit of the answer"`
}

type recentOut struct {
	Items []recentItem `json:"items"`
	continuation
}

// recentItem is a note or memory that changed.
type recentItem struct {
	When string    `json:"when"`
	Path string    `json:"path,omitempty"`
	ID   memory.ID `json:"id,omitempty"`
	Text string    `json:"text,omitempty"`
	What string    `json:"what,omitempty"`
	By   string    `json:"by,omitempty"`
	Tx   string    `json:"tx,omitempty"`
}

func recentActivity(ctx context.Context, c *tool.Call, in *recentIn) (*recentOut, error) {
	req := &op.RecentActivityRequest{Limit: in.Limit, Cursor: in.Cursor}
	if in.Kind != "all" {
		req.Of = in.Kind
	}
	if in.Days > 0 {
		req.Since = time.Now().Add(-time.Duration(in.Days * 24 * float64(time.Hour)))
	}
	res, err := op.RecentActivity.Call(ctx, c, req)
	if err != nil {
		return nil, err
	}
	out := &recentOut{Items: []recentItem{}}
	left := newBudget(c, in.MaxTokens)
	for _, a := range res.Items {
		s := recentItem{When: a.At.Format(time.RFC3339), Path: a.Path, ID: a.ID, Text: firstWords(a.Text), What: a.What,
			By: answer.OneLine(strings.TrimSpace(a.By.Via + " " + a.By.Client)), Tx: a.Tx}
		if !left.take(s.line(), &s) {
			break
		}
		out.Items = append(out.Items, s)
	}
	next := res.NextCursor
	if n := len(out.Items); n < len(res.Items) {
		req.Limit = max(1, n) // only a page of this size has the cursor of the next one
		if res, err = op.RecentActivity.Call(ctx, c, req); err != nil {
			return nil, err
		}
		next = res.NextCursor
	}
	if next != "" {
		out.continuation = continuation{true, fmt.Sprintf(`the same recent_activity call with "cursor": %q`, next)}
	}
	return out, nil
}

func (s *recentItem) line() string {
	kind, name := "note", answer.OneLine(s.Path)
	if s.Text != "" || s.Path == "" {
		kind, name = "memory", s.ID.Short()
	}
	parts := nonEmpty("["+name+"] "+kind+" "+s.When, s.What)
	if s.By != "" {
		parts = append(parts, "by "+s.By)
	}
	if s.Tx != "" {
		parts = append(parts, "tx "+s.Tx)
	}
	line := strings.Join(parts, ", ")
	if s.Text != "" {
		line += " > " + s.Text
	}
	return line + "\n"
}

// Text returns the text for the model.
func (o *recentOut) Text() string {
	if len(o.Items) == 0 {
		return "No changes.\n" + o.line()
	}
	var b strings.Builder
	for i := range o.Items {
		b.WriteString(o.Items[i].line())
	}
	b.WriteString(o.line())
	return b.String()
}
