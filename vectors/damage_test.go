package vectors

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
)

// realStore is a store on the real disk with two documents, and the name of its only file.
func realStore(t *testing.T) (s *Store, dir, file string) {
	t.Helper()
	dir = t.TempDir()
	s = reopened(t, dir)
	must(t, s.Put(words("apple", "banana", "cherry")))
	must(t, s.Place([]Doc{doc("n/fruit", "apple", "banana"), doc("m/1", "cherry")}, nil))
	must(t, s.Sync())
	return s, dir, filepath.Join(dir, fileName("a", 1))
}

func reopened(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir, options(nil))
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// fruit is a disk with the file of a store that was closed, and what is in the file.
func fruit(tb testing.TB) (disk *crashdisk.Disk, intact string) {
	tb.Helper()
	disk = crashdisk.New()
	s := open1(tb, disk)
	must(tb, s.Put(words("apple", "banana", "cherry")))
	must(tb, s.Place([]Doc{doc("n/fruit", "apple", "banana"), doc("m/1", "cherry")}, nil))
	must(tb, s.Close())
	return disk, content(disk, ownFile)
}

var ownFile = folder + "/" + fileName("a", 1)

// diskOf is a disk with one file in the folder.
func diskOf(tb testing.TB, name string, is []byte) *crashdisk.Disk {
	tb.Helper()
	disk := crashdisk.New()
	must(tb, durable.MkdirAll(disk, folder))
	must(tb, durable.ReplaceFile(disk, name, is))
	return disk
}

// Whichever byte of a file is damaged, whatever it becomes, no wrong vector comes of it, and no
// more than one record is lost, unless it is in the header.
func TestEveryDamagedByte(t *testing.T) {
	_, intact := fruit(t)
	for i := range len(intact) {
		for _, bit := range []byte{1, 0x80} {
			b := []byte(intact)
			b[i] ^= bit
			s, err := Open(folder, options(diskOf(t, ownFile, b)))
			if errors.Is(err, errIdentity) && (i == 8 || i == 9) {
				continue // of a later version, for all that one can see
			}
			must(t, err)
			st := s.Status()
			want := 4
			switch {
			case i < len(headerOf(intact)):
				want = 0
			case i >= len(intact)-frameSize: // that all before was synced
				want = 5
			}
			if st.Vectors+st.Docs != want {
				t.Errorf("with byte %d damaged there are %d vectors and %d documents, want %d in all", i, st.Vectors, st.Docs, want)
			}
			if want > 0 && st.Lost == 0 {
				t.Errorf("with byte %d damaged the status shows no loss", i)
			}
			onlyRight(t, s)
			must(t, s.Close())
		}
	}
}

// headerOf is the part of a file before the records.
func headerOf(file string) string {
	_, n, _ := parseHeader([]byte(file))
	return file[:n]
}

// onlyRight is a failure if a vector is wrong.
func onlyRight(t *testing.T, s *Store) {
	t.Helper()
	for _, text := range vocabulary() {
		if v, ok := s.Vector(KeyOf(text)); ok && !slices.Equal(v, word(text).Vector) {
			t.Errorf("the vector of %q is wrong: %v", text, v)
		}
	}
}

// A file that ends anywhere, or in NUL bytes, has what is whole, and what is put again is there.
func TestEveryTornTail(t *testing.T) {
	_, intact := fruit(t)
	for n := range len(intact) {
		for _, tail := range []int{0, 100} {
			disk := diskOf(t, ownFile, append([]byte(intact[:n]), make([]byte, tail)...))
			s := open1(t, disk)
			onlyRight(t, s)
			must(t, s.Put(words("apple", "banana", "cherry")))
			must(t, s.Close())
			s = open1(t, disk)
			if st := s.Status(); st.Vectors != 3 {
				t.Errorf("cut at %d, then mended: %+v", n, st)
			}
			onlyRight(t, s)
			must(t, s.Close())
		}
	}
}

// What another program does to the file of an open store is found out when a vector is read or
// the store synced, and nothing is lost that can still be read.
func TestDamageUnderAnOpenStore(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(file string) error
		left   int // vectors after the damage was seen
	}{
		{"removed", os.Remove, 3},
		{"removed with the folder", func(file string) error { return os.RemoveAll(filepath.Dir(file)) }, 3},
		{"replaced", func(file string) error {
			return durable.ReplaceFile(durable.OS{}, file, []byte("something else"))
		}, 3},
		{"replaced by an older copy", func(file string) error {
			b, err := os.ReadFile(file)
			return errors.Join(err, durable.ReplaceFile(durable.OS{}, file, b[:len(b)-100]))
		}, 3},
		{"overwritten", func(file string) error {
			return overwrite(file, 0, make([]byte, 1<<10))
		}, 0},
		{"cut", func(file string) error { return os.Truncate(file, int64(100+2*vectorSize(dim))) }, 2},
		{"one byte", func(file string) error { return overwrite(file, int64(len(headerOfA())+40), []byte{0xff}) }, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, dir, file := realStore(t)
			must(t, c.damage(file))
			onlyRight(t, s)
			if got := s.Status().Vectors; got != c.left {
				t.Errorf("%d vectors are left, want %d", got, c.left)
			}
			if got := nearest(t, s, "apple", 5); c.left == 3 && (len(got) != 2 || got[0] != "n/fruit/0") {
				t.Errorf("near apple are %v", got)
			}
			must(t, s.Put(words("apple", "banana", "cherry", "damson")))
			must(t, s.Sync())
			must(t, s.Close())
			s = reopened(t, dir)
			if c.left == 3 {
				knows(t, s, doc("n/fruit", "apple", "banana"), "apple", "banana")
			}
			onlyRight(t, s)
			if !s.Has(KeyOf("damson")) {
				t.Error("what was synced after the damage is lost")
			}
		})
	}
}

func headerOfA() []byte {
	h := newHeader("a model", "a", dim, false)
	return h.encode()
}

func overwrite(file string, at int64, b []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, at)
	return errors.Join(err, f.Close())
}

// Damage is gone after a compaction, and Missing says what to embed again.
func TestMissingAfterDamage(t *testing.T) {
	s, dir, file := realStore(t)
	must(t, s.Close())
	must(t, overwrite(file, int64(len(headerOfA())+40), []byte{0xff}))
	s = reopened(t, dir)
	var missing []string
	for d := range s.Missing() {
		missing = append(missing, d.Name)
	}
	if !slices.Equal(missing, []string{"n/fruit"}) {
		t.Errorf("missing are %v, want n/fruit, whose first vector was damaged", missing)
	}
	must(t, s.Put(words("apple")))
	must(t, s.Compact(t.Context()))
	for range 2 {
		for d := range s.Missing() {
			t.Errorf("%s still lacks a vector", d.Name)
		}
		if st := s.Status(); st.Lost != 0 || st.Files != 1 {
			t.Errorf("after a compaction the status is %+v", st)
		}
		must(t, s.Close())
		s = reopened(t, dir)
	}
}

// A folder of other vectors is refused, with what it is and what was wanted, and left alone.
func TestAFolderOfAnotherIdentity(t *testing.T) {
	s, dir, _ := realStore(t)
	must(t, s.Close())
	for _, change := range []func(*Options){
		func(o *Options) { o.Identity = "another model" },
		func(o *Options) { o.Dim = 2 * dim },
	} {
		opt := options(nil)
		change(opt)
		if _, err := Open(dir, opt); !errors.Is(err, errIdentity) {
			t.Errorf("opening it as %q with %d components: %v, want it refused", opt.Identity, opt.Dim, err)
		}
	}
	knows(t, reopened(t, dir), doc("m/1", "cherry"), "cherry")
}

func TestOptionsAreChecked(t *testing.T) {
	for name, opt := range map[string]*Options{
		"no identity":    {Dim: 1, Device: "a"},
		"no dimension":   {Identity: "x", Device: "a"},
		"huge":           {Identity: "x", Dim: MaxDim + 1, Device: "a"},
		"no device":      {Identity: "x", Dim: 1},
		"device as path": {Identity: "x", Dim: 1, Device: "../a"},
	} {
		if _, err := Open(t.TempDir(), opt); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}
