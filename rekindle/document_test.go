package rekindle_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"emberd/rekindle"
)

var update = flag.Bool("update", false, "rewrite testdata/summaries.md")

// shown is a text of testdata/summaries, with what we think of its summary.
type shown struct{ name, entities, verdict, content string }

func examples(t *testing.T) []shown {
	t.Helper()
	files, err := filepath.Glob("testdata/summaries/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []shown
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, content, found := strings.Cut(string(data), "\n----\n")
		entities, verdict, both := strings.Cut(strings.TrimPrefix(head, "entities:"), "\nverdict:")
		if !found || !both {
			t.Fatalf("%s has no entities, verdict and text", file)
		}
		_, name, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".txt"), " ")
		out = append(out, shown{name, strings.TrimSpace(entities), strings.TrimSpace(verdict), strings.TrimSuffix(content, "\n")})
	}
	return out
}

// TestDocumentation compares testdata/summaries.md with what is made of the examples.
func TestDocumentation(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Twenty summaries

What is left of a memory when its text goes to the vault: one sentence to show, and at most 12 key terms to be found by. This
page is written by ` + "`go test ./rekindle -run Documentation -update`" + ` from the texts in ` + "`rekindle/testdata/summaries`" + `, with our
verdict on each; a test fails when a summary changes. No model is used.

`)
	for i, ex := range examples(t) {
		ex.write(&b, i+1)
	}
	path := filepath.Join("testdata", "summaries.md")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	documented, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(documented) != b.String() {
		t.Error("testdata/summaries.md is not what is made of the texts; run go test ./rekindle -run Documentation -update and read what changed")
	}
}

// maxShown is how many characters of a long text the page shows.
const maxShown = 700

func (ex *shown) write(b *strings.Builder, n int) {
	var entities []string
	for e := range strings.SplitSeq(ex.entities, ",") {
		if e = strings.TrimSpace(e); e != "" {
			entities = append(entities, e)
		}
	}
	summary, terms := summarizer.Remains(ex.content, entities)
	runes := []rune(ex.content)
	text := string(runes[:min(maxShown, len(runes))])
	more := ""
	if len(runes) > maxShown {
		more = fmt.Sprintf("\n… and %d characters more\n", len(runes)-maxShown)
	}
	fmt.Fprintf(b, "## %d. %s\n\n~~~~\n%s\n%s~~~~\n\n", n, capital(ex.name), strings.TrimRight(text, "\n"), more)
	if len(entities) > 0 {
		fmt.Fprintf(b, "Known by: %s\n\n", strings.Join(entities, ", "))
	}
	fmt.Fprintf(b, "- **Summary:** %s\n- **Key terms:** %s\n- **Length:** %d of %d characters, %d are allowed\n- **Verdict:** %s\n\n",
		summary, strings.Join(terms, ", "), utf8.RuneCountInString(summary), len(runes), rekindle.Bound(ex.content), ex.verdict)
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// The examples are of all the kinds that the page claims to tell of.
func TestExamplesAreTwentyWithVerdicts(t *testing.T) {
	all := examples(t)
	if len(all) != 20 {
		t.Errorf("there are %d examples, want 20", len(all))
	}
	for _, ex := range all {
		if ex.verdict == "" || ex.content == "" {
			t.Errorf("%s has no verdict or no text", ex.name)
		}
	}
	if !slices.ContainsFunc(all, func(ex shown) bool { return utf8.RuneCountInString(ex.content) > 10_000 }) {
		t.Error("none of the examples is long")
	}
}
