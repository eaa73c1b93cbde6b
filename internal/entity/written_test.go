package entity

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestNamesAsATextWritesThem(t *testing.T) {
	for _, c := range []struct{ text, name, want string }{
		{"Caroline went home", "caroline", "Caroline"},
		{"Database down: the database is full", "database", "database"},
		{"we run Node.js 20", "node-js", "Node.js"},
		{"I read Charlotte's Web", "charlotte_s web", "Charlotte's Web"},
		{"E. M.\nForster's novels", "e- m- forster", "E. M. Forster"},
		{"see github.com/ada/loom", "github-com_ada_loom", "github.com/ada/loom"},
		{"carolinerina", "caroline", "Caroline"},
		{"my sister emma runs postgresql", "emma", "Emma"},
		{"my sister emma runs postgresql", "postgresql", "PostgreSQL"},
		{"a postgres proxy in C, and node.js", "node-js", "Node.js"},
		{"we met ada lovelace", "Ada Lovelace", "Ada Lovelace"},
		{"PARIS is loud", "paris", "PARIS"},
		{"no authentication", "authentication", "authentication"},
		{"她在读《红楼梦》", "红楼梦", "红楼梦"},
		{"rolled back", "Ada", "Ada"},
		{"", "ada", "Ada"},
		{"a", "", ""},
	} {
		if got := Written(c.text, []string{c.name}); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%q is written %q in %q, want %q", c.name, got, c.text, c.want)
		}
	}
}

func TestWhatIsFoundIsWrittenThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("aAbB éÉß.-_/'#@: 中カ")), 0, 40, -1).Draw(t, "text")
		found := Find(text, Options{})
		for i, name := range Written(text, found) {
			if Key(name) != Key(found[i]) {
				t.Fatalf("%q is written %q in %q", found[i], name, text)
			}
		}
	})
}
