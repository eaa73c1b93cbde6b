package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var linkOf = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestDocsLinks follows every relative link of the documentation: its file exists.
func TestDocsLinks(t *testing.T) {
	t.Parallel()
	top := filepath.Join("..", "..")
	pages := []string{"README.md", "ARCHITECTURE.md", "CHANGELOG.md"}
	err := filepath.WalkDir(filepath.Join(top, "docs"), func(path string, _ fs.DirEntry, err error) error {
		if rel, relErr := filepath.Rel(top, path); relErr == nil && strings.HasSuffix(path, ".md") {
			pages = append(pages, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		for _, m := range linkOf.FindAllStringSubmatch(strings.Join(docsPage(t, page), "\n"), -1) {
			to, _, _ := strings.Cut(m[1], "#")
			if to == "" || strings.Contains(to, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(top, filepath.Dir(page), to)); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
	}
}
