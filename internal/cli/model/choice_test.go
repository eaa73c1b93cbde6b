package model

import (
	"testing"

	"emberd/internal/config"
)

// configured reads settings of a home that has nothing else.
func configured(t *testing.T, flags ...string) *config.Config {
	t.Helper()
	home := t.TempDir()
	c, err := config.Load(config.Source{Home: home, UserHome: home, Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestChosen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want  string
		flags []string
	}{
		{"static", nil},
		{"words", []string{"embedding.providers=go"}},
		{"words", []string{"search.meaning=off", "embedding.providers=static"}},
		{"words", []string{"embedding.url=http://127.0.0.1:1", "embedding.providers=go"}},
		{"static", []string{"embedding.providers=go,static"}},
		{"/m/mine.gguf", []string{"embedding.model=/m/mine.gguf", "embedding.providers=go,static"}},
		{"static", []string{"embedding.model=/m/mine.gguf", "embedding.providers=static"}},
		{"", []string{"embedding.url=http://127.0.0.1:1"}},
		{"", []string{"embedding.providers=words"}},
	} {
		if got := Chosen(configured(t, c.flags...)); got != c.want {
			t.Errorf("with %q the choice is %q, want %q", c.flags, got, c.want)
		}
	}
}

// What a choice changes is what makes it the choice, from wherever one comes.
func TestChoosing(t *testing.T) {
	t.Parallel()
	for _, before := range [][]string{nil, {"search.meaning=off"}, {"embedding.providers=go,static"},
		{"embedding.providers=words"}, {"embedding.url=http://127.0.0.1:1"}, {"embedding.model=/m/mine.gguf"}} {
		for _, name := range []string{"words", "static", "bge-small-en-v1.5"} {
			choice, err := Choose(configured(t, before...), name)
			if err != nil {
				t.Fatal(err)
			}
			flags := before
			for _, change := range choice.Changes {
				flags = append(flags[:len(flags):len(flags)], change.Setting+"="+change.Value)
			}
			c := configured(t, flags...)
			got := Chosen(c)
			if name == "bge-small-en-v1.5" && choice.Known != nil && nameOf(got) == name { // which is not there yet
				got = name
			}
			if got != name {
				t.Errorf("%s chosen with %q changes %v, and then %q is chosen", name, before, choice.Changes, got)
			}
		}
	}
}
