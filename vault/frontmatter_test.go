package vault_test

import (
	"fmt"
	"strings"
	"testing"

	"emberd/vault"
	"emberd/vault/lex"
	"emberd/vault/markdown"
)

func TestFrontmatter(t *testing.T) {
	flat := func(keys int) string {
		var b strings.Builder
		for i := range keys {
			fmt.Fprintf(&b, "key%d: value %d\n", i, i)
		}
		return b.String()
	}
	for _, c := range []struct {
		name, text string
		want       vault.Frontmatter
		first      string // the first property
	}{
		{"none", "text\n", vault.NoFrontmatter, ""},
		{"not on the first line", "\n---\na: b\n---\n", vault.NoFrontmatter, ""},
		{"four dashes", "----\na: b\n----\n", vault.NoFrontmatter, ""},
		{"not closed", "---\na: b\n", vault.NoFrontmatter, ""},
		{"closed by dots", "---\na: b\n...\n", vault.NoFrontmatter, ""},
		{"a rule in the body", "text\n\n---\na: b\n---\n", vault.NoFrontmatter, ""},
		{"empty", "---\n---\n", vault.EmptyFrontmatter, ""},
		{"only comments", "---\n# a\n---\n", vault.EmptyFrontmatter, ""},
		{"at the end of the file", "---\na: b\n---", vault.ValidFrontmatter, "a=b"},
		{"blanks behind the dashes", "--- \na: b\n---\t\n", vault.ValidFrontmatter, "a=b"},
		{"byte-order mark and CRLF", lex.ByteOrderMark + "---\r\na: b\r\n---\r\n", vault.ValidFrontmatter, "a=b"},
		{"scalars as written", "---\na: 007\n---\n", vault.ValidFrontmatter, "a=007"},
		{"yes", "---\na: yes\n---\n", vault.ValidFrontmatter, "a=yes"},
		{"null", "---\na: ~\n---\n", vault.ValidFrontmatter, "a="},
		{"quoted", "---\na: 'it''s'\n---\n", vault.ValidFrontmatter, "a=it's"},
		{"list", "---\na: [x, 1.10]\n---\n", vault.ValidFrontmatter, "a=x, 1.10"},
		{"nested", "---\na:\n  b: [1, {c: 2}]\nd: e\n---\n", vault.ValidFrontmatter, "a=b: [1, {c: 2}]"},
		{"bare wikilink", "---\na: [[T]]\n---\n", vault.ValidFrontmatter, "a=[[T]]"},
		{"JSON", "---\n{\"a\": \"b\", \"n\": 1}\n---\n", vault.ValidFrontmatter, "a=b"},
		{"alias", "---\na: &x b\nc: *x\n---\n", vault.ValidFrontmatter, "a=b"},
		{"root list", "---\n- a\n---\n", vault.InvalidFrontmatter, ""},
		{"root scalar", "---\na\n---\n", vault.InvalidFrontmatter, ""},
		{"key twice", "---\na: 1\na: 2\n---\n", vault.InvalidFrontmatter, ""},
		{"nested key twice", "---\nb: {a: 1, a: 2}\n---\n", vault.InvalidFrontmatter, ""},
		{"template", "---\na: {{date}}\n---\n", vault.InvalidFrontmatter, ""},
		{"unknown alias", "---\na: *nobody\n---\n", vault.InvalidFrontmatter, ""},
		{"tab", "---\na:\n\t- b\n---\n", vault.InvalidFrontmatter, ""},
		{"colon in a value", "---\na: b: c\n---\n", vault.InvalidFrontmatter, ""},
		{"32 levels", "---\na: " + strings.Repeat("[", 31) + strings.Repeat("]", 31) + "\n---\n", vault.ValidFrontmatter, "a=" + strings.Repeat("[", 31) + strings.Repeat("]", 31)},
		{"33 levels", "---\na: " + strings.Repeat("[", 33) + strings.Repeat("]", 33) + "\n---\n", vault.InvalidFrontmatter, ""},
		{"1,001 plain keys", "---\n" + flat(1001) + "---\n", vault.ValidFrontmatter, "key0=value 0"},
		{"1,001 keys and a list", "---\nlist: [a]\n" + flat(1001) + "---\n", vault.InvalidFrontmatter, ""},
		{"more than 64 KiB of plain keys", "---\n" + flat(5000) + "---\n", vault.ValidFrontmatter, "key0=value 0"},
		{"more than 64 KiB in a block", "---\na: |\n" + strings.Repeat("  x\n", 20_000) + "---\n", vault.InvalidFrontmatter, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := c.text
			if strings.HasSuffix(text, "\n") {
				text += "body #t\n"
			}
			n := noteOf(text)
			if n.Frontmatter != c.want {
				t.Fatalf("frontmatter %s, want %s: %v", n.Frontmatter, c.want, n.Problems)
			}
			if told := len(n.Problems) > 0; told != (c.want == vault.InvalidFrontmatter) {
				t.Errorf("problems %v", n.Problems)
			}
			if strings.HasSuffix(c.text, "\n") && tagNames(n) != "t" {
				t.Errorf("tags %q, want that of the body", tagNames(n))
			}
			first := ""
			if len(n.Properties) > 0 {
				first = n.Properties[0].Key + "=" + n.Properties[0].Value
			}
			if first != c.first {
				t.Errorf("first property %q, want %q", first, c.first)
			}
		})
	}
}

func TestKnownProperties(t *testing.T) {
	n := noteOf("---\ntitle: A title\naliases: [One, Two]\nalias: Three\ntags: '#a, b/c 2024 d'\ntag: [e, with space, null]\nmemory-id: 0192\nup: \"[[Parent#h|p]]\"\n---\n[[Child]]\n")
	for _, f := range []struct{ what, got, want string }{
		{"title", n.Title, "A title"},
		{"aliases", strings.Join(n.Aliases, ","), "One,Two,Three"},
		{"tags", tagNames(n), "a b/c d e"},
		{"memory id", n.MemoryID, "0192"},
		{"links", linkForms(n), "Parent#h|p Child"},
	} {
		if f.got != f.want {
			t.Errorf("%s %q, want %q", f.what, f.got, f.want)
		}
	}
	if len(n.Properties) != 1 || n.Properties[0] != (markdown.Property{Key: "up", Value: "[[Parent#h|p]]", Line: 8}) {
		t.Errorf("properties %v, want up alone, on line 8", n.Properties)
	}
	if n.Links[0].Line != 8 || n.Links[1].Line != 10 {
		t.Errorf("links on lines %d and %d, want 8 and 10", n.Links[0].Line, n.Links[1].Line)
	}
}

// An alias adds its target's text once for each use; that must not multiply.
func TestAliasesAreBounded(t *testing.T) {
	n := noteOf("---\na: &a " + strings.Repeat("x", 30_000) + "\nb: [" + strings.Repeat("*a,", 10_000) + "]\n---\n")
	size := 0
	for _, p := range n.Properties {
		size += len(p.Value)
	}
	if size > 4*64<<10 {
		t.Errorf("%d bytes of properties from %d bytes of frontmatter", size, n.Size)
	}
}

// Problems go to logs and terminals, where a note's text has no place.
func TestProblemsHoldNoText(t *testing.T) {
	for _, yaml := range []string{"a: *secret", "secret: [", "a: secret: b", "secret: 1\nsecret: 2", "secret", "? [secret]: x"} {
		for _, p := range noteOf("---\n" + yaml + "\n---\n").Problems {
			if strings.Contains(p.Text, "secret") {
				t.Errorf("%q: the problem says %q", yaml, p.Text)
			}
		}
	}
}
