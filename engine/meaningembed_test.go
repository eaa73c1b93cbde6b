package engine_test

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/embedding"
	"emberd/engine"
	"emberd/memory"
	"emberd/op"
)

func TestEmbed(t *testing.T) {
	e := meant(t, newHouse(t), embedding.Options{}).running(t)
	covered(t, e)
	texts := []string{"the harbour", "the harbour", " ", "a lighthouse far away"}
	for _, as := range []string{"", op.EmbedQuery, op.EmbedPassage} {
		got := do(t, e, op.Embed, &op.EmbedRequest{Texts: texts, As: as})
		if got.Provider != embedding.Go || got.Dim != 32 || got.Model == "" || got.MaxTokens != 128 || len(got.Vectors) != 4 || len(got.Tokens) != 4 {
			t.Fatalf("as %q: %+v", as, got)
		}
		if got.Vectors[2] != nil || len(got.Vectors[0]) != 32 || got.Tokens[0] <= 2 || got.Tokens[0] >= got.Tokens[3] {
			t.Errorf("as %q the texts take %d tokens, and the blank one has the vector %v", as, got.Tokens, got.Vectors[2])
		}
		if c := got.Cosines; c[0][1] != 1 || c[0][2] != 0 || c[0][3] != c[3][0] || math.Abs(c[0][3]) >= 1 {
			t.Errorf("as %q the cosines are %v", as, c)
		}
	}
	if got := do(t, e, op.Embed, &op.EmbedRequest{Texts: texts}); got.Meanings != nil {
		t.Errorf("a model that failed its exam tells of meaning: %v", got.Meanings)
	}
	if got := do(t, e, op.Embed, &op.EmbedRequest{Texts: texts[:1]}); got.Cosines != nil {
		t.Errorf("of one text there are the cosines %v", got.Cosines)
	}
	if s := engineStatus(t, e); s.Meaning.Total != 0 {
		t.Errorf("%d texts are kept, want none", s.Meaning.Total)
	}
}

func TestEmbedTellsMeaningsOfAModelThatPassedItsExam(t *testing.T) {
	h := meant(t, newHouse(t), embedding.Options{})
	h.Options.Meaning.Grade = trusted()
	e := h.running(t)
	covered(t, e)
	m := do(t, e, op.Embed, &op.EmbedRequest{Texts: []string{"the harbour", "the harbour", " "}}).Meanings
	if len(m) != 3 || m[0][1] != 1 || m[0][2] != 0 {
		t.Errorf("the meanings are %v", m)
	}
}

func TestEmbedRefuses(t *testing.T) {
	meaningful := meant(t, newHouse(t), embedding.Options{}).running(t)
	for name, c := range map[string]struct {
		on   *engine.Engine
		req  op.EmbedRequest
		want string
	}{
		"no text": {meaningful, op.EmbedRequest{}, "number of texts 0 is out of range (1 to 64)"},
		"many":    {meaningful, op.EmbedRequest{Texts: make([]string, 65)}, "number of texts 65 is out of range (1 to 64)"},
		"long":    {meaningful, op.EmbedRequest{Texts: []string{"", strings.Repeat("a", 65537)}}, "too many bytes in text 2: 65537 (limit 65536); shorten the text"},
		"as":      {meaningful, op.EmbedRequest{Texts: []string{""}, As: "note"}, `invalid as "note"; use query or passage`},
	} {
		_, err := op.Embed.Call(t.Context(), c.on, &c.req)
		if err == nil || err.Error() != c.want || memory.CodeOf(err) != memory.Invalid {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	_, err := op.Embed.Call(t.Context(), newHouse(t).running(t), &op.EmbedRequest{Texts: []string{"a"}})
	if err == nil || err.Error() != "emberd computes no embeddings: no provider in the setting embedding.providers is configured; choose a model with emberd model use, such as static, which requires no file" || memory.CodeOf(err) != memory.Unavailable {
		t.Errorf("without any model: %v, want that there is none, which is unavailable", err)
	}
	broken := meant(t, newHouse(t), embedding.Options{Model: "/missing.gguf", Providers: []string{embedding.Go}}).running(t)
	if _, err := op.Embed.Call(t.Context(), broken, &op.EmbedRequest{Texts: []string{"a"}}); memory.CodeOf(err) != memory.Unavailable {
		t.Errorf("without the model: %v, want that it is unavailable", err)
	}
}

// Where nothing but this asks for vectors, this is how another model is found out.
func TestEmbedFindsAnotherModel(t *testing.T) {
	t.Parallel()
	model := tinyModel(t, 42)
	h := meant(t, newHouse(t), embedding.Options{Providers: []string{embedding.Go}, Model: model, UnloadAfter: time.Nanosecond})
	h.Options.Meaning.Weight = -1 // what the exam says of weights that were drawn
	e := h.running(t)
	until(t, "the exam is taken", func() bool { return engineStatus(t, e).State == op.EngineUnused })
	req := &op.EmbedRequest{Texts: []string{"the harbour"}}
	before := do(t, e, op.Embed, req).Vectors[0]
	ok(t, os.Rename(tinyModel(t, 7), model))
	until(t, "its vectors are told", func() bool {
		got, err := op.Embed.Call(t.Context(), e, req)
		return err == nil && !slices.Equal(got.Vectors[0], before)
	})
	until(t, "it sat the exam", func() bool { return engineStatus(t, e).State == op.EngineUnused })
}
