package vectors

import (
	"slices"
	"testing"

	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
)

var otherFile = folder + "/" + fileName("b", 3)

// another is what device b has written: a document and the vectors of the words.
func another(tb testing.TB, texts ...string) []byte {
	tb.Helper()
	disk := crashdisk.New()
	opt := options(disk)
	opt.Device = "b"
	s, err := Open(folder, opt)
	must(tb, err)
	for _, text := range texts {
		must(tb, s.Put(words(text)))
	}
	must(tb, s.Place([]Doc{doc("n/of b", texts...)}, nil))
	must(tb, s.Close())
	return []byte(content(disk, folder+"/"+fileName("b", 1)))
}

func withOthers(tb testing.TB, disk *crashdisk.Disk) *Store {
	tb.Helper()
	opt := options(disk)
	opt.Others = true
	s, err := Open(folder, opt)
	must(tb, err)
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

// has is which words of the vocabulary have a vector.
func has(tb testing.TB, s *Store) (texts []string) {
	tb.Helper()
	for _, text := range vocabulary() {
		if v, ok := s.Vector(KeyOf(text)); ok {
			texts = append(texts, text)
			if !slices.Equal(v, word(text).Vector) {
				tb.Errorf("the vector of %q is wrong", text)
			}
		}
	}
	return texts
}

// The vectors of another device are used and its documents are not; its files are left alone.
func TestOtherDevices(t *testing.T) {
	theirs := another(t, "apple", "banana")
	disk := diskOf(t, otherFile, theirs)
	s := withOthers(t, disk)
	if got := has(t, s); !slices.Equal(got, []string{"apple", "banana"}) {
		t.Errorf("vectors of another device: %v", got)
	}
	if st := s.Status(); st.Docs != 0 || st.Others != 1 || st.Files != 0 {
		t.Errorf("status with another device is %+v", st)
	}
	must(t, s.Place([]Doc{doc("n/ours", "banana", "cherry")}, nil))
	must(t, s.Put(words("apple", "cherry"))) // apple is there
	must(t, s.Purge(t.Context()))
	if got := nearest(t, s, "banana", 5); !slices.Equal(got, []string{"n/ours/0"}) {
		t.Errorf("near banana is %v", got)
	}
	if got := has(t, s); !slices.Equal(got, []string{"apple", "banana", "cherry"}) {
		t.Errorf("after a compaction: %v", got)
	}
	if content(disk, otherFile) != string(theirs) {
		t.Error("the file of another device was changed")
	}
	must(t, s.Close())
	if got := has(t, open1(t, disk)); !slices.Equal(got, []string{"cherry"}) {
		t.Errorf("own vectors are %v, want cherry", got)
	}
}

// A sync tool brings a file bit by bit, in place or under another inode, or takes it away. At any
// moment what is whole is used.
func TestRefresh(t *testing.T) {
	theirs := another(t, "apple", "banana", "cherry")
	for _, inPlace := range []bool{true, false} {
		disk := crashdisk.New()
		s := withOthers(t, disk)
		var f durable.File
		for n := 0; n <= len(theirs); n += 11 {
			switch {
			case !inPlace:
				must(t, durable.ReplaceFile(disk, otherFile, theirs[:n]))
			case n == 0:
				var err error
				f, err = disk.CreateAppend(otherFile)
				must(t, err)
			default:
				_, err := f.Write(theirs[n-11 : n])
				must(t, err)
			}
			must(t, s.Refresh())
			whole := max(0, (n-len(headerOf(string(theirs))))/vectorSize(dim))
			if got := has(t, s); len(got) != min(whole, 3) {
				t.Fatalf("in place %t, %d bytes: the vectors are %v, want %d", inPlace, n, got, whole)
			}
		}
		must(t, s.Place([]Doc{doc("m/1", "cherry")}, nil))
		must(t, disk.Remove(otherFile))
		must(t, s.Refresh())
		if st := s.Status(); len(has(t, s)) != 0 || st.Others != 0 || st.Chunks-st.Covered != 1 {
			t.Errorf("after the file vanished: %+v", st)
		}
		must(t, s.Put(words("cherry")))
		if got := nearest(t, s, "cherry", 1); !slices.Equal(got, []string{"m/1/0"}) {
			t.Errorf("near cherry, embedded again, is %v", got)
		}
	}
}

// An own vector that another device has too does not go with that device.
func TestOwnVectorsStayOwn(t *testing.T) {
	disk := crashdisk.New()
	s := withOthers(t, disk)
	must(t, s.Put(words("apple")))
	must(t, durable.ReplaceFile(disk, otherFile, another(t, "apple", "banana")))
	must(t, s.Refresh())
	must(t, s.Compact(t.Context()))
	must(t, disk.Remove(otherFile))
	must(t, s.Refresh())
	if got := has(t, s); !slices.Equal(got, []string{"apple"}) {
		t.Errorf("the vectors are %v, want apple", got)
	}
}

// When another device compacts, its new file may come before or after the old one goes.
func TestAnotherDeviceCompacts(t *testing.T) {
	for _, order := range []string{"new first", "old first"} {
		disk := diskOf(t, otherFile, another(t, "apple", "banana"))
		s := withOthers(t, disk)
		bring := func() {
			must(t, durable.ReplaceFile(disk, folder+"/"+fileName("b", 7), another(t, "banana", "cherry")))
			must(t, s.Refresh())
		}
		if order == "new first" {
			bring()
		}
		must(t, disk.Remove(otherFile))
		must(t, s.Refresh())
		if order == "old first" {
			bring()
		}
		if got := has(t, s); !slices.Equal(got, []string{"banana", "cherry"}) {
			t.Errorf("%s: the vectors are %v", order, got)
		}
	}
}

// Files of another model, of a later version, damaged or of no device at all are passed over.
func TestFilesThatAreNotForUs(t *testing.T) {
	disk := crashdisk.New()
	opt := options(disk)
	opt.Device, opt.Identity = "c", "another model"
	s, err := Open(folder, opt)
	must(t, err)
	must(t, s.Put(words("apple")))
	must(t, s.Close())
	later := another(t, "banana")
	later[8]++
	for name, is := range map[string][]byte{"b-00000001.vec": later, "d-00000001.vec": {}, "note.md": []byte("text"), "-00000001.vec": later, "b-1.vec": later} {
		must(t, durable.ReplaceFile(disk, folder+"/"+name, is))
	}
	must(t, disk.Mkdir(folder+"/e-00000001.vec"))
	s = withOthers(t, disk)
	if st := s.Status(); st.Vectors != 0 || st.Others != 0 {
		t.Errorf("status is %+v, want nothing", st)
	}
	must(t, s.Put(words("cherry")))
	must(t, s.Purge(t.Context()))
	names, err := disk.ReadDir(folder)
	if must(t, err); len(names) != 8 {
		t.Errorf("in the folder are %v, want all that was there and one more", names)
	}
}
