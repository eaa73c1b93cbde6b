package contradiction

import (
	"testing"

	"emberd/internal/text/analysis"
)

// Prepositions that say something else keep texts apart; found is what is told of them, "" for nothing.
func TestPrepositions(t *testing.T) {
	cases := []disagreement{
		{"We decided on Kafka", "We decided against Kafka", "opposite: on Kafka against against Kafka"},
		{"We have decided against Kafka", "We decided on Kafka", "opposite"},
		{"The council voted for the new stadium", "The council voted against the new stadium", "opposite"},
		{"Wir haben uns für Kafka entschieden", "Wir haben uns gegen Kafka entschieden", "opposite"},
		{"Nous avons voté pour le stade", "Nous avons voté contre le stade", "opposite"},
		{"Votamos a favor del estadio", "Votamos en contra del estadio", "opposite"},
		{"Der Zug fährt vor dem Essen", "Der Zug fährt nach dem Essen", "opposite"},
		{"Der Schlüssel liegt unter der Matte", "Der Schlüssel liegt auf der Matte", ""},
		{"The key is under the mat", "The key is on the mat", ""},
		{"We eat with the children", "We eat without the children", "negation"},
		{"The train runs from Kiel", "The train runs to Kiel", ""},
		{"La clé est sur la table", "La clé est sous la table", ""},
		{"Le café est servi avec sucre", "Le café est servi sans sucre", ""},
		{"Café con leche", "Café sin leche", ""},
		{"Wir fahren mit dem Hund", "Wir fahren ohne den Hund", ""},
		{"We have reasons for Kafka", "We have reasons against Kafka", ""},
		{"He spoke for the plan", "He spoke against the old plan", ""},
		{"We are for it", "We are against it", ""},
	}
	check(t, cases)
	a := analysis.New()
	for _, c := range cases {
		f, g := Of(a, c.a), Of(a, c.b)
		if f.Differ(g) == "" || g.Differ(f) == "" {
			t.Errorf("%q and %q may be merged", c.a, c.b)
		}
		if f.Unsaid(g) == "" || g.Unsaid(f) == "" {
			t.Errorf("%q and %q are the same", c.a, c.b)
		}
	}
}
