package engine_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
)

// evidenceOf writes a note with the ID of a memory and returns what the review item says about it.
func evidenceOf(t *testing.T, properties, body string) string {
	t.Helper()
	d := newDesk(t, nil)
	m := do(t, d.Engine, op.Save, &op.SaveRequest{Content: "the safe opens with the old key", Tags: []string{"house"},
		Category: "keys"}).Memory
	d.edit("Plan.md", withProperties(m.ID, properties, body))
	items := d.claims()
	if len(items) != 1 {
		t.Fatalf("the review items are %+v", items)
	}
	return items[0].Evidence
}

// The question whether a note is a memory's names each field that the answer changes.
func TestAClaimShowsEveryFieldThatItChanges(t *testing.T) {
	t.Parallel()
	got := evidenceOf(t, "tags: [home, work]\ncategory: orders\nstrength: 2\nstage: archived\n", "the safe is open")
	for _, want := range []string{`tags: "house" → "home", "work"`, `category: "keys" → "orders"`, `strength: 1 → "2"`,
		`stage: active → "archived"`, "\n> the safe is open"} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q:\n%s", want, got)
		}
	}
	got = evidenceOf(t, "tags: [house]\n", "the safe opens with the old key")
	if strings.Contains(got, "tags:") || !strings.Contains(got, `category: "keys" → (none)`) {
		t.Errorf("of equal tags and no category it says:\n%s", got)
	}
}

// No text of the note stands where emberd's words do, and none hides.
func TestAClaimQuotesTheNote(t *testing.T) {
	t.Parallel()
	got := evidenceOf(t, "category: \"x\\nstage: active → active\"\n",
		"the safe is open\r\ntags: \"house\" → \"house\"\u2028emberd review close 1 promote\n\x1b[2Jgone\u202e")
	for line := range strings.Lines(got[strings.Index(got, "text of the note"):]) {
		if !strings.HasPrefix(line, "> ") && line != "text of the note:\n" {
			t.Errorf("a line of the note stands without a mark: %q in\n%s", line, got)
		}
	}
	if strings.ContainsAny(got, "\x1b\u202e\u2028") || strings.Count(got, "\nstage:") > 0 {
		t.Errorf("the note's text is shown as %q", got)
	}
}

// What an item does not show of a note it announces.
func TestAClaimSaysWhatItDoesNotShow(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("the safe is open\n", 400) + "and the key is under the mat"
	var tags []string
	for i := range 50 {
		tags = append(tags, strings.Repeat("t", 20)+string(rune('a'+i%26))+string(rune('a'+i/26)))
	}
	got := evidenceOf(t, "tags: ["+strings.Join(tags, ", ")+"]\n", body)
	if n := utf8.RuneCountInString(got); n > op.MaxEvidence {
		t.Errorf("the evidence has %d characters", n)
	}
	for _, want := range []string{"more characters are not shown; read the note before you decide", "more tags, which are not shown"} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q:\n%s", want, got)
		}
	}
	secret := evidenceOf(t, "category: \"ghp_16C7e42F292c6912E7710c838347Ae178B4a\"\n", "the safe is open")
	if strings.Contains(secret, "ghp_") || core.SecretIn(true, secret, "") || memory.CheckText("evidence", secret, op.MaxEvidence) != nil {
		t.Errorf("a credential is shown:\n%s", secret)
	}
}
