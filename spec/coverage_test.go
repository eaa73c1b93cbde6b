package spec_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var page = filepath.Join("..", "docs", "internals", "spec-coverage.md")

// figuresHeading begins what is of the last run and not of the rows.
const figuresHeading = "## Figures of the last run\n"

// documents are the titles of the groups of rows, by number.
func documents() [][2]string {
	return [][2]string{
		{"1", "1. Adaptive memory health (for ChromaDB)"},
		{"2", "2. Memory cleanup (for Qdrant)"},
		{"3", "3. Memory tools for agents (for MongoDB and Neo4j)"},
		{"4", "4. The API of CortexGraph"},
		{"5", "5. Lifecycle and rekindling (for a vector index and SQLite)"},
		{"x", "Several of them together"},
	}
}

// TestCoverage holds the page against the rows. No row has the number of another.
func TestCoverage(t *testing.T) {
	t.Parallel()
	all := sheets(t)
	seen := map[string]bool{}
	for _, s := range all {
		for _, r := range s.rows {
			if seen[r.id] {
				t.Errorf("%s:%d: there is another row %s", s.file, r.line, r.id)
			}
			seen[r.id] = true
		}
	}
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	got, _, _ := strings.Cut(string(raw), figuresHeading)
	if got != render(all) && !*update {
		t.Errorf("%s is not that of the rows; run: make spec", page)
	}
}

const preface = `# Specification coverage

Five earlier systems describe what emberd does. Each row below is a tool, parameter, field, formula, setting, file or
figure of their descriptions, in words of this project. The tests in ` + "`spec/`" + ` run the rows against the real program, as a
client would: by commands, by HTTP and by MCP. ` + "`make spec`" + ` runs all rows in all worlds and writes this page.

The worlds are a new home (` + "`empty`" + `), a home with 2,000 memories (` + "`large`" + `), a home with the vectors of a trained model
(` + "`trained`" + `), homes with a model endpoint that answers well, late, with an error, with half an answer, or with
hostile text (` + "`good`, `late`, `wrong`, `half`, `hostile`" + `), and a home with a server of embeddings that goes down
(` + "`vectors`" + `).

If emberd deliberately differs from a description, the row gives the difference and the reason. The row checks what
emberd does.

`

// render writes what of the page depends on the rows.
func render(all []*sheet) string {
	var b strings.Builder
	b.WriteString(preface + "| description | rows | rows that differ |\n|---|--:|--:|\n")
	for _, d := range documents() {
		rows, differ := 0, 0
		for _, s := range all {
			for _, r := range s.rows {
				if r.document() == d[0] {
					rows++
					differ += min(1, len(r.deviates))
				}
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d |\n", d[1], rows, differ)
	}
	for _, d := range documents() {
		fmt.Fprintf(&b, "\n## %s\n\n| row | requirement | worlds | difference and reason |\n|---|---|---|---|\n", d[1])
		for _, s := range all {
			for _, r := range s.rows {
				if r.document() == d[0] {
					fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.id, cell(r.says), strings.Join(s.worlds, ", "), cell(r.deviates))
				}
			}
		}
	}
	b.WriteString("\n")
	return b.String()
}

func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", `\<`, "*", `\*`, "_", `\_`, "[", `\[`).Replace(s)
}

// writePage writes the page after a run of all rows in all worlds, unless a row failed.
func writePage() error {
	if os.Getenv(full) == "" || len(outcome.failed) > 0 {
		return errors.New("the page is written after a run of all rows without a failure: make spec")
	}
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil {
		return err
	}
	var all []*sheet
	for _, f := range files {
		s, err := readSheet(f)
		if err != nil {
			return err
		}
		all = append(all, s)
	}
	var text strings.Builder
	text.WriteString(render(all) + figuresHeading + "\nThey are times on the machine of that run, from the caller's side. A row fails from twenty times " +
		"its target on.\n\n| row | time |\n|---|---|\n")
	for _, id := range slices.Sorted(maps.Keys(outcome.figures)) {
		text.WriteString("| " + id + " | " + outcome.figures[id] + " |\n")
	}
	return os.WriteFile(page, []byte(text.String()), 0o644)
}
