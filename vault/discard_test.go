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
