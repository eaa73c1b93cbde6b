package durable_test

import (
	"errors"
	"io"
	"io/fs"
	"testing"

	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
)

func TestCreateFileTakesNoTakenName(t *testing.T) {
	disk := diskWithNote(t)
	err := durable.CreateFile(disk, note, func(w io.Writer) error {
		_, err := io.WriteString(w, newText)
		return err
	})
	wantCause(t, err, fs.ErrExist)
	if content(t, disk, note) != oldText || listing(t, disk, "/vault") != "note.md" {
		t.Errorf("the note was touched, or %s left", listing(t, disk, "/vault"))
	}
}

func TestCreateFileKeepsNothingOfAFailure(t *testing.T) {
	disk, refusal := crashdisk.New(), errors.New("no more words")
	err := durable.CreateFile(disk, "/new", func(io.Writer) error { return refusal })
	wantCause(t, err, refusal)
	if got := listing(t, disk, "/"); got != "" {
		t.Errorf("left %s", got)
	}
}

// A finished file is there after every crash, and an unfinished one is not.
func TestCreateFileSurvivesEveryCrash(t *testing.T) {
	for n := 0; ; n++ {
		disk := crashdisk.New()
		disk.StopAfter(n)
		err := durable.CreateFile(disk, "/new", func(w io.Writer) error {
			_, err := io.WriteString(w, newText)
			return err
		})
		after := disk.Crash(nil)
		must(t, durable.SweepTemps(after, "/"))
		switch got := listing(t, after, "/"); {
		case got != "" && got != "new", err == nil && got != "new":
			t.Fatalf("after %d steps (%v) there is %q", n, err, got)
		case got == "new" && content(t, after, "/new") != newText:
			t.Fatalf("after %d steps the file is torn", n)
		}
		if err == nil {
			return
		}
	}
}
