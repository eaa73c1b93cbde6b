package vault_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/internal/testutil/dirsnap"
	"emberd/vault"
	"emberd/vault/linkindex"
	"emberd/vault/markdown"
	"emberd/vault/notename"
)

// reading is a whole vault, read.
type reading struct {
	notes   map[string]*vault.Note
	skipped map[string]vault.Reason
	took    time.Duration
}

func readAll(t *testing.T, dir string) reading {
	t.Helper()
	v, err := vault.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	r := reading{notes: map[string]*vault.Note{}, skipped: map[string]vault.Reason{}}
	begin := time.Now()
	for path, err := range v.Walk(t.Context()) {
		if err == nil {
			r.notes[path], err = v.Read(t.Context(), path)
		}
		if err != nil {
			skipped, ok := errors.AsType[*vault.Skipped](err)
			if !ok {
				t.Fatalf("%s: %v, want it read or skipped with a reason", path, err)
			}
			r.skipped[path] = skipped.Reason
			delete(r.notes, path)
		}
	}
	r.took = time.Since(begin)
	return r
}

// resolver knows all notes that were read.
func (r reading) resolver() *linkindex.Index {
	links := linkindex.New()
	for path, n := range r.notes {
		var targets []string
		for _, l := range n.Links {
			targets = append(targets, l.Target)
		}
		links.Add(path, n.Aliases, targets)
	}
	return links
}

func (r reading) report(t *testing.T, name string) {
	links, tags := r.resolver(), map[string]bool{}
	var sections, resolved, unresolved, problems, lineByLine int
	for path, n := range r.notes {
		sections += len(n.Sections)
		problems += len(n.Problems)
		for _, tag := range n.Tags {
			tags[tag.Key] = true
		}
		if n.LineByLine {
			lineByLine++
		}
		for _, l := range n.Links {
			if _, ok := links.Resolve(path, l.Target); ok {
				resolved++
			} else {
				unresolved++
			}
		}
	}
	t.Logf("%s: %d notes (%d line by line), %d skipped, %d sections, links %d resolved and %d not, %d tags, %d problems, %v",
		name, len(r.notes), lineByLine, len(r.skipped), sections, resolved, unresolved, len(tags), problems, r.took.Round(time.Millisecond))
}

func TestVaultsOfTheSets(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(sets(t), "vaults", "*", "vault"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no vaults found: %v", err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(filepath.Dir(dir)), func(t *testing.T) {
			before := dirsnap.Take(t, dir)
			r := readAll(t, dir)
			before.Compare(t)
			if want := markdownFiles(t, dir); len(r.notes) != want {
				t.Errorf("%d notes read, want all %d", len(r.notes), want)
			}
			r.report(t, filepath.Base(filepath.Dir(dir)))
			checkAudit(t, filepath.Join(filepath.Dir(dir), "audit.json"), r)
		})
	}
}

// markdownFiles counts the notes that are not hidden.
func markdownFiles(t *testing.T, dir string) int {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		if filepath.Ext(path) == ".md" {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// checkAudit compares with the counts of another program, which reads with regular
// expressions; it can tell what is grossly missed.
func checkAudit(t *testing.T, file string, r reading) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var audit struct {
		Counts map[string]int
	}
	if err := json.Unmarshal(data, &audit); err != nil {
		t.Fatal(err)
	}
	var headings, embeds, invalid int
	for _, n := range r.notes {
		if n.Frontmatter == vault.InvalidFrontmatter {
			invalid++
		}
		for _, s := range n.Sections {
			if s.Level > 0 {
				headings++
			}
		}
		for _, l := range n.Links {
			if l.Embed {
				embeds++
			}
		}
	}
	if want := audit.Counts["frontmatter: invalid YAML"]; invalid != want {
		t.Errorf("%d notes with invalid frontmatter, want %d", invalid, want)
	}
	t.Logf("headings %d of %d, embeds %d of %d", headings, audit.Counts["headings"], embeds, audit.Counts["embeds"])
}

// expectation is an entry of the odd vault's expected.json.
type expectation struct {
	Path         string
	Symlink      string
	Frontmatter  vault.Frontmatter
	Tags         *[]string
	NotTags      []string `json:"not_tags"`
	Aliases      []string
	Links        *[]string
	Blocks       []string
	Headings     []string
	LinkCount    *int `json:"link_count"`
	HeadingCount *int `json:"heading_count"`
	KeyCount     *int `json:"key_count"`
	Name         bool
	Queries      []string
}

func TestOddVault(t *testing.T) {
	dir := oddVault(t)
	data, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expected []expectation
	if err := json.Unmarshal(data, &expected); err != nil {
		t.Fatal(err)
	}
	before := dirsnap.Take(t, dir)
	r := readAll(t, filepath.Join(dir, "vault"))
	before.Compare(t)
	r.report(t, "odd vault")
	for _, e := range expected {
		if n := r.notes[e.Path]; n != nil {
			e.check(t, n)
		} else if _, reported := r.skipped[e.Path]; !reported && e.mustBeSeen() {
			t.Errorf("%s: neither read nor reported", e.Path)
		}
	}
	checkCanaries(t, r)
	for _, path := range slices.Sorted(maps.Keys(r.skipped)) {
		t.Logf("skipped %q: %s", path, r.skipped[path])
	}
}

// oddVault runs the generator of the sets.
func oddVault(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	args := []string{filepath.Join(sets(t), "gen_oddvault.py"), dir}
	if os.Getenv("EMBERD_BIG") != "" {
		args = append(args, "--big")
	}
	if out, err := exec.CommandContext(t.Context(), "python3", args...).CombinedOutput(); err != nil {
		t.Fatalf("generator: %v\n%s", err, out)
	}
	return dir
}

// mustBeSeen tells what a reader of the vault expects to find, or to be told of.
func (e *expectation) mustBeSeen() bool { return e.Frontmatter != "" || e.Name || e.Symlink != "" }

func (e *expectation) check(t *testing.T, n *vault.Note) {
	t.Helper()
	if e.Symlink != "" {
		t.Errorf("%s: read, want the symbolic link left alone", e.Path)
	}
	if e.Frontmatter != "" && n.Frontmatter != e.Frontmatter {
		t.Errorf("%s: frontmatter %s, want %s", e.Path, n.Frontmatter, e.Frontmatter)
	}
	if n.Frontmatter == vault.InvalidFrontmatter && len(n.Problems) == 0 {
		t.Errorf("%s: frontmatter invalid without a word", e.Path)
	}
	if e.Tags != nil {
		same(t, e.Path, "tags", names(n.Tags, func(t markdown.Tag) string { return t.Name }), *e.Tags)
	}
	for _, not := range e.NotTags {
		if slices.ContainsFunc(n.Tags, func(tag markdown.Tag) bool { return tag.Name == not }) {
			t.Errorf("%s: has the tag %s, want none", e.Path, not)
		}
	}
	if e.Aliases != nil {
		same(t, e.Path, "aliases", n.Aliases, e.Aliases)
	}
	if e.Links != nil {
		target := func(s string) string { return notename.Fold(notename.TrimExtension(s)) }
		got := names(n.Links, func(l markdown.Link) string { return target(l.Target) })
		same(t, e.Path, "links", distinct(got), distinct(names(*e.Links, target)))
	}
	if e.Blocks != nil {
		same(t, e.Path, "blocks", names(n.Blocks, func(b markdown.Block) string { return b.ID }), e.Blocks)
	}
	e.checkCounts(t, n)
	for _, q := range e.Queries {
		if !slices.ContainsFunc(n.Sections, func(s markdown.Section) bool { return strings.Contains(s.Text, q) }) {
			t.Errorf("%s: text without %q", e.Path, q)
		}
	}
}

func (e *expectation) checkCounts(t *testing.T, n *vault.Note) {
	t.Helper()
	var headings []string
	for _, s := range n.Sections {
		if s.Level > 0 {
			headings = append(headings, s.Heading)
		}
	}
	if e.Headings != nil {
		same(t, e.Path, "headings", headings, e.Headings)
	}
	for _, c := range []struct {
		what string
		got  int
		want *int
	}{{"headings", len(headings), e.HeadingCount}, {"links", len(n.Links), e.LinkCount}, {"keys", len(n.Properties), e.KeyCount}} {
		if c.want != nil && c.got != *c.want {
			t.Errorf("%s: %d %s, want %d", e.Path, c.got, c.what, *c.want)
		}
	}
}

// checkCanaries looks for text that lies outside the vault or in hidden places.
func checkCanaries(t *testing.T, r reading) {
	t.Helper()
	for path, n := range r.notes {
		data, err := json.Marshal(n)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for _, canary := range []string{"outside the vault", "hidden #settings", "deleted #trash"} {
			if bytes.Contains(data, []byte(canary)) {
				t.Errorf("%s holds %q, which is none of its text", path, canary)
			}
		}
	}
}

// Both readers find the same in what people write.
func TestReadersAgreeOnTheSets(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(sets(t), "vaults", "*", "vault"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range append(dirs, filepath.Join(oddVault(t), "vault")) {
		v, err := vault.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		notes, differ := 0, 0
		for path, err := range v.Walk(t.Context()) {
			data, readErr := os.ReadFile(filepath.Join(dir, path))
			if cmp.Or(err, readErr) != nil || len(data) > vault.MaxIndexed {
				continue
			}
			notes++
			if !agree(t, path, data) {
				differ++
			}
		}
		t.Logf("%s: %d of %d notes differ", dir, differ, notes)
	}
}
