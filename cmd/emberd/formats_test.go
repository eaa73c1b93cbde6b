package main

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"emberd/memory"
)

// tableOf is the rows of the tables below a heading of a page, cell by cell.
func tableOf(t *testing.T, page []string, heading string) (rows [][]string) {
	t.Helper()
	at := slices.Index(page, heading)
	if at < 0 {
		t.Fatalf("there is no heading %q", heading)
	}
	for _, line := range page[at+1:] {
		if strings.HasPrefix(line, "#") {
			break
		}
		if cells := strings.Split(line, "|"); len(cells) > 3 && !strings.HasPrefix(line, "|---") {
			rows = append(rows, cells[1:len(cells)-1])
		}
	}
	return rows
}

func namesIn(rows [][]string, column int) (out []string) {
	for _, cells := range rows {
		for _, m := range backquoted.FindAllStringSubmatch(cells[column], -1) {
			out = append(out, m[1])
		}
	}
	return out
}

// TestDocsFormatsOfRecords: the page has every field of a memory and of a source, and none
// that is not; and the members of a line are those of the package's documentation.
func TestDocsFormatsOfRecords(t *testing.T) {
	t.Parallel()
	page := docsPage(t, "docs/reference/files.md")
	var want []string
	for _, name := range tagsOf(reflect.TypeFor[memory.Memory]()) {
		if name != "" && name != "-" {
			want = append(want, name)
		}
	}
	wantSame(t, "fields of a memory", namesIn(tableOf(t, page, "### A memory"), 0), want)
	i := slices.IndexFunc(page, func(line string) bool { return strings.HasPrefix(line, "| `sources`, ") })
	source := tagsOf(reflect.TypeFor[memory.Source]())
	wantSame(t, "members of a source", namesIn([][]string{strings.Split(page[i], "|")}, 2), source)
	doc, err := os.ReadFile(filepath.Join("..", "..", "stm", "doc.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, members, _ := strings.Cut(string(doc), "# Lines")
	members, _, _ = strings.Cut(members, "put holds a whole memory")
	var documented []string
	for _, m := range regexp.MustCompile(`(?m)^//\t([a-z]{1,4}) {2,}`).FindAllStringSubmatch(members, -1) {
		documented = append(documented, m[1])
	}
	wantSame(t, "members of a line", namesIn(tableOf(t, page, "### A line of the log"), 0), documented)
}

func wantSame(t *testing.T, what string, got, want []string) {
	t.Helper()
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("%s: the page lacks %s", what, name)
		}
	}
	for _, name := range got {
		if !slices.Contains(want, name) {
			t.Errorf("%s: the page has %s, which is none", what, name)
		}
	}
}

// TestDocsFormatsOfFiles: what a daemon leaves in its folders is on the page.
func TestDocsFormatsOfFiles(t *testing.T) {
	t.Parallel()
	r := newReader(t, "docs/reference/files.md")
	r.starts("emberd", "serve", "--home", ".run", "--vault", filepath.Join(r.dir, "Notes"))
	for _, line := range []string{"emberd save 'the kettle leaks'", "emberd backup create", "emberd agent token create reader --read all",
		"emberd promote $(emberd list --json | grep -o '\"id\": *\"[^\"]*' | head -1 | grep -o '[^\"]*$') --force",
		"emberd save 'a tide' && emberd forget $(emberd list --json | grep -o '\"id\": *\"[^\"]*' | head -1 | grep -o '[^\"]*$')", "emberd health consolidate --dry-run || true", "emberd health"} {
		if out, code := r.sh(line); code != 0 {
			t.Errorf("%s: %d\n%s", line, code, out)
		}
	}
	page := docsPage(t, r.page)
	for folder, heading := range map[string]string{"data": "## The data folder", "state": "## The state folder"} {
		var known []*regexp.Regexp
		for _, name := range namesIn(tableOf(t, page, heading), 0) {
			known = append(known, patternOf(name))
		}
		root := filepath.Join(r.dir, ".run", folder)
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil // a file that goes meanwhile
			}
			name, err := filepath.Rel(root, path)
			if !slices.ContainsFunc(known, func(p *regexp.Regexp) bool { return p.MatchString(filepath.ToSlash(name)) }) && !strings.Contains(name, ".tmp") {
				t.Errorf("the page does not tell of %s/%s", folder, name)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// patternOf is what a path of the page stands for: capitals are names, digits numbers, and all
// that is in a folder belongs to it.
func patternOf(name string) *regexp.Regexp {
	p := regexp.QuoteMeta(name)
	p = regexp.MustCompile(`[0-9]+`).ReplaceAllString(p, `[0-9]+`)
	p = regexp.MustCompile(`DEVICE|NAME|TIME|…`).ReplaceAllString(p, `[^/]+`)
	if !strings.Contains(filepath.Base(name), ".") && name != "ballast" {
		p += `(/.*)?`
	}
	if strings.HasSuffix(name, "/") {
		p += `.*`
	}
	return regexp.MustCompile("^" + p + "$")
}

// tagsOf are the keys that a struct has in JSON.
func tagsOf(typ reflect.Type) (out []string) {
	for _, f := range reflect.VisibleFields(typ) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out = append(out, name)
	}
	return out
}
