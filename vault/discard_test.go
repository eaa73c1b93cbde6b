package vault_test

import (
	"context"
	"os"
	"slices"
	"testing"

	"emberd/vault"
)

func TestDiscard(t *testing.T) {
	d := newDesk(t, files{"a.md": "ours\n", "b.md": "human\n"})
	var backups []string
	for _, name := range []string{"a.md", "b.md"} {
		res, err := d.writer.Update(t.Context(), name, stamp("1"))
		wantOutcome(t, res, err, vault.Written, "")
		backups = append(backups, res.Backup)
	}
	ours := func(note []byte) bool { return string(note) == "ours\n" }
	left, err := d.writer.Discard(backups, ours)
	if err != nil || !slices.Equal(left, backups[:1]) {
		t.Errorf("left %q, %v, want the one that a program may still save to", left, err)
	}
	d.finish(t)
	left, err = d.writer.Discard(nil, ours)
	if err != nil || len(left) > 0 {
		t.Errorf("left %q, %v", left, err)
	}
	if _, err := os.Stat(backups[0]); err == nil {
		t.Error("the backup that nobody needs is there")
	}
	if got, err := os.ReadFile(backups[1]); string(got) != "human\n" || err != nil {
		t.Errorf("the human's backup is %q, %v", got, err)
	}
	if left, err = d.writer.Discard(backups, ours); err != nil || len(left) > 0 {
		t.Errorf("again: left %q, %v", left, err)
	}
	if _, err := d.writer.Check(context.Background()); err != nil {
		t.Error(err)
	}
}

// What is purged goes at once, also what a program may still save to, and what a vault on another disk
// keeps beside the note until then.
func TestErase(t *testing.T) {
	for _, ops := range [][]string{nil, {"export"}} {
		d := newDesk(t, files{"a.md": "purged\n", "b.md": "human\n"})
		d.step = noExchange(ops...)
		for _, name := range []string{"a.md", "b.md"} {
			res, err := d.writer.Update(t.Context(), name, stamp("1"))
			wantOutcome(t, res, err, vault.Written, "")
		}
		if strays := d.strays(t); len(strays) != 2*len(ops) {
			t.Fatalf("the vault has %q", strays)
		}
		if err := d.writer.Erase(func(note []byte) bool { return string(note) == "purged\n" }); err != nil {
			t.Fatal(err)
		}
		if got := d.kept(t); !slices.Equal(got, []string{"human\n"}) || len(d.strays(t)) != len(ops) {
			t.Errorf("the backups are %q, and the vault has %q", got, d.strays(t))
		}
		d.finish(t)
		if a, b := d.read(t, "a.md"), d.read(t, "b.md"); a != stamped("1", "purged\n") || b != stamped("1", "human\n") {
			t.Errorf("the notes are %q and %q", a, b)
		}
	}
}
