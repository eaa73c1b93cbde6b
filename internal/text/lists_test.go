package text_test

import (
	"maps"
	"testing"

	"emberd/internal/text"
)

func TestLists(t *testing.T) {
	got := text.Lists("# words\n\na list: one two\n  three\nb:\n  four # five\n")
	for name, words := range got {
		got[name] = words[1:]
	}
	if want := map[string]string{"a list": "one two three", "b": " four # five"}; !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
