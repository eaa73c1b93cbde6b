package contradiction

import (
	"strings"
	"testing"

	"emberd/internal/text/analysis"
)

func TestWhatDiffers(t *testing.T) {
	a := analysis.New()
	for _, c := range []struct{ a, b, why string }{
		{"the port is 5432", "the port is 5433", "numbers"},
		{"the port is 5432", "the port is set", ""},
		{"use Go 1.25", "use Go 1.26", "numbers"},
		{"version v2.1 is out", "version 2.1 is out", ""},
		{"it costs 1,000", "it costs 1000", ""},
		{"two kettles", "three kettles", "numbers"},
		{"two kettles", "2 kettles", ""},
		{"we meet on Monday", "we meet on Tuesday", "dates"},
		{"released 2026-01-03", "released 2026-01-04", "dates"},
		{"the cache is on disk", "the cache is not on disk", "denies"},
		{"don't use Redis", "use Redis", "denies"},
		{"don’t use Redis", "don't use Redis", ""},
		{"use Redis, not Kafka", "use Kafka, not Redis", "denies"},
		{"the owner is Ann", "the owner is Bob", "names"},
		{"the owner is Ann", "the owner is known", ""},
		{"ask Ann about the kettle", "about the kettle ask ann", ""},
		{"Ann ordered a gasket", "Bob ordered a gasket", "names"},
		{"Kettle leaks", "The kettle leaks", ""},
		{"Ask. Ann leads Bob", "Ask. Bob leads Ann", "each other's place"},
		{"move from MySQL to PostgreSQL", "move from PostgreSQL to MySQL", "place"},
		{"he looks away from the screen", "he looks at the screen", "places"},
		{"he puts it in the box", "he puts it into the box", ""},
		{"dark mode is enabled", "dark mode is disabled", "opposites"},
		{"I like tea", "I dislike tea", "opposites"},
		{"turn it on", "turn it off", "opposites"},
		{"python is GREAT", "Python is great", ""},
		{"clover-ledger retries twice", "raven-ledger retries twice", "names"},
		{"clover-ledger retries twice", "twice clover-ledger retries", ""},
		{"clover-ledger retries twice", "the clover ledger retries twice", ""},
		{"a well-known harbour", "a famous harbour", ""},
		{"the co-op opens", "the e-mail opens", ""}, // too short to be sure of
		{"港口是 5432", "港口是 5433", "numbers"},
		{"茶が好き", "茶が好きではない", "denies"},
	} {
		why, back := Differ(a, c.a, c.b), Differ(a, c.b, c.a)
		if (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%q and %q: got %q, want %q", c.a, c.b, why, c.why)
		}
		if (why == "") != (back == "") {
			t.Errorf("%q and %q: %q there, %q back", c.a, c.b, why, back)
		}
	}
}
