package fetch

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// content is a file that a server has, the same in every run.
func content(size int) []byte {
	data := make([]byte, size)
	rng := rand.NewChaCha8([32]byte{1})
	_, _ = rng.Read(data)
	return data
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// A shelf is a server with one file, and the faults that a test wants of it.
type shelf struct {
	*httptest.Server
	mu      sync.Mutex
	data    []byte
	etag    string
	cut     int // the connection ends after so many bytes of an answer, if not 0
	noRange bool
	always  bool     // it knows ranges, but not If-Range
	asked   []string // the Range headers
}

func newShelf(t *testing.T, data []byte, etag string) *shelf {
	t.Helper()
	s := &shelf{data: data, etag: etag}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	data, etag, cut := s.data, s.etag, s.cut
	noRange, always := s.noRange, s.always
	s.asked = append(s.asked, r.Header.Get("Range"))
	s.mu.Unlock()
	if noRange {
		r.Header.Del("Range")
	}
	if always {
		r.Header.Del("If-Range")
	}
	if etag != "" {
		w.Header().Set("ETag", etag)
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	if cut > 0 {
		w = &cutting{w, cut}
	}
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(data)))
}

// with changes what the server does from now on.
func (s *shelf) with(change func(*shelf)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

func (s *shelf) ranges() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

// cutting ends the connection after so many bytes.
type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(p []byte) (int, error) {
	if len(p) >= c.left {
		_, _ = c.ResponseWriter.Write(p[:c.left])
		c.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}

// serve is a server that answers in one way.
func serve(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL
}

func sends(header map[string]string, status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for k, v := range header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func place(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "models", "model.gguf")
}

// fetched runs Fetch and fails the test if it does.
func fetched(t *testing.T, o Options) *File {
	t.Helper()
	if o.Most == 0 {
		o.Most = 1 << 30
	}
	f, err := Fetch(t.Context(), o)
	if err != nil {
		t.Fatalf("Fetch: %v", err)
	}
	return f
}

// refused runs Fetch and returns what it says.
func refused(t *testing.T, o Options) string {
	t.Helper()
	if o.Most == 0 {
		o.Most = 1 << 30
	}
	f, err := Fetch(t.Context(), o)
	if err == nil {
		t.Fatalf("Fetch = %+v, want an error", f)
	}
	return err.Error()
}

// holds checks the content of the file at a path, and that nothing partial is beside it.
func holds(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if digest(got) != digest(want) {
		t.Errorf("%s has %d bytes with digest %s, want %d with %s", path, len(got), digest(got), len(want), digest(want))
	}
	only(t, path, filepath.Base(path))
}

// only checks which files are in the folder of a path.
func only(t *testing.T, path string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
}

func rangeFrom(n int64) string { return "bytes=" + strconv.FormatInt(n, 10) + "-" }
