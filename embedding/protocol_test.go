package embedding

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// refusals are the answers of servers that cannot, in the words that their users report.
func refusals() map[string]struct {
	code int
	body string
	want string // of the error, after the server's name
	away bool
} {
	type refusal = struct {
		code int
		body string
		want string
		away bool
	}
	return map[string]refusal{
		"llama-server without embeddings": {501, `{"error":{"code":501,"message":"This server does not support embeddings. Start it with --embeddings","type":"not_supported_error"}}`,
			"does not compute embeddings with this model; select an embedding model, and start llama-server with --embeddings", false},
		"llama-server while loading": {503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`,
			"is not available now: HTTP status 503; the server might still be loading its model", true},
		"Ollama without the model": {404, `{"error":{"message":"model \"minilm\" not found, try pulling it first","type":"api_error"}}`,
			`does not have model "minilm"; load the model on the server, or set another model in embedding.url_model`, false},
		"LM Studio without a model": {400, `{"error":"No models loaded. Please load a model in the developer page or use the 'lms load' command."}`,
			"is not available as an embedding provider: no model is loaded; load a model on the server", true},
		"LM Studio with a chat model": {400, `{"error":{"message":"Failed to load model \"minilm\". Error: Model is not embedding.","type":"invalid_request_error","param":"model","code":"model_not_found"}}`,
			`does not have model "minilm"; load the model on the server, or set another model in embedding.url_model`, false},
		"a key is wanted": {401, `{"error":{"message":"Invalid API Key","type":"authentication_error"}}`, "requires a key; write the key to a file, and set embedding.key_file to the path of the file", false},
		"too busy":        {429, ``, "is not available now: HTTP status 429; the server might still be loading its model", true},
		"broken":          {500, `{"error":{"message":"harbour secret"}}`, "does not embed texts: HTTP status 500; see the log of the server", false},
		"Ollama's own API": {200, `{"embedding":[1,2,3]}`, "the response does not use the OpenAI embeddings format; check " +
			"embedding.url", false},
		"too few":        {200, `{"data":[]}`, "the response does not use the OpenAI embeddings format; check embedding.url", false},
		"too many":       {200, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1]}]}`, "the response contains 2 embeddings instead of 1; see the log of the server", false},
		"wrong index":    {200, `{"data":[{"index":1,"embedding":[1]}]}`, "the response contains wrong index numbers for the embeddings of 1 texts", false},
		"negative index": {200, `{"data":[{"index":-1,"embedding":[1]}]}`, "the response contains wrong index numbers for the embeddings of 1 texts", false},
		"null":           {200, `{"data":[{"index":0,"embedding":[0.5,null]}]}`, broken, false},
		"no vector":      {200, `{"data":[{"index":0,"embedding":null}]}`, broken, false},
		"nothing":        {200, `{"data":[{"index":0}]}`, broken, false},
		"zero":           {200, `{"data":[{"index":0,"embedding":[0,0]}]}`, broken, false},
		"empty":          {200, `{"data":[{"index":0,"embedding":[]}]}`, broken, false},
		"too great":      {200, `{"data":[{"index":0,"embedding":[1e39]}]}`, broken, false},
		"nested":         {200, `{"data":[{"index":0,"embedding":[[1,2]]}]}`, broken, false},
		"NaN in base64":  {200, `{"data":[{"index":0,"embedding":"AADAfw=="}]}`, broken, false},
		"odd base64":     {200, `{"data":[{"index":0,"embedding":"AAAA"}]}`, broken, false},
		"NaN": {200, `{"data":[{"index":0,"embedding":[NaN]}]}`, "the response does not use the OpenAI " +
			"embeddings format; check embedding.url", false},
		"a page": {200, `<html>welcome</html>`, "the response does not use the OpenAI embeddings format; check " +
			"embedding.url", false},
		"too long a vector": {200, `{"data":[{"index":0,"embedding":[1` + strings.Repeat(",1", maxDim) + `]}]}`, "the response contains an embedding with 16385 dimensions (limit 16384)", false},
		"too much":          {200, strings.Repeat(" ", perAnswer+maxDim*perNumber+1), "", false},
	}
}

const broken = "the response contains an embedding that is zero or not finite; the model of the server might be damaged"

// One vector in 8,000 has the word in its base64.
func TestBase64MaySpellNull(t *testing.T) {
	v := []float32{math.Float32frombits(0x3f65e99e), 0.5}
	raw := fmt.Appendf(nil, "%q", packed(v))
	if !bytes.Contains(raw, []byte("null")) {
		t.Fatalf("%s does not spell null", raw)
	}
	got, err := readVector(raw)
	if err != nil || !same(got, v) {
		t.Errorf("readVector(%s) = %v, %v; want %v at length one", raw, got, err, v)
	}
}

func TestServersThatCannot(t *testing.T) {
	for name, r := range refusals() {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(r.code)
				_, _ = io.WriteString(w, r.body)
			}))
			t.Cleanup(s.Close)
			e := client(t, s.URL, func(o *Options) { o.URLModel = "minilm" })
			_, err := e.Ready(t.Context())
			want := "the server at " + s.URL + " " + r.want
			if strings.HasPrefix(r.want, "the response ") {
				want = "invalid response of the server at " + s.URL + ": " + r.want
			}
			if name == "too much" {
				want = "too many bytes in the response of the server at " + s.URL + " (limit 589824)"
			}
			if err == nil || err.Error() != want || !errors.Is(err, ErrNone) {
				t.Errorf("Ready: %v\nwant: %s", err, want)
			}
			e.Keep([]Identity{{Provider: HTTP, Server: s.URL, Model: "minilm"}})
			if _, err = e.Ready(t.Context()); errors.Is(err, ErrAway) != r.away {
				t.Errorf("with vectors of this server, Ready: %v; want it to be waited for: %t", err, r.away)
			}
		})
	}
}

// Whatever a server answers, what is taken of it are vectors: as many as there are texts,
// of one length, of length one.
func FuzzReadVectors(f *testing.F) {
	f.Add([]byte(`{"data":[{"index":1,"embedding":[0.6,0.8]},{"index":0,"embedding":"AACAPwAAAAA="}]}`), 2)
	for _, r := range refusals() {
		if len(r.body) < 1000 {
			f.Add([]byte(r.body), 1)
		}
	}
	f.Fuzz(func(t *testing.T, answer []byte, n int) {
		n = 1 + abs(n%8)
		vectors, err := readVectors(answer, n)
		if err != nil {
			return
		}
		if len(vectors) != n {
			t.Fatalf("for %d texts there are %d vectors", n, len(vectors))
		}
		for _, v := range vectors {
			if len(v) != len(vectors[0]) || math.Abs(cosine(v, v)-1) > 1e-6 || math.Abs(dot(v, v)-1) > 1e-3 {
				t.Fatalf("one of the vectors is %v", v)
			}
		}
	})
}

func dot(a, b []float32) (sum float64) {
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}
