package config

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestTableIsSound(t *testing.T) {
	taken := map[string]string{envHome: "--home", envConfig: "--config"}
	for i, k := range slices.Concat(keys(), numbers()) {
		if i < len(keys()) && find(keys(), k.name) != i || i >= len(keys()) && find(keys(), k.name) >= 0 {
			t.Errorf("%s stands in the table twice", k.name)
		}
		if isGroup(k.name) {
			t.Errorf("%s is both a setting and a group", k.name)
		}
		names := []string{k.env()}
		for _, a := range k.also {
			names = append(names, a.name)
		}
		for _, name := range names {
			if by, ok := taken[name]; ok {
				t.Errorf("%s is read by %s and by %s", name, by, k.name)
			}
			taken[name] = k.name
		}
		if !strings.HasSuffix(k.help(), ".") || strings.ContainsAny(k.help(), "\n|") {
			t.Errorf("%s: help must be sentences on one line: %q", k.name, k.help())
		}
	}
}

// uncomment removes the "#" of every line that holds a setting.
func uncomment(example []byte) string {
	var b strings.Builder
	for line := range strings.Lines(string(example)) {
		if !strings.HasPrefix(line, "# ") {
			line = strings.TrimPrefix(line, "#")
		}
		b.WriteString(line)
	}
	return b.String()
}

func TestExampleHoldsTheDefaults(t *testing.T) {
	defaults := setup{}.load(t)
	from := setup{file: uncomment(Example())}.load(t)
	for i, s := range from.Effective() {
		if s.Origin != FromFile {
			t.Errorf("%s is not in the example", s.Key)
		}
		if want := defaults.Effective()[i].Value; s.Value != want {
			t.Errorf("%s: the example has %s, the default is %s", s.Key, s.Value, want)
		}
	}
	if untouched := (setup{file: string(Example())}).load(t); explain(t, untouched, "log.level").Origin != FromDefault {
		t.Error("the example sets something as it stands")
	}
}

func TestReferenceNamesEverything(t *testing.T) {
	text := Reference()
	for _, k := range keys() {
		s := k.setting()
		row := slices.IndexFunc(bytes.Split(text, []byte("\n")), func(line []byte) bool {
			return bytes.HasPrefix(line, []byte("| `"+s.Key+"` |")) && bytes.Contains(line, []byte(s.Accepts)) &&
				bytes.Contains(line, []byte(s.Help)) && !slices.ContainsFunc(s.Variables, func(v string) bool {
				return !bytes.Contains(line, []byte("`"+v+"`"))
			})
		})
		if row < 0 {
			t.Errorf("%s has no complete row in the reference", s.Key)
		}
	}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); cells != 0 && cells != 6 && cells != 5 && cells != 4 && cells != 3 {
			t.Errorf("a table row with %d bars: %s", cells, line)
		}
	}
}

func TestNearestIsBounded(t *testing.T) {
	if got := nearest(strings.Repeat("x", 1<<20), []string{"a", "b"}); got != "a" {
		t.Errorf("a name of 1 MiB: got %q, want the first of equals", got)
	}
}
