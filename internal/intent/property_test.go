package intent

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"emberd/memory"
)

// pieces make messages full of what the lists hold.
func pieces() *rapid.Generator[string] {
	var phrases []string
	for _, entries := range ours().lists {
		for _, e := range entries {
			phrases = append(phrases, e.text)
		}
	}
	return rapid.OneOf(
		rapid.SampledFrom(phrases),
		rapid.SampledFrom([]string{" ", " ", " ", ", ", ". ", "? ", ": ", "\n", "\n\n", " - ", "'", "’", "*", "#tag", "(#a/b)", "database", "\xff", "e\u0301", "记", "👍"}),
		rapid.StringN(0, 3, -1),
	)
}

func messages() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(pieces(), 0, 20), func(s []string) string { return strings.Join(s, " ") })
}

// checkMessage reports what must hold of the judgements of any message.
func checkMessage(t rapid.TB, a *Analyzer, message string, entities []string) {
	t.Helper()
	save, recall := a.Save(message, entities), a.Recall(message, entities)
	if save.Confidence < 0 || save.Confidence > 1 || save.ShouldSave != (save.Confidence >= SaveAt) || !slices.Contains([]float64{1, 1.5, 2}, save.Strength) {
		t.Fatalf("Save(%q) = %+v", message, save)
	}
	if recall.ShouldSearch != (recall.Confidence >= recallByEntities) || utf8.RuneCountInString(recall.Query) > maxQuery || !utf8.ValidString(recall.Query) {
		t.Fatalf("Recall(%q) = %+v", message, recall)
	}
	if len(save.Tags) > maxTags || !slices.Equal(save.Tags, recall.Tags) {
		t.Fatalf("%q has the tags %q and %q", message, save.Tags, recall.Tags)
	}
	if normal, err := memory.NormalizeTags(save.Tags); err != nil || !slices.Equal(normal, save.Tags) {
		t.Fatalf("%q has the tags %q, stored as %q (%v)", message, save.Tags, normal, err)
	}
	if s := a.Strength(message, len(entities)); s < 1 || s > 2 {
		t.Fatalf("Strength(%q) = %v", message, s)
	}
	if after := a.Save(message+" \n\t", entities); !reflect.DeepEqual(after, save) {
		t.Fatalf("Save(%q) = %+v, with blanks at the end %+v", message, save, after)
	}
}

func TestJudgementsOfAnyMessage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entities := rapid.SliceOfN(rapid.String(), 0, 5).Draw(t, "entities")
		checkMessage(t, Default(), messages().Draw(t, "message"), entities)
	})
}

// How something is written is no difference: case, apostrophes, single blanks.
func TestSpellingIsNoDifference(t *testing.T) {
	plain := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{
		"don't forget", "remember this", "i prefer", "maybe", "what is", "not", "important", "can't", "tea", "database", ",", ". ", "never",
	}), 0, 12), func(s []string) string { return strings.Join(s, " ") })
	rapid.Check(t, func(t *rapid.T) {
		message := plain.Draw(t, "message")
		want := Default().Save(message, nil)
		for _, other := range []string{
			strings.ToUpper(message), strings.ReplaceAll(message, "'", "’"), strings.ReplaceAll(message, "'", ""), strings.ReplaceAll(message, " ", "  "),
		} {
			if got := Default().Save(other, nil); !reflect.DeepEqual(got, want) {
				t.Fatalf("Save(%q) = %+v, but Save(%q) = %+v", message, want, other, got)
			}
		}
	})
}

func FuzzMessage(f *testing.F) {
	for _, message := range []string{
		"Remember this: I prefer PostgreSQL for databases #home", "Don’t save that, what is it?", "Could you please remember that it rains?",
		"Hi! What did I say about node.js? I need it.", "还记得Redis的配置吗？请记住这个", "''' ` \xff ? #a/b", "remind me",
	} {
		f.Add(message, 2)
	}
	f.Fuzz(func(t *testing.T, message string, entities int) {
		checkMessage(t, Default(), message, make([]string, max(0, min(entities, 20))))
	})
}

func FuzzLoad(f *testing.F) {
	for _, file := range []string{
		"save:\n  commands: [remember]\ntags: {a: [b]}\n", "recall: &x [a]\nexclusion: *x\n", "{a: {b: c}}", "recall:\n- ^\n- '!'\n", "~",
	} {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		a, err := Load("f", file)
		if (a == nil) == (err == nil) {
			t.Fatalf("Load = %v, %v", a, err)
		}
		if a != nil {
			checkMessage(t, a, "remember this, what did I say about the database?", nil)
		}
	})
}

// hostile are messages that, repeated, could make an analyser read as much again and
// again.
func hostile() []string {
	return []string{
		"remember ", "what did ", "not ", "please ", "remind me ", "what did i say about ", "don't ", "?", "'", "记", "a? ", "#a ", "so what ", "no key ",
	}
}

func TestLongMessagesAreJudged(t *testing.T) {
	for _, unit := range hostile() {
		checkMessage(t, Default(), strings.Repeat(unit, 2*memory.MaxContent/len(unit)), nil)
	}
}

func BenchmarkMessage(b *testing.B) {
	const page = "On Monday we decided to keep the databases where they are. I never liked the other place, which is not important. What did I say about it? "
	texts := map[string]string{"prose": strings.Repeat(page, memory.MaxContent/len(page))}
	for _, unit := range hostile() {
		texts["hostile/"+unit] = strings.Repeat(unit, memory.MaxContent/len(unit))
	}
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Default().Save(text, nil)
			}
		})
	}
}
