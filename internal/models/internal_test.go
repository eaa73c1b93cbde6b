package models

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A server that falls silent is given up.
func TestSilence(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/begun" {
			_, _ = w.Write([]byte("begun"))
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	for _, path := range []string{"/begun", "/never"} {
		tr := transfer{source: server.URL + path, to: filepath.Join(t.TempDir(), "x"), maxSize: 100,
			silence: 50 * time.Millisecond}
		if _, _, err := tr.run(t.Context()); err == nil || !strings.Contains(err.Error(), "received no data for 50ms") {
			t.Errorf("%s: %v, want that nothing came", path, err)
		}
	}
}

// A proxy of the environment would get the request; it is read once in a process, so that a test
// cannot set one.
func TestProxyIsTheDefault(t *testing.T) {
	if http.DefaultTransport.(*http.Transport).Proxy == nil {
		t.Error("the default client ignores the environment's proxy")
	}
}

// A server elsewhere must not make this machine ask its own services.
func TestRedirectsToThisMachine(t *testing.T) {
	for _, tt := range []struct {
		from, to string
		want     bool // whether it is followed
	}{
		{"https://example.org/x", "https://cdn.example.org/x", true},
		{"http://example.org/x", "http://10.0.0.7/x", true}, // a mirror of one's own network
		{"http://localhost:8080/x", "http://127.0.0.1:9090/x", true},
		{"https://example.org/x", "http://example.org/x", false},
		{"http://example.org/x", "http://localhost:8080/x", false},
		{"http://example.org/x", "http://a.localhost/x", false},
		{"http://example.org/x", "http://LocalHost/x", false},
		{"http://example.org/x", "http://localhost./x", false},
		{"https://example.org/x", "https://127.0.0.1/x", false},
		{"http://example.org/x", "http://[::1]:80/x", false},
		{"http://example.org/x", "http://[::ffff:127.0.0.1]/x", false},
		{"http://example.org/x", "http://0.0.0.0/x", false},
		{"http://example.org/x", "http://169.254.169.254/latest", false},
	} {
		request := func(address string) *http.Request {
			u, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			return &http.Request{URL: u, Header: http.Header{}}
		}
		err := checkRedirect(request(tt.to), []*http.Request{request(tt.from)})
		if (err == nil) != tt.want || err != nil && !errors.Is(err, errRedirect) {
			t.Errorf("from %s to %s: %v, want it followed: %v", tt.from, tt.to, err, tt.want)
		}
	}
}

func TestShownSource(t *testing.T) {
	for _, tt := range []struct{ source, want string }{
		{"https://ann:geheim@example.org/a/b.gguf?token=geheim#geheim", "https://example.org/a/b.gguf"},
		{"https://example.org/a%20b", "https://example.org/a%20b"},
		{"http://%zz/geheim", "http://..."},
		{"/home/ann/geheim?", "/home/ann/geheim?"},
		{"./a://b", "./a://b"},
	} {
		if got := shownSource(tt.source); got != tt.want {
			t.Errorf("shownSource(%q) = %q, want %q", tt.source, got, tt.want)
		}
	}
}

// The owner of a file may change it while it is read; a local file is bounded like a download.
func TestLocalFileIsBounded(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(name, make([]byte, 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	tr := transfer{source: name, to: name + ".new", maxSize: 4999, silence: time.Minute}
	if _, _, err := tr.run(context.Background()); err == nil || !strings.Contains(err.Error(), "limited to 4999 bytes") {
		t.Errorf("run: %v, want the bound", err)
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]bool{
		"libllama.so": true, "libllama.so.0": true, "libllama.so.0.0.9165": true, "libllama.v0.5.0.so": true,
		"libllama.dylib": true, "libllama.0.dylib": true, "libllama.metal.b8390.dylib": true,
		"libllama-common.so": false, "libllama.a": false, "libllamafile.so": false, "xlibllama.so": false,
		"libggml.so": false,
	} {
		if got := isMain(name); got != want {
			t.Errorf("isMain(%q) = %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string]bool{
		"libllama.so": true, "libggml.so.0": true, "libggml-base.so": true, "libggml-cpu-sapphirerapids.so": true,
		"libggml.metal.b8390.dylib": true, "_nlcBuildMetadata.json": true, "LICENSE": true, "LICENSE-curl": true,
		"default.metallib": true, "libllama-common.so": false, "libmtmd.so": false, "llama-addon.node": false,
		"llama-cli": false, "engine.json": false, "libggml-base.a": false, "../libggml.so": false,
		"a/libggml.so": false,
	} {
		if got := isPart(name); got != want {
			t.Errorf("isPart(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestReleases(t *testing.T) {
	order := []string{"", "b5640", "b8390", "b10361", "v0.4.0", "v0.5.0", "v0.10.0", "v1.0"}
	for i, a := range order {
		for j, b := range order {
			if got, want := compareReleases(a, b), cmp.Compare(i, j); got != want {
				t.Errorf("compareReleases(%q, %q) = %d, want %d", a, b, got, want)
			}
		}
	}
	if compareReleases("0.5.0-dev", "v0.5.0") != 0 || compareReleases("master", "") != 0 {
		t.Error("a release without its v, or a name that is none, is compared wrongly")
	}
}
