package models_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"emberd/internal/models"
)

// header answers with a status, a header and a body.
func header(name, value string, status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(name, value)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func TestDownloadRefuses(t *testing.T) {
	const kind, octets = "Content-Type", "application/octet-stream"
	redirect := func(to string) string {
		return answer(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
	}
	for _, tt := range []struct {
		name, source string
		want         []string
	}{
		{"another scheme", "ftp://example.org/x", []string{"invalid download URL"}},
		{"file scheme", "file:///etc/passwd", []string{"invalid download URL"}},
		{"no host", "http://", []string{"invalid download URL"}},
		{"no server", "http://127.0.0.1:1", []string{"cannot reach", "connection refused"}},
		{"not found", answer(t, http.NotFound), []string{"the server did not find the file", "404"}},
		{"login", answer(t, header(kind, octets, 401, "")), []string{"the server requires you to log in or accept terms; download the file with a browser, and install it from its path", "401"}},
		{"busy", answer(t, header(kind, octets, 503, "")), []string{"try again later", "503"}},
		{"no content", answer(t, header(kind, octets, 204, "")), []string{"the server did not return the file", "204"}},
		{"web page", answer(t, header(kind, "text/html; charset=utf-8", 200, "hello")), []string{"the server returned a web page"}},
		{"packed", answer(t, header("Content-Encoding", "br", 200, "x")), []string{"the server sent the file compressed"}},
		{"less than announced", answer(t, header("Content-Length", "5000", 200, "x")), []string{"was interrupted",
			"try again"}},
		{"redirect elsewhere", redirect("ftp://example.org/x?token=geheim"), []string{"the target URL has the unsupported scheme ftp"}},
		{"redirect to nowhere", redirect("http://%zz/geheim"), []string{"the target is not a valid URL"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := openModels(t)
			// Neither part of an address that may be a secret is in an error.
			source := strings.Replace(tt.source, "http://127", "http://anna:geheim@127", 1) + "/x?token=geheim"
			_, err := m.Install(t.Context(), models.Source{Place: source, SHA256: strings.Repeat("0", 64),
				Name: "x"}, nil)
			fails(t, err, tt.want...)
			if err != nil && (strings.Contains(err.Error(), "geheim") || strings.Contains(err.Error(), "anna")) {
				t.Errorf("error %q tells a secret", err)
			}
			holds(t, m.dir)
		})
	}
}

// A pinned size is compared before the first byte where the server states it, and while reading
// in any case.
func TestDownloadOfAnotherSize(t *testing.T) {
	k := models.Pinned().Models[0]
	for name, f := range map[string]http.HandlerFunc{
		"announced": header("Content-Length", "5000", 200, strings.Repeat("x", 5000)),
		"without end": func(w http.ResponseWriter, _ *http.Request) {
			for range 1000 {
				if _, err := w.Write(make([]byte, 100_000)); err != nil {
					return
				}
			}
		},
	} {
		m := openModels(t)
		_, err := m.Install(t.Context(), models.Source{Place: answer(t, f), SHA256: k.SHA256, Name: "x"}, nil)
		fails(t, err, "25008064", "this is not the expected file")
		if err == nil {
			t.Errorf("%s was taken", name)
		}
		holds(t, m.dir)
	}
}

func TestRedirects(t *testing.T) {
	data := tiny(t)
	end := serve(t, data)
	hops := 0
	hop := ""
	hop = answer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Referer") != "" {
			t.Errorf("the address before was told: %s", r.Header.Get("Referer"))
		}
		to := hop
		if hops--; hops == 0 {
			to = end
		}
		http.Redirect(w, r, to, http.StatusFound)
	})
	for n, want := range map[int]bool{5: true, 6: false} {
		hops = n
		m := openModels(t)
		_, err := m.Install(t.Context(), models.Source{Place: hop, SHA256: digest(data), Name: "x"}, nil)
		if want && err != nil {
			t.Errorf("%d redirects: %v", n, err)
		}
		if !want {
			fails(t, err, "emberd did not follow the redirect")
		}
	}
}

func TestFolderThatCannotBeWritten(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write anywhere")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	m := models.Open(filepath.Join(dir, "models"))
	_, err := m.Install(t.Context(), models.Source{Place: file(t, "m.gguf", tiny(t))}, nil)
	fails(t, err, "cannot be written to: choose another folder")
	if !errors.Is(err, os.ErrPermission) {
		t.Errorf("Install: %v, want ErrPermission", err)
	}
}
