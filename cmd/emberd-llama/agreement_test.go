package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/internal/bert"
	"emberd/internal/llamawire"
	"emberd/internal/tinybert"
)

// long reports whether make llama runs the tests, with all there is to try.
func long() bool { return os.Getenv("EMBERD_TEST_NATIVE") != "" }

// generated are texts of all sorts, the same each time.
func generated(n int) []string {
	random := rand.New(rand.NewPCG(42, 1))
	texts := []string{"", " ", "\n\t\n", strings.Repeat("memory ", 3000), strings.Repeat("x", 100_000), "[CLS] [SEP] <s> </s>"}
	for len(texts) < n {
		texts = append(texts, sentence(random))
	}
	return texts[:n]
}

// sentence is up to forty words, a few times several hundred.
func sentence(random *rand.Rand) string {
	var known []string
	for _, token := range tinybert.Tokens() {
		if word, begins := strings.CutPrefix(token, "\u2581"); begins {
			known = append(known, word)
		}
	}
	kinds := [][]string{
		known, known, known,
		{"xylophone", "Zürich", "q", "unbelievable", "noted", "memoryless", "ÉCOLE", "İstanbul", "straße", "e\u0301te\u0301", "naïve", "ﬁle"},
		{"記憶", "猫", "메모", "память", "ذاكرة", "स्मृति", "한국어", "ﾃｽﾄ", "Ａ"},
		{"🦊", "👩‍👩‍👧", "❤️", "→", "…", "—", "€", "½", "\u200b", "\u00a0", "\ufeff", "\x00", "\x7f"},
		{"3.14", "2026-11-21", "user@example.org", "a/b", "(sic)", "C++", "#tag", "[[link]]", "`code`", "don't", "--", "!?!"},
		{"bad\xff", "\xc3", "\xed\xa0\x80"},
	}
	words := random.IntN(40)
	if random.IntN(30) == 0 {
		words = 100 + random.IntN(500)
	}
	spaces := []string{" ", " ", " ", "  ", "\n", ", ", "", "\t"}
	var text strings.Builder
	for range words {
		kind := kinds[random.IntN(len(kinds))]
		text.WriteString(kind[random.IntN(len(kind))] + spaces[random.IntN(len(spaces))])
	}
	return text.String()
}

// ask returns the reply to one request.
func (p *process) ask(request llamawire.Request) llamawire.Reply {
	p.t.Helper()
	p.send(&request)
	var reply llamawire.Reply
	if p.receive(&reply); reply.Failed != nil {
		p.t.Fatalf("%.60q: %v", request.Text, reply.Failed)
	}
	return reply
}

// farthest is the largest difference between two numbers at the same place.
func farthest(a, b []float32) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	most := 0.0
	for i := range a {
		if off := math.Abs(float64(a[i]) - float64(b[i])); !(off <= most) {
			most = off
		}
	}
	return most
}

// Both engines make the same of every text: as many tokens, the same share of unknown ones,
// and each number of the vector within 2e-4. The native one repeats itself to the bit, in
// another process and in two threads too.
func TestEnginesAgree(t *testing.T) {
	texts, poolings, pairs := generated(100), []uint32{1}, 25
	if long() {
		texts, poolings, pairs = generated(1000), []uint32{1, 2}, 10
	}
	for _, pooling := range poolings {
		spec := tinybert.Tiny()
		spec.Pooling = pooling
		path := written(t, tinybert.New(spec))
		goes, err := bert.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		each(t, func(t *testing.T, engine string) {
			p, other := start(t, "--engine", engine, "--model", path), start(t, "--engine", engine, "--model", path)
			hello := p.hello()
			other.hello()
			most := 0.0
			for i, text := range texts {
				got := p.ask(llamawire.Request{ID: uint64(i), Text: text, Thread: 1})
				want, unknown, err := goes.Embed(t.Context(), text)
				if err != nil {
					t.Fatal(err)
				}
				off := farthest(got.Vector, want)
				most = max(most, off)
				if off > 2e-4 || got.Unknown != unknown {
					t.Errorf("%.60q is off by %g with %g unknown, want 2e-4 at most with %g", text, off, got.Unknown, unknown)
				}
				if count := p.ask(llamawire.Request{Text: text, Count: true}); count.Tokens != goes.Tokens(text) {
					t.Errorf("%.60q has %d tokens, want %d", text, count.Tokens, goes.Tokens(text))
				}
				threads := 1
				if i%pairs == 0 { // each waits for the other, which may take long where much else runs
					threads = 2
				}
				if again := other.ask(llamawire.Request{Text: text, Thread: threads}); !slices.Equal(again.Vector, got.Vector) {
					t.Errorf("%.60q: another process with %d threads is off by %g, want the same bits", text, threads, farthest(again.Vector, got.Vector))
				}
			}
			t.Logf("%s, pooling %d: %d texts, off by %.2g at most", hello.Engine.Release, pooling, len(texts), most)
		})
	}
}

func written(t *testing.T, m *tinybert.Model) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := m.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// What only llama.cpp runs has no second opinion here. It loads, and makes vectors that
// repeat to the bit and do not depend on the release.
func TestModelsForLlamaAlone(t *testing.T) {
	for _, architecture := range []string{"bert", "nomic-bert"} {
		for _, tokenizer := range []string{"bert", "t5"} {
			for _, pooling := range []uint32{1, 2, 3} {
				spec := tinybert.Tiny()
				spec.Architecture, spec.Tokenizer, spec.Pooling = architecture, tokenizer, pooling
				path := written(t, tinybert.New(spec))
				t.Run(fmt.Sprint(architecture, " ", tokenizer, " ", pooling), func(t *testing.T) { sameEverywhere(t, path) })
			}
		}
	}
}

func sameEverywhere(t *testing.T, path string) {
	texts := generated(40)
	first := map[string]llamawire.Reply{}
	each(t, func(t *testing.T, engine string) {
		p := start(t, "--engine", engine, "--model", path)
		if hello := p.hello(); hello.Failed != nil {
			t.Fatal(hello.Failed)
		}
		for _, text := range texts {
			got := p.ask(llamawire.Request{Text: text, Thread: 1})
			want, seen := first[text]
			if !seen {
				first[text], want = got, got
			}
			if off := farthest(got.Vector, want.Vector); off > 2e-4 || got.Tokens != want.Tokens || math.Abs(length(got.Vector)-1) > 1e-6 {
				t.Errorf("%.60q has %d tokens and is off by %g, want %d and 2e-4 at most", text, got.Tokens, off, want.Tokens)
			}
		}
	})
}
