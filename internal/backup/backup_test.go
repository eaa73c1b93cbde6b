package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
	_ "emberd/internal/testutil/ramdisk"
)

// tree is files by their slash-separated path.
type tree map[string]string

func library() tree {
	return tree{
		"devices/k7q2mzxa.json":         `{"device":"k7q2mzxa"}`,
		"stm/k7q2mzxa/s-00000001.jsonl": strings.Repeat("a sealed line\n", 300),
		"stm/k7q2mzxa/s-00000002.jsonl": "written\nand being writ",
		"stm/k7q2mzxa/s-00000003.jsonl": "made later",
		"stm/k7q2mzxa/.c.tmp":           "half",
		"stm-notes":                     "a name that sorts before the folder stm/",
		"empty":                         "",
	}
}

// taken is what a backup of the library holds.
func taken() tree {
	t := library()
	delete(t, "stm/k7q2mzxa/s-00000003.jsonl")
	delete(t, "stm/k7q2mzxa/.c.tmp")
	t["stm/k7q2mzxa/s-00000002.jsonl"] = "written\n"
	return t
}

func noFill(context.Context, *Manifest) error { return nil }

func part(name string, size int64) (int64, bool) {
	switch filepath.Base(name) {
	case "s-00000002.jsonl":
		return int64(len("written\n")), true
	case "s-00000003.jsonl":
		return 0, false
	}
	return size, true
}

func (t tree) write(tb testing.TB, fsys durable.FS, root string) {
	tb.Helper()
	must(tb, durable.MkdirAll(fsys, root))
	for _, name := range slices.Sorted(maps.Keys(t)) {
		at := filepath.Join(root, name)
		must(tb, durable.MkdirAll(fsys, filepath.Dir(at)))
		must(tb, durable.ReplaceFile(fsys, at, []byte(t[name])))
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// treeAt reads every file below root; hidden ones at the top are left out.
func treeAt(tb testing.TB, fsys durable.FS, root string) tree {
	tb.Helper()
	out := tree{}
	var walk func(below string)
	walk = func(below string) {
		entries, err := fsys.ReadDir(filepath.Join(root, below))
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		must(tb, err)
		for _, e := range entries {
			name := filepath.Join(below, e.Name())
			if e.IsDir() {
				walk(name)
				continue
			}
			f, err := fsys.OpenRead(filepath.Join(root, name))
			must(tb, err)
			var b bytes.Buffer
			_, err = b.ReadFrom(f)
			must(tb, errors.Join(err, f.Close()))
			out[name] = b.String()
		}
	}
	walk("")
	return out
}

func about() Manifest {
	return Manifest{Emberd: "1.2", Created: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), Device: "k7q2mzxa", Seq: 7, Memories: 3}
}

// packed makes a backup of the library on the real disk.
func packed(t *testing.T) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	library().write(t, durable.OS{}, filepath.Join(dir, "data"))
	file = filepath.Join(dir, "one.tar.gz")
	_, err := Create(t.Context(), durable.OS{}, filepath.Join(dir, "data"), file, about(), part, noFill)
	must(t, err)
	return dir, file
}

func nothing(string, *Manifest) error { return nil }

func TestRestoreGivesBackWhatWasTaken(t *testing.T) {
	dir, file := packed(t)
	m, err := Verify(t.Context(), durable.OS{}, file)
	must(t, err)
	if m.Emberd != "1.2" || m.Seq != 7 || len(m.Files) != len(taken()) || m.Files[0].Name != "devices/k7q2mzxa.json" || m.Bytes() < 4000 {
		t.Errorf("the manifest is %+v", m)
	}
	for _, target := range []string{filepath.Join(dir, "new", "data"), filepath.Join(dir, "empty")} {
		if filepath.Base(target) == "empty" {
			must(t, os.Mkdir(target, 0o700))
		}
		got, err := Restore(t.Context(), durable.OS{}, file, target, false, nothing)
		must(t, err)
		if !maps.Equal(treeAt(t, durable.OS{}, target), taken()) || got.Aside != "" {
			t.Errorf("%s holds %v, and %q is aside", target, treeAt(t, durable.OS{}, target), got.Aside)
		}
	}
}

func TestRestoreMovesAsideOnRequestOnly(t *testing.T) {
	dir, file := packed(t)
	target := filepath.Join(dir, "data")
	if _, err := Restore(t.Context(), durable.OS{}, file, target, false, nothing); !errors.Is(err, ErrNotEmpty) {
		t.Fatalf("restoring over a folder: %v", err)
	}
	refusal := errors.New("not now")
	if _, err := Restore(t.Context(), durable.OS{}, file, target, true, func(string, *Manifest) error { return refusal }); !errors.Is(err, refusal) {
		t.Fatalf("the error of before is lost: %v", err)
	}
	if !maps.Equal(treeAt(t, durable.OS{}, target), library()) || len(names(t, dir)) != 2 {
		t.Errorf("a refused restore left %v", names(t, dir))
	}
	got, err := Restore(t.Context(), durable.OS{}, file, target, true, nothing)
	must(t, err)
	if !maps.Equal(treeAt(t, durable.OS{}, target), taken()) || !maps.Equal(treeAt(t, durable.OS{}, got.Aside), library()) {
		t.Errorf("after the restore the folder is %v, and aside is %v", treeAt(t, durable.OS{}, target), treeAt(t, durable.OS{}, got.Aside))
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// A change of any byte, and a cut at any place, is refused before anything is
// touched.
func TestDamagedBackupIsRefused(t *testing.T) {
	dir, file := packed(t)
	whole, err := os.ReadFile(file)
	must(t, err)
	before := names(t, dir)
	refuse := func(what string, b []byte) {
		t.Helper()
		must(t, os.WriteFile(file, b, 0o600))
		if _, err := Restore(t.Context(), durable.OS{}, file, filepath.Join(dir, "data"), true, nothing); !errors.Is(err, ErrDamaged) {
			t.Fatalf("%s: %v", what, err)
		}
	}
	for i := range whole {
		for _, bit := range []byte{1, 0x80} {
			b := bytes.Clone(whole)
			b[i] ^= bit
			refuse(fmt.Sprintf("byte %d of %d flipped", i, len(whole)), b)
		}
		refuse(fmt.Sprintf("cut at %d", i), whole[:i])
	}
	refuse("one byte more", append(bytes.Clone(whole), 0))
	refuse("twice", append(bytes.Clone(whole), whole...))
	if got := names(t, dir); !slices.Equal(got, before) || !maps.Equal(treeAt(t, durable.OS{}, filepath.Join(dir, "data")), library()) {
		t.Errorf("refusing left %v", got)
	}
}

// forged is a backup with a right checksum and whatever else.
func forged(t *testing.T, manifest any, entries ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	archive := tar.NewWriter(zip)
	text, err := json.Marshal(manifest)
	must(t, err)
	must(t, archive.WriteHeader(&tar.Header{Name: manifestName, Typeflag: tar.TypeReg, Size: int64(len(text))}))
	_, err = archive.Write(text)
	must(t, err)
	for _, h := range entries {
		must(t, archive.WriteHeader(&h))
		_, err := archive.Write(make([]byte, h.Size))
		must(t, err)
	}
	must(t, errors.Join(archive.Close(), zip.Close()))
	sum := sha256.Sum256(b.Bytes())
	return append(b.Bytes(), lastMember(sum[:])...)
}

func TestForgedBackupsAreRefused(t *testing.T) {
	zeros := func(name string, size int64) File {
		return File{name, size, fmt.Sprintf("%x", sha256.Sum256(make([]byte, max(0, min(size, 1<<20))))), nil}
	}
	file := func(name string, size int64) tar.Header {
		return tar.Header{Name: name, Typeflag: tar.TypeReg, Size: size}
	}
	list := func(files ...File) Manifest { return Manifest{Format: format, Files: files} }
	for _, c := range []struct {
		name  string
		bytes []byte
		want  string
	}{
		{"up and out", forged(t, list(zeros("../x", 1)), file("../x", 1)), `invalid file name "../x"`},
		{"from the root", forged(t, list(zeros("/x", 1)), file("/x", 1)), `invalid file name "/x"`},
		{"through a folder", forged(t, list(zeros("a/../../x", 1)), file("a/../../x", 1)), `invalid file name "a/../../x"`},
		{"hidden", forged(t, list(zeros("a/.b/c", 1)), file("a/.b/c", 1)), `invalid file name "a/.b/c"`},
		{"a backslash", forged(t, list(zeros(`a\b`, 1)), file(`a\b`, 1)), `invalid file name "a\\b"`},
		{"deep", forged(t, list(zeros("a/a/a/a/a/a/a/a/a", 1)), file("a/a/a/a/a/a/a/a/a", 1)), `invalid file name "a/a/a/a/a/a/a/a/a"`},
		{"twice", forged(t, list(zeros("x", 1), zeros("x", 1)), file("x", 1), file("x", 1)), "invalid order of files in the manifest"},
		{"not listed", forged(t, list(zeros("x", 1)), file("x", 1), file("y", 1)), "a file that its manifest does not list"},
		{"not there", forged(t, list(zeros("x", 1), zeros("y", 1)), file("x", 1)), `"y" is missing`},
		{"a link", forged(t, list(zeros("x", 0)), tar.Header{Name: "x", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}), `bytes) at the position of "x"`},
		{"another size", forged(t, list(zeros("x", 1)), file("x", 2)), `bytes) at the position of "x"`},
		{"another content", forged(t, list(File{"x", 1, strings.Repeat("0", 64), nil}), file("x", 1)), "the checksum of"},
		{"a bomb", forged(t, list(zeros("x", 1<<40)), file("x", 1)), "which is invalid for a backup of"},
		{"many small bombs", forged(t, list(zeros("x", 1<<18), zeros("y", 1<<62)), file("x", 1)), "which is invalid for a backup of"},
		{"below nothing", forged(t, list(zeros("x", -1)), file("x", 1)), "which is invalid for a backup of"},
		{"a later format", forged(t, Manifest{Format: 2}), "the backup has format 2"},
		{"no manifest", forged(t, []int{1}), "cannot read the manifest"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			at := filepath.Join(dir, "forged.tar.gz")
			must(t, os.WriteFile(at, c.bytes, 0o600))
			_, err := Restore(t.Context(), durable.OS{}, at, filepath.Join(dir, "data"), true, nothing)
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("refused with %v, want %q", err, c.want)
			}
			if got := names(t, dir); !slices.Equal(got, []string{"forged.tar.gz"}) {
				t.Errorf("left %v", got)
			}
		})
	}
}

func TestCreateKeepsWhatIsThere(t *testing.T) {
	dir, file := packed(t)
	before, err := os.ReadFile(file)
	must(t, err)
	if _, err := Create(t.Context(), durable.OS{}, filepath.Join(dir, "data"), file, about(), part, noFill); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second backup of the same name: %v", err)
	}
	after, err := os.ReadFile(file)
	must(t, err)
	if !bytes.Equal(before, after) || len(names(t, dir)) != 2 {
		t.Errorf("the first backup was touched, or %v left", names(t, dir))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Create(ctx, durable.OS{}, filepath.Join(dir, "data"), file+"2", about(), part, noFill); !errors.Is(err, context.Canceled) || len(names(t, dir)) != 2 {
		t.Errorf("a cancelled backup: %v, left %v", err, names(t, dir))
	}
}

// The same folder gives the same bytes.
func TestCreateIsAFunctionOfItsInput(t *testing.T) {
	dir, file := packed(t)
	_, err := Create(t.Context(), durable.OS{}, filepath.Join(dir, "data"), file+"2", about(), part, noFill)
	must(t, err)
	one, err := os.ReadFile(file)
	must(t, err)
	two, err := os.ReadFile(file + "2")
	must(t, err)
	if !bytes.Equal(one, two) {
		t.Error("two backups of one folder differ")
	}
}

func TestRestoreWantsRoom(t *testing.T) {
	disk := crashdisk.New()
	library().write(t, disk, "/data")
	_, err := Create(t.Context(), disk, "/data", "/one.tar.gz", about(), part, noFill)
	must(t, err)
	disk.Limit(8_000)
	if _, err := Restore(t.Context(), disk, "/one.tar.gz", "/new", false, nothing); !errors.Is(err, ErrNoRoom) {
		t.Errorf("restored to a full disk: %v", err)
	}
}

// The power goes at every step: a backup is there whole or not at all, and when
// Create has returned it is there.
func TestCreateSurvivesEveryCrash(t *testing.T) {
	for n := 0; ; n++ {
		disk := crashdisk.New()
		library().write(t, disk, "/data")
		disk.StopAfter(disk.Ops() + n)
		_, err := Create(t.Context(), disk, "/data", "/one.tar.gz", about(), part, noFill)
		for seed := range uint64(20) {
			after := disk.Crash(rand.New(rand.NewPCG(seed, uint64(n))))
			_, lookErr := after.Lstat("/one.tar.gz")
			if there := lookErr == nil; there {
				if _, verifyErr := Verify(t.Context(), after, "/one.tar.gz"); verifyErr != nil {
					t.Fatalf("after %d steps: %v", n, verifyErr)
				}
			} else if err == nil {
				t.Fatalf("after %d steps a finished backup is gone", n)
			}
		}
		if err == nil {
			return
		}
	}
}

// The power goes at every step of a restore: what was there is there, under its
// name or aside, until what was restored is.
func TestRestoreSurvivesEveryCrash(t *testing.T) {
	states := 0
	for n := 0; ; n++ {
		disk := crashdisk.New()
		library().write(t, disk, "/home/data")
		_, err := Create(t.Context(), disk, "/home/data", "/one.tar.gz", about(), part, noFill)
		must(t, err)
		disk.StopAfter(disk.Ops() + n)
		_, err = Restore(t.Context(), disk, "/one.tar.gz", "/home/data", true, nothing)
		for seed := range uint64(20) {
			states++
			survivors(t, disk.Crash(rand.New(rand.NewPCG(seed, uint64(n)))), n, err == nil)
		}
		if err == nil {
			if states < 400 {
				t.Errorf("tried %d states, want some for each step", states)
			}
			return
		}
	}
}

func survivors(t *testing.T, disk *crashdisk.Disk, n int, done bool) {
	t.Helper()
	entries, err := disk.ReadDir("/home")
	must(t, err)
	var old, restored bool
	for _, e := range entries {
		got := treeAt(t, disk, "/home/"+e.Name())
		whole := maps.Equal(got, library())
		if e.Name() == "data" {
			restored = maps.Equal(got, taken())
			if !whole && !restored {
				t.Fatalf("after %d steps the folder is neither: %v", n, slices.Sorted(maps.Keys(got)))
			}
		}
		old = old || whole
	}
	if !old {
		t.Fatalf("after %d steps what was there is gone", n)
	}
	if done && !restored {
		t.Fatalf("after all %d steps the restored folder is not there", n)
	}
}
