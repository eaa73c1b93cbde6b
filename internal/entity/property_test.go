package entity

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/memory"
)

// pieces make texts full of what the finder looks at.
func pieces() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			" ", " ", "\n", ". ", ", ", ": ", "? ", "'", "’s ", "-", "_", ".", "/", "@", "#", "`", "[[", "]]", "|", "\"", "“", "”", "「", "」",
			"Alice", "Bob", "API", "APIs", "GitHub", "docker", "databases", "the", "The", "of", "NOT", "x", "I", "v1.2", "42", "main", "go", "https://",
			"der", "und", "Haus", "Москва", "カタカナ", "・", "東京", "서울", "e\u0301", "\u0301", "\xff", "ǅ", "İ", "👍",
		}),
		rapid.StringN(0, 4, -1),
	)
}

func texts() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(pieces(), 0, 30), func(s []string) string { return strings.Join(s, "") })
}

// checkEntities reports what must hold of the entities of any text.
func checkEntities(t rapid.TB, text string, opt Options) {
	t.Helper()
	got := Find(text, opt)
	limit := opt.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	if len(got) > limit {
		t.Fatalf("Find(%q) has %d entities, more than %d", text, len(got), limit)
	}
	seen := map[string]bool{}
	for _, name := range got {
		if again, err := memory.NormalizeEntity(name); err != nil || again != name {
			t.Fatalf("Find(%q) has %q, which a memory stores as %q (%v)", text, name, again, err)
		}
		if seen[name] {
			t.Fatalf("Find(%q) has %q twice", text, name)
		}
		seen[name] = true
	}
	if again := Find(text, opt); !slices.Equal(again, got) {
		t.Fatalf("Find(%q) differs from one call to the next: %q, %q", text, got, again)
	}
	if after := Find(text+" \n\t ", opt); !slices.Equal(after, got) {
		t.Fatalf("Find(%q) = %q, with blanks at the end %q", text, got, after)
	}
}

func TestEntitiesOfAnyText(t *testing.T) {
	known := knows("Alice Bob", "GitHub", "東京", "Москва", "v1.2")
	rapid.Check(t, func(t *rapid.T) {
		opt := Options{Limit: rapid.IntRange(0, 5).Draw(t, "limit")}
		if rapid.Bool().Draw(t, "known") {
			opt.Known = known
		}
		checkEntities(t, texts().Draw(t, "text"), opt)
	})
}

// A smaller limit takes names away and moves none.
func TestLimitKeepsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		all, rest := Find(text, Options{Limit: 100}), Find(text, Options{Limit: 3})
		for _, name := range all {
			if len(rest) > 0 && rest[0] == name {
				rest = rest[1:]
			}
		}
		if len(rest) > 0 {
			t.Fatalf("of %q, three are %q", all, Find(text, Options{Limit: 3}))
		}
	})
}

// The words of a text have keys that are one substring of all of them, which lookups
// of runs rely on.
func TestKeysOfRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := scan(strings.ToValidUTF8(texts().Draw(t, "text"), ""))
		for i, w := range s.words {
			if w.start >= w.end || w.from >= w.to || i > 0 && (w.start < s.words[i-1].end || w.from < s.words[i-1].to) {
				t.Fatalf("word %d of %q is %+v after %+v", i, s.text, w, s.words[max(0, i-1)])
			}
			if got, want := s.key(i, i+1), folded(s.text[w.start:w.end]); got != want {
				t.Fatalf("key %q, want %q", got, want)
			}
		}
	})
}

func FuzzFind(f *testing.F) {
	for _, text := range []string{
		"Use JWT tokens for authentication in all new APIs",
		"https://me:pw@example.com/?q#f [[a/b#c|d]] `x_y` \"Blue Moon\" @a.b #c/d v1.2.3 C:\\d e.go",
		"I met J. R. Tolkien of the Bank of America. DO NOT SHOUT. l'API d'Anna",
		"Die Besprechung mit Anna Schmidt\n# Über uns\n「風の谷」トムハンクス《三体》",
		"[[[[````“„«»\"\"\"", "\xff\xfe'\u0301'", "A.B.C.D",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkEntities(t, text, Options{Known: knows("JWT", "Anna Schmidt", "風の谷")})
	})
}

// hostile are texts that, repeated, could make a finder read as much again and again.
func hostile() []string {
	return []string{"a", "A", "A ", "Ab ", "Ab of ", "\"A ", "[[", "`", "“A", "a.", "a/", "a_", "@", "#a", "http://", "Ab's ", "DO NOT ", "東", "カ", "ab: ", "\n# A", "é\u0301"}
}

func TestHostileTextIsReadInLinearSteps(t *testing.T) {
	for _, unit := range hostile() {
		calls := func(size int) (n int) {
			Find(strings.Repeat(unit, size/len(unit)), Options{Known: func(string) (string, bool) { n++; return "", false }})
			return n
		}
		small, large := calls(8<<10), calls(32<<10)
		if large > 5*small+1000 {
			t.Errorf("%q repeated: %d lookups for 8 KiB, %d for 32 KiB", unit, small, large)
		}
	}
}

// prose is some 50,000 characters, the most a memory holds, with names all over.
func prose() string {
	const page = "On Monday Alice Johnson moved our PostgreSQL databases to AWS Lambda, see https://example.com/docs and internal/text/fold.go. " +
		"The meeting went well, and everybody agreed that getUserName() should return the name as it is stored, which nobody had expected before. " +
		"Die Besprechung mit Anna Schmidt war gut.\n"
	return strings.Repeat(page, memory.MaxContent/len(page))
}

// Most names are their own keys, which is seen without taking them apart.
func TestAPlainNameIsItsOwnKey(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		name := rapid.StringMatching("[A-Za-z0-9 ._'’-]{0,6}[A-Za-z0-9 ]{0,6}").Draw(r, "name")
		if got, want := Key(name), scan(name).keys; got != want {
			r.Fatalf("Key(%q) = %q, want %q", name, got, want)
		}
	})
}

func BenchmarkFind(b *testing.B) {
	text := prose()
	for name, opt := range map[string]Options{"alone": {}, "known": {Known: knows("Alice Johnson", "AWS Lambda")}} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Find(text, opt)
			}
		})
	}
}

func BenchmarkFindHostile(b *testing.B) {
	for _, unit := range hostile() {
		text := strings.Repeat(unit, memory.MaxContent/len(unit))
		b.Run(unit, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Find(text, Options{})
			}
		})
	}
}
