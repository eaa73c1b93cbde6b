//go:build unix

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/internal/bert"
	"emberd/internal/llamawire"
	"emberd/internal/testutil/llamatest"
	"emberd/internal/tinybert"
)

// seed is that of the mutations, which are the same each time.
const seed = 42

// mutations are models whose headers are changed in one to three places, by a bit, a byte, a
// number that is a bound somewhere, or such a number in the type or the value of a key.
type mutations struct {
	random *rand.Rand
	bases  []base
}

// base is a sound model as a file.
type base struct {
	contents []byte
	header   int // bytes
	keys     []string
}

func newMutations(t *testing.T) *mutations {
	m := &mutations{random: rand.New(rand.NewPCG(seed, 2))}
	for _, architecture := range []string{"bert", "nomic-bert"} {
		for _, tokenizer := range []string{"bert", "t5"} {
			spec := tinybert.Tiny()
			spec.Architecture, spec.Tokenizer, spec.Context, spec.Layers = architecture, tokenizer, 70, 1
			model := tinybert.New(spec)
			var b bytes.Buffer
			if err := model.Write(&b); err != nil {
				t.Fatal(err)
			}
			own := base{contents: b.Bytes(), header: b.Len()}
			for _, tensor := range model.Tensors {
				size := 4
				for _, n := range tensor.Dims {
					size *= n
				}
				own.header -= (size + 31) / 32 * 32
			}
			for _, kv := range model.Meta {
				own.keys = append(own.keys, kv.Key)
			}
			m.bases = append(m.bases, own)
		}
	}
	return m
}

// next is the i-th model.
func (m *mutations) next(i int) []byte {
	own := m.bases[i%len(m.bases)]
	changed := slices.Clone(own.contents)
	for range 1 + m.random.IntN(3) {
		m.change(changed, own)
	}
	return changed
}

func (m *mutations) change(contents []byte, own base) {
	bounds := []uint64{0, 1, 2, 3, 4, 7, 16, 31, 33, 64, 127, 255, 256, 512, 1<<16 - 1, 1 << 20, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, math.MaxUint64}
	at, bound := m.random.IntN(own.header-8), bounds[m.random.IntN(len(bounds))]
	switch m.random.IntN(5) {
	case 0:
		contents[at] ^= 1 << m.random.IntN(8)
	case 1:
		contents[at] = byte(m.random.Uint32())
	case 2:
		binary.LittleEndian.PutUint32(contents[at:], uint32(bound))
	case 3:
		binary.LittleEndian.PutUint64(contents[at:], bound)
	default: // the type of a key, or its value
		key := own.keys[m.random.IntN(len(own.keys))]
		if at = bytes.Index(contents, []byte(key)); at < 0 {
			return // it was changed itself
		}
		at += len(key) + 4*m.random.IntN(2)
		binary.LittleEndian.PutUint32(contents[at:], uint32(bound))
	}
}

// Headers are changed at random, and each file goes to the real helper: it says why it does
// not take it, or its vectors are sound, and where the engine in Go takes it too they are the
// right ones. No file ends it, and none hangs it.
func TestMutatedHeaders(t *testing.T) {
	rounds := 20
	if long() {
		rounds = 2000
	}
	each(t, func(t *testing.T, engine string) {
		path := filepath.Join(t.TempDir(), "mutated.gguf")
		mutations, outcomes := newMutations(t), map[string]int{}
		for i := range rounds {
			if err := os.WriteFile(path, mutations.next(i), 0o600); err != nil {
				t.Fatal(err)
			}
			outcome := outcomeOf(t, engine, path)
			outcomes[outcome]++
			if strings.HasPrefix(outcome, "crash") {
				t.Errorf("file %d: %s", i, outcome)
			}
		}
		for _, outcome := range slices.Sorted(maps.Keys(outcomes)) {
			t.Logf("%5d of %d: %s", outcomes[outcome], rounds, outcome)
		}
		if len(outcomes) < 2 {
			t.Errorf("all outcomes are one: the test changes nothing, or everything")
		}
	})
}

// outcomeOf is what becomes of a model in the helper, in words.
func outcomeOf(t *testing.T, engine, path string) string {
	t.Helper()
	p := start(t, "--engine", engine, "--model", path)
	defer p.wait()
	defer p.input.Close()
	var hello llamawire.Hello
	if err := llamawire.Read(p.replies, &hello); err != nil {
		return "crash while loading: " + p.err.String()
	}
	switch failed := hello.Failed; {
	case failed == nil:
	case !tells(failed.Text, path):
		return "crash of the rule for errors: " + failed.Text
	case failed.Of == llamawire.OfModel:
		return "refused before llama.cpp sees it"
	default:
		return "refused by llama.cpp, or of no use to it"
	}
	goes, _ := bert.Open(path, nil)
	for _, text := range []string{"note memory search", "Ａ ﬁle\tand naïve 記憶 🦊 " + strings.Repeat("memory ", 100)} {
		if err := llamawire.Write(p.input, &llamawire.Request{Text: text, Thread: 1}); err != nil {
			return "crash before a text: " + p.err.String()
		}
		var reply llamawire.Reply
		if err := llamawire.Read(p.replies, &reply); err != nil {
			return "crash with a text: " + p.err.String()
		}
		if reply.Failed != nil {
			return "texts without vectors, each with a reason"
		}
		if math.Abs(length(reply.Vector)-1) > 1e-6 {
			t.Errorf("a vector of length %g", length(reply.Vector))
		}
		if goes != nil {
			if want, _, err := goes.Embed(t.Context(), text); err == nil && farthest(reply.Vector, want) > 2e-4 {
				t.Errorf("a vector is off by %g from that of the engine in Go", farthest(reply.Vector, want))
			}
		}
	}
	return "harmless: right vectors"
}

// tells reports whether an error is one line that names the file and what to do.
func tells(text, path string) bool {
	return strings.Contains(text, path) && strings.Contains(text, "; ") && !strings.ContainsAny(text, "\n\r") && len(text) < 1000
}

// The file is cut while llama.cpp has it mapped: no part of the text's reply comes, and the
// helper has ended in a way that tells.
func TestModelCutWhileMapped(t *testing.T) {
	each(t, func(t *testing.T, engine string) {
		path := tiny(t)
		p := start(t, "--engine", engine, "--model", path)
		p.hello()
		if err := os.Truncate(path, 4096); err != nil {
			t.Fatal(err)
		}
		p.send(&llamawire.Request{Text: "note memory search"})
		var reply llamawire.Reply
		if err := llamawire.Read(p.replies, &reply); !errors.Is(err, io.EOF) {
			t.Errorf("got %+v and %v, want the end of replies", reply, err)
		}
		if code := p.wait(); code == exitDone || !strings.Contains(p.err.String(), "SIGBUS") {
			t.Errorf("exit code %d and %q, want that it ends with SIGBUS", code, p.err.Bytes())
		}
	})
}

// Another file takes the place of the mapped one, as an installation does it: the old one
// goes on.
func TestModelReplacedWhileMapped(t *testing.T) {
	each(t, func(t *testing.T, engine string) {
		path := tiny(t)
		p := start(t, "--engine", engine, "--model", path)
		p.hello()
		want := p.ask(llamawire.Request{Text: "note memory search"})
		spec := tinybert.Tiny()
		spec.Seed = 7
		if err := os.Rename(written(t, tinybert.New(spec)), path); err != nil {
			t.Fatal(err)
		}
		if got := p.ask(llamawire.Request{Text: "note memory search"}); !slices.Equal(got.Vector, want.Vector) {
			t.Errorf("the vector is off by %g once another file has the name", farthest(got.Vector, want.Vector))
		}
	})
}

// The helper is killed at some moment: whoever reads its replies gets whole ones, right ones,
// and then the end.
func TestKilledAtRandom(t *testing.T) {
	rounds := 5
	if long() {
		rounds = 200
	}
	each(t, func(t *testing.T, engine string) {
		const asked = 40
		random, path, answered := rand.New(rand.NewPCG(seed, 3)), tiny(t), 0
		var want []float32
		for range rounds {
			p := start(t, "--engine", engine, "--model", path)
			p.hello()
			for id := range uint64(asked) {
				p.send(&llamawire.Request{ID: id, Text: "note memory search"})
			}
			read, kill := 0, random.IntN(asked)
			for ; ; read++ {
				if read == kill {
					p.cmd.Process.Kill()
				}
				var reply llamawire.Reply
				if err := llamawire.Read(p.replies, &reply); err != nil {
					break
				}
				if want == nil {
					want = reply.Vector
				}
				if reply.ID != uint64(read) || !slices.Equal(reply.Vector, want) {
					t.Errorf("reply %d is %+v, want the vector of all others", read, reply)
				}
			}
			answered += read
			if code := p.wait(); code != -1 {
				t.Errorf("exit code %d, want that it ends by the signal", code)
			}
		}
		t.Logf("%d of %d texts had replies before the end", answered, rounds*asked)
	})
}

// A helper that hangs has no reply, and can be killed.
func TestHungHelper(t *testing.T) {
	p := start(t, "--engine", llamatest.Libraries(t)[0], "--model", tiny(t))
	p.hello()
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	p.send(&llamawire.Request{Text: "note memory search"})
	if err := p.replies.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	var reply llamawire.Reply
	if err := llamawire.Read(p.replies, &reply); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %+v and %v, want nothing yet", reply, err)
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(); code != -1 {
		t.Errorf("exit code %d, want that it ends by the signal", code)
	}
}
