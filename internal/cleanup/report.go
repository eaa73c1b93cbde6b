package cleanup

import (
	"cmp"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"emberd/internal/notegen"
	"emberd/memory"
	"emberd/op"
)

// How many characters of a text and of a sentence of evidence a report shows.
const (
	maxTextLen     = 160
	maxEvidenceLen = 300
)

// Shown is what a report shows of a memory: its text, and the path of its note in the
// vault, "" for none.
type Shown struct{ Text, Note string }

// Report writes a run and all its actions as a note for Obsidian: properties, what was
// done, figures, and each action with its evidence. Show is asked for each memory that an
// action names. Texts are data: they are cut, on one line and escaped. The same run gives
// the same bytes.
func Report(run *op.CleanupRun, actions []op.CleanupAction, show func(memory.ID) Shown) string {
	r := &report{run: run, show: show, dry: run.State == op.CleanupDryRun}
	r.properties()
	fmt.Fprintf(&r.b, "# Cleanup of %s, %s\n\n", notegen.Inline(run.Collection, maxTextLen),
		run.Started.UTC().Format("2 January 2006"))
	r.outcome()
	r.figures()
	r.accuracy()
	r.deletions(of(actions, op.CleanupDelete, ""))
	r.groups("Merged", "To merge", "example", of(actions, op.CleanupMerge, ""))
	r.groups("Grouped by version", "To group by version", "abstract", of(actions, op.CleanupHierarchy, Version))
	r.groups("Grouped by platform", "To group by platform", "abstract", of(actions, op.CleanupHierarchy, Platform))
	r.groups("Superseded", "To supersede", "abstract", of(actions, op.CleanupHierarchy, Supersedes))
	r.groups("Rewritten", "To rewrite", "tip", of(actions, op.CleanupUpdate, ""))
	r.groups("Needs your decision", "Needs your decision", "question", of(actions, op.CleanupReview, ""))
	r.groups(untouched, "To keep unchanged", "note", of(actions, op.CleanupPreserve, ""))
	return r.b.String()
}

// untouched is the heading of what a run did not touch.
const untouched = "Kept unchanged"

// of returns the actions of a kind, and of a strategy unless that is "".
func of(actions []op.CleanupAction, kind, strategy string) (out []*op.CleanupAction) {
	for i := range actions {
		if a := &actions[i]; a.Action == kind && (strategy == "" || a.Strategy == strategy) {
			out = append(out, a)
		}
	}
	return out
}

// report is a note that is being written.
type report struct {
	b    strings.Builder
	run  *op.CleanupRun
	show func(memory.ID) Shown
	dry  bool
}

// properties are what Obsidian shows above a note and searches by.
func (r *report) properties() {
	text := func(name, value string) { fmt.Fprintf(&r.b, "%s: %s\n", name, strconv.QuoteToASCII(value)) }
	number := func(name string, value int) { fmt.Fprintf(&r.b, "%s: %d\n", name, value) }
	r.b.WriteString("---\n")
	text("cleanup", r.run.ID)
	text("collection", r.run.Collection)
	text("state", r.run.State)
	fmt.Fprintf(&r.b, "date: %s\n", r.run.Started.UTC().Format("2006-01-02T15:04:05"))
	number("entries", r.run.Entries)
	number("after", r.run.After)
	number("conflicts", r.run.Conflicts)
	number("resolved", r.run.Resolved)
	r.b.WriteString("tags:\n  - emberd/cleanup\n---\n\n")
}

// callout writes a box with a title and lines in it.
func (r *report) callout(kind, title string, lines ...string) {
	fmt.Fprintf(&r.b, "> [!%s] %s\n", kind, title)
	for _, l := range lines {
		r.b.WriteString(strings.TrimRight("> "+l, " ") + "\n")
	}
	r.b.WriteString("\n")
}

// outcome is what became of the run, and what can be done next.
func (r *report) outcome() {
	run := r.run
	switch run.State {
	case op.CleanupDryRun:
		r.callout("info", "Nothing was changed",
			"This is the plan of a cleanup. To apply the plan, run "+carryOut(run.Collection)+".")
	case op.CleanupRolledBack:
		r.callout("warning", "Rolled back", "The run was rolled back; reason: "+
			notegen.Inline(cmp.Or(run.RolledBack, "a user requested it"), maxEvidenceLen)+".")
	case op.CleanupDone:
		r.callout("success", "Done in "+lasted(time.Duration(run.Millis)*time.Millisecond),
			"To undo the whole cleanup, run `emberd health cleanup rollback "+code(run.ID)+"`.")
	default:
		r.callout("failure", "Not finished",
			"Resume the cleanup run, or roll back the run with `emberd health cleanup rollback "+code(run.ID)+"`.")
	}
}

// carryOut returns the command that applies what a dry run shows.
func carryOut(collection string) string {
	if code(collection) != collection {
		return "`emberd health cleanup --mode full --execute` with the same value of `-c`"
	}
	return "`emberd health cleanup -c " + collection + " --mode full --execute`"
}

func lasted(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// code returns a word that may stand between backticks.
func code(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return -1
	}, s)
}

func (r *report) figures() {
	run := r.run
	r.b.WriteString("## Figures\n\n| | |\n|---|---:|\n")
	row := func(name, value string) { fmt.Fprintf(&r.b, "| %s | %s |\n", name, value) }
	row("Memories", strconv.Itoa(run.Entries))
	row("of them written by hand", strconv.Itoa(run.Manual))
	row("of them created by an indexer, not changed", strconv.Itoa(run.Protected))
	row("Groups of similar memories", strconv.Itoa(run.Clusters))
	row("Conflicts", strconv.Itoa(run.Conflicts))
	row("of them resolved automatically", fmt.Sprintf("%d%s", run.Resolved, percent(run.Resolved, run.Conflicts)))
	if run.Limited > 0 {
		row("Deletions postponed to later runs", strconv.Itoa(run.Limited))
	}
	row("Memories after", fmt.Sprintf("%d%s", run.After, percent(run.After-run.Entries, run.Entries)))
	row("Judged by", notegen.Inline(scorer(run), maxEvidenceLen))
	if run.Backup != "" {
		row("Backup", notegen.Inline(run.Backup, maxEvidenceLen))
	}
	r.b.WriteString("\n")
}

func percent(part, whole int) string {
	if whole == 0 {
		return ""
	}
	return fmt.Sprintf(" (%.0f %%)", 100*float64(part)/float64(whole))
}

func scorer(run *op.CleanupRun) string {
	s := "rules"
	if run.ScorerCalls > 0 {
		s += fmt.Sprintf(" and a model, %d questions", run.ScorerCalls)
	}
	if run.ScorerNote != "" {
		s += "; " + run.ScorerNote
	}
	return s
}

// accuracy compares searches before and after.
func (r *report) accuracy() {
	if r.run.Before == nil {
		return
	}
	r.b.WriteString("## Searches\n\n| | queries | precision | recall | missing |\n|---|---:|---:|---:|---:|\n")
	row := func(name string, a *op.CleanupAccuracy) {
		if a != nil {
			fmt.Fprintf(&r.b, "| %s | %d | %.3f | %.3f | %d |\n", name, a.Queries, a.Precision, a.Recall,
				len(a.Missing))
		}
	}
	row("before", r.run.Before)
	row("after", r.run.Validated)
	r.b.WriteString("\n")
}

// heading begins a part, with how many actions it has.
func (r *report) heading(done, planned string, n int) {
	switch {
	case r.dry:
		done = planned
	case r.run.State == op.CleanupRolledBack && done != untouched:
		done += ", and rolled back"
	}
	fmt.Fprintf(&r.b, "## %s (%d)\n\n", done, n)
}

// deletions are a table, the worst first.
func (r *report) deletions(all []*op.CleanupAction) {
	if len(all) == 0 {
		return
	}
	r.heading("Deleted", "To delete", len(all))
	r.b.WriteString("| Memory | Quality | Why |\n|---|---:|---|\n")
	for _, a := range all {
		id := a.MemoryIDs[0]
		for _, other := range a.MemoryIDs {
			if other != a.Keep {
				id = other
			}
		}
		fmt.Fprintf(&r.b, "| %s | %.2f | %s |\n", r.line(id, true), a.Quality, r.evidence(a))
	}
	r.b.WriteString("\n")
}

// evidence returns why, and why it was not done.
func (r *report) evidence(a *op.CleanupAction) string {
	why := notegen.Inline(a.Evidence, maxEvidenceLen)
	if a.Problem != "" {
		why += " **Not done:** " + notegen.Inline(a.Problem, maxEvidenceLen)
	}
	return why
}

// groups are a box for each action, with its memories.
func (r *report) groups(done, planned, kind string, all []*op.CleanupAction) {
	if len(all) == 0 {
		return
	}
	r.heading(done, planned, len(all))
	for _, a := range all {
		var lines []string
		if a.Evidence != "" || a.Problem != "" {
			lines = append(lines, r.evidence(a), "")
		}
		for _, id := range a.MemoryIDs {
			l := "- " + r.line(id, false)
			if id == a.Keep && len(a.MemoryIDs) > 1 {
				l += " · **" + role(a) + "**"
			}
			lines = append(lines, l)
		}
		if a.Into != "" {
			lines = append(lines, "- → "+r.line(a.Into, false))
		}
		r.callout(kind, title(a), lines...)
	}
}

// role returns what the memory that is kept is to the others.
func role(a *op.CleanupAction) string {
	switch a.Strategy {
	case Version:
		return "newest"
	case Platform:
		return "parent"
	}
	return "holds"
}

func title(a *op.CleanupAction) string {
	n := strconv.Itoa(len(a.MemoryIDs)) + " memories"
	if len(a.MemoryIDs) == 1 {
		n = "1 memory"
	}
	if a.Quality > 0 {
		n += fmt.Sprintf(", quality %.2f", a.Quality)
	}
	return n
}

// line shows a memory: the beginning of its text, its note, and how it is named. Without a
// text, the note goes by its own name.
func (r *report) line(id memory.ID, cell bool) string {
	s := r.show(id)
	bar := "|"
	if cell {
		bar = `\|`
	}
	text := notegen.Title(s.Text, maxTextLen)
	switch target, linked := notegen.Link(s.Note); {
	case linked && text == "":
		text = "[[" + target + bar + path.Base(target) + "]]"
	case linked:
		text += " ([[" + target + bar + "note]])"
	}
	return strings.TrimLeft(text+" "+notegen.Mark(id), " ")
}
