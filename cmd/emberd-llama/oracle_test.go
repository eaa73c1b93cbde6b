package main

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"emberd/internal/bert"
	"emberd/internal/gguf"
	"emberd/internal/llamawire"
	"emberd/internal/testutil/trainedtest"
	"emberd/internal/wordpiece"
)

// A reference is what the model's own Python runtime makes of a text: a line of what tools/model/oracle.py writes.
type reference struct {
	Kind   string
	Text   string
	Tokens []int32
	Vector []float32
}

func references(t *testing.T) (all []reference) {
	t.Helper()
	name := os.Getenv("EMBERD_TEST_ORACLE")
	if name == "" {
		t.Skip("needs what Python makes of the texts: run make model-oracle")
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for in := json.NewDecoder(f); ; {
		var a reference
		if err := in.Decode(&a); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
}

// least is the cosine that every text has to reach. With eight bits, llama.cpp also rounds what it computes with, and
// texts of one or two words come below the 0.999 of the engine in Go.
var least = map[string]float64{"F32 go": 0.9999, "F32 llama": 0.9999, "Q8_0 go": 0.999, "Q8_0 llama": 0.998}

// The vectors of the trained model are those of its makers' runtime, by either engine, and the tokens the same.
func TestModelOracle(t *testing.T) {
	all := references(t)
	for _, weights := range []string{"F32", "Q8_0"} {
		path := trainedtest.File(t, weights)
		t.Run(weights+" tokens", func(t *testing.T) { sameTokens(t, path, all) })
		t.Run(weights+" go", func(t *testing.T) {
			m, err := bert.Open(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			sameVectors(t, all, least[weights+" go"], func(text string) []float32 {
				v, _, err := m.Embed(t.Context(), text)
				if err != nil {
					t.Fatal(err)
				}
				return v
			})
		})
		t.Run(weights+" llama", func(t *testing.T) {
			each(t, func(t *testing.T, engine string) {
				p := start(t, "--engine", engine, "--model", path)
				t.Log(p.hello().Engine.Release)
				sameVectors(t, all, least[weights+" llama"], func(text string) []float32 {
					return p.ask(llamawire.Request{Text: text, Thread: 1}).Vector
				})
			})
		})
	}
}

func sameTokens(t *testing.T, path string, all []reference) {
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	facts, err := f.BERT()
	if err != nil {
		t.Fatal(err)
	}
	tokenizer, differ := wordpiece.New(f, facts), 0
	for _, a := range all {
		if got := tokenizer.Tokens(a.Text, 256); !slices.Equal(got, a.Tokens) {
			differ++
			t.Errorf("%s %.80q: tokens are %v, want %v", a.Kind, a.Text, got, a.Tokens)
		}
	}
	t.Logf("%d of %d texts have other tokens", differ, len(all))
}

func sameVectors(t *testing.T, all []reference, least float64, embed func(string) []float32) {
	t.Helper()
	worst, of, sum, low := 1.0, "", 0.0, 0
	for _, a := range all {
		near := cosine(embed(a.Text), a.Vector)
		sum += near
		if near < 0.999 {
			low++
		}
		if near < worst {
			worst, of = near, a.Kind+" "+strconv.Quote(a.Text[:min(len(a.Text), 60)])
		}
		if !(near >= least) {
			t.Errorf("%s %.80q: cosine %.7f, want %g", a.Kind, a.Text, near, least)
		}
	}
	t.Logf("%d texts: worst cosine %.7f, mean %.7f, %d below 0.999; worst is %s", len(all), worst,
		sum/float64(len(all)), low, of)
}

func cosine(a, b []float32) float64 {
	var product, x, y float64
	for i := range a {
		product += float64(a[i]) * float64(b[i])
		x += float64(a[i]) * float64(a[i])
		y += float64(b[i]) * float64(b[i])
	}
	return product / math.Sqrt(x*y)
}
