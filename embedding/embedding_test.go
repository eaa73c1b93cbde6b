package embedding

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"emberd/internal/testutil/bubble"
	_ "emberd/internal/testutil/ramdisk"
)

func TestWordsAreNearWhatIsSpeltAlike(t *testing.T) {
	e := open(t, Options{Providers: []string{Go, Words}})
	if id := ready(t, e); !id.Lexical || id.Dim != wordsDim || id.Provider != Words {
		t.Fatalf("Ready = %+v; want lexical vectors of %d numbers", id, wordsDim)
	}
	for _, c := range []struct{ text, near, far string }{
		{"remember the harbour", "rembmer the harbor", "quarterly tax report"},
		{"searching memories", "search of a memory", "the parking garage"},
		{"Donaudampfschifffahrt", "Dampfschiff", "Kapitän"},
		{"Ελλάδα", "ελλαδα", "Ιταλία"},
		{"東京都の天気", "東京の天気予報", "大阪の地図"},
		{"café crème", "CAFE CREME", "thé vert"},
	} {
		v, err := e.Embed(t.Context(), Passage, []string{c.text, c.near, c.far})
		if err != nil {
			t.Fatal(err)
		}
		if near, far := cosine(v[0], v[1]), cosine(v[0], v[2]); near < 0.2 || math.Abs(far) > 0.15 {
			t.Errorf("%q is at %.2f from %q and at %.2f from %q; want the first near and the second not", c.text, near,
				c.near, far, c.far)
		}
	}
	texts := []string{"the the the harbour", "a longer text, with words of all lengths: 1, 22, unbelievably"}
	once, _ := e.Embed(t.Context(), Passage, texts)
	for range 10 {
		again, _ := e.Embed(t.Context(), Query, texts)
		if !slices.Equal(once[0], again[0]) || !slices.Equal(once[1], again[1]) {
			t.Fatal("the same text has two vectors")
		}
	}
}

func TestReadyWithoutTime(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	e := open(t, Options{Providers: []string{Words}})
	if id, err := e.Ready(gone); err != nil || id.Provider != Words {
		t.Errorf("Ready = %+v, %v; want words, which take no time", id, err)
	}
	e = client(t, serve(t, answers{}, spelling))
	if _, err := e.Ready(gone); !errors.Is(err, context.Canceled) || e.Status().Problem != "" {
		t.Errorf("Ready: %v and the problem %q; want that nobody waited, and no problem", err, e.Status().Problem)
	}
}

func TestTextsWithoutAVector(t *testing.T) {
	e := open(t, Options{Providers: []string{Words}, PassagePrefix: "passage: "})
	v, err := e.Embed(t.Context(), Passage, []string{"", " \t\n", "\xff\xfe", "harbour", "har\xffbour"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{false, false, false, true, true} {
		if (v[i] != nil) != want {
			t.Errorf("text %d has the vector %v; want one: %t", i, v[i], want)
		}
	}
	if !same(v[3], v[4]) {
		t.Error("bytes that are no text change a vector")
	}
	if v, err := e.Embed(t.Context(), Query, nil); err != nil || len(v) != 0 {
		t.Errorf("of no text are made %v, %v", v, err)
	}
}

func TestNothingWorks(t *testing.T) {
	e := open(t, Options{Providers: []string{HTTP, Go}})
	_, err := e.Ready(t.Context())
	want := "no embedding provider works: http: embedding.url is not set; go: embedding.model is not set"
	if !errors.Is(err, ErrNone) || errors.Is(err, ErrAway) || err.Error() != want {
		t.Errorf("Ready: %v, want %s", err, want)
	}
	_, err = open(t, Options{}).Embed(t.Context(), Query, []string{"harbour"})
	if want := "no embedding provider works; set a provider in embedding.providers"; !errors.Is(err, ErrNone) ||
		err.Error() != want {
		t.Errorf("without providers: %v, want %s", err, want)
	}
}

func TestSettingsThatCannotBe(t *testing.T) {
	for want, opt := range map[string]Options{
		`invalid embedding provider "lama"; use llama, http, go, static or words`: {Providers: []string{"lama"}},
		"embedding.max_tokens 9 is out of range (16 to 8192)":                     {MaxTokens: 9},
		"embedding.max_tokens 9000 is out of range (16 to 8192)":                  {MaxTokens: 9000},
		"invalid time until emberd unloads an idle model: -1s; use 0 or more":     {UnloadAfter: -time.Second},
	} {
		if _, err := Open(opt); err == nil || err.Error() != want {
			t.Errorf("Open(%+v): %v, want %s", opt, err, want)
		}
	}
}

// Somebody who set one provider is told of that one, somebody who set two of both.
func TestWhyNoProviderWorks(t *testing.T) {
	model := filepath.Join(t.TempDir(), "missing.gguf")
	missing := "the model file " + model +
		" is not available: not found; restore it, or set another file in embedding.model"
	away := "the server at http://127.0.0.1:1 is not available: dial tcp 127.0.0.1:1: connect: connection refused; start the server, or correct embedding.url"
	for want, opt := range map[string]Options{
		missing: {Model: model},
		away:    {URL: "http://127.0.0.1:1", URLModel: "minilm"},
		"no embedding provider works: " + away + "; " + missing: {Model: model, URL: "http://127.0.0.1:1", URLModel: "minilm"},
	} {
		opt.Providers = []string{HTTP, Go}
		if _, err := open(t, opt).Ready(t.Context()); err == nil || err.Error() != want || !errors.Is(err, ErrNone) ||
			!errors.Is(err, ErrAway) {
			t.Errorf("Ready: %v\nwant: %s", err, want)
		}
	}
}

// A server that nothing was embedded with is passed over while it is away; one that made
// vectors is waited for.
func TestServerThatIsAway(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	opt := Options{Providers: []string{HTTP, Words}, URL: url, URLModel: "minilm"}
	e := open(t, opt)
	if id := ready(t, e); id.Provider != Words {
		t.Errorf("vectors come from %s, want words", id.Provider)
	}
	alone := open(t, Options{Providers: []string{HTTP}, URL: url, URLModel: "minilm"})
	if _, err := alone.Ready(t.Context()); !errors.Is(err, ErrNone) || !errors.Is(err, ErrAway) {
		t.Errorf("without another provider, Ready: %v; want that there is none now, and may be later", err)
	}
	want := "the server at " + url + " is not available: dial tcp " + listener.Addr().String() +
		": connect: connection refused; start the server, or correct embedding.url"
	if s := e.Status(); len(s.Passed) != 1 || s.Passed[0] != (SkippedProvider{HTTP, want}) {
		t.Errorf("passed over: %+v\nwant http for: %s", s.Passed, want)
	}
	for _, kept := range []struct {
		id    Identity
		waits bool
	}{
		{Identity{Provider: HTTP, Server: url, Model: "minilm"}, true},
		{Identity{Provider: HTTP, Server: url, Model: "e5"}, false},
		{Identity{Provider: HTTP, Server: url + "0", Model: "minilm"}, false},
		{Identity{Provider: Words}, false},
	} {
		e := open(t, opt)
		e.Keep([]Identity{kept.id})
		if _, err := e.Ready(t.Context()); errors.Is(err, ErrAway) != kept.waits || errors.Is(err, ErrNone) {
			t.Errorf("with vectors of %+v, Ready: %v; want it to wait: %t", kept.id, err, kept.waits)
		}
	}
}

// line is the way to a server of a test, that can be cut. It lives in a bubble of
// synctest, where time passes at once.
type line struct {
	down  bool
	dials int
	conns chan net.Conn
	model func(string) []float32
}

func (l *line) Accept() (net.Conn, error) {
	if c, ok := <-l.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (l *line) Close() error   { close(l.conns); return nil }
func (l *line) Addr() net.Addr { return &net.UnixAddr{Name: "line"} }

func (l *line) dial(context.Context, string, string) (net.Conn, error) {
	l.dials++
	if l.down {
		return nil, syscall.ECONNREFUSED
	}
	here, there := net.Pipe()
	l.conns <- there
	return here, nil
}

// cut takes the server away, as its end does.
func (l *line) cut(e *Embedder) {
	l.down = true
	e.chain[0].provider.(*server).transport.CloseIdleConnections()
}

// onALine runs a test whose Embedder reaches a server by a line.
func onALine(t *testing.T, model func(string) []float32, test func(t *testing.T, e *Embedder, l *line)) {
	bubble.Test(t, func(t *testing.T) {
		l := &line{conns: make(chan net.Conn), model: model}
		s := &http.Server{Handler: answers{}.handler(t, func(text string) []float32 { return l.model(text) })}
		go func() { _ = s.Serve(l) }()
		e, err := Open(Options{Providers: []string{HTTP}, URL: "http://localhost:1", URLModel: "minilm"})
		if err != nil {
			t.Fatal(err)
		}
		e.chain[0].provider.(*server).transport.DialContext = l.dial
		test(t, e, l)
		if err := errors.Join(e.Close(), s.Close()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
	})
}

func TestServerThatComesBack(t *testing.T) {
	onALine(t, spelling, func(t *testing.T, e *Embedder, l *line) {
		want := embedOne(t, e, "harbour")
		l.cut(e)
		asked := l.dials
		for range 200 { // a search each 100 ms
			if _, err := e.Embed(t.Context(), Query, []string{"harbour"}); !errors.Is(err, ErrAway) {
				t.Errorf("Embed: %v, want %v", err, ErrAway)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if n := l.dials - asked; n < 4 || n > 10 {
			t.Errorf("in 20 seconds the server was tried %d times, want 4 to 10", n)
		}
		if s := e.Status(); s.Loaded || !strings.Contains(s.Problem, "is not available") {
			t.Errorf("the status is %+v, want the problem", s)
		}
		l.down = false
		time.Sleep(maxPause)
		if got := embedOne(t, e, "harbour"); !same(got, want) {
			t.Error("afterwards the vector is another")
		}
		if s := e.Status(); !s.Loaded || s.Problem != "" {
			t.Errorf("the status is %+v, want no problem", s)
		}
	})
}

func TestServerThatTakesForEver(t *testing.T) {
	onALine(t, spelling, func(t *testing.T, e *Embedder, l *line) {
		ready(t, e)
		l.model = func(string) []float32 { time.Sleep(time.Hour); return nil }
		began := time.Now()
		_, err := e.Embed(t.Context(), Query, []string{"harbour"})
		if took := time.Since(began); !errors.Is(err, ErrAway) || took != requestTime {
			t.Errorf("Embed: %v after %s, want %v after %s", err, took, ErrAway, requestTime)
		}
		time.Sleep(2 * time.Hour) // the server ends, too
	})
}

func TestServerThatRunsAnotherModel(t *testing.T) {
	for name, away := range map[string]func(e *Embedder, l *line){
		"after a while": func(*Embedder, *line) { time.Sleep(steady) },
		"after it was away": func(e *Embedder, l *line) {
			l.cut(e)
			_, _ = e.Embed(context.Background(), Query, []string{"harbour"})
			l.down = false
			time.Sleep(firstPause)
		},
	} {
		t.Run(name, func(t *testing.T) {
			onALine(t, spelling, func(t *testing.T, e *Embedder, l *line) {
				before := ready(t, e)
				l.model = otherSpelling
				away(e, l)
				for range 2 {
					if _, err := e.Embed(t.Context(), Query, []string{"harbour"}); !errors.Is(err, ErrChanged) {
						t.Errorf("Embed: %v, want %v", err, ErrChanged)
					}
				}
				if after := ready(t, e); after.Key() == before.Key() {
					t.Errorf("another model has the key %s too", after.Key())
				}
				embedOne(t, e, "harbour")
				again, err := e.Reopen(before)
				if err != nil {
					t.Fatal(err)
				}
				again.chain[0].provider.(only).provider.(*server).transport.DialContext = l.dial
				if _, err := again.Ready(t.Context()); !errors.Is(err, ErrNone) {
					t.Errorf("the earlier model is there again: %v", err)
				}
				l.model = spelling
				time.Sleep(steady)
				if id := ready(t, again); id.Key() != before.Key() {
					t.Errorf("reopened, the model is %+v, want %+v", id, before)
				}
				if err := again.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestServerWhoseVectorsChangeTheirLength(t *testing.T) {
	onALine(t, spelling, func(t *testing.T, e *Embedder, l *line) {
		ready(t, e)
		l.model = func(string) []float32 { return []float32{3, 4} }
		if _, err := e.Embed(t.Context(), Query, []string{"harbour"}); !errors.Is(err, ErrChanged) {
			t.Errorf("Embed: %v, want %v", err, ErrChanged)
		}
		if id := ready(t, e); id.Dim != 2 {
			t.Errorf("the vectors have %d numbers, want 2", id.Dim)
		}
	})
}

// The same model on another processor makes nearly the same vectors, and is the same.
func TestServerIsKnownAgain(t *testing.T) {
	rounded := func(text string) []float32 {
		v := spelt(text)
		for i := range v {
			v[i] += 5e-4 * float32(1-2*(i%2))
		}
		return v
	}
	first := ready(t, client(t, serve(t, answers{}, spelling)))
	url := serve(t, answers{}, rounded)
	first.Server = url
	stored, err := json.Marshal(first)
	if err != nil {
		t.Fatal(err)
	}
	var kept Identity
	if err := json.Unmarshal(stored, &kept); err != nil {
		t.Fatal(err)
	}
	e := client(t, url)
	if id := ready(t, e); id.Key() == first.Key() {
		t.Error("without being told of it, the server has the key of its earlier vectors")
	}
	e = client(t, url)
	e.Keep([]Identity{{Provider: Words}, kept})
	if id := ready(t, e); id.Key() != first.Key() {
		t.Errorf("the server is %s, want %s as before", id.Key(), first.Key())
	}
	if got := embedOne(t, e, "harbour"); !same(got, rounded("harbour")) && cosine(got, rounded("harbour")) < 0.999 {
		t.Error("the vector is another")
	}
}

func TestKeysTellWhatMayBeCompared(t *testing.T) {
	file := Identity{Provider: Go, Model: "minilm", SHA256: "ab", Path: "/models/a", Pooling: "mean", MaxTokens: 256,
		Dim: 384}
	for name, change := range map[string]func(*Identity){
		"another place":    func(id *Identity) { id.Path = "/models/b" },
		"another name":     func(id *Identity) { id.Model = "all-MiniLM" },
		"another question": func(id *Identity) { id.QueryPrefix = "query: " },
		"another provider": func(id *Identity) { id.Provider = "llama" },
	} {
		other := file
		if change(&other); other.Key() != file.Key() {
			t.Errorf("%s makes other vectors", name)
		}
	}
	at := Identity{Provider: HTTP, Model: "minilm", SHA256: "ab", Server: "http://localhost:1", MaxTokens: 256, Dim: 384}
	seen := map[string]string{file.Key(): "a file", at.Key(): "a server"}
	for name, change := range map[string]func(*Identity){
		"another file":    func(id *Identity) { id.SHA256 = "cd" },
		"other pooling":   func(id *Identity) { id.Pooling = "cls" },
		"another cap":     func(id *Identity) { id.MaxTokens = 128 },
		"another prefix":  func(id *Identity) { id.Prefix = "passage: " },
		"another length":  func(id *Identity) { id.Dim = 768 },
		"another server":  func(id *Identity) { *id = at; id.Server = "http://localhost:2" },
		"another model":   func(id *Identity) { *id = at; id.Model = "e5" },
		"another's probe": func(id *Identity) { *id = at; id.SHA256 = "cd" },
	} {
		other := file
		change(&other)
		if twin, ok := seen[other.Key()]; ok || len(other.Key()) != 16 {
			t.Errorf("%s has the key %s of %s", name, other.Key(), twin)
		}
		seen[other.Key()] = name
	}
}

// While passages are embedded, of which there is one lot at a time, a query goes ahead.
func TestQueriesNeverWaitForPassages(t *testing.T) {
	arrived, release := make(chan string, 4), make(chan struct{})
	e := client(t, serve(t, answers{refuse: func(texts []string) (int, string) {
		if strings.HasPrefix(texts[0], "passage") {
			arrived <- texts[0]
			<-release
		}
		return 0, ""
	}}, spelling))
	ready(t, e)
	done := make(chan error, 2)
	for _, text := range []string{"passage one", "passage two"} {
		go func() {
			_, err := e.Embed(t.Context(), Passage, []string{text})
			done <- err
		}()
	}
	<-arrived
	for _, p := range []Purpose{Query, Claim} {
		if _, err := e.Embed(t.Context(), p, []string{"harbour"}); err != nil {
			t.Error(err)
		}
	}
	if len(arrived) != 0 {
		t.Error("passages of two callers are embedded at once")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Embed(gone, Passage, []string{"passage three"}); !errors.Is(err, context.Canceled) {
		t.Errorf("who waits for his turn in vain gets %v", err)
	}
	close(release)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestEstimatesAreRatherTooHigh(t *testing.T) {
	for text, want := range map[string]int{
		"":                          2,
		"harbour":                   4,
		"the harbour at dawn":       7,
		"3.14":                      6,
		"港口黎明":                      6,
		"Привет":                    5,
		"a\u0301":                   3,
		"antidisestablishmentarian": 7,
	} {
		if got := estimate(text); got != want {
			t.Errorf("%q is estimated at %d tokens, want %d", text, got, want)
		}
	}
	if got := cut("the harbour at dawn", 5); got != "the harbour " {
		t.Errorf("for 5 tokens %q is left", got)
	}
	if got := cut("dawn", 5); got != "dawn" {
		t.Errorf("for 5 tokens %q is left of what is short", got)
	}
}
