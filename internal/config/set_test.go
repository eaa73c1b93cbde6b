package config

import (
	"strings"
	"testing"
)

func TestSet(t *testing.T) {
	for _, test := range []struct {
		name, text string
		changes    []Change
		want       string // of an error if it begins with "error: "
	}{
		{"an empty file", "", []Change{{"search.ltm_weight", "0.9"}, {"search.meaning", "auto"}}, "search.ltm_weight: 0.9\nsearch.meaning: auto\n"},
		{"comments alone", "# mine\n", []Change{{"search.ltm_weight", "0.9"}}, "# mine\nsearch.ltm_weight: 0.9\n"},
		{"no line end", "log.level: warn", []Change{{"search.ltm_weight", "0.9"}}, "log.level: warn\nsearch.ltm_weight: 0.9\n"},
		{"where it stands",
			"# top\nsearch:\n  # why\n  ltm_weight: 0.7 # of notes\n  limit: 5\n\nlog.level: warn\n", []Change{{"search.ltm_weight", "1"}},
			"# top\nsearch:\n  # why\n  ltm_weight: 1 # of notes\n  limit: 5\n\nlog.level: warn\n"},
		{"dotted", "search.ltm_weight: '0.7'\r\nlog.level: warn\r\n", []Change{{"search.ltm_weight", "1"}}, "search.ltm_weight: 1\r\nlog.level: warn\r\n"},
		{"in braces", `search: {ltm_weight: "0.7", limit: 5}`, []Change{{"search.ltm_weight", "1.25"}}, "search: {ltm_weight: 1.25, limit: 5}"},
		{"an empty text", "vaults: \"\" # none\n", []Change{{"vaults", "/n"}}, "vaults: \"/n\" # none\n"},
		{"letters beyond ASCII before it", "# ä\nsearch: {ltm_weight: 1, }# ö\n", []Change{{"search.ltm_weight", "2"}}, "# ä\nsearch: {ltm_weight: 2, }# ö\n"},
		{"on the next line", "search.ltm_weight:\n  0.7\n", []Change{{"search.ltm_weight", "1"}}, "search.ltm_weight:\n  1\n"},
		{"beside others of its group", "search:\n  limit: 5\n", []Change{{"search.ltm_weight", "1"}}, "search:\n  limit: 5\nsearch.ltm_weight: 1\n"},
		{"what needs quotes", "", []Change{{"embedding.model", "/a b: c#.gguf"}}, "embedding.model: \"/a b: c#.gguf\"\n"},

		{"empty", "search.ltm_weight:\n", []Change{{"search.ltm_weight", "1"}}, "error: f:1: cannot change search.ltm_weight in the config file automatically"},
		{"over two lines", "search.ltm_weight: \"0.\\\n  7\"\n", []Change{{"search.ltm_weight", "1"}}, "error: f:1: cannot change search.ltm_weight in the config file automatically"},
		{"a file in braces", "{log.level: warn}\n", []Change{{"search.ltm_weight", "1"}}, "error: cannot change the config file f automatically; set search.ltm_weight by hand"},
		{"a document that ends", "log.level: warn\n...\n", []Change{{"search.ltm_weight", "1"}}, "error: cannot change the config file f automatically"},
		{"two of a line", "search: {ltm_weight: 0.7, limit: 5}\n", []Change{{"search.ltm_weight", "0.75"}, {"search.limit", "6"}}, "error: f"},
		{"not YAML", "a: [\n", nil, "error: f:"},
	} {
		got, err := Set("f", []byte(test.text), test.changes)
		want, fails := strings.CutPrefix(test.want, "error: ")
		switch {
		case fails && (err == nil || !strings.HasPrefix(err.Error(), want)):
			t.Errorf("%s: error %v, want %q", test.name, err, want)
		case !fails && (err != nil || string(got) != test.want):
			t.Errorf("%s: got %q, error %v, want %q", test.name, got, err, test.want)
		}
	}
}
