package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"emberd/internal/mcp/answer"
	"emberd/internal/mcp/tool"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
)

// origin is the origin of a text, and the file that contains it.
type origin struct {
	Origin string `json:"origin,omitempty" enum:"agent|user|tool|web" default:"\"agent\"" doc:"author of the text; tool and web texts are unconfirmed"`
	File   string `json:"file,omitempty" max:"500" doc:"source file, as PATH or PATH:LINE"`
}

// provenance returns the origin with the line number split off the file.
func (o *origin) provenance() op.Provenance {
	p := op.Provenance{Origin: o.Origin, File: o.File}
	if at := strings.LastIndexByte(o.File, ':'); at > 0 {
		if line, err := strconv.Atoi(o.File[at+1:]); err == nil && line > 0 {
			p.File, p.Line = o.File[:at], line
		}
	}
	return p
}

type agentAddIn struct {
	Content    string   `json:"content" min:"1" max:"50000" doc:"text of the memory, with names, dates and reasons"`
	Section    string   `json:"section,omitempty" enum:"Key Topics|Important Facts|People & Entities|Ongoing Threads|File Knowledge" default:"\"Important Facts\"" doc:"section of the memory"`
	Importance string   `json:"importance,omitempty" enum:"low|normal|high|core" default:"\"normal\"" doc:"core memories (identity, critical facts) never fade"`
	Tags       []string `json:"tags,omitempty" max:"50" doc:"tags; prefer tags from memory_status"`
	Project    string   `json:"project,omitempty" doc:"project, default: current project"`
	Source     string   `json:"source,omitempty" max:"500" doc:"source: person, document or page"`
	Context    string   `json:"context,omitempty" max:"1000" doc:"reason for the save"`
	Quote      string   `json:"quote,omitempty" max:"1000" doc:"exact words of the source"`
	origin
	Again bool `json:"again,omitempty" doc:"save the text even if a memory has or had it"`
}

// learned is the outcome of saving or reinforcing a text.
type learned struct {
	Memory     *resultItem    `json:"memory,omitempty"`
	Reinforced *reinforcement `json:"reinforced,omitempty"`
	Conflicts  []string       `json:"conflicts,omitempty"`
	Advice     []string       `json:"advice,omitempty"`
	Compared   string         `json:"compared_by"`
	Tx         string         `json:"tx,omitempty"`
}

// reinforcement is what learning a memory once more did to it.
type reinforcement struct {
	OldImportance float64  `json:"old_importance"`
	NewImportance float64  `json:"new_importance"`
	Sources       int      `json:"source_count"`
	Entities      []string `json:"entities,omitempty"`
	SuggestCore   bool     `json:"suggest_core,omitempty"`
	Core          bool     `json:"core,omitempty"` // since now
}

type agentAdded struct {
	New bool   `json:"new"`
	Did string `json:"did"`
	learned
}

func agentAdd(ctx context.Context, c *tool.Call, in *agentAddIn) (*agentAdded, error) {
	project := in.Project
	if project == "" || project == "." {
		project = c.Project(ctx)
	}
	req := &op.AddRequest{Content: in.Content, Section: in.Section, Importance: in.Importance, Tags: in.Tags,
		Project: project, ProjectInferred: project != in.Project,
		Source: in.Source, Context: in.Context, Provenance: in.provenance(), Again: in.Again}
	req.Quote = in.Quote
	res, err := op.Add.Call(ctx, c, req)
	if err != nil {
		return nil, err
	}
	m := &res.Memory
	out := &agentAdded{New: res.New, Did: "saved", learned: learned{Compared: res.Compared, Tx: res.Tx}}
	s := showMemory(m, excerpt(m))
	s.Section, s.Importance = m.Section, m.Importance
	switch {
	case res.Echo != nil:
		out.Did = "not saved, because a search just returned this text from"
		s.Path, s.Similarity = cmp.Or(res.Echo.Path, s.Path), res.Echo.Similarity
		out.Advice = append(out.Advice, "to save the text anyway, set \"again\": true")
		if m.ID != "" {
			out.Advice[0] = "if you learned this text from another source, call memory_reinforce; " + out.Advice[0]
		}
	case res.Reinforced != nil:
		out.Did = "reinforced existing"
		s.Similarity = res.Reinforced.Similarity
		s.Importance = 0 // the reinforcement has it
		out.reinforced(m, res.Reinforced)
	default:
		s.Text, s.When = "", ""
	}
	out.Memory = &s
	out.disagree(res.Conflicts, m.ID)
	if res.Pending != nil {
		out.Advice = append(out.Advice, noteFollows)
	}
	if res.RecordedOrigin != "" {
		out.Advice = append(out.Advice, "the origin is "+answer.OneLine(res.RecordedOrigin)+
			", because a limited token cannot save text as the user")
	}
	if res.Added != "" {
		out.Advice = append(out.Advice,
			"added "+answer.OneLine(res.Added)+", because the token can save only in this scope")
	}
	return out, nil
}

const noteFollows = "emberd updates the note of the memory later"

// reinforced adds the outcome of a reinforcement and advice on the next step.
func (l *learned) reinforced(m *op.Memory, r *op.Reinforcement) {
	l.Reinforced = &reinforcement{OldImportance: r.OldImportance, NewImportance: r.NewImportance, Sources: r.Sources,
		SuggestCore: r.SuggestCore, Core: r.Core}
	for _, e := range r.Entities[:min(len(r.Entities), maxLinks)] {
		l.Reinforced.Entities = append(l.Reinforced.Entities,
			answer.OneLine(e.Name)+" "+plural(e.Count, "mention", "mentions"))
	}
	if r.Held != "" {
		l.Advice = append(l.Advice, answer.OneLine(r.Held))
	}
	if r.SuggestCore {
		l.Advice = append(l.Advice, fmt.Sprintf("importance is now 0.8 or higher; if the memory must "+
			"never fade, call memory_edit {\"id\":%q,\"core\":true}", m.ID.Short()))
	}
}

// maxConflicts bounds the conflicts in an answer.
const maxConflicts = 5

// disagree adds a line for each conflict. by is the memory with the claim, "" if there is
// none yet.
func (l *learned) disagree(conflicts []op.Conflict, by memory.ID) {
	l.Conflicts = conflictLines(conflicts, by)
	if len(conflicts) > 0 {
		l.Advice = append(l.Advice, "Potential conflict — review recommended")
	}
}

func conflictLines(conflicts []op.Conflict, by memory.ID) []string {
	var out []string
	for i := range conflicts[:min(len(conflicts), maxConflicts)] {
		out = append(out, conflictLine(&conflicts[i], by))
	}
	if n := len(conflicts) - len(out); n > 0 {
		out = append(out, plural(n, "more conflict", "more conflicts"))
	}
	return out
}

// conflictLine returns a line that names the conflict, the newer of both, and the next step
// if one supersedes the other.
func conflictLine(c *op.Conflict, by memory.ID) string {
	line := "conflict: " + text.Truncate(answer.OneLine(c.Why), maxSource) + ", "
	if c.Newer == "claim" {
		line += "newer: the claim"
	} else {
		line += "newer: the stored text"
	}
	switch {
	case c.Memory == nil && c.Note != nil:
		return line + "; note " + answer.OneLine(c.Note.Path)
	case c.Memory == nil:
		return line
	}
	old := c.Memory.ID.Short()
	line += "; memory [" + old + "]"
	switch {
	case c.Supersede == "":
	case by == "":
		line += fmt.Sprintf(`; if the claim replaces the stored memory, call memory_add with the claim, then memory_edit {"id":"…","supersedes":[%q]}`, old)
	default:
		line += fmt.Sprintf(`; if the saved memory replaces the stored one, call memory_edit {"id":%q,"supersedes":[%q]}`, by.Short(), old)
	}
	return line
}

// excerpt returns the beginning of a text.
func excerpt(m *op.Memory) string { return text.Truncate(m.Content, 400) }

// Text returns the text for the model.
func (o *agentAdded) Text() string { return o.lines(o.Did) }

func (l *learned) Afterword() string {
	if len(l.Advice) == 0 {
		return ""
	}
	return strings.Join(l.Advice, "\n") + "\n"
}

// lines returns the text of an outcome, beginning with what was done.
func (l *learned) lines(did string) string {
	var b strings.Builder
	b.WriteString(did)
	if l.Memory == nil {
		b.WriteString(" Compared by " + l.Compared + ".\n")
	} else {
		b.WriteString(" " + l.Memory.heading())
		l.numbers(&b)
	}
	if l.Memory != nil && l.Memory.Text != "" {
		b.WriteString(text.Quote(l.Memory.Text))
	}
	if r := l.Reinforced; r != nil && len(r.Entities) > 0 {
		b.WriteString("about " + strings.Join(r.Entities, ", ") + "\n")
	}
	for _, line := range slices.Concat(l.Conflicts, l.Advice) {
		b.WriteString(line + "\n")
	}
	return b.String()
}

// numbers end the line about the memory.
func (l *learned) numbers(b *strings.Builder) {
	if r := l.Reinforced; r != nil {
		b.WriteString(", " + r.importance() + ", " + plural(r.Sources, "source", "sources"))
		if r.Core {
			b.WriteString(", core now")
		}
	}
	b.WriteString(", compared by " + l.Compared)
	if l.Tx != "" {
		b.WriteString(", tx " + l.Tx)
	}
	b.WriteByte('\n')
}

// importance returns how the importance changed.
func (r *reinforcement) importance() string {
	if r.OldImportance == r.NewImportance {
		return fmt.Sprintf("importance still %.2f", r.NewImportance)
	}
	return fmt.Sprintf("importance %.2f → %.2f", r.OldImportance, r.NewImportance)
}

type agentReinforceIn struct {
	Content  string `json:"content,omitempty" max:"50000" doc:"text that came up again"`
	ID       string `json:"id,omitempty" doc:"memory ID, instead of content"`
	Evidence string `json:"new_evidence,omitempty" max:"1000" doc:"quote or other evidence to add"`
	origin
}

type agentReinforced struct {
	Found   bool   `json:"found"`
	Message string `json:"message,omitempty"`
	learned
}

func agentReinforce(ctx context.Context, c *tool.Call, in *agentReinforceIn) (*agentReinforced, error) {
	res, err := op.Reinforce.Call(ctx, c, &op.ReinforceRequest{Content: in.Content, ID: memoryRef(in.ID),
		Evidence: in.Evidence, Provenance: in.provenance()})
	if err != nil {
		return nil, err
	}
	out := &agentReinforced{Found: res.Found, learned: learned{Compared: res.Compared, Tx: res.Tx}}
	if res.Memory != nil && res.Reinforced != nil {
		s := showMemory(res.Memory, excerpt(res.Memory))
		s.Similarity = res.Reinforced.Similarity
		out.Memory = &s
		out.reinforced(res.Memory, res.Reinforced)
	}
	if !res.Found {
		out.Message = res.Message
	}
	out.disagree(res.Conflicts, "")
	if res.Pending != nil {
		out.Advice = append(out.Advice, noteFollows)
	}
	return out, nil
}

// Text returns the text for the model.
func (o *agentReinforced) Text() string {
	if !o.Found {
		return o.lines(o.Message)
	}
	return o.lines("reinforced")
}
