package notejournal_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/internal/notejournal"
	"emberd/internal/testutil/crashdisk"
	"emberd/memory"
)

const keep = 30 * 24 * time.Hour

func begin(t testing.TB, j *notejournal.Journal, path string, before []byte) notejournal.Entry {
	t.Helper()
	e, err := j.Begin(notejournal.Entry{Verb: "note.edit", By: memory.Actor{Client: "agent"},
		Notes: []notejournal.Note{{Path: path, After: "x"}}}, [][]byte{before})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func names(t testing.TB, j *notejournal.Journal) (all []string) {
	t.Helper()
	entries, err := j.Entries()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Notes[0].Path)
	}
	return all
}

// What was added is there for the next process, newest first, with the texts from before.
func TestTheJournalIsKept(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	clock := func() time.Time { return now }
	j := notejournal.Open(durable.OS{}, dir, clock, keep)
	begin(t, j, "a.md", []byte("one"))
	begin(t, j, "new.md", nil)
	dropped := begin(t, j, "dropped.md", []byte("two"))
	if err := j.Drop(dropped.Tx); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := strings.Join(names(t, j), " "); got != "new.md a.md" {
			t.Errorf("entries %q", got)
		}
		entries, _ := j.Entries()
		if text, err := j.Text(entries[1].Notes[0].Before); string(text) != "one" || err != nil || entries[0].Notes[0].Before != "" {
			t.Errorf("the text is %q, %v", text, err)
		}
		if !notejournal.Is(entries[0].Tx) || entries[0].Tx <= entries[1].Tx || entries[0].By.Client != "agent" {
			t.Errorf("the entries are %+v", entries)
		}
		j = notejournal.Open(durable.OS{}, dir, clock, keep)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "texts", "*")); len(left) != 1 || err != nil {
		t.Errorf("texts left: %q, %v", left, err)
	}
	now = now.Add(2 * keep)
	begin(t, j, "later.md", []byte("three"))
	if got := strings.Join(names(t, j), " "); got != "later.md" {
		t.Errorf("entries after a month: %q", got)
	}
	if err := j.Erase(func(text []byte) bool { return string(text) == "three" }); err != nil {
		t.Fatal(err)
	}
	entries, _ := j.Entries()
	if _, err := j.Text(entries[0].Notes[0].Before); err == nil || len(entries) != 1 {
		t.Errorf("an erased text is there, %v", err)
	}
}

// What is forgotten of a note is its path, too, in every entry. Other notes of the same entries stay.
func TestANoteIsForgotten(t *testing.T) {
	dir := t.TempDir()
	j := notejournal.Open(durable.OS{}, dir, time.Now, keep)
	both := notejournal.Entry{Verb: "note.link", Notes: []notejournal.Note{{Path: "secret.md"}, {Path: "open.md"}}}
	for _, texts := range [][][]byte{{[]byte("a secret"), []byte("open")}, {nil, []byte("open, too")}} {
		if _, err := j.Begin(both, texts); err != nil {
			t.Fatal(err)
		}
	}
	begin(t, j, "named.md", []byte("nothing"))
	for range 2 {
		err := j.Forget([]string{"named.md"}, func(text []byte) bool { return bytes.Contains(text, []byte("secret")) })
		if got := strings.Join(names(t, j), " "); got != "open.md open.md" || err != nil {
			t.Errorf("left are %q, %v", got, err)
		}
		if left, err := filepath.Glob(filepath.Join(dir, "texts", "*")); len(left) != 2 || err != nil {
			t.Errorf("texts left: %q, %v", left, err)
		}
		j = notejournal.Open(durable.OS{}, dir, time.Now, keep)
	}
}

func TestUndone(t *testing.T) {
	all := []notejournal.Entry{{Tx: "4", Undoes: "3"}, {Tx: "3", Undoes: "1"}, {Tx: "2", Undoes: "0"}, {Tx: "1"}, {Tx: "0"}}
	got := notejournal.Undone(all)
	if len(got) != 2 || !got["3"] || !got["0"] {
		t.Errorf("undone are %v", got)
	}
}

// The oldest go when there are too many.
func TestTheJournalIsBounded(t *testing.T) {
	j := notejournal.Open(crashdisk.New(), "/j", time.Now, keep)
	big := make([]byte, notejournal.MaxBytes/4)
	for i := range 6 {
		big[0] = byte(i)
		begin(t, j, fmt.Sprint(i, ".md"), big)
	}
	if got := names(t, j); len(got) > 4 || !slices.Contains(got, "5.md") || slices.Contains(got, "0.md") {
		t.Errorf("entries %q", got)
	}
}

// After a power cut at any moment each entry that is there has its texts, of one note or of two, and each that was begun
// is there.
func TestTheJournalSurvivesEveryPowerCut(t *testing.T) {
	for after := 0; ; after++ {
		disk := crashdisk.New()
		disk.StopAfter(after)
		j := notejournal.Open(disk, "/j", time.Now, keep)
		begun, failed := []string{}, error(nil)
		for i := range 3 {
			var e notejournal.Entry
			if e, failed = j.Begin(notejournal.Entry{Notes: []notejournal.Note{{Path: "a.md"}, {Path: "b.md"}}}, [][]byte{{byte(i)}, {byte(2 * i)}}); failed != nil {
				break
			}
			begun = append(begun, e.Tx)
		}
		if failed != nil && !errors.Is(failed, crashdisk.ErrPowerOff) {
			t.Fatal(failed)
		}
		for seed := range uint64(4) {
			next := notejournal.Open(disk.Crash(rand.New(rand.NewPCG(seed, uint64(after)))), "/j", time.Now, keep)
			entries, err := next.Entries()
			if err != nil {
				t.Fatal(err)
			}
			for _, tx := range begun {
				if !slices.ContainsFunc(entries, func(e notejournal.Entry) bool { return e.Tx == tx }) {
					t.Fatalf("after %d operations entry %s is lost", after, tx)
				}
			}
			for _, e := range entries {
				for _, note := range e.Notes {
					if _, err := next.Text(note.Before); err != nil {
						t.Fatalf("after %d operations: %v", after, err)
					}
				}
			}
		}
		if failed == nil {
			return
		}
	}
}
