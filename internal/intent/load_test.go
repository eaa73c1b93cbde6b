package intent

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func load(t *testing.T, file string) *Analyzer {
	t.Helper()
	a, err := Load("my.yaml", []byte(file))
	if err != nil {
		t.Fatalf("Load: %v\n%s", err, file)
	}
	return a
}

func TestListsOfTheUserReplaceOurs(t *testing.T) {
	a := load(t, `
save:
  commands: [onthoud dit, "^noteer"]
importance: {critical: [kritiek]}
tags: {huis: [keuken, bad kamer]}
`)
	for message, want := range map[string]ask{
		"Onthoud dit even":   saves,
		"Noteer: melk":       saves,
		"ik noteer het":      neither,
		"remember this":      neither, // the list is theirs now
		"i prefer tea":       saves,   // another list
		"dat is kritiek":     saves,
		"what did i say":     recalls,
		"this is important":  neither,
		"a decision is made": saves,
	} {
		if got := takenFor(a, message); got != want {
			t.Errorf("%q %s, want %s", message, got, want)
		}
	}
	if got := a.Save("de database in de bad kamer", nil).Tags; strings.Join(got, " ") != "huis" {
		t.Errorf("tags %v, want huis", got)
	}
}

func TestEmptyListsAndFiles(t *testing.T) {
	for name, file := range map[string]string{"nothing": "", "a comment": "# later\n", "null": "~\n", "our own": string(DefaultFile())} {
		a := load(t, file)
		if got := takenFor(a, "remember this"); got != saves {
			t.Errorf("with %s, a command %s", name, got)
		}
	}
	for name, file := range map[string]string{"an empty list": "save: {commands: []}", "null for a list": "save:\n  commands:\n"} {
		if got := takenFor(load(t, file), "remember this"); got != neither {
			t.Errorf("with %s a command %s", name, got)
		}
	}
	if got := load(t, "tags: {}").Save("our database", nil).Tags; len(got) > 0 {
		t.Errorf("without tags, tags %v", got)
	}
}

func TestFaultsAreNamed(t *testing.T) {
	long := strings.Repeat("word ", 13)
	var many strings.Builder
	for i := range 2001 {
		fmt.Fprintf(&many, "- p%d\n", i)
	}
	for _, c := range []struct{ name, file, want string }{
		{"no YAML", "save: [", "my.yaml is not valid YAML"},
		{"no mapping", "- a\n", "my.yaml:1: a file of phrases holds lists by name"},
		{"two documents", "recall: [a]\n---\nrecall: [b]\n", "more than one YAML document"},
		{"unknown list", "recal: [a]\n", "my.yaml:1: list recal not found; did you mean recall?"},
		{"unknown list of a group", "save:\n  comands: [a]\n", "my.yaml:2: list save.comands not found; did you mean save.commands?"},
		{"a list for a group", "save: [a]\n", "my.yaml:1: save holds lists by name, such as save: {commands: [...]}"},
		{"a word for a list", "recall: a\n", "my.yaml:1: recall must be a list of phrases"},
		{"twice", "recall: [a]\nrecall: [b]\n", "my.yaml:2: recall is set here and on line 1; remove one of the lines"},
		{"a mapping for a phrase", "recall:\n  - a: b\n", "my.yaml:2: recall holds something that is no phrase"},
		{"an alias", "recall: [&x a]\nexclusion: [*x]\n", "my.yaml:2: exclusion holds something that is no phrase"},
		{"no letters", "recall: ['?!']\n", `my.yaml:1: recall has the phrase "?!" without a letter or digit`},
		{"an anchor alone", "recall: ['^']\n", `my.yaml:1: recall has the phrase "^" without a letter or digit`},
		{"too many words", "recall: [" + long + "]\n", "my.yaml:1: recall has a phrase of 13 words, more than 12"},
		{"across a comma", "recall: ['well, what']\n", `my.yaml:1: recall has the phrase "well, what" that reaches across`},
		{"the same phrase", "recall:\n- don't\n- Don’t\n", `my.yaml:3: recall has "Don’t" already on line 2; remove one`},
		{"too many phrases", "recall:\n" + many.String(), "my.yaml:2002: more than 2000 phrases"},
		{"tags in a list", "tags: [a]\n", "my.yaml:1: tags holds at most 100 lists of words by tag"},
		{"a tag of signs", "tags:\n  '!!': [a]\n", `my.yaml:2: invalid tag "!!"; use at least one letter or digit`},
		{"a tag twice", "tags:\n  A: [a]\n  a: [b]\n", "my.yaml:3: tags.a is set here and on line 2"},
		{"not UTF-8", "recall: [\xff]\n", "my.yaml is not valid UTF-8; save the file as UTF-8"},
		{"too large", strings.Repeat("#", 64<<10+1), "my.yaml is larger than the 64 KiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Load("my.yaml", []byte(c.file)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one that says %s", err, c.want)
			}
		})
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	_, err := Load("my.yaml", []byte("recal: [a]\nrecall: b\nexclusion: ['!']\n"))
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("three faults reported as:\n%v", err)
	}
}

// Whoever copies our file must be able to change the copy without changing ours.
func TestDefaultFileIsACopy(t *testing.T) {
	first := DefaultFile()
	clear(first)
	if bytes.Equal(first, DefaultFile()) || takenFor(load(t, string(DefaultFile())), "remember this") != saves {
		t.Error("writing into the file changed it for others")
	}
}

func TestOurListsAgree(t *testing.T) {
	serves := map[string]list{} // which purpose
	for l, entries := range ours().lists {
		for _, e := range entries {
			key := strings.Join(e.words, " ")
			other, taken := serves[key]
			if list(l).purpose() && taken {
				t.Errorf("%q is in %s and in %s; only the first would count", e.text, names()[other], names()[l])
			}
			if list(l).purpose() {
				serves[key] = list(l)
			}
		}
		if len(entries) == 0 {
			t.Errorf("our list %s is empty", names()[l])
		}
	}
}
