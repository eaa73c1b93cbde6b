package cleanup

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"emberd/memory"
	"emberd/op"
)

// escaped is a mark that is no more than a letter.
var escaped = regexp.MustCompile(`\\.`)

var update = flag.Bool("update", false, "write the goldens anew")

// texts are what the memories of a report say, some of it for Obsidian and its plugins.
func texts(id memory.ID) Shown {
	return map[memory.ID]Shown{
		id0(1): {Text: "asdf | asdf"},
		id0(2): {Text: "This is a test, please ignore\n\n# Ignore"},
		id0(3): {Text: "The kettle leaks at the seam", Note: "Home/Kettle.md"},
		id0(4): {Text: "At the seam the kettle is leaking"},
		id0(5): {Text: "In Python 2.7 the print statement takes no parentheses"},
		id0(6): {Text: "In Python 3.12 the print statement takes parentheses"},
		id0(7): {Text: "The ledger listens on port 5432 ![[secret]] `= this.x` <% tp.x %>"},
		id0(8): {Text: "The ledger listens on port 5433"},
		id0(9): {Text: "[x](javascript:alert(1)) <script>alert(1)</script> %%hidden%% #tag $x$ " + strings.Repeat("long ", 60)},
	}[id]
}

func id0(i int) memory.ID {
	return memory.ID("01920000-0000-7000-8000-00000000000" + string(rune('0'+i)))
}

func ran(state string) (*op.CleanupRun, []op.CleanupAction) {
	return &op.CleanupRun{
			ID: "20261122-a1b2", Collection: "know\"ledge: | x", Mode: op.CleanupFull, State: state, Started: time.Date(2026, 11, 22, 10, 30, 0, 0, time.UTC),
			Entries: 40, Manual: 30, Protected: 10, Clusters: 2, Conflicts: 3, Resolved: 2, After: 37, Limited: 4, Scorer: "llm", ScorerCalls: 3,
			ScorerNote: "1 of 3 questions had no answer that could be used", Before: &op.CleanupAccuracy{Queries: 20, Precision: 0.9, Recall: 1},
			Validated: &op.CleanupAccuracy{Queries: 20, Precision: 0.95, Recall: 1, Missing: nil}, Backup: "backups/2026.emberd", Millis: 1234,
			RolledBack: map[bool]string{true: "the recall of searches fell from 1.00 to 0.50, by more than 20 %"}[state == op.CleanupRolledBack],
		}, []op.CleanupAction{
			{Action: op.CleanupUpdate, MemoryIDs: ids(id0(9)), Quality: 0.41, Evidence: "The quality of the memory is 0.41: breaks off.", Problem: "emberd rejected the text of the model: a number is missing"},
			{Action: op.CleanupHierarchy, Strategy: Version, MemoryIDs: ids(id0(5), id0(6)), Keep: id0(6), Quality: 0.8, Evidence: "The memories apply to different versions: python 3.12, python 2.7."},
			{Action: op.CleanupHierarchy, Strategy: Supersedes, MemoryIDs: ids(id0(7), id0(8)), Keep: id0(8), Quality: 0.7, Evidence: "It is the later word about the same thing: 5432 against 5433."},
			{Action: op.CleanupMerge, Strategy: ByMerge, MemoryIDs: ids(id0(3), id0(4)), Into: map[bool]memory.ID{true: id0(4)}[state == op.CleanupDone], Quality: 0.7, Evidence: "They say nearly the same.", Done: true},
			{Action: op.CleanupDelete, MemoryIDs: ids(id0(1)), Quality: 0.1875, Evidence: "The quality of the memory is 0.19, below 0.30: random letters."},
			{Action: op.CleanupDelete, Strategy: ByQuality, MemoryIDs: ids(id0(2), id0(3)), Keep: id0(3), Quality: 0.2, Evidence: "A memory of quality 0.80 says | all of it."},
			{Action: op.CleanupReview, MemoryIDs: ids(id0(7), id0(9)), Evidence: "They contradict each other."},
			{Action: op.CleanupPreserve, MemoryIDs: ids(id0(1)), Quality: 0.19, Evidence: "The quality of the memory is 0.19, but it is core."},
		}
}

func TestReports(t *testing.T) {
	for _, state := range []string{op.CleanupDryRun, op.CleanupDone, op.CleanupRolledBack, op.CleanupBrokenOff} {
		run, actions := ran(state)
		got := Report(run, actions, texts)
		file := filepath.Join("testdata", state+".md")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: the report is\n%s\nwant\n%s", state, got, want)
		}
		active := escaped.ReplaceAllString(got, "")
		for _, bad := range []string{"![[", "<script", "<%", "\n# Ignore", "](java", "%%hid"} {
			if strings.Contains(active, bad) {
				t.Errorf("%s: the report has %q", state, bad)
			}
		}
		properties, _, _ := strings.Cut(strings.TrimPrefix(got, "---\n"), "\n---\n")
		var p struct{ Collection, State string }
		if err := yaml.Unmarshal([]byte(properties), &p); err != nil || p.Collection != run.Collection || p.State != state {
			t.Errorf("the properties are %+v, %v", p, err)
		}
	}
}

// Each line of a table has as many cells as its head, whatever the memories say.
func TestTablesKeepTheirShape(t *testing.T) {
	run, actions := ran(op.CleanupDone)
	columns := 0
	for line := range strings.Lines(Report(run, actions, texts)) {
		bars := strings.Count(line, "|") - strings.Count(line, `\|`)
		switch {
		case !strings.HasPrefix(line, "|"):
			columns = 0
		case columns == 0:
			columns = bars
		case bars != columns:
			t.Errorf("a line of a table has %d bars, its head %d: %s", bars, columns, line)
		}
	}
}
