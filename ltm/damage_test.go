package ltm

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// filled is an index of a few notes, written and closed.
func filled(t *testing.T) (dir string) {
	t.Helper()
	x := open(t)
	for i := range 40 {
		put(t, x, named(fmt.Sprintf("n%d", i), fmt.Sprintf("common word%d", i)))
	}
	remove(t, x, "n3.md", "n4.md")
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	return x.dir
}

// segmentFiles returns the segment files. Some may be left over from a merge.
func segmentFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.zap"))
	if err != nil || len(files) == 0 {
		t.Fatalf("segment files: %v, %v", files, err)
	}
	return files
}

// change rewrites a file in place.
func change(t *testing.T, name string, f func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, f(b), 0o600); err != nil {
		t.Fatal(err)
	}
}

func flip(at float64) func([]byte) []byte {
	return func(b []byte) []byte {
		b[int(at*float64(len(b)-1))] ^= 0x10
		return b
	}
}

func half(b []byte) []byte { return b[:len(b)/2] }

func zeroed(b []byte) []byte { return make([]byte, len(b)) }

func nothing([]byte) []byte { return nil }

// damage is something that happens to the files of a closed index.
type damage func(t *testing.T, dir string)

// file has one file rewritten.
func file(name string, f func([]byte) []byte) damage {
	return func(t *testing.T, dir string) { change(t, filepath.Join(dir, name), f) }
}

// segments has all segment files rewritten.
func segments(f func([]byte) []byte) damage {
	return func(t *testing.T, dir string) {
		for _, name := range segmentFiles(t, dir) {
			change(t, name, f)
		}
	}
}

func erase(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
}

func erased(name string) damage {
	return func(t *testing.T, dir string) { erase(t, filepath.Join(dir, name)) }
}

func segmentsErased(t *testing.T, dir string) {
	for _, name := range segmentFiles(t, dir) {
		erase(t, name)
	}
}

// grown has a file end in a hole.
func grown(name string, size int64) damage {
	return func(t *testing.T, dir string) {
		if err := os.Truncate(filepath.Join(dir, name), size); err != nil {
			t.Skipf("the disk has no sparse files: %v", err)
		}
	}
}

func segmentsGrown(t *testing.T, dir string) {
	for _, name := range segmentFiles(t, dir) {
		grown(filepath.Base(name), 1<<30)(t, dir)
	}
}

// unsealed is a damage after an unclean stop.
func unsealed(d damage) damage {
	return func(t *testing.T, dir string) { erased(sealFile)(t, dir); d(t, dir) }
}

func TestDamagedIndexIsMovedAside(t *testing.T) {
	tests := []struct {
		name   string
		damage damage
		reason string
	}{
		{"segments deleted", segmentsErased, "checksum"},
		{"segments truncated", segments(half), "checksum"},
		{"segments emptied", segments(nothing), "checksum"},
		{"segments zeroed", segments(zeroed), "checksum"},
		{"bit in the head of segments", segments(flip(0)), "checksum"},
		{"bit in segments", segments(flip(0.4)), "checksum"},
		{"bit in the tail of segments", segments(flip(1)), "checksum"},
		{"bit in the snapshots", file(rootFile, flip(0.3)), "checksum"},
		{"bit in the last page of the snapshots", file(rootFile, flip(0.99)), "checksum"},
		{"snapshots truncated", file(rootFile, half), "checksum"},
		{"snapshots emptied", file(rootFile, nothing), "checksum"},
		{"snapshots deleted", erased(rootFile), "checksum"},
		{"snapshots 30 GiB long", grown(rootFile, 30<<30), "root.bolt has 32212254720 bytes"},
		{"snapshots sparse", grown(rootFile, 1<<30), "root.bolt is a sparse file"},
		{"segments sparse", segmentsGrown, "zap is a sparse file"},
		{"unclean, snapshots 30 GiB long", unsealed(grown(rootFile, 30<<30)), "root.bolt has 32212254720 bytes"},
		{"unclean, segments sparse", unsealed(segmentsGrown), "zap is a sparse file"},
		{"seal damaged", file(sealFile, flip(0)), "checksum"},
		{"another version", file(formatFile, func(b []byte) []byte { return append(b, "more"...) }), "another version"},
		{"no version", erased(formatFile), "no index"},
		{"found damaged before", func(t *testing.T, dir string) { newHealth(dir).fail(errors.New("a fault")) }, "a fault"},
		{"unclean, segments deleted", unsealed(segmentsErased), "no such file"},
		{"unclean, segments truncated", unsealed(segments(half)), "checksum"},
		{"unclean, segments emptied", unsealed(segments(nothing)), "0 bytes"},
		{"unclean, segments zeroed", unsealed(segments(zeroed)), "checksum"},
		{"unclean, bit in segments", unsealed(segments(flip(0.6))), "checksum"},
		{"unclean, snapshots deleted", unsealed(erased(rootFile)), "missing"},
		{"unclean, snapshots zeroed", unsealed(file(rootFile, zeroed)), "neither meta page is valid"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filled(t)
			tt.damage(t, dir)
			beginsAnew(t, dir, tt.reason)
		})
	}
}

// beginsAnew opens a damaged index and expects an empty one, the damaged one aside, and
// that the fresh one works.
func beginsAnew(t *testing.T, dir, reason string) {
	t.Helper()
	x := openIn(t, dir)
	s := x.Status()
	if s.Reason == "" || !strings.Contains(s.Reason, reason) {
		t.Errorf("began anew because of %q, want something with %q", s.Reason, reason)
	}
	if known(x) != "" || search(t, x, words("common")).Total != 0 {
		t.Errorf("a fresh index knows %q", known(x))
	}
	if entries, err := os.ReadDir(s.Aside); err != nil || len(entries) == 0 {
		t.Errorf("the damaged index does not lie aside: %d files, %v", len(entries), err)
	}
	put(t, x, named("again", "common"))
	x = reopened(t, x)
	if got := found(t, x, words("common")); got != "again" || x.Status().Reason != "" {
		t.Errorf("after the rebuild found %q, began anew because of %q; want again and no reason", got, x.Status().Reason)
	}
}

// TestUncleanStop opens what a crash leaves: an index without a seal.
func TestUncleanStop(t *testing.T) {
	dir := filled(t)
	if err := os.Remove(filepath.Join(dir, sealFile)); err != nil {
		t.Fatal(err)
	}
	x := openIn(t, dir)
	if s := x.Status(); s.Notes != 38 || s.Reason != "" {
		t.Errorf("status %+v, want all 38 notes", s)
	}
}

// TestBitsInUnsealedSnapshots flips bits that no checksum of ours covers after an unclean
// stop. Whatever comes of it, the index begins anew, or finds just the notes that it knows:
// of two snapshots the older one counts when the newer is damaged, and what that does not
// know is read again.
func TestBitsInUnsealedSnapshots(t *testing.T) {
	dir := filled(t)
	erased(sealFile)(t, dir)
	for i := range 30 {
		copied := filepath.Join(t.TempDir(), "index")
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		change(t, filepath.Join(copied, rootFile), flip(rand.Float64()))
		x := openIn(t, copied)
		s, found := x.Status(), search(t, x, words("common")).Total
		if known := len(maps.Collect(x.Known())); s.Reason == "" && (found != known || s.Notes != known) {
			t.Errorf("round %d: an index that does not begin anew knows %d notes and finds %d: %+v", i, known, found, s)
		}
	}
}

func TestAnotherAnalyserIsAnotherVersion(t *testing.T) {
	dir := filled(t)
	if err := verify(dir, "another"); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Errorf("verify: %v, want another version", err)
	}
}

// TestFilesTruncatedWhileOpen cuts every file off under a running index: the process lives, a search and the next
// write say that it has to be rebuilt, and a reopening begins anew.
func TestFilesTruncatedWhileOpen(t *testing.T) {
	for name, ask := range map[string]func(x *Index) error{
		"search":     func(x *Index) error { _, err := x.Search(t.Context(), words("common")); return err },
		"prefix":     func(x *Index) error { _, err := x.Expand("wor"); return err },
		"similar":    func(x *Index) error { _, err := x.Similar("word1", 1); return err },
		"statistics": func(x *Index) error { _, _, err := x.Frequencies(t.Context(), []string{"common"}); return err },
		"pairs":      func(x *Index) error { _, err := x.Together(t.Context(), "common", []string{"word1"}); return err },
		"scrub":      func(x *Index) error { return x.Scrub(t.Context()) },
		"update": func(x *Index) (err error) {
			for i := 0; err == nil && i < 2000; i++ {
				err = x.Update(t.Context(), []Doc{named(fmt.Sprintf("new%d", i), "common")}, nil)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := openIn(t, filled(t))
			truncateAll(t, x.dir)
			if err := ask(x); !errors.Is(err, ErrRebuild) {
				t.Fatalf("the error is %v, want ErrRebuild", err)
			}
			select {
			case <-x.Broken():
			default:
				t.Error("the index is not broken")
			}
			if err := x.Update(t.Context(), []Doc{named("new", "common")}, nil); !errors.Is(err, ErrRebuild) {
				t.Errorf("the next Update: %v, want ErrRebuild", err)
			}
			if s := x.Status(); !s.Rebuild || s.Problem == "" {
				t.Errorf("status %+v does not show the damage", s)
			}
			x = reopened(t, x)
			if s := x.Status(); s.Notes != 0 || s.Reason == "" {
				t.Errorf("status after reopening %+v, want a fresh index and the reason", s)
			}
		})
	}
}

// truncateAll cuts every file of an index off but the one that tells its version.
func truncateAll(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == formatFile {
			continue
		}
		if err := os.Truncate(filepath.Join(dir, e.Name()), 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

// TestBytesThatChangeWhileOpen overwrites bytes of segments under a running index: the process lives, and calls
// answer or say that the index has to be rebuilt.
func TestBytesThatChangeWhileOpen(t *testing.T) {
	dir := filled(t)
	for range 100 {
		copied := filepath.Join(t.TempDir(), "index")
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		x := openIn(t, copied)
		for _, name := range segmentFiles(t, copied) {
			overwrite(t, name)
		}
		_, searched := x.Search(t.Context(), words("common word7 word30"))
		_, expanded := x.Expand("w")
		_, similar := x.Similar("word1", 2)
		_, together := x.Together(t.Context(), "common", []string{"word1", "word2"})
		for _, err := range []error{searched, expanded, similar, together} {
			if err != nil && !errors.Is(err, ErrRebuild) {
				t.Errorf("the error is %v, want ErrRebuild", err)
			}
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// overwrite puts random bytes somewhere in a file, in place.
func overwrite(t *testing.T, name string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) { // merged in the meantime
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		if _, err := f.WriteAt([]byte{byte(rand.Uint32())}, rand.Int64N(info.Size())); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCheckFindsADifference(t *testing.T) {
	x := open(t)
	right := named("a", "what the note says")
	put(t, x, right, named("b", "another"))
	load := func(d Doc) func(string) (Doc, bool) {
		return func(path string) (Doc, bool) { return d, path == d.Path }
	}
	if n, err := x.Check(t.Context(), 5, load(right)); n != 1 || err != nil {
		t.Fatalf("Check of the same note compares %d, %v; want one and no error", n, err)
	}
	changed := right
	changed.Cursor = cursorOf("changed")
	if n, err := x.Check(t.Context(), 5, load(changed)); n != 0 || err != nil {
		t.Errorf("Check of a changed note compares %d, %v; want none", n, err)
	}
	wrong := right
	wrong.Sections = []Section{{Line: 1, Text: "what the note said"}}
	if _, err := x.Check(t.Context(), 5, load(wrong)); !errors.Is(err, ErrRebuild) {
		t.Errorf("Check of other content under the same digest: %v, want ErrRebuild", err)
	}
	if err := x.Update(t.Context(), []Doc{right}, nil); !errors.Is(err, ErrRebuild) {
		t.Errorf("Update after that: %v, want ErrRebuild", err)
	}
}
