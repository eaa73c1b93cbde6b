package mcp

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"emberd/internal/mcp/answer"
	"emberd/internal/mcp/tool"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
)

// agentTools returns few tools, so that a model reads them in full and picks the right one. They
// answer in lines, and with the same as structured content; neither is larger than
// max_tokens. A model reads all that a client lists, so a description has one sentence each
// for what the tool does, when to call it instead of its neighbor, and what it returns. The
// schemas of results have the names of the members only.
func agentTools() []*tool.Tool {
	tools := slices.Concat(agentReaders(), agentWriters())
	advise := agentAdvice()
	for _, t := range tools {
		t.Outlined, t.Brief, t.Advise = true, true, advise
	}
	return tools
}

func agentReaders() []*tool.Tool {
	return []*tool.Tool{
		agentTool("memory_query", "Search memory", op.Read, "Search memories, vault notes and entities. Call before "+
			"you answer about the user or past work. Returns excerpts with ID or path, best match first.", agentQuery),
		agentTool("memory_open", "Read memories and notes", op.Read, "Read memories or notes in full. Call if an "+
			"excerpt of memory_query is not enough. Returns the texts with sources and relations.", agentOpen),
		agentTool("memory_list", "List memories", op.Read,
			"List memories by date or use. Call if you have no search words. Returns one line per memory.", agentList),
		agentTool("memory_verify", "Check a claim", op.Read, "Compare a claim with memories and notes. Call before "+
			"you save or repeat a claim. Returns a status (confirmed, related, new or conflict) and the matches.",
			agentVerify),
		agentTool("memory_status", "Show memory status", op.Read, "Show memory counts, tags, projects, warnings and "+
			"changes. Call to choose tags or find the tx of a change. Returns one line per item.", agentStatus),
	}
}

func agentWriters() []*tool.Tool {
	return []*tool.Tool{
		agentTool("memory_add", "Save a memory", op.Write, "Save one fact, or reinforce the memory that contains it. "+
			"To correct a memory, call memory_edit. Returns the ID and contradicting memories.", agentAdd),
		agentTool("memory_reinforce", "Raise importance", op.Write, "Raise the importance of a memory and add new "+
			"evidence. Call if a fact comes up again. Returns the new importance.", agentReinforce),
		agentTool("memory_edit", "Edit a memory", op.Write,
			"Change the text or fields of a memory. Call to correct a memory. Returns the changed fields.", agentEdit),
		agentTool("memory_used", "Record use of memories", op.Write, "Record which memories your answer used, to "+
			"delay their fading. Call after you answer. Returns the number of memories.", agentUsed),
		agentTool("memory_relate", "Relate two memories", op.Write, "Create a relation between two memories. If one "+
			"memory replaces the other, call memory_edit with supersedes. Returns the relation.", agentRelate),
		agentTool("memory_forget", "Delete memories", op.Destructive, "Move memories to the trash for 30 days. Call "+
			"only if the user asks or the memories are wrong. Returns the moved memories.", agentForget),
		agentTool("memory_undo", "Undo a change", op.Write,
			"Undo one change. Call if a save, edit or deletion was a mistake. Returns the affected memories.",
			agentUndo),
	}
}

// agentTool returns a tool of the profiles agent, notes and all.
func agentTool[In, Out any](name, title string, effect op.Effect, about string,
	run func(context.Context, *tool.Call, *In) (*Out, error)) *tool.Tool {
	t := tool.Define(name, effect, about, run, Agent, Notes, All)
	t.Def.Title = title
	return t
}

// resultItem is a memory, a note or an entity in a result for an agent. Its members have no
// descriptions, because the schema of each tool would repeat them.
type resultItem struct {
	ID      memory.ID `json:"id,omitempty"`     // of a memory
	Path    string    `json:"path,omitempty"`   // of a note: itself, that of the memory, or that about the entity
	Entity  string    `json:"entity,omitempty"` // its name
	Text    string    `json:"text,omitempty"`
	Cut     bool      `json:"cut,omitempty"`  // there is more text
	When    string    `json:"when,omitempty"` // how old a memory is, when a note was changed
	Tags    []string  `json:"tags,omitempty"`
	Project string    `json:"project,omitempty"`
	State   string    `json:"state,omitempty"`
	Origin  string    `json:"origin,omitempty"` // whose words: user, agent, tool, web, import or note
	Trust   string    `json:"trust,omitempty"`  // confirmed, user, agent or data
	Links   []string  `json:"relations,omitempty"`
	details
	session string // id of a past session
	heard   bool   // a hook took it from a message of the user
}

// fromNote is the origin of the text of a note.
const fromNote = "note"

// details are the members that only some tools fill.
type details struct {
	Relevance  float64 `json:"relevance,omitempty"`
	Similarity float64 `json:"similarity,omitempty"`
	Verdict    string  `json:"verdict,omitempty"`
	Importance float64 `json:"importance,omitempty"`
	Section    string  `json:"section,omitempty"`
	Accessed   string  `json:"last_access,omitempty"`
	Source     string  `json:"source,omitempty"`
}

// parts returns the details as parts of a line.
func (t *details) parts() []string {
	number := func(name string, n float64) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprintf("%s %.2f", name, n)
	}
	accessed := ""
	if t.Accessed != "" {
		accessed = "last found " + t.Accessed
	}
	section := ""
	if t.Section != "" {
		section = "in " + answer.OneLine(t.Section)
	}
	return nonEmpty(section, t.Verdict, number("similarity", t.Similarity), number("relevance", t.Relevance),
		number("importance", t.Importance), accessed, answer.OneLine(t.Source))
}

// someTags returns as many tags of a memory as a line has room for.
func someTags(tags []string) []string {
	const most = 100 // bytes
	n, size := 0, 0
	for n < len(tags) && (n == 0 || size+len(tags[n]) <= most) {
		size += len(tags[n])
		n++
	}
	return tags[:n]
}

// showMemory returns the item of a memory, with a part of its text.
func showMemory(m *op.Memory, text string) resultItem {
	s := resultItem{ID: m.ID, Path: m.PromotedTo, Text: text, When: age(m.AgeDays) + " old", Tags: someTags(m.Tags),
		Project: m.Project,
		Origin:  m.Origin, Trust: m.Trust, heard: m.Heard()}
	if m.Stage.Cold() {
		s.Path, s.State = m.VaultPath, "archived, summary only"
		if !m.Shortened() {
			s.State = "archived"
		} else if !m.NoteGone.IsZero() {
			s.State = "archived; the note with the full text is missing"
		}
	}
	s.State = strings.Join(nonEmpty(s.State, trustWarnings(m)), ", ")
	return s
}

// trustWarnings returns why a memory can be wrong.
func trustWarnings(m *op.Memory) string {
	var doubts []string
	if m.DataOnly() {
		doubts = append(doubts, "unconfirmed")
	}
	if len(m.Hidden) > 0 {
		doubts = append(doubts, "hides "+strings.Join(m.Hidden, " and "))
	}
	if m.SupersededBy != "" {
		doubts = append(doubts, "superseded by ["+m.SupersededBy.Short()+"]")
	}
	return strings.Join(doubts, ", ")
}

// sourceOf returns the source of a memory as a part of a line.
func sourceOf(m *op.Memory) string {
	return text.Truncate(strings.Join(nonEmpty(m.SourceText(), answer.OneLine(m.Source)), "; "), maxSource)
}

// maxSource bounds a source in a line, in characters.
const maxSource = 120

func age(days float64) string {
	switch hours := days * 24; {
	case hours < 1:
		return strconv.Itoa(max(1, int(hours*60))) + "m"
	case days < 1:
		return strconv.Itoa(int(hours)) + "h"
	case days < 100:
		return strconv.Itoa(int(days)) + "d"
	case days < 730:
		return strconv.Itoa(int(days/30.44)) + "mo"
	}
	return strconv.Itoa(int(days/365.25)) + "y"
}

func day(t time.Time) string { return t.Format(time.DateOnly) }

// heading describes the text below it, in one line.
func (s *resultItem) heading() string {
	kind, name := "note", s.Path
	switch {
	case s.ID != "":
		kind, name = "memory", s.ID.Short()
	case s.Entity != "":
		kind, name = "entity", s.Entity
	case s.session != "":
		kind, name = "session", s.session
	}
	parts := []string{kind}
	if s.Path != "" && name != s.Path {
		parts = append(parts, "note "+answer.OneLine(s.Path))
	}
	parts = append(parts, nonEmpty(s.When)...)
	if len(s.Tags) > 0 {
		parts = append(parts, hashed(s.Tags))
	}
	if s.Project != "" {
		parts = append(parts, "project "+answer.OneLine(s.Project))
	}
	parts = append(parts, nonEmpty(s.by(), s.State)...)
	rest := s.details
	if s.by() != "" { // which said it
		rest.Source = withoutOrigin(rest.Source, s.Origin)
	}
	return "[" + answer.OneLine(name) + "] " + strings.Join(append(parts, rest.parts()...), ", ")
}

// withoutOrigin returns where something comes from without the word for whose words they are, where
// that stands alone at the beginning; before the name of an agent it stays.
func withoutOrigin(source, origin string) string {
	rest, ok := strings.CutPrefix(source, origin)
	if !ok || origin == "" || rest != "" && rest[0] != ',' && rest[0] != ';' {
		return source
	}
	return strings.TrimLeft(rest, ",; ")
}

// by returns the origin and the trust of a memory or of what was said in a session, "" for a note or an entity.
func (s *resultItem) by() string {
	switch {
	case s.ID == "" && s.session == "" || s.Trust == "":
		return ""
	case s.heard:
		return "by a hook, from a message of the user"
	case s.Origin == s.Trust || s.Origin == "":
		return "by " + s.Trust
	}
	return "by " + answer.OneLine(s.Origin) + " (" + s.Trust + ")"
}

func hashed(tags []string) string { return "#" + answer.OneLine(strings.Join(tags, " #")) }

// render returns one line, or the heading with the quoted text below.
func (s *resultItem) render(depth string) string {
	if depth == depthIndex && s.Entity == "" {
		return s.heading() + " > " + s.Text + "\n"
	}
	var b strings.Builder
	b.WriteString(s.heading() + "\n")
	if s.Entity == "" {
		b.WriteString(text.Quote(s.Text))
	}
	if s.Cut && depth == depthWhole && s.ID != "" {
		b.WriteString("(truncated; call memory_open for the full text)\n")
	}
	for _, l := range s.Links {
		b.WriteString("- " + l + "\n")
	}
	return b.String()
}

// firstWords returns the beginning of a text in one line.
func firstWords(content string) string { return text.Truncate(answer.OneLine(content), 80) }

// continuation says how to read on after an answer that was cut.
type continuation struct {
	Truncated bool   `json:"truncated,omitempty"`
	Next      string `json:"next,omitempty"`
}

func (r continuation) Afterword() string { return r.line() }

func (r continuation) line() string {
	if !r.Truncated {
		return ""
	}
	return "truncated; continue with: " + r.Next + "\n"
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
