package embedding

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// A model of the tests: how a text is spelt, so that every text has its own vector.
func spelling(text string) []float32 { return spelt(text) }

// otherSpelling is another model of as many numbers.
func otherSpelling(text string) []float32 {
	v := spelt(text)
	slices.Reverse(v)
	return v
}

// answers is how a server writes its answers; the zero value writes them as
// llama-server does.
type answers struct {
	models []string                           // that it lists; nil: it keeps no list
	format func(v []float32) any              // of a vector
	order  func(list []map[string]any)        // of the vectors
	refuse func(texts []string) (int, string) // 0 takes them
}

// serve starts a server of one model and returns its URL.
func serve(t *testing.T, a answers, model func(string) []float32) string {
	t.Helper()
	s := httptest.NewServer(a.handler(t, model))
	t.Cleanup(s.Close)
	return s.URL
}

func (a answers) handler(t *testing.T, model func(string) []float32) http.Handler {
	mux := http.NewServeMux()
	if a.models != nil {
		mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
			list := []map[string]any{}
			for _, name := range a.models {
				list = append(list, map[string]any{"id": name, "object": "model", "owned_by": "library"})
			}
			reply(t, w, map[string]any{"object": "list", "data": list})
		})
	}
	mux.HandleFunc("POST /v1/embeddings", func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Model string
			Input []string
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		if a.refuse != nil {
			if code, body := a.refuse(asked.Input); code != 0 {
				w.WriteHeader(code)
				_, _ = io.WriteString(w, body)
				return
			}
		}
		reply(t, w, map[string]any{"object": "list", "model": asked.Model, "data": a.vectors(asked.Input, model),
			"usage": map[string]int{"prompt_tokens": 5, "total_tokens": 5}})
	})
	return mux
}

func (a answers) vectors(texts []string, model func(string) []float32) []map[string]any {
	list := []map[string]any{}
	for i, text := range texts {
		var v any = model(text)
		if a.format != nil {
			v = a.format(model(text))
		}
		list = append(list, map[string]any{"object": "embedding", "index": i, "embedding": v})
	}
	if a.order != nil {
		a.order(list)
	}
	return list
}

func reply(t *testing.T, w io.Writer, v any) {
	if err := json.NewEncoder(w).Encode(v); err != nil && !errors.Is(err, net.ErrClosed) {
		t.Log(err) // a client may have gone
	}
}

// client is an Embedder of the server at a URL alone.
func client(t *testing.T, url string, change ...func(*Options)) *Embedder {
	t.Helper()
	opt := Options{Providers: []string{HTTP}, URL: url}
	for _, c := range change {
		c(&opt)
	}
	return open(t, opt)
}

func open(t *testing.T, opt Options) *Embedder {
	t.Helper()
	e, err := Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func embedOne(t *testing.T, e *Embedder, text string) []float32 {
	t.Helper()
	v, err := e.Embed(t.Context(), Passage, []string{text})
	if err != nil {
		t.Fatal(err)
	}
	return v[0]
}

func ready(t *testing.T, e *Embedder) Identity {
	t.Helper()
	id, err := e.Ready(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func same(a, b []float32) bool { return len(a) == len(b) && cosine(a, b) > 1-1e-6 }

// packed is a vector in base64, as OpenAI's own clients ask for it.
func packed(v []float32) any {
	var raw []byte
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// scaled is a vector that its server did not bring to length one.
func scaled(v []float32) any {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = 17 * x
	}
	return out
}

func TestServersAnswerInTheirWays(t *testing.T) {
	texts := []string{"the harbour at dawn", "", "a tax report", "Grüße aus Köln", "\t\n"}
	for name, a := range map[string]answers{
		"llama-server": {models: []string{"/models/all-minilm-l6-v2-q8_0.gguf"}},
		"Ollama":       {models: []string{"all-minilm:latest"}, format: scaled},
		"LM Studio":    {models: []string{"text-embedding-all-minilm-l6-v2-embedding"}},
		"in base64":    {format: packed},
		"last first":   {order: func(list []map[string]any) { slices.Reverse(list) }},
		"without an index": {order: func(list []map[string]any) {
			for _, d := range list {
				delete(d, "index")
			}
		}},
		"without a list": {},
		"an empty list":  {models: []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			e := client(t, serve(t, a, spelling))
			got, err := e.Embed(t.Context(), Query, texts)
			if err != nil {
				t.Fatal(err)
			}
			for i, text := range texts {
				if want := spelt(strings.TrimSpace(text)); !same(got[i], want) && (got[i] != nil || want != nil) {
					t.Errorf("%q has another vector than its server made", text)
				}
			}
			id := ready(t, e)
			if want := append(a.models, "")[0]; id.Provider != HTTP || id.Model != want || id.Dim != wordsDim || id.Lexical {
				t.Errorf("Ready = %+v; want the model %q of %d numbers", id, want, wordsDim)
			}
		})
	}
}

func TestServerBehindASocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "emb") // a test's own folder may have too long a name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "embed.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(answers{}.handler(t, spelling))
	s.Listener = listener
	s.Start()
	t.Cleanup(s.Close)
	for _, scheme := range []string{"unix://", "http+unix://"} {
		if got := embedOne(t, client(t, scheme+socket), "harbour"); !same(got, spelt("harbour")) {
			t.Errorf("%s%s makes another vector", scheme, socket)
		}
	}
}

func TestPathsBelowAServer(t *testing.T) {
	url := serve(t, answers{}, spelling)
	for _, path := range []string{"", "/", "/v1", "/v1/", "/v1/embeddings"} {
		if got := embedOne(t, client(t, url+path), "harbour"); !same(got, spelt("harbour")) {
			t.Errorf("with the path %q the vector is another", path)
		}
	}
}

// A server that takes so many letters, like one whose model has no more places.
func TestTextsThatAreTooLarge(t *testing.T) {
	const most = 100
	for name, refusal := range map[string]struct {
		code int
		body string
	}{
		"llama-server":       {500, `{"error":{"code":500,"message":"input is too large to process. increase the physical batch size","type":"server_error"}}`},
		"later llama-server": {400, `{"error":{"code":400,"message":"request (900 tokens) exceeds the available context size (512 tokens)","type":"exceed_context_size_error"}}`},
		"Ollama":             {400, `{"error":{"message":"the input length exceeds the context length","type":"api_error"}}`},
		"a proxy":            {413, ``},
	} {
		t.Run(name, func(t *testing.T) {
			a := answers{refuse: func(texts []string) (int, string) {
				if slices.ContainsFunc(texts, func(s string) bool { return len(s) > most }) {
					return refusal.code, refusal.body
				}
				return 0, ""
			}}
			e := client(t, serve(t, a, spelling))
			long := strings.Repeat("harbour at dawn ", 60)
			got, err := e.Embed(t.Context(), Passage, []string{"tax report", long, "dawn"})
			if err != nil {
				t.Fatal(err)
			}
			if !same(got[0], spelt("tax report")) || !same(got[2], spelt("dawn")) {
				t.Error("the texts beside the one that is too large have other vectors")
			}
			if cosine(got[1], spelt(long[:64])) < 0.95 {
				t.Error("the long text's vector is not that of its beginning")
			}
		})
	}
}

func TestAServerThatTakesNothing(t *testing.T) {
	var asked atomic.Int32
	a := answers{refuse: func(texts []string) (int, string) {
		if texts[0] == probe {
			return 0, ""
		}
		asked.Add(1)
		return 500, `{"error":{"message":"input is too large to process"}}`
	}}
	e := client(t, serve(t, a, spelling))
	_, err := e.Embed(t.Context(), Passage, []string{strings.Repeat("harbour ", 1000)})
	if !errors.Is(err, errTooLarge) {
		t.Errorf("Embed: %v; want %v", err, errTooLarge)
	}
	if n := asked.Load(); n > 8 {
		t.Errorf("the server was asked %d times", n)
	}
}

func TestLongTextsAreCutBeforeTheyAreSent(t *testing.T) {
	longest := 0
	a := answers{refuse: func(texts []string) (int, string) {
		longest = max(longest, len(texts[0]))
		return 0, ""
	}}
	e := client(t, serve(t, a, spelling), func(o *Options) { o.MaxTokens = 64 })
	embedOne(t, e, strings.Repeat("harbour at dawn, ", 10_000))
	if longest < 100 || longest > 64*lettersOfWord {
		t.Errorf("of a text for 64 tokens %d bytes were sent", longest)
	}
}

func TestServerIsSentPrefixesAndItsKey(t *testing.T) {
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var asked struct{ Input []string }
		_ = json.Unmarshal(body, &asked)
		got = append(got, r.Header.Get("Authorization")+" "+strings.Join(asked.Input, "|"))
		reply(t, w, map[string]any{"data": answers{}.vectors(asked.Input, spelling)})
	}))
	t.Cleanup(s.Close)
	e := client(t, s.URL, func(o *Options) {
		o.Key, o.URLModel, o.QueryPrefix, o.PassagePrefix = "sesame", "minilm", "query: ", "passage: "
	})
	for _, p := range []Purpose{Query, Passage, Claim} {
		if _, err := e.Embed(t.Context(), p, []string{"where is the harbour"}); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"Bearer sesame " + probe, "Bearer sesame query: where is the harbour", "Bearer sesame passage: where is the harbour", "Bearer sesame passage: where is the harbour"}
	if !slices.Equal(got, want) {
		t.Errorf("the server got %q, want %q", got, want)
	}
}

func TestSeveralModelsNeedAName(t *testing.T) {
	url := serve(t, answers{models: []string{"minilm", "llama3"}}, spelling)
	_, err := client(t, url).Ready(t.Context())
	if want := "has 2 models; set embedding.url_model to one of them"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("Ready: %v, want %s", err, want)
	}
	if id := ready(t, client(t, url, func(o *Options) { o.URLModel = "minilm" })); id.Model != "minilm" {
		t.Errorf("the model is %q, want minilm", id.Model)
	}
}

func TestOnlyThisMachineIsAsked(t *testing.T) {
	for url, want := range map[string]string{
		"http://192.168.1.2:11434":  "embedding.url names another machine, 192.168.1.2, but emberd sends texts only to this machine; run the server here and use http://127.0.0.1:PORT",
		"http://api.example.org/v1": "embedding.url names another machine, api.example.org, but emberd sends texts only to this machine; run the server here and use http://127.0.0.1:PORT",
		"http://localhost.evil.org": "embedding.url names another machine, localhost.evil.org, but emberd sends texts only to this machine; run the server here and use http://127.0.0.1:PORT",
		"http://0.0.0.0:8080":       "embedding.url names another machine, 0.0.0.0, but emberd sends texts only to this machine; run the server here and use http://127.0.0.1:PORT",
		"https://127.0.0.1:8080":    `invalid embedding.url: the scheme "https" is not supported, or the host is missing; use http://127.0.0.1:PORT or unix:///path/of/socket`,
		"unix://host/path":          `invalid embedding.url: the scheme "unix" is not supported, or the host is missing; use http://127.0.0.1:PORT or unix:///path/of/socket`,
		"127.0.0.1:8080": "invalid embedding.url; use http://127.0.0.1:PORT or " +
			"unix:///path/of/socket; if the server requires a key, write the key to a file and set embedding.key_file",
		"http://key@127.0.0.1:8080": "invalid embedding.url; use http://127.0.0.1:PORT or " +
			"unix:///path/of/socket; if the server requires a key, write the key to a file and set embedding.key_file",
		"http://127.0.0.1:8080?k=xy": "invalid embedding.url; use http://127.0.0.1:PORT or " +
			"unix:///path/of/socket; if the server requires a key, write the key to a file and set embedding.key_file",
	} {
		if _, err := Open(Options{Providers: []string{HTTP}, URL: url}); err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", url, err, want)
		}
	}
}

// A name that leads elsewhere is found out before anything is sent: in the dialler, whose
// address is what the resolver made of the name.
func TestNamesThatLeadElsewhere(t *testing.T) {
	opt := Options{URL: "http://localhost:1", MaxTokens: defaultMaxTokens}
	s, err := newServer(&opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"192.0.2.1:80", "[2001:db8::1]:80", "[::ffff:192.0.2.1]:80"} {
		if conn, err := s.transport.DialContext(t.Context(), "tcp", address); !errors.Is(err, errElsewhere) {
			t.Errorf("%s is dialled: %v, %v", address, conn, err)
		}
	}
	want := "invalid embedding.url http://localhost:1: the host name resolves to another machine, but emberd sends texts only to this machine; use http://127.0.0.1:PORT"
	if err := s.unanswered(t.Context(), &net.OpError{Op: "dial", Err: errElsewhere}); err.Error() != want || errors.Is(err, ErrAway) {
		t.Errorf("the error is %v, want %s", err, want)
	}
	if s.transport.Proxy != nil {
		t.Error("proxies are used")
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	var strayed atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed.Add(1) }))
	t.Cleanup(other.Close)
	for _, code := range []int{301, 302, 307, 308} {
		s := httptest.NewServer(http.RedirectHandler(other.URL+"/v1/embeddings", code))
		_, err := client(t, s.URL, func(o *Options) { o.URLModel = "minilm" }).Ready(t.Context())
		want := fmt.Sprintf("the server at %s redirects requests, but emberd does not follow redirects; set "+
			"embedding.url to the target of the redirect", s.URL)
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("Ready: %v, want %s", err, want)
		}
		s.Close()
	}
	if n := strayed.Load(); n != 0 {
		t.Errorf("the other server was asked %d times", n)
	}
}

// A caller that does not wait learns nothing of the server, which is asked again.
func TestSlowServerIsNotBlamed(t *testing.T) {
	release := make(chan struct{})
	var slow atomic.Bool
	slow.Store(true)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if slow.Load() {
			<-release
		}
		var asked struct{ Input []string }
		_ = json.Unmarshal(body, &asked)
		reply(t, w, map[string]any{"data": answers{}.vectors(asked.Input, spelling)})
	}))
	t.Cleanup(s.Close)
	e := client(t, s.URL, func(o *Options) { o.URLModel = "minilm" })
	ctx, cancel := context.WithCancelCause(t.Context())
	go cancel(errors.New("enough"))
	if _, err := e.Ready(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Ready: %v, want that the caller did not wait", err)
	}
	slow.Store(false)
	close(release)
	if got := embedOne(t, e, "harbour"); !same(got, spelt("harbour")) {
		t.Error("afterwards the vector is another")
	}
}

// Half open: a socket that takes connections and never answers.
func TestServerThatNeverAnswers(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	e := client(t, "http://"+listener.Addr().String(), func(o *Options) { o.URLModel = "minilm" })
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if conn, err := listener.Accept(); err == nil {
			_, _ = conn.Read(make([]byte, 1)) // the request is there
			cancel()
			_ = conn.Close()
		}
	}()
	if _, err := e.Ready(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Ready: %v, want the end of the caller's patience", err)
	}
}
