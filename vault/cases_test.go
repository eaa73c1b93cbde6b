package vault_test

import (
	"bytes"
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"emberd/vault"
)

// sets returns the folder of vaults and cases that are not part of the source, and
// skips the test without one.
func sets(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("EMBERD_SETS")
	if dir == "" {
		t.Skip("EMBERD_SETS names no folder of vaults")
	}
	return dir
}

// The cases of CommonMark and goldmark have text where their HTML has.
func TestMarkdownCasesOfTheSets(t *testing.T) {
	for _, file := range []string{"commonmark/spec.jsonl", "goldmark/cases.jsonl"} {
		cases, missing := 0, 0
		for line := range jsonLines(t, file) {
			var c struct{ ID, Markdown, HTML string }
			if err := json.Unmarshal(line, &c); err != nil {
				t.Fatal(err)
			}
			cases++
			for _, n := range []*vault.Note{noteOf(c.Markdown), lineNoteOf(c.Markdown)} {
				checkNote(t, n, len(c.Markdown))
			}
			if word := missingWord(noteOf(c.Markdown), c.HTML); word != "" {
				missing++
				t.Logf("%s: %q is not in the text of %q", c.ID, word, c.Markdown)
			}
		}
		t.Logf("%s: %d of %d cases without a word that their HTML has", file, missing, cases)
		if missing*10 > cases {
			t.Errorf("%s: %d of %d cases lack a word, want at most a tenth", file, missing, cases)
		}
	}
}

// markupTag is a tag or comment of HTML.
var markupTag = regexp.MustCompile(`(?s)<!--.*?-->|<[^>]*>`)

// missingWord returns a word that the HTML shows and the note does not.
func missingWord(n *vault.Note, shownAs string) string {
	text := shown(n)
	for word := range strings.FieldsFuncSeq(html.UnescapeString(markupTag.ReplaceAllString(shownAs, " ")), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r)
	}) {
		if !strings.Contains(text, word) {
			return word
		}
	}
	return ""
}

func jsonLines(t *testing.T, file string) func(yield func([]byte) bool) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(sets(t), "markdown", file))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Lines(data)
}

// The YAML suite's verdict on what is a map of plain keys is ours, but for what
// the library leaves out of YAML 1.2 and what we refuse on purpose.
func TestYAMLCasesOfTheSets(t *testing.T) {
	agreed, stricter, laxer := 0, []string{}, []string{}
	for line := range jsonLines(t, "yaml-test-suite/cases.jsonl") {
		var c struct {
			ID, YAML, JSON string
			Error          bool
			Safe           bool `json:"frontmatter_safe"`
		}
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		if !c.Safe {
			continue
		}
		n := noteOf("---\n" + strings.TrimSuffix(c.YAML, "\n") + "\n---\n")
		checkNote(t, n, 1<<20)
		isMap := !c.Error && strings.HasPrefix(strings.TrimSpace(c.JSON), "{")
		switch read := n.Frontmatter == vault.ValidFrontmatter; {
		case read == isMap:
			agreed++
		case read:
			laxer = append(laxer, c.ID)
		default:
			stricter = append(stricter, c.ID)
		}
	}
	t.Logf("%d agreed; read although the suite has no map: %v; not read although it has: %v", agreed, laxer, stricter)
	if len(laxer)+len(stricter) > agreed/5 {
		t.Errorf("%d of %d verdicts differ, want at most a sixth", len(laxer)+len(stricter), agreed+len(laxer)+len(stricter))
	}
}
