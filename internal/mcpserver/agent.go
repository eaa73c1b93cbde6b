package mcpserver

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"emberd/memory"
	"emberd/op"
)

// agentTools are few, so that a model reads them in full and picks the right one. They
// answer in lines for it to read, and with the same as structured content; neither is
// larger than max_tokens. A model reads all that a client lists, so the schemas of results
// tell their members and not what these are made of, which the lines say anyway.
func agentTools() []*tool {
	tools := []*tool{
		define("memory_query", op.Read, "Search memories, vault notes and known people and things. Start here before answering about the user's past work, preferences, people or decisions.", agentQuery, Agent, All),
		define("memory_open", op.Read, "Read memories or notes whole, by ids and paths. Counts as a use, which keeps a memory.", agentOpen, Agent, All),
		define("memory_list", op.Read, "List memories without words to search for: the newest, the last used, or the strongest.", agentList, Agent, All),
		define("memory_add", op.Write, "Remember one fact, decision, preference or lesson. If it is known already, that memory is reinforced instead.", agentAdd, Agent, All),
		define("memory_verify", op.Read, "Compare a claim with what is known, before you save or rely on it: confirmed, related, new or conflict.", agentVerify, Agent, All),
		define("memory_reinforce", op.Write, "Say that something known was met again: raises its importance and keeps the evidence.", agentReinforce, Agent, All),
		define("memory_edit", op.Write, "Correct a memory or change its tags, instead of saving a second one. The earlier version is kept.", agentEdit, Agent, All),
		define("memory_used", op.Write, "Tell which memories your answer relied on, right after it: what is used stays, the rest fades.", agentUsed, Agent, All),
		define("memory_relate", op.Write, "Say how one memory stands to another.", agentRelate, Agent, All),
		define("memory_forget", op.Destructive, "Move memories to the trash for 30 days. Only when the user wants that or they are plainly wrong.", agentForget, Agent, All),
		define("memory_undo", op.Write, "Take back one change by the tx of the answer that made it.", agentUndo, Agent, All),
		define("memory_status", op.Read, "Counts, tags and projects in use, warnings, the last changes with their tx.", agentStatus, Agent, All),
	}
	for _, t := range tools {
		t.outlined, t.briefly = true, true
	}
	return tools
}

// card is a memory, a note or an entity as an agent is told of it. Its members say little
// of themselves, for each tool's schema repeats them.
type card struct {
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
	told
}

// fromNote is the origin of what a note of the vault says.
const fromNote = "note"

// told is what some tools tell besides.
type told struct {
	Relevance  float64 `json:"relevance,omitempty"`
	Similarity float64 `json:"similarity,omitempty"`
	Verdict    string  `json:"verdict,omitempty"`
	Importance float64 `json:"importance,omitempty"`
	Section    string  `json:"section,omitempty"`
	Accessed   string  `json:"last_access,omitempty"`
	Source     string  `json:"source,omitempty"`
}

// parts are what is told, for a line.
func (t *told) parts() []string {
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
		section = "in " + flat(t.Section)
	}
	return nonEmpty(section, t.Verdict, number("similarity", t.Similarity), number("relevance", t.Relevance),
		number("importance", t.Importance), accessed, flat(t.Source))
}

// someTags are as many of a memory's tags as a line has room for.
func someTags(tags []string) []string {
	const most = 100 // bytes
	n, size := 0, 0
	for n < len(tags) && (n == 0 || size+len(tags[n]) <= most) {
		size += len(tags[n])
		n++
	}
	return tags[:n]
}

// showMemory tells of a memory with this much of its text.
func showMemory(m *op.Memory, text string) card {
	s := card{ID: m.ID, Path: m.PromotedTo, Text: text, When: age(m.AgeDays) + " old", Tags: someTags(m.Tags), Project: m.Project,
		Origin: m.Origin, Trust: m.Trust}
	if m.Stage.Cold() {
		s.Path, s.State = m.VaultPath, "archived, this is a summary"
		if !m.NoteGone.IsZero() {
			s.State = "archived, this summary is all that is left"
		}
	}
	s.State = strings.Join(nonEmpty(s.State, doubtOf(m)), ", ")
	return s
}

// doubtOf is why a memory may not hold.
func doubtOf(m *op.Memory) string {
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

// sourceOf says of a memory where it comes from, in a part of a line.
func sourceOf(m *op.Memory) string {
	return clippedTo(strings.Join(nonEmpty(m.SourceText(), flat(m.Source)), "; "), mostSource)
}

// mostSource is how many characters of where something comes from a line has room for.
const mostSource = 120

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

// heading says what the text below it is.
func (s *card) heading() string {
	kind, name := "note", s.Path
	switch {
	case s.ID != "":
		kind, name = "memory", s.ID.Short()
	case s.Entity != "":
		kind, name = "entity", s.Entity
	}
	parts := []string{kind}
	if s.Path != "" && name != s.Path {
		parts = append(parts, "note "+flat(s.Path))
	}
	parts = append(parts, nonEmpty(s.When)...)
	if len(s.Tags) > 0 {
		parts = append(parts, hashed(s.Tags))
	}
	if s.Project != "" {
		parts = append(parts, "project "+flat(s.Project))
	}
	parts = append(parts, nonEmpty(s.by(), s.State)...)
	rest := s.told
	if s.by() != "" { // which said it
		rest.Source = withoutOrigin(rest.Source, s.Origin)
	}
	return "[" + flat(name) + "] " + strings.Join(append(parts, rest.parts()...), ", ")
}

// withoutOrigin is where something comes from without the word for whose words they are, where
// that stands alone at the beginning; before the name of an agent it stays.
func withoutOrigin(source, origin string) string {
	rest, ok := strings.CutPrefix(source, origin)
	if !ok || origin == "" || rest != "" && rest[0] != ',' && rest[0] != ';' {
		return source
	}
	return strings.TrimLeft(rest, ",; ")
}

// by says whose words they are and how far they are to be trusted; those of a note are the
// user's, and of an entity there are none.
func (s *card) by() string {
	switch {
	case s.ID == "" || s.Trust == "":
		return ""
	case s.Origin == s.Trust || s.Origin == "":
		return "by " + s.Trust
	}
	return "by " + flat(s.Origin) + " (" + s.Trust + ")"
}

func hashed(tags []string) string { return "#" + flat(strings.Join(tags, " #")) }

// render is one line, or the heading with the quoted text below.
func (s *card) render(depth string) string {
	if depth == depthIndex && s.Entity == "" {
		return s.heading() + " > " + s.Text + "\n"
	}
	var b strings.Builder
	b.WriteString(s.heading() + "\n")
	if s.Entity == "" {
		b.WriteString(quoted(s.Text))
	}
	if s.Cut && depth == depthWhole && s.ID != "" {
		b.WriteString("(cut; memory_open has all of it)\n")
	}
	for _, l := range s.Links {
		b.WriteString("- " + l + "\n")
	}
	return b.String()
}

// firstWords are what tells one text from another.
func firstWords(text string) string { return clippedTo(flat(text), 80) }

// clippedTo is a line of at most so many characters, and a mark if there are more.
func clippedTo(line string, most int) string {
	if runes := []rune(line); len(runes) > most {
		return strings.TrimSpace(string(runes[:most])) + "…"
	}
	return line
}

// rest is how an answer that was cut is gone on with.
type rest struct {
	Truncated bool   `json:"truncated,omitempty"`
	Next      string `json:"next,omitempty"`
}

func (r rest) afterword() string { return r.line() }

func (r rest) line() string {
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
