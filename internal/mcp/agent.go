package mcp

import (
	"fmt"
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
// answer in lines for it to read, and with the same as structured content; neither is
// larger than max_tokens. A model reads all that a client lists, so the schemas of results
// tell their members and not what these are made of, which the lines say anyway.
func agentTools() []*tool.Tool {
	tools := []*tool.Tool{
		tool.Define("memory_query", op.Read,
			"Search memories, vault notes and known people and things. Start here before answering about the user's "+
				"past work, preferences, people or decisions.", agentQuery, Agent, All),
		tool.Define("memory_open", op.Read,
			"Read memories or notes whole, by ids and paths. Counts as a use, which keeps a memory.", agentOpen, Agent,
			All),
		tool.Define("memory_list", op.Read,
			"List memories without words to search for: the newest, the last used, or the strongest.", agentList, Agent,
			All),
		tool.Define("memory_add", op.Write,
			"Remember one fact, decision, preference or lesson. If it is known already, that memory is reinforced "+
				"instead.", agentAdd, Agent, All),
		tool.Define("memory_verify", op.Read,
			"Compare a claim with what is known, before you save or rely on it: confirmed, related, new or conflict.",
			agentVerify, Agent, All),
		tool.Define("memory_reinforce", op.Write,
			"Say that something known was met again: raises its importance and keeps the evidence.", agentReinforce,
			Agent, All),
		tool.Define("memory_edit", op.Write,
			"Correct a memory or change its tags, instead of saving a second one. The earlier version is kept.",
			agentEdit, Agent, All),
		tool.Define("memory_used", op.Write,
			"Tell which memories your answer relied on, right after it: what is used stays, the rest fades.", agentUsed,
			Agent, All),
		tool.Define("memory_relate", op.Write, "Say how one memory stands to another.", agentRelate, Agent, All),
		tool.Define("memory_forget", op.Destructive,
			"Move memories to the trash for 30 days. Only when the user wants that or they are plainly wrong.",
			agentForget, Agent, All),
		tool.Define("memory_undo", op.Write, "Take back one change by the tx of the answer that made it.", agentUndo,
			Agent,
			All),
		tool.Define("memory_status", op.Read,
			"Counts, tags and projects in use, warnings, the last changes with their tx.",
			agentStatus, Agent, All),
	}
	advise := agentAdvice()
	for _, t := range tools {
		t.Outlined, t.Brief, t.Advise = true, true, advise
	}
	return tools
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
		Origin:  m.Origin, Trust: m.Trust}
	if m.Stage.Cold() {
		s.Path, s.State = m.VaultPath, "archived, this is a summary"
		if !m.Shortened() {
			s.State = "archived"
		} else if !m.NoteGone.IsZero() {
			s.State = "archived, this summary is all that is left"
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

// by returns the origin and the trust of a memory, "" for a note or an entity.
func (s *resultItem) by() string {
	switch {
	case s.ID == "" || s.Trust == "":
		return ""
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
		b.WriteString("(cut; memory_open has all of it)\n")
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
	return "truncated; go on with: " + r.Next + "\n"
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
