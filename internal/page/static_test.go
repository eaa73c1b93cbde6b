package page

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"path"
	"strings"
	"testing"
)

// TestLibrariesAreAsPublished holds each vendored file against its digest, and wants its license.
func TestLibrariesAreAsPublished(t *testing.T) {
	known := map[string]bool{}
	for _, l := range vendored {
		sum := sha256.Sum256(embedded("static/vendor/" + l.file))
		if got := hex.EncodeToString(sum[:]); got != l.sha256 {
			t.Errorf("%s of %s %s has the SHA-256 %s, want %s", l.file, l.name, l.version, got, l.sha256)
		}
		if len(embedded("static/vendor/LICENSE-"+l.name)) == 0 {
			t.Errorf("the license of %s (%s) is missing", l.name, l.license)
		}
		known[l.file], known["LICENSE-"+l.name] = true, true
	}
	entries, err := fs.ReadDir(files, "static/vendor")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !known[e.Name()] {
			t.Errorf("static/vendor/%s is not in the table", e.Name())
		}
	}
}

// TestPageIsSmall counts the bytes that a browser loads, after gzip.
func TestPageIsSmall(t *testing.T) {
	const most = 80 << 10
	total := 0
	for _, l := range vendored {
		total += len(compressed("static/vendor/" + l.file))
	}
	for _, name := range own {
		total += len(compressed("static/" + name))
	}
	if total > most {
		t.Errorf("the files have %d bytes, more than %d", total, most)
	}
	t.Logf("%d bytes after gzip", total)
}

// TestNothingIsLoadedFromElsewhere: the files of this package name no other server, and the templates
// have no script, style or handler of their own, which the policy would not run.
func TestNothingIsLoadedFromElsewhere(t *testing.T) {
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(name, "static/vendor/") {
			return err
		}
		text := strings.ReplaceAll(string(embedded(name)), "http://www.w3.org/2000/svg", "")
		for _, bad := range []string{"http://", "https://", "src=\"//", "url(", "@import", "innerHTML", "insertAdjacentHTML",
			"document.write", "eval(", "new Function"} {
			if strings.Contains(text, bad) && !(bad == "innerHTML" && path.Ext(name) == ".html") && !strings.Contains(text, `swap: "innerHTML"`) {
				t.Errorf("%s contains %q", name, bad)
			}
		}
		if path.Ext(name) == ".html" && name != "templates/export.html" {
			for _, bad := range []string{"style=", "<style", "onclick", "onload", "hx-on", "js:"} {
				if strings.Contains(text, bad) {
					t.Errorf("%s contains %q", name, bad)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
