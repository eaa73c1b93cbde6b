package boltfile_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"emberd/ltm/boltfile"
)

// made returns a file of bbolt with buckets of every form: inline, of one page, of many, nested, with a long value and
// with free pages.
func made(t testing.TB) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	db, err := bbolt.Open(name, 0o600, &bbolt.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		if err := db.Update(func(tx *bbolt.Tx) error { return fill(tx, round) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func fill(tx *bbolt.Tx, round int) error {
	for bucket, keys := range map[string]int{"none": 0, "inline": 3, "page": 60, "many": 300} {
		outer, err := tx.CreateBucketIfNotExists([]byte(bucket))
		if err != nil {
			return err
		}
		inner, err := outer.CreateBucketIfNotExists(fmt.Appendf(nil, "inner%d", round))
		if err != nil {
			return err
		}
		for i := range keys {
			key := fmt.Appendf(nil, "key %d of round %d", i, round)
			if err := outer.Put(key, []byte("some value")); err != nil {
				return err
			}
		}
		if err := inner.Put([]byte("long"), make([]byte, keys*10)); err != nil {
			return err
		}
	}
	return nil
}

// use opens a file with bbolt, reads everything and writes, as Bleve does. A panic is an error.
func use(t *testing.T, b []byte) (err error) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	db, err := bbolt.Open(name, 0o600, &bbolt.Options{NoSync: true})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		if err := tx.ForEach(readAll); err != nil {
			return err
		}
		return fill(tx, 9)
	})
	runtime.GC() // it ends the program for a pointer that leads nowhere
	if err := db.Close(); err != nil {
		return err
	}
	return err
}

func readAll(_ []byte, b *bbolt.Bucket) error {
	return b.ForEach(func(key, value []byte) error {
		_ = bytes.Count(key, value)
		if inner := b.Bucket(key); inner != nil {
			return readAll(key, inner)
		}
		return nil
	})
}

func check(b []byte) error { return boltfile.Check(bytes.NewReader(b), int64(len(b))) }

func TestAWholeFilePasses(t *testing.T) {
	b := made(t)
	if err := check(b); err != nil {
		t.Error(err)
	}
	if err := use(t, b); err != nil {
		t.Error(err)
	}
}

// TestWhatPassesIsSafe changes a bit of many bytes. What Check lets pass, bbolt must read and write without a panic,
// and the garbage collector must live with.
func TestWhatPassesIsSafe(t *testing.T) {
	whole := made(t)
	found := 0
	for at := 0; at < len(whole); at += step(at) {
		b := bytes.Clone(whole)
		b[at] ^= 1 << (at % 8)
		if err := check(b); err != nil {
			found++
			continue
		}
		if err := use(t, b); err != nil {
			t.Errorf("byte %d of page %d: Check finds nothing, bbolt: %v", at%4096, at/4096, err)
		}
	}
	if found < 100 {
		t.Errorf("%d of the changes are found, want more", found)
	}
}

// step goes through every byte of a page's header and of its first elements, and touches the others.
func step(at int) int {
	if at%4096 < 48 {
		return 1
	}
	return 499
}

func TestDamageIsNamed(t *testing.T) {
	whole := made(t)
	for _, c := range []struct {
		name, want string
		change     func([]byte) []byte
	}{
		{"cut to a half", "instead of", func(b []byte) []byte { return b[:len(b)/2] }},
		{"empty", "neither meta page is valid", func([]byte) []byte { return nil }},
		{"zeros", "neither meta page is valid", func(b []byte) []byte { return make([]byte, len(b)) }},
		{"another's", "neither meta page is valid", func([]byte) []byte { return []byte(strings.Repeat("hello ", 2000)) }},
		{"zeros behind the meta pages", "has an invalid header: page number 0", func(b []byte) []byte {
			clear(b[2*4096:])
			return b
		}},
	} {
		if err := check(c.change(bytes.Clone(whole))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestOneValidMetaIsEnough damages each meta page alone: bbolt goes on with the other.
func TestOneValidMetaIsEnough(t *testing.T) {
	for page := range 2 {
		b := made(t)
		clear(b[page*4096 : (page+1)*4096])
		if err := check(b); err != nil {
			t.Errorf("page %d: %v", page, err)
		}
		if err := use(t, b); err != nil {
			t.Errorf("page %d: %v", page, err)
		}
	}
}

func FuzzCheck(f *testing.F) {
	whole := made(f)
	f.Add(0, byte(1))
	f.Add(2*4096+8, byte(2))
	f.Fuzz(func(t *testing.T, at int, x byte) {
		b := bytes.Clone(whole)
		b[uint(at)%uint(len(b))] ^= x
		if check(b) == nil {
			if err := use(t, b); err != nil {
				t.Error(err)
			}
		}
	})
}
