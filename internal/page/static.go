package page

import (
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed static templates
var files embed.FS

// vendored are the libraries that browsers load, as their authors publish them on npm, with the
// SHA-256 of each file. Their licenses are in the same folder.
var vendored = []library{
	{"htmx.min.js", "htmx.org", "2.0.11", "0BSD", "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717"},
	{"idiomorph-ext.min.js", "idiomorph", "0.8.0", "0BSD",
		"5811b9a7eda14878b7dab4378bf60432e1bb6f11fcfb970cc26540642650181e"},
	{"uPlot.iife.min.js", "uplot", "1.6.32", "MIT", "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f"},
	{"uPlot.min.css", "uplot", "1.6.32", "MIT", "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04"},
	{"d3-force.min.js", "d3-force", "3.0.0", "ISC", "1e07b473241328795d5ea9ad479a7bbabd765012fa2ef95633c83b69868dff6b"},
	{"d3-quadtree.min.js", "d3-quadtree", "3.0.1", "ISC",
		"57e2ad12824ed82893ba447523f2a2fb9beeb9222aafb2c778a9f5b313348b0e"},
	{"d3-dispatch.min.js", "d3-dispatch", "3.0.1", "ISC",
		"94b3bbdb6b98dc1325a15762b051013e8253999b0e0436b27d1da17b952ba0af"},
	{"d3-timer.min.js", "d3-timer", "3.0.1", "ISC", "911ceda305f014b6b53ca68d5c896a9a387da120cfd56a421a2c60cca2fc9b36"},
}

// library is one file of a library of another author.
type library struct{ file, name, version, license, sha256 string }

// own are the files of this package.
var own = []string{"style.css", "app.js", "draw.js", "icon.svg"}

var types = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml"}

// place returns the path of a file in the embedded folder, "" if it is not served.
func place(file string) string {
	for _, name := range own {
		if name == file {
			return "static/" + name
		}
	}
	for _, l := range vendored {
		if l.file == file {
			return "static/vendor/" + l.file
		}
	}
	return ""
}

// embedded returns a file of the program itself.
func embedded(name string) []byte {
	text, _ := files.ReadFile(name) // place and Export name files that are there
	return text
}

// compressed returns a file after gzip; each is compressed once.
var compressed = func() func(name string) []byte {
	var mu sync.Mutex
	done := map[string][]byte{}
	return func(name string) []byte {
		mu.Lock()
		defer mu.Unlock()
		if done[name] == nil {
			var b strings.Builder
			z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
			_, _ = z.Write(embedded(name)) // to memory
			_ = z.Close()
			done[name] = []byte(b.String())
		}
		return done[name]
	}
}()

// asset returns the address of a file, with the beginning of its digest. Another release has another address for a file
// that it changed, so a browser needs to load each file once.
func asset(file string) string {
	return "/static/" + file + "?v=" + digestOf(place(file))
}

// digestOf returns the beginning of the SHA-256 of a file.
func digestOf(name string) string {
	sum := sha256.Sum256(embedded(name))
	return hex.EncodeToString(sum[:6])
}

// static serves the files. They hold nothing of the user's, so that they need no session.
func (p *Page) static(w http.ResponseWriter, r *http.Request) {
	name := place(r.PathValue("file"))
	if name == "" {
		http.Error(w, "file not found", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", types[path.Ext(name)])
	w.Header().Set("Cache-Control", "no-cache")
	if r.URL.Query().Get("v") == digestOf(name) {
		w.Header().Set("Cache-Control", "private, max-age=86400, immutable")
	}
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		_, _ = w.Write(embedded(name))
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(compressed(name))
}
