package fetch

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDownload(t *testing.T) {
	data := content(300_000)
	s := newShelf(t, data, `"v1"`)
	to := place(t)
	var done, total int64
	got := fetched(t, Options{Source: s.URL + "/m.gguf", To: to, SHA256: strings.ToUpper(digest(data)), Size: int64(len(data)),
		Progress: func(d, all int64) { done, total = d, all }})
	if got.SHA256 != digest(data) || got.Size != int64(len(data)) || got.Resumed != 0 {
		t.Errorf("Fetch = %+v, want %d bytes of %s", got, len(data), digest(data))
	}
	if done != int64(len(data)) || total != done {
		t.Errorf("the last progress was %d of %d, want %d of %[3]d", done, total, len(data))
	}
	holds(t, to, data)
	info, err := os.Stat(to)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, want 0600", info.Mode().Perm())
	}
}

func TestDownloadReplacesWhatIsThere(t *testing.T) {
	to := place(t)
	for _, data := range [][]byte{content(1000), content(2000)} {
		fetched(t, Options{Source: newShelf(t, data, "").URL, To: to})
		holds(t, to, data)
	}
}

func TestCopy(t *testing.T) {
	data := content(300_000)
	from := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(from, data, 0o644); err != nil {
		t.Fatal(err)
	}
	to := place(t)
	got := fetched(t, Options{Source: from, To: to})
	if got.SHA256 != digest(data) {
		t.Errorf("digest %s, want %s", got.SHA256, digest(data))
	}
	holds(t, to, data)
}

func TestRefused(t *testing.T) {
	data := content(5000)
	good := newShelf(t, data, "").URL
	folder := t.TempDir()
	file := filepath.Join(folder, "m.gguf")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	other := strings.Repeat("0", 64)
	for _, tt := range []struct {
		name string
		o    Options
		want []string
	}{
		{"wrong digest", Options{Source: good, SHA256: other}, []string{digest(data), other, "was not kept"}},
		{"wrong digest of a file", Options{Source: file, SHA256: other}, []string{digest(data), other}},
		{"no digest", Options{Source: good, SHA256: "abc"}, []string{`"abc" is no SHA-256`, "64 hexadecimal"}},
		{"another size", Options{Source: good, Size: 4999}, []string{"5000 bytes where 4999 were expected"}},
		{"too large", Options{Source: good, Most: 4999}, []string{"more than 4999 bytes", "the most that is taken"}},
		{"too large a file", Options{Source: file, Most: 4999}, []string{"more than 4999 bytes"}},
		{"no file", Options{Source: filepath.Join(folder, "none")}, []string{"there is no file"}},
		{"a folder", Options{Source: folder}, []string{"is not a file"}},
		{"another scheme", Options{Source: "ftp://example.org/x"}, []string{"only http and https"}},
		{"file scheme", Options{Source: "file:///etc/passwd"}, []string{"no address"}},
		{"no host", Options{Source: "http://"}, []string{"is no address"}},
		{"nobody there", Options{Source: "http://127.0.0.1:1/x"}, []string{"cannot be reached", "connection refused"}},
		{"not found", Options{Source: serve(t, http.NotFound)}, []string{"no such file", "404"}},
		{"login", Options{Source: serve(t, sends(nil, 401, ""))}, []string{"does not give the file to everybody", "401"}},
		{"forbidden", Options{Source: serve(t, sends(nil, 403, ""))}, []string{"with a browser", "403"}},
		{"busy", Options{Source: serve(t, sends(nil, 503, ""))}, []string{"try again later", "503"}},
		{"no content", Options{Source: serve(t, sends(nil, 204, ""))}, []string{"not the file", "204"}},
		{"web page", Options{Source: serve(t, sends(map[string]string{"Content-Type": "text/html; charset=utf-8"}, 200, "hello"))}, []string{"is a web page"}},
		{"web page in disguise", Options{Source: serve(t, sends(map[string]string{"Content-Type": "application/octet-stream"}, 200, " <!DOCTYPE html><html>"))}, []string{"is a web page"}},
		{"packed", Options{Source: serve(t, sends(map[string]string{"Content-Encoding": "br"}, 200, "x"))}, []string{`packed as "br"`}},
		{"refused by the caller", Options{Source: good, Check: func(string, string) error { return os.ErrInvalid }}, []string{os.ErrInvalid.Error()}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.To = place(t)
			got := refused(t, tt.o)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("error %q, want it to have %q", got, want)
				}
			}
			if strings.Contains(got, "\n") {
				t.Errorf("error %q has more than one line", got)
			}
			only(t, tt.o.To)
		})
	}
}

// What a server says of the size is not believed: a longer body than announced is cut off by
// HTTP itself, one of unknown length is bounded while it is read.
func TestUnknownLengthIsBounded(t *testing.T) {
	source := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 100 {
			if _, err := w.Write(content(10_000)); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	})
	to := place(t)
	if got := refused(t, Options{Source: source, To: to, Most: 50_000}); !strings.Contains(got, "more than 50000 bytes") {
		t.Errorf("error %q, want the bound", got)
	}
	if got := refused(t, Options{Source: source, To: to, Size: 2_000_000}); !strings.Contains(got, "1000000 bytes where 2000000 were expected") {
		t.Errorf("error %q, want the size that is missing", got)
	}
	if got := refused(t, Options{Source: source, To: to, Size: 60_000}); !strings.Contains(got, "more than the 60000 bytes") {
		t.Errorf("error %q, want the expected size", got)
	}
	only(t, to)
}

func TestLyingContentLength(t *testing.T) {
	source := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "5000")
		_, _ = w.Write(content(3000))
	})
	to := place(t)
	got := refused(t, Options{Source: source, To: to})
	for _, want := range []string{"broke off after 3000 bytes of 5000 bytes", "start anew"} {
		if !strings.Contains(got, want) {
			t.Errorf("error %q, want it to have %q", got, want)
		}
	}
	only(t, to) // nothing tells whether another download would be of the same file
}

func TestSecretsStayOut(t *testing.T) {
	for _, tt := range []struct{ source, want string }{
		{"https://ann:geheim@example.org/a/b.gguf?token=geheim#geheim", "https://example.org/a/b.gguf"},
		{"https://example.org/a%20b", "https://example.org/a%20b"},
		{"http://%zz/geheim", "http://..."},
		{"/home/ann/geheim?", "/home/ann/geheim?"},
		{"./a://b", "./a://b"},
	} {
		if got := Shown(tt.source); got != tt.want {
			t.Errorf("Shown(%q) = %q, want %q", tt.source, got, tt.want)
		}
	}
	to := place(t)
	refusing := strings.Replace(serve(t, http.NotFound), "http://", "http://anna:geheim@", 1) + "/x?token=geheim"
	nobody := "http://anna:geheim@127.0.0.1:1/x?token=geheim"
	for _, source := range []string{refusing, nobody} {
		if got := refused(t, Options{Source: source, To: to}); strings.Contains(got, "geheim") || strings.Contains(got, "anna") {
			t.Errorf("error %q tells a secret", got)
		}
	}
}

func TestNoteTellsNoSecret(t *testing.T) {
	s := newShelf(t, content(3*checkpoint), `"v1"`)
	s.with(func(s *shelf) { s.cut = 2 * checkpoint })
	to := place(t)
	source := strings.Replace(s.URL, "http://", "http://anna:geheim@", 1) + "/x?token=geheim"
	if got := refused(t, Options{Source: source, To: to}); !strings.Contains(got, "go on from there") {
		t.Fatalf("error %q, want one that can go on", got)
	}
	data, err := os.ReadFile(noteName(to))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "geheim") || !strings.Contains(string(data), "/x") {
		t.Errorf("the note is %s, want the address without its secrets", data)
	}
}
