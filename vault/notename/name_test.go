package notename_test

import (
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"emberd/vault"
	"emberd/vault/notename"
)

// Case 57: any title gives a name inside the vault that every system takes. What
// CortexGraph refuses of names (C84) is made one that can be.
func TestCase57TitlesGiveNames(t *testing.T) {
	for title, want := range map[string]string{
		"Plain title":                    "Plain title.md",
		"../../x":                        "x.md",
		"../../etc/passwd":               "etc passwd.md",
		"/etc/x":                         "etc x.md",
		`a/b\c`:                          "a b c.md",
		".":                              "Untitled.md",
		"":                               "Untitled.md",
		" \t ":                           "Untitled.md",
		".hidden":                        "hidden.md",
		"ends in dots... ":               "ends in dots.md",
		"~$office":                       "$office.md",
		"CON":                            "CON_.md",
		"con.txt":                        "con_.txt.md",
		"com¹":                           "com¹_.md",
		"Lpt9 .x":                        "Lpt9_.x.md",
		"Console":                        "Console.md",
		`[[a]] #b ^c |d: e? *f* "g" <h>`: "a b c d e f g h.md",
		"line\nbreak\x00\x1b":            "line break.md",
		"right\u202eleft\u2066":          "rightleft.md",
		"\ufeffzero\u200bwidth":          "zerowidth.md",
		"tag\U000e0041s":                 "tags.md",
		"e\u0301":                        "\u00e9.md",
		"Å":                              "\u00c5.md",
		"👩‍👩‍👧 family":                   "👩‍👩‍👧 family.md",
		"bad \xff bytes":                 "bad bytes.md",
		"x.sync-conflict-2026":           "x sync conflict 2026.md",
		"my Conflicted copy":             "my Conflicted-copy.md",
		"note.md":                        "note.md.md",
		strings.Repeat("a", 256):         strings.Repeat("a", 136) + ".md",
		strings.Repeat("a", 300):         strings.Repeat("a", 136) + ".md",
		strings.Repeat("é", 300):         strings.Repeat("é", 68) + ".md",
	} {
		if got := notename.New(title, ""); got != want {
			t.Errorf("%q: got %q, want %q", title, got, want)
		}
	}
	if got := notename.New("A: b", "k3f9"); got != "A b k3f9.md" {
		t.Errorf("with a short id: got %q", got)
	}
}

func TestNamesAreSafe(t *testing.T) {
	v := openVault(t)
	rapid.Check(t, func(t *rapid.T) {
		title := rapid.OneOf(rapid.String(), rapid.StringMatching(`[\x{0300}\x{200d}👧eé ./\\~:]{0,80}`),
			rapid.SampledFrom([]string{"nul", "conflicted copy", "conflicted  copy.sync-conflict-", "aux.", "~syncthing~x"})).Draw(t, "title")
		short := rapid.SampledFrom([]string{"", "k3f9"}).Draw(t, "short")
		name := notename.New(title, short)
		switch note, reason := v.Classify(name); {
		case reason != "" || note != name || path.Base(name) != name:
			t.Fatalf("%q: %q is no note: %s", title, name, reason)
		case notename.IsConflictName(name):
			t.Fatalf("%q: %q looks like the copy of a sync tool", title, name)
		case len(name) > 140 || !utf8.ValidString(name) || !norm.NFC.IsNormalString(name):
			t.Fatalf("%q: %q has %d bytes, or is not NFC", title, name, len(name))
		case strings.ContainsAny(name, "\\/[]#^|:?*\"<>\x00\n") || strings.ContainsFunc(name, notename.Invisible):
			t.Fatalf("%q: %q holds what no name should", title, name)
		case notename.New(notename.TrimExtension(name), "") != name && short == "":
			t.Fatalf("%q: %q gives %q when it is a title itself", title, name, notename.New(notename.TrimExtension(name), ""))
		}
	})
}

func openVault(t *testing.T) *vault.Vault {
	t.Helper()
	v, err := vault.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return v
}
