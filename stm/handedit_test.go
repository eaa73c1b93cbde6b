package stm_test

import (
	"bytes"
	"fmt"
	"testing"

	"emberd/stm/record"
	"emberd/stm/wal"
)

func TestAHandEditWhileRunningIsTakenAtTheNextStart(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("apple pie").ID()
	ts.reopen()
	ts.save("beside it")
	mangleFile(ts.segments()[0], withoutSum("apple pie", "apple crumble"))
	ts.reopen()
	ts.wantContent(id, "apple crumble")
}

// withoutSum edits the line that holds old and takes its checksum out.
func withoutSum(old, text string) func([]byte) []byte {
	return func(b []byte) []byte {
		start, end := lineWith(b, old)
		line := bytes.ReplaceAll(b[start:end], []byte(old), []byte(text))
		line = append(line[:len(line)-1-record.SuffixLen:len(line)-1-record.SuffixLen], "}\n"...)
		return append(append(bytes.Clone(b[:start]), line...), b[end:]...)
	}
}

func TestACopiedLineWithoutChecksumDoesNotHideTheOriginal(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("apple pie").ID()
	ts.damage(func(b []byte) []byte {
		start, end := lineWith(b, "apple pie")
		copied := withoutSum("apple pie", "cherry cake")(b[start:end])
		copied = bytes.ReplaceAll(copied, []byte(id), []byte(idOf(1)))
		return append(append(bytes.Clone(b[:start]), copied...), b[start:]...)
	})
	ts.wantContent(id, "apple pie")
	ts.wantContent(idOf(1), "cherry cake")
}

func TestAHandEditLeavesWhatWasWrittenLater(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("apple pie", "sweet").ID()
	ts.edit(id, "content", "apple tart")
	gone := ts.save("banana bread", "sweet").ID()
	ts.edit(gone, "source", "grandmother")
	ts.forget(gone)
	ts.damage(func(b []byte) []byte {
		b = withoutSum(`"sweet"`, `"sour"`)(b)            // of the first
		return withoutSum(`"grandmother"`, `"a book"`)(b) // of the forgotten one
	})
	ts.wantContent(id, "apple tart")
	if r, ok := ts.Get(id); ok && fmt.Sprint(r.Tags()) != "[sour]" {
		t.Errorf("tags %v, want the edited one", r.Tags())
	}
	ts.wantGone(gone)
}

func TestAHandEditIsTakenOnce(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.save("banana bread")
	id := ts.save("apple pie").ID()
	ts.damage(withoutSum("apple pie", "apple crumble"))
	ts.edit(id, "content", "apple tart")
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	// A second edit before the first moves it within the file.
	mangleFile(ts.segments()[0], withoutSum("banana bread", "banana split"))
	ts.open()
	ts.wantContent(id, "apple tart")
	ts.wantFound("split", ts.finds("banana")...)
}

func TestTwoHandEditsOfOneMemoryAreBothFound(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("apple pie").ID()
	ts.edit(id, "source", "grandmother")
	ts.damage(func(b []byte) []byte {
		return withoutSum(`"grandmother"`, `"bookshelf"`)(withoutSum("apple pie", "apple crumble")(b))
	})
	ts.wantFound("crumble", id)
	ts.wantFound("bookshelf", id)
}

func TestAHandEditThatMakesNoMemoryIsQuarantined(t *testing.T) {
	for _, c := range []struct{ name, old, text string }{
		{"bytes that are not UTF-8", "apple pie", "apple \xff"},
		{"a field of the wrong kind", `"tags":["sweet"]`, `"tags":"sweet"`},
		{"a list of the wrong kind", `"tags":["sweet"]`, `"entities":"sweet"`},
		{"a stamp far ahead", `"q":1,"t":"0`, `"q":1,"t":"7`},
		{"a checksum that is left in another form", `"do":"save"`, `"do":"save", "c": "9f8e7d6c"`},
		{"a field twice", `"tags":["sweet"]`, `"content":"cherry cake"`},
		{"a member of the line twice", `"do":"save"`, `"op":"put"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			ts.save("apple pie", "sweet")
			ts.damage(withoutSum(c.old, c.text))
			if got := ts.Status().Recovery; got.Quarantined != 1 || got.HandEdited != 0 || ts.Len() != 0 {
				t.Errorf("%d memories, %+v", ts.Len(), got)
			}
		})
	}
}

func TestAHandEditOfTheNumberIsHarmless(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("apple pie").ID()
	ts.damage(withoutSum(`"q":1,`, `"q":18446744073709551615,`))
	ts.wantContent(id, "apple pie")
	after := ts.save("banana bread").ID()
	ts.withoutSnapshot()
	ts.wantContent(after, "banana bread")
	if got := ts.Status().Recovery; got.Gaps > 1 || got.Gaps < 0 || got.Duplicate > 0 {
		t.Errorf("counted %+v", got)
	}
}
