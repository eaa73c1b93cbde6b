package vault_test

import (
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/vault"
)

func adding(line string) func([]byte) ([]byte, error) {
	return func(note []byte) ([]byte, error) { return append(slices.Clone(note), line...), nil }
}

// A note that emberd alone changed can be changed again at once; one that the user saved waits.
func TestRevise(t *testing.T) {
	d := newDesk(t, nil)
	d.clock.Add(-time.Hour) // the time of the disk
	res, err := d.writer.Create(t.Context(), "a.md", []byte("one\n"))
	wantOutcome(t, res, err, vault.Written, "")
	for _, line := range []string{"two\n", "three\n"} {
		res, err = vault.Reviser{d.writer}.Revise(t.Context(), "a.md", adding(line))
		wantOutcome(t, res, err, vault.Written, "")
	}
	want := "one\ntwo\nthree\n"
	if got := d.read(t, "a.md"); got != want || res.Digest != sha256.Sum256([]byte(want)) {
		t.Errorf("the note is %q, the digest %x", got, res.Digest)
	}
	failed := errors.New("no")
	res, err = vault.Reviser{d.writer}.Revise(t.Context(), "a.md", func([]byte) ([]byte, error) { return nil, failed })
	if err != failed || res.Outcome != "" {
		t.Errorf("a change that fails answered %+v, %v", res, err)
	}
	d.save(t, "a.md", "the user's\n")
	res, err = vault.Reviser{d.writer}.Revise(t.Context(), "a.md", adding("four\n"))
	wantOutcome(t, res, err, vault.Later, vault.NotQuiet)
	d.clock.Add(time.Hour)
	res, err = d.writer.Update(t.Context(), "a.md", stamp("1"))
	wantOutcome(t, res, err, vault.Later, vault.RecentlyOurs)
	if got := d.read(t, "a.md"); got != "the user's\n" {
		t.Errorf("the note is %q", got)
	}
	d.finish(t)
}

// What a program saves to the file that the first of several writes displaced is put back, under the name
// that the note has by then; and so it is after a restart.
func TestALateSaveAfterSeveralWrites(t *testing.T) {
	for name, again := range map[string]bool{"same writer": false, "next writer": true} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, files{"a.md": "human\n"})
			f, err := os.OpenFile(filepath.Join(d.dir, "a.md"), os.O_WRONLY|os.O_APPEND, 0)
			must(t, err)
			var res vault.Result
			for _, line := range []string{"one\n", "two\n"} {
				res, err = vault.Reviser{d.writer}.Revise(t.Context(), "a.md", adding(line))
				wantOutcome(t, res, err, vault.Written, "")
			}
			res, err = vault.Reviser{d.writer}.Rename(t.Context(), "a.md", "B/b.md", res.Digest)
			wantOutcome(t, res, err, vault.Written, "")
			res, err = vault.Reviser{d.writer}.Revise(t.Context(), "B/b.md", adding("three\n"))
			wantOutcome(t, res, err, vault.Written, "")
			_, err = io.WriteString(f, "late\n")
			must(t, errors.Join(err, f.Close()))
			if again {
				d.reopen(t)
			}
			if events := d.finish(t); len(events) != 1 || !events[0].Restored || events[0].Path != "B/b.md" {
				t.Errorf("events %+v", events)
			}
			if got := d.read(t, "B/b.md"); got != "human\nlate\n" {
				t.Errorf("the note is %q", got)
			}
			if kept := d.kept(t); !slices.Contains(kept, "human\none\ntwo\nthree\n") {
				t.Errorf("the backups are %q", kept)
			}
		})
	}
}

// A name that is taken, and bytes that the caller does not know, are left alone.
func TestRenameAndWithdraw(t *testing.T) {
	d := newDesk(t, files{"a.md": "a\n", "b.md": "b\n"})
	sum := sha256.Sum256([]byte("a\n"))
	res, err := vault.Reviser{d.writer}.Rename(t.Context(), "a.md", "B.md", sum)
	wantOutcome(t, res, err, vault.Refused, vault.NameTaken)
	res, err = vault.Reviser{d.writer}.Rename(t.Context(), "a.md", "c.md", sha256.Sum256(nil))
	wantOutcome(t, res, err, vault.Conflict, vault.HumanChanged)
	res, err = vault.Reviser{d.writer}.Withdraw(t.Context(), "a.md", sha256.Sum256(nil))
	wantOutcome(t, res, err, vault.Conflict, vault.HumanChanged)
	res, err = vault.Reviser{d.writer}.Revise(t.Context(), "a.md", adding("1\n"))
	wantOutcome(t, res, err, vault.Written, "")
	data, res, err := vault.Reviser{d.writer}.Current(t.Context(), "a.md")
	wantOutcome(t, res, err, vault.Written, "")
	if string(data) != "a\n1\n" {
		t.Errorf("read %q", data)
	}
	res, err = vault.Reviser{d.writer}.Withdraw(t.Context(), "a.md", res.Digest)
	wantOutcome(t, res, err, vault.Written, "")
	if kept := d.kept(t); !slices.Contains(kept, "a\n1\n") || !slices.Contains(kept, "a\n") {
		t.Errorf("the backups are %q", kept)
	}
	d.finish(t)
}

// A note that was removed can be made again at once under its name, unless it is another memory's. What a program
// saves to the removed file becomes the note's text.
func TestCreateWhatWasJustRemoved(t *testing.T) {
	const head = "---\nmemory-id: 0190a5b2-7c3d-7e4f-8a5b-000000000001\n---\n"
	d := newDesk(t, nil)
	v := vault.Reviser{d.writer}
	res, err := v.Create(t.Context(), "a.md", []byte(head+"one\n"))
	wantOutcome(t, res, err, vault.Written, "")
	f, err := os.OpenFile(filepath.Join(d.dir, "a.md"), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	res, err = v.Withdraw(t.Context(), "a.md", res.Digest)
	wantOutcome(t, res, err, vault.Written, "")
	for _, other := range []string{"two\n", strings.Replace(head, "0001", "0002", 1)} {
		res, err = v.Create(t.Context(), "a.md", []byte(other))
		wantOutcome(t, res, err, vault.Later, vault.RecentlyOurs)
	}
	res, err = v.CanCreate("a.md", []byte(head+"two\n"))
	wantOutcome(t, res, err, vault.Written, "")
	res, err = v.Create(t.Context(), "a.md", []byte(head+"two\n"))
	wantOutcome(t, res, err, vault.Written, "")
	_, err = io.WriteString(f, "late\n")
	must(t, errors.Join(err, f.Close()))
	if events := d.finish(t); len(events) != 1 || !events[0].Restored {
		t.Errorf("events %+v", events)
	}
	if got := d.read(t, "a.md"); got != head+"one\nlate\n" {
		t.Errorf("the note is %q", got)
	}
	if kept := d.kept(t); !slices.Contains(kept, head+"two\n") {
		t.Errorf("the backups are %q", kept)
	}
}
