package embedding

import (
	"errors"
	"math"
	"testing"
)

func TestWordsAreNearWhatIsSpeltAlike(t *testing.T) {
	e, err := Open(Options{Providers: []string{Go, Words}})
	if err != nil {
		t.Fatal(err)
	}
	id, err := e.Ready(t.Context())
	if err != nil || !id.Lexical || id.Dim != wordsDim {
		t.Fatalf("Ready = %+v, %v; want lexical vectors of %d numbers", id, err, wordsDim)
	}
	v, err := e.Embed(t.Context(), Passage, []string{"remember the harbour", "rembmer the harbor", "quarterly tax report", " \t"})
	if err != nil {
		t.Fatal(err)
	}
	if near, far := cosine(v[0], v[1]), cosine(v[0], v[2]); near < 0.2 || math.Abs(far) > 0.2 {
		t.Errorf("misspelt text is at %.2f and another at %.2f; want the first near and the second not", near, far)
	}
	if v[3] != nil {
		t.Errorf("a blank text has the vector %v, want none", v[3])
	}
}

func TestNothingWorks(t *testing.T) {
	e, err := Open(Options{Providers: []string{HTTP, Go}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Ready(t.Context())
	want := "no provider of vectors works: http: embedding.url names no server; go: embedding.model names no model file"
	if !errors.Is(err, ErrNone) || err.Error() != want {
		t.Errorf("Ready: %v, want %s", err, want)
	}
}
