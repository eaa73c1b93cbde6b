package embedding

import (
	"slices"
	"testing"
)

// TestStaticKnowsWordsOfTheSameMeaning embeds without a model file, by the table in the program.
func TestStaticKnowsWordsOfTheSameMeaning(t *testing.T) {
	e := open(t, Options{Providers: []string{Go, Static}, MaxTokens: 32})
	id := ready(t, e)
	if id.Provider != Static || id.Lexical || id.MaxTokens != 32 || len(id.SHA256) != 64 {
		t.Fatalf("Ready = %+v; want the table in the program", id)
	}
	v, err := e.Embed(t.Context(), Passage, []string{"car insurance", "the policy for our automobile", "a green tea", "今天"})
	if err != nil {
		t.Fatal(err)
	}
	if near, far := cosine(v[0], v[1]), cosine(v[0], v[2]); near < far+0.2 {
		t.Errorf("car insurance is at %.2f from the policy for our automobile and at %.2f from a green tea", near, far)
	}
	if len(v[0]) != id.Dim || v[3] != nil {
		t.Errorf("a vector of %d numbers, and of unknown words of %d; want %d and none", len(v[0]), len(v[3]), id.Dim)
	}
	again, err := e.Embed(t.Context(), Query, []string{"car insurance"})
	if err != nil || !slices.Equal(again[0], v[0]) {
		t.Errorf("the same text as a query: %v; want the same vector", err)
	}
	if n := e.Tokens(t.Context(), "an automobile"); n != 2 {
		t.Errorf("%d tokens of two words", n)
	}
}

// TestStaticPassesTheExam has the exam that every model sits.
func TestStaticPassesTheExam(t *testing.T) {
	e := open(t, Options{Providers: []string{Static}})
	g, err := e.Grade(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if g.Lexical || g.Trust() < 0.5 || g.Low >= g.High {
		t.Errorf("%+v, trusted %.2f; want a model that knows most partners", g, g.Trust())
	}
}
