package refgraph

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/memory"
)

// TestWhatPeopleWrite reads notes of entities that somebody has edited.
func TestWhatPeopleWrite(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		want    []string
	}{
		"as emberd writes it":         {"Ada\n- one\n- two", []string{"one", "two"}},
		"two lines":                   {"Ada\n- one\n  and more\n- two", []string{"one\nand more", "two"}},
		"nothing":                     {"Ada", nil},
		"no text at all":              {"", nil},
		"another heading":             {"# Ada, countess\n\n- one\n\n- two\n", []string{"one", "two"}},
		"other marks":                 {"Ada\n* one\n+ two", []string{"one", "two"}},
		"a list in a list":            {"Ada\n- one\n  - deeper\n\t- by a tab", []string{"one\n- deeper\n- by a tab"}},
		"an empty line in an item":    {"Ada\n- one\n\n  and more\n- two", []string{"one\n\nand more", "two"}},
		"a sentence without a list":   {"Ada\nwas a countess\nof Lovelace\n\nand more\n- one", []string{"was a countess\nof Lovelace", "and more", "one"}},
		"a sentence below the list":   {"Ada\n- one\nwas a countess", []string{"one", "was a countess"}},
		"the name is gone":            {"- one\n- two", []string{"one", "two"}},
		"the name looks like an item": {"- x\n- one", []string{"one"}},
		"an empty observation":        {"Ada\n-\n- ", []string{"", ""}},
	} {
		entity := "Ada"
		if strings.HasPrefix(c.content, "- x") {
			entity = "- x"
		}
		if got := Observations(entity, c.content); !slices.Equal(got, c.want) {
			t.Errorf("%s: read %q, want %q", name, got, c.want)
		}
	}
}

func TestRemoveLeavesTheRest(t *testing.T) {
	content := "# Ada\n\nA countess.\n\n- one\n- two\n  lines\n\n- one\n- three\n"
	want := "# Ada\n\nA countess.\n\n- two\n  lines\n\n- three\n"
	if got := Remove("Ada", content, []string{"one", "never said"}); got != want {
		t.Errorf("left %q, want %q", got, want)
	}
	if got := Add(want, []string{"four", "five"}); got != want+"- four\n- five" {
		t.Errorf("added to a file that ends with a line break: %q", got)
	}
}

// TestObservationsComeBack writes any observations and reads them.
func TestObservationsComeBack(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("a- \n\t*東\r"))))
	rapid.Check(t, func(t *rapid.T) {
		name, all := text.Draw(t, "name"), rapid.SliceOf(text).Draw(t, "observations")
		content := Text(name, all)
		if got := Observations(name, content); !slices.Equal(got, all) {
			t.Fatalf("wrote %q, read %q", all, got)
		}
		more := rapid.SliceOf(text).Draw(t, "more")
		if got := Observations(name, Add(content, more)); !slices.Equal(got, slices.Concat(all, more)) {
			t.Fatalf("added %q to %q, read %q", more, all, got)
		}
		gone := rapid.SliceOf(rapid.SampledFrom(append(all, "never said"))).Draw(t, "gone")
		want := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(gone, s) })
		if got := Observations(name, Remove(name, content, gone)); !slices.Equal(got, want) {
			t.Fatalf("removed %q of %q, read %q", gone, all, got)
		}
	})
}

func TestNames(t *testing.T) {
	for name, c := range map[string]struct {
		entities []string
		err      memory.Code
	}{
		"Ada Lovelace":                     {entities: []string{"Ada Lovelace"}},
		"東京":                               {entities: []string{"東京"}},
		"🚀":                                {},
		"two\nlines":                       {entities: []string{"two lines"}},
		strings.Repeat("n", 101):           {},
		strings.Repeat("東", MaxName):       {},
		strings.Repeat("東", MaxName+1):     {err: memory.TooLarge},
		" ":                                {err: memory.Invalid},
		"":                                 {err: memory.Invalid},
		"no text: " + string([]byte{0xff}): {err: memory.Invalid},
	} {
		e := Entity{Name: name, EntityType: "thing", Observations: []string{"one", ""}}
		req, err := e.Save()
		if memory.CodeOf(err) != c.err || err != nil {
			if memory.CodeOf(err) != c.err {
				t.Errorf("%.20q: %v, want %q", name, err, c.err)
			}
			continue
		}
		if !slices.Equal(req.Entities, c.entities) || req.Entities == nil {
			t.Errorf("%.20q: entities %q, want %q and not none given", name, req.Entities, c.entities)
		}
		m := memory.Memory{ID: req.ID, Content: req.Content, Type: req.Type, Meta: req.Meta, Stage: memory.Active}
		if got, ok := Of(&m); !ok || got.Name != name || got.EntityType != "thing" || !slices.Equal(got.Observations, e.Observations) {
			t.Errorf("%.20q came back as %+v", name, got)
		}
	}
}

func TestOfOthersIsNone(t *testing.T) {
	for what, m := range map[string]memory.Memory{
		"no name":      {ID: ID("Ada")},
		"another name": {ID: ID("Ada"), Meta: map[string]json.RawMessage{"name": json.RawMessage(`"Bob"`)}},
		"a number":     {ID: ID("1"), Meta: map[string]json.RawMessage{"name": json.RawMessage(`1`)}},
	} {
		if e, ok := Of(&m); ok {
			t.Errorf("%s: is %+v, want none", what, e)
		}
	}
}

// TestColdOnesSayWhatIsLeft reads an entity whose observations are in its note.
func TestColdOnesSayWhatIsLeft(t *testing.T) {
	meta := map[string]json.RawMessage{"name": json.RawMessage(`"Ada"`)}
	for content, want := range map[string][]string{"Ada": nil, "wrote the first program": {"wrote the first program"}} {
		e, ok := Of(&memory.Memory{ID: ID("Ada"), Content: content, Meta: meta, Stage: memory.Archived})
		if !ok || !slices.Equal(e.Observations, want) {
			t.Errorf("%q: %q, want %q", content, e.Observations, want)
		}
	}
}

func TestHolds(t *testing.T) {
	e := Entity{Name: "Ada Lovelace", EntityType: "Person", Observations: []string{"wrote the first\nprogram", "born 1815"}}
	for text, want := range map[string]bool{
		"OVEL": true, "person": true, "first\nprogram": true, "": true,
		"program\nborn": false, "- born": false, "Bob": false,
	} {
		if got := e.Holds(text); got != want {
			t.Errorf("holds %q: %v, want %v", text, got, want)
		}
	}
}

// FuzzObservations reads and changes content that is anything at all.
func FuzzObservations(f *testing.F) {
	f.Add("Ada", "Ada\n- one\n  two\n\n* three\nfour", "one")
	f.Add("- x", "- x\n-\n\t\n", "")
	f.Fuzz(func(t *testing.T, name, content, text string) {
		all := Observations(name, content)
		left := Observations(name, Remove(name, content, []string{text}))
		if slices.Contains(left, text) && len(left) >= len(all) {
			t.Errorf("%q is still among %q", text, left)
		}
		if got := Observations(name, Add(content, []string{text})); !strings.HasSuffix(strings.Join(got, "\n"), text) && len(content) > 0 {
			t.Errorf("%q is not the last of %q", text, got)
		}
	})
}
