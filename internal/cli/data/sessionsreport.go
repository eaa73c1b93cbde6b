package data

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"emberd/internal/cli"
	"emberd/internal/importer"
	"emberd/op"
)

// sessionsReport is what an import of sessions did; with --json it is the result.
type sessionsReport struct {
	DryRun     bool             `json:"dry_run,omitempty"`
	SearchOnly bool             `json:"search_only,omitempty"`
	Tx         string           `json:"tx,omitempty"` // the change that the import is, "" if it changed nothing
	Agents     []*agentSessions `json:"agents"`
	// Projects are those whose messages were stored to be searched.
	Projects []*projectSessions `json:"projects,omitempty"`
	// Sentences are what a dry run would keep.
	Sentences []keptSentence `json:"sentences,omitempty"`
	Errors    []fileError    `json:"errors"`
	Unlisted  int            `json:"unlisted,omitempty"` // errors beyond the first importer.MaxSkips
}

// agentSessions is what was read of one agent, and what came of it.
type agentSessions struct {
	Agent    string `json:"agent"`
	Files    int    `json:"files"`
	Sessions int    `json:"sessions"`
	Messages int    `json:"messages"`
	Kept     int    `json:"kept"`    // new memories, or sentences of a dry run
	Known    int    `json:"known"`   // sentences that a memory said already
	Refused  int    `json:"refused"` // sentences that look like credentials
	// Forbidden counts messages with a sentence that the token may not save, and Over sentences beyond the limits.
	Forbidden int            `json:"forbidden,omitempty"`
	Over      int            `json:"over,omitempty"`
	Rules     map[string]int `json:"rules,omitempty"` // Kept and Known by rule
	Off       int            `json:"off,omitempty"`   // sessions below a file .emberd-off, or with hooks off
	Skipped   int            `json:"skipped,omitempty"`
	storedSessions
}

// keptSentence is a sentence that a dry run would keep.
type keptSentence struct {
	Agent   string `json:"agent"`
	Project string `json:"project,omitempty"`
	Rule    string `json:"rule"`
	From    string `json:"from"`
	Text    string `json:"text"`
}

// fileError is a transcript of which something could not be imported.
type fileError struct {
	File string `json:"file"`
	op.Problem
}

// of returns the counts of an agent.
func (r *sessionsReport) of(agent string) *agentSessions {
	i := slices.IndexFunc(r.Agents, func(a *agentSessions) bool { return a.Agent == agent })
	if i >= 0 {
		return r.Agents[i]
	}
	a := &agentSessions{Agent: agent, Rules: map[string]int{}}
	r.Agents = append(r.Agents, a)
	return a
}

func (r *sessionsReport) fail(file string, err error) {
	if len(r.Errors) == importer.MaxSkips {
		r.Unlisted++
		return
	}
	r.Errors = append(r.Errors, fileError{file, *cli.Problem(err)})
}

// take counts what the daemon kept of a session.
func (a *agentSessions) take(res *op.HookResult) {
	a.Refused, a.Forbidden, a.Over = a.Refused+res.Refused, a.Forbidden+len(res.Forbidden), a.Over+res.Over
	for _, k := range res.Kept {
		if a.Rules[k.Rule]++; k.New || k.ID == "" {
			a.Kept++
		} else {
			a.Known++
		}
	}
}

// take notes the sentences of a dry run.
func (r *sessionsReport) take(project, agent string, res *op.HookResult) {
	if !r.DryRun {
		return
	}
	for _, k := range res.Kept {
		r.Sentences = append(r.Sentences, keptSentence{agent, project, k.Rule, k.From, k.Text})
	}
}

func (r *sessionsReport) print(s *cli.App) error {
	slices.SortFunc(r.Agents, func(a, b *agentSessions) int { return cmp.Compare(a.Agent, b.Agent) })
	if s.JSON {
		return s.PrintJSON(r)
	}
	for _, e := range r.Errors {
		s.Note("%s: %s", cli.Clean(e.File), cli.Clean(e.Detail))
	}
	if r.Unlisted > 0 {
		s.Note("and %s", cli.Count(r.Unlisted, "more", "more"))
	}
	r.printSentences(s)
	r.printAgents(s)
	return nil
}

// printSentences shows what a dry run would keep, rule by rule.
func (r *sessionsReport) printSentences(s *cli.App) {
	by := map[string][]keptSentence{}
	for _, k := range r.Sentences {
		by[k.Rule] = append(by[k.Rule], k)
	}
	for _, rule := range slices.Sorted(maps.Keys(by)) {
		s.Printf("%s\n", s.Screen.Paint(cli.Bold, cli.Flat(rule)))
		for _, k := range by[rule] {
			about := fmt.Sprintf("  the %s, %s, %s", k.From, k.Agent, cmp.Or(k.Project, "no project"))
			s.Printf("%s", s.Screen.Paragraph(cli.Clean(k.Text), nil, "  "))
			s.Printf("%s\n", s.Screen.Paint(cli.Faint, cli.Flat(about)))
		}
	}
}

func (r *sessionsReport) printAgents(s *cli.App) {
	if len(r.Agents) == 0 {
		s.Note("no transcripts of coding agents found")
		return
	}
	if r.SearchOnly {
		r.printStored(s)
		return
	}
	s.Printf("%s\n", s.Screen.Paint(cli.Faint, r.countsHead()))
	kept, known, off, rules := 0, 0, 0, map[string]int{}
	for _, a := range r.Agents {
		s.Printf("%s %5d %8d %8d %s %7d\n", cli.Pad(cli.Cut(cli.Flat(a.Agent), 12), 12), a.Files, a.Sessions,
			a.Messages, r.counts(a), a.Refused)
		kept, known, off = kept+a.Kept, known+a.Known, off+a.Off
		for rule, n := range a.Rules {
			rules[rule] += n
		}
	}
	s.Printf("found %s%s\n", cli.Count(kept+known, "sentence", "sentences"), byRule(rules))
	if kept+known > 0 && !r.DryRun {
		s.Printf("saved %s; %s in known memories\n", cli.Count(kept, "new memory", "new memories"),
			cli.Count(known, "sentence was", "sentences were"))
	}
	r.printLost(s)
	if off > 0 {
		s.Note("skipped %s where hooks are or were off", cli.Count(off, "session", "sessions"))
	}
	if kept+known > 0 && !r.DryRun {
		s.Note("to list the sessions, run: %s; to undo a session, run: %s", cli.Again(s, "hook", "sessions"),
			cli.Again(s, "hook", "forget", "ID"))
	}
	s.UndoHint(r.Tx)
}

// printLost tells what was not saved although a rule found it.
func (r *sessionsReport) printLost(s *cli.App) {
	forbidden, over := 0, 0
	for _, a := range r.Agents {
		forbidden, over = forbidden+a.Forbidden, over+a.Over
	}
	if forbidden > 0 {
		s.Note("the access token did not permit saving sentences of %s", cli.Count(forbidden, "message", "messages"))
	}
	if over > 0 {
		s.Note("skipped %s over the limits per turn and session", cli.Count(over, "sentence", "sentences"))
	}
}

// countsHead is the head of the table of agents. Only an import compares sentences with memories and with each other,
// so that a dry run cannot tell which are known.
func (r *sessionsReport) countsHead() string {
	if r.DryRun {
		return "AGENT        FILES SESSIONS MESSAGES FOUND REFUSED"
	}
	return "AGENT        FILES SESSIONS MESSAGES  NEW KNOWN REFUSED"
}

func (r *sessionsReport) counts(a *agentSessions) string {
	if r.DryRun {
		return fmt.Sprintf("%5d", a.Kept)
	}
	return fmt.Sprintf("%4d %5d", a.Kept, a.Known)
}

// byRule lists counts by rule, as the end of a sentence.
func byRule(rules map[string]int) string {
	var parts []string
	for _, rule := range slices.Sorted(maps.Keys(rules)) {
		parts = append(parts, fmt.Sprintf("%s %d", cli.Flat(rule), rules[rule]))
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}
