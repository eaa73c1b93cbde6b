package intent

import (
	"math"
	"strings"
	"testing"

	"emberd/decay"
	"emberd/internal/entity"
)

// The cases of this file are CortexGraph's, by their numbers, with the entities that
// emberd finds. Where those differ the numbers do: a word is no entity for beginning
// a sentence (C53 "This", C55 "What"), and a question lowers the strength.

func found(message string) []string { return entity.Find(message, entity.Options{}) }

func TestStrengthCases(t *testing.T) {
	a := Default()
	of := func(text string) float64 { return a.Strength(text, len(found(text))) }
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"C46 a long text", of(strings.Repeat("x", 500)), 1.2},
		{"C47 a marker and no text", decay.InitialStrength(0, 0, true, false), 1.4},
		{"C48 everything, by a text", of("Important: " + strings.Repeat("we met Ada, Bea, Cid, Dov and Eve ", 15)), 1.9},
		{"C48 everything, as a question", of("Important: " + strings.Repeat("we met Ada, Bea, Cid, Dov and Eve ", 15) + "?"), 1.85},
		{"C49 plain words", of("plain words only"), 1.0064},
		{"C50 a marker and an entity", of("This is critical: never commit secrets"), 1.4752},
	} {
		if math.Abs(c.got-c.want) > 1e-6 {
			t.Errorf("%s: strength %v, want %v", c.name, c.got, c.want)
		}
	}
}

func TestSaveCases(t *testing.T) {
	for _, c := range []struct {
		name, message string
		save          bool
		confidence    float64
		strength      float64
		tags          string
	}{
		{"C51", "Remember this: I prefer PostgreSQL for databases", true, 0.9996, 2, "database"},
		{"C52", "don't forget the milk", true, 0.9526, 2, ""},
		{"C53", "This is critical", true, 0.7311, 1.5, ""},
		{"C53 with an entity", "JWT is critical", true, 0.8581, 1.5, ""},
		{"C54", "We must deploy to AWS", false, 0.69, 1, ""},
		{"C55", "What is Python?", false, 0.002, 1, ""},
		{"C55 with two entities", "What is Python on Linux?", false, 0.0045, 1, ""},
		{"C56", "maybe I might use Redis", false, 0.0148, 1, ""},
		{"C57", "hello", false, 0.1192, 1, ""},
		{"C58", "keyboard", false, 0.1192, 1, ""},
		{"no message", " ", false, 0, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Default().Save(c.message, found(c.message))
			if got.ShouldSave != c.save || got.Confidence != c.confidence || got.Strength != c.strength || strings.Join(got.Tags, ",") != c.tags {
				t.Errorf("Save(%q) = %+v", c.message, got)
			}
		})
	}
}

func TestRecallCases(t *testing.T) {
	for _, c := range []struct {
		name, message string
		search        bool
		confidence    float64
		query         string
	}{
		{"C59", "What did I say about TypeScript?", true, 0.9, "TypeScript"},
		{"C60", "remind me of the deploy steps", true, 0.9, "of the deploy steps"},
		{"C61", "Compare Python and Rust", true, 0.5, "python rust"},
		{"C62", "hello", false, 0.2, "hello"},
		{"no message", "", false, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Default().Recall(c.message, found(c.message))
			if got.ShouldSearch != c.search || got.Confidence != c.confidence || got.Query != c.query {
				t.Errorf("Recall(%q) = %+v", c.message, got)
			}
		})
	}
}

// The examples of CortexGraph's page; its numbers illustrate, the bands hold.
func TestExamplesOfThePage(t *testing.T) {
	for _, c := range []struct{ message, entities, reasoning string }{
		{"Remember: I prefer TypeScript over JavaScript for all new projects", "typescript javascript",
			"Detected: ['remember', 'i prefer'] importance_marker: True entities_found: 2"},
		{"Remember: I prefer dark mode in all my apps", "", "Detected: ['remember', 'i prefer'] importance_marker: True entities_found: 0"},
		{"Remember: I prefer JWT for authentication", "jwt authentication",
			"Detected: ['remember', 'i prefer'] importance_marker: True entities_found: 2"},
	} {
		names := found(c.message)
		got := Default().Save(c.message, names)
		if !got.ShouldSave || got.Confidence < 0.9 || len(got.Tags) > 0 || got.Reasoning != c.reasoning || strings.Join(names, " ") != c.entities {
			t.Errorf("Save(%q) = %+v with entities %v", c.message, got, names)
		}
	}
	for _, c := range []struct{ message, query, entities, reasoning string }{
		{"What did I say about TypeScript?", "TypeScript", "typescript", "Detected: ['what did i say about'] entities_found: 1"},
		{"What did I say about my API preferences?", "API preferences", "", "Detected: ['what did i say about'] entities_found: 0"},
		{"What did I say about authentication?", "authentication", "authentication", "Detected: ['what did i say about'] entities_found: 1"},
	} {
		names := found(c.message)
		got := Default().Recall(c.message, names)
		if !got.ShouldSearch || got.Confidence != 0.9 || got.Query != c.query || got.Reasoning != c.reasoning || strings.Join(names, " ") != c.entities {
			t.Errorf("Recall(%q) = %+v with entities %v", c.message, got, names)
		}
	}
	const text = "Use JWT tokens for authentication in all new APIs"
	if names := found(text); strings.Join(names, " ") != "jwt authentication apis" || Default().Marked(text) {
		t.Errorf("%q: entities %v, marked %v", text, names, Default().Marked(text))
	}
}
