package embedding

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"emberd/internal/testutil/llamatest"
)

// eachEngine runs a test with each of llama.cpp's releases that are there.
func eachEngine(t *testing.T, test func(t *testing.T, opt Options)) {
	t.Helper()
	for _, dir := range llamatest.Libraries(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			test(t, Options{Providers: []string{Llama}, Helper: llamatest.Helper(t), Engine: dir, Model: modelFile(t, tiny(42))})
		})
	}
}

// unspared has a provider that gives no engine up, and waits for none.
func unspared(e *Embedder) *Embedder {
	n := e.chain[0].provider.(*native)
	n.limits.firstPause, n.limits.mostPause, n.limits.crashes = 0, 0, 1<<30
	return e
}

func TestLlamaMakesTheVectorsOfGo(t *testing.T) {
	eachEngine(t, func(t *testing.T, opt Options) {
		e, byGo := open(t, opt), openModel(t, opt.Model)
		if a, b := ready(t, e), ready(t, byGo); a.Key() != b.Key() {
			t.Errorf("llama makes vectors of %+v, go of %+v; want one key", a, b)
		}
		for _, text := range []string{"harbour", "note memory search", strings.Repeat("memory of a lighthouse ", 60), "Ünïcode, naïve; 42!"} {
			got, want := embedOne(t, e, text), embedOne(t, byGo, text)
			for i := range want {
				if off := math.Abs(float64(got[i] - want[i])); off > 2e-4 {
					t.Errorf("%.20q: number %d is off by %g", text, i, off)
				}
			}
			if a, b := e.Tokens(t.Context(), text), byGo.Tokens(t.Context(), text); a != b {
				t.Errorf("%.20q takes %d tokens by llama, %d by go", text, a, b)
			}
		}
		if v, err := e.Embed(t.Context(), Query, []string{"🚢🌅 港口黎明 🚢🌅 港口黎明 港口黎明"}); err != nil || v[0] != nil {
			t.Errorf("a text that the model does not know has the vector %v, %v", v, err)
		}
		s := e.Status().Native
		if s.Release == "" || s.Version == "" || s.PID == 0 || len(s.Backends) == 0 {
			t.Errorf("the status is %+v, want what runs", s)
		}
		hello, err := Probe(t.Context(), opt.Helper, opt.Engine, false)
		if err != nil || hello.Engine.Release != s.Release {
			t.Errorf("Probe = %+v, %v; want the release %s", hello, err, s.Release)
		}
	})
}

func TestLlamaKilledAtRandom(t *testing.T) {
	eachEngine(t, func(t *testing.T, opt Options) {
		want := make(map[string][]float32)
		calm := open(t, opt)
		for i := range 8 {
			for k := range 50 {
				text := fmt.Sprintf("note %d of %d", k, i)
				want[text] = embedOne(t, calm, text)
			}
		}
		killWhileInUse(t, unspared(open(t, opt)), func(text string) []float32 { return want[text] })
	})
}

// A model that is cut short while it is mapped ends the helper, and says so; put back, it
// is the one it was.
func TestModelCutWhileLlamaRuns(t *testing.T) {
	eachEngine(t, func(t *testing.T, opt Options) {
		opt.Providers = []string{Llama, Go}
		opt.Memory = filepath.Join(t.TempDir(), "engines.json")
		e := open(t, opt)
		id, text := ready(t, e), strings.Repeat("memory ", 50)
		want := embedOne(t, e, text)
		if err := os.Truncate(opt.Model, 4096); err != nil {
			t.Fatal(err)
		}
		pid := e.Status().Native.PID
		v, err := e.Embed(t.Context(), Passage, []string{text})
		if err == nil && !same(v[0], want) || err != nil && !errors.Is(err, ErrChanged) {
			t.Errorf("Embed = %v, %v; want the vector, or %v", v, err, ErrChanged)
		}
		if err == nil { // it had read all of it
			if err := unix.Kill(pid, unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
			llamatest.Gone(t, pid)
			if _, err := e.Embed(t.Context(), Passage, []string{text}); !errors.Is(err, ErrChanged) {
				t.Errorf("Embed: %v, want %v", err, ErrChanged)
			}
		}
		t.Log(e.Status().Native.LastExit)
		if _, err := e.Ready(t.Context()); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), opt.Model) {
			t.Errorf("Ready: %v, want that the file is broken", err)
		}
		writeModel(t, opt.Model, tiny(42))
		if again := ready(t, e); again.Key() != id.Key() || again.Provider != Llama || len(e.Status().Native.Bad) != 0 {
			t.Errorf("put back, the model is %+v", again)
		}
		if got := embedOne(t, e, text); !same(got, want) {
			t.Error("put back, the model makes another vector")
		}
	})
}

func TestModelReplacedWhileLlamaRuns(t *testing.T) {
	eachEngine(t, func(t *testing.T, opt Options) {
		e := unspared(open(t, opt))
		before, want := ready(t, e), embedOne(t, e, "memory")
		writeModel(t, opt.Model, tiny(2))
		if got := embedOne(t, e, "memory"); !same(got, want) {
			t.Error("the model changed while it was loaded")
		}
		pid := e.Status().Native.PID
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		llamatest.Gone(t, pid)
		if _, err := e.Embed(t.Context(), Query, []string{"memory"}); !errors.Is(err, ErrChanged) {
			t.Errorf("Embed: %v, want %v", err, ErrChanged)
		}
		if after := ready(t, e); after.Key() == before.Key() {
			t.Errorf("another model has the key %s too", after.Key())
		}
		if got := embedOne(t, e, "memory"); same(got, want) {
			t.Error("the other model makes the same vector")
		}
	})
}
