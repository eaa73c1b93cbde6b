package docfile_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
	"emberd/stm/docfile"
)

// doc is a document and where it was put.
type doc struct {
	key  [16]byte
	text []byte
	at   uint32
}

// some makes a file of documents.
func some(t rapid.TB, disk durable.FS, docs []doc) *docfile.File {
	t.Helper()
	f, err := docfile.Create(disk, "/", func(w *docfile.Writer) (err error) {
		for i := range docs {
			if docs[i].at, err = w.Add(docs[i].key, docs[i].text); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func drawn(t *rapid.T) []doc {
	docs := make([]doc, rapid.IntRange(0, 20).Draw(t, "documents"))
	for i := range docs {
		docs[i].key = [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "key"))
		docs[i].text = rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(t, "text")
	}
	return docs
}

// What was added is read back, by that memory and place alone.
func TestReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		disk, docs := crashdisk.New(), drawn(t)
		f := some(t, disk, docs)
		if err := docfile.Check(context.Background(), disk, f.Name()); err != nil {
			t.Fatal(err)
		}
		again, err := docfile.Open(disk.Crash(nil), f.Name()) // all of it is on the disk
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range docs {
			n := uint32(len(d.text))
			other := d.key
			other[3] ^= 1
			for _, wrong := range []struct {
				key   [16]byte
				at, n uint32
			}{{other, d.at, n}, {d.key, d.at + 1, n}, {d.key, d.at, n + 1}, {d.key, d.at, n - 1}, {d.key, 1 << 31, n}} {
				if got, err := again.Read(wrong.key, wrong.at, wrong.n); err == nil {
					t.Fatalf("another memory, place or length has %q", got)
				}
			}
			for range 2 {
				if got, err := again.Read(d.key, d.at, n); err != nil || !bytes.Equal(got, d.text) {
					t.Fatalf("read back as %q, %v; want %q", got, err, d.text)
				}
			}
		}
	})
}

// broken is a disk on which a file has other bytes.
type broken struct {
	durable.FS
	bytes []byte
}

type brokenFile struct {
	durable.ReadFile
	*bytes.Reader
}

func (b brokenFile) Read(p []byte) (int, error)                 { return b.Reader.Read(p) }
func (b brokenFile) ReadAt(p []byte, at int64) (n int, e error) { return b.Reader.ReadAt(p, at) }
func (b brokenFile) Close() error                               { return b.ReadFile.Close() }

func (b broken) OpenRead(name string) (durable.ReadFile, error) {
	in, err := b.FS.OpenRead(name)
	return brokenFile{in, bytes.NewReader(b.bytes)}, err
}

// A flipped bit or a file cut short makes an error, or another document stays as it is: no document is read as another.
func TestDamage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		disk, docs := crashdisk.New(), drawn(t)
		f := some(t, disk, docs)
		whole, err := durable.ReadAll(disk, f.Name())
		if err != nil {
			t.Fatal(err)
		}
		b := bytes.Clone(whole)
		if cut := rapid.Bool().Draw(t, "cut"); cut {
			b = b[:rapid.IntRange(0, len(b)-1).Draw(t, "at")]
		} else {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		}
		bad := broken{disk, b}
		if len(b) == len(whole) && docfile.Check(context.Background(), bad, f.Name()) == nil {
			t.Fatal("the check found nothing")
		}
		in, err := docfile.Open(bad, f.Name())
		if err != nil {
			return
		}
		for _, d := range docs {
			if got, err := in.Read(d.key, d.at, uint32(len(d.text))); err == nil && !bytes.Equal(got, d.text) {
				t.Fatalf("%q was read as %q", d.text, got)
			}
		}
	})
}

// Whenever the power goes while a file is made, it is there whole or has no name.
func TestPowerCuts(t *testing.T) {
	docs := []doc{{key: [16]byte{1}, text: bytes.Repeat([]byte("a"), 9000)}, {key: [16]byte{2}, text: []byte("b")}}
	for n := 0; ; n++ {
		disk := crashdisk.New()
		disk.StopAfter(n)
		_, failed := docfile.Create(disk, "/", func(w *docfile.Writer) error {
			for _, d := range docs {
				if _, err := w.Add(d.key, d.text); err != nil {
					return err
				}
			}
			return nil
		})
		after := disk.Crash(rand.New(rand.NewPCG(uint64(n), 1)))
		entries, err := after.ReadDir("/")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if docfile.IsName(e.Name()) {
				if err := docfile.Check(context.Background(), after, "/"+e.Name()); err != nil {
					t.Errorf("after operation %d: %v", n, err)
				}
			}
		}
		if failed == nil {
			break
		}
	}
}

// An error of who writes leaves no file.
func TestCreateFails(t *testing.T) {
	disk, want := crashdisk.New(), errors.New("no")
	if _, err := docfile.Create(disk, "/", func(*docfile.Writer) error { return want }); !errors.Is(err, want) {
		t.Errorf("%v, want %v", err, want)
	}
	if left, err := disk.ReadDir("/"); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	if _, err := docfile.Open(disk, "/docs-none.doc"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if got, err := docfile.None().Read([16]byte{}, docfile.Begin, 1); err == nil {
		t.Errorf("no file has %q", got)
	}
}
