package vault_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"emberd/vault"
)

// Many notes are made as one by one: a name that is taken stays, one that is there as it
// is to be counts as written, and nothing else is left behind.
func TestManyNotesAreMadeAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t, files{"A/taken.md": "human", "A/same.md": "text"})
	all := []vault.New{{"A/taken.md", []byte("text")}, {"A/same.md", []byte("text")}, {"A/Twice.md", []byte("one")}, {"A/twice.md", []byte("two")}, {".hidden/x.md", []byte("x")}}
	for i := range 40 {
		all = append(all, vault.New{fmt.Sprintf("B/Deep/%d.md", i), []byte("text")})
	}
	got, err := d.writer.CreateAll(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	for i, res := range got {
		want := vault.Written
		if i == 0 || i == 3 || i == 4 {
			want = vault.Refused
		}
		if res.Outcome != want {
			t.Errorf("%s: %+v, want it %s", all[i].Path, res, want)
		}
	}
	if got[0].Reason != vault.NameTaken || got[3].Reason != vault.NameTaken {
		t.Errorf("refused are %+v and %+v", got[0], got[3])
	}
	listing := strings.Join(d.listing(t), "\n")
	if n := strings.Count(listing, ".md"); n != 43 || strings.Contains(listing, vault.TempPrefix) || strings.Contains(listing, "hidden") {
		t.Errorf("the vault has %d of them:\n%s", n, listing)
	}
	d.finish(t)
}

// What cannot be made of many leaves nothing, and does not keep the others from being made.
func TestOneOfManyNotesFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		op   string
		with error
	}{
		"no room for the text": {"write", syscall.ENOSPC},
		"broken disk":          {"put", syscall.EIO},
		"at the sync":          {"sync", syscall.EDQUOT},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, files{"Old.md": "x"})
			var failed atomic.Bool
			d.step = func(op, name string) error {
				if op == c.op && strings.Contains(name, "New/"+vault.TempPrefix) && !failed.Swap(true) {
					return c.with
				}
				return nil
			}
			all := []vault.New{{"New/a.md", []byte("a")}, {"New/b.md", []byte("b")}, {"New/c.md", []byte("c")}}
			got, err := d.writer.CreateAll(t.Context(), all)
			if !errors.Is(err, c.with) {
				t.Fatalf("got %v, want %v", err, c.with)
			}
			written := slices.DeleteFunc(slices.Clone(got), func(r vault.Result) bool { return r.Outcome != vault.Written })
			if listing := strings.Join(d.listing(t), "\n"); len(written) != 2 || strings.Contains(listing, vault.TempPrefix) {
				t.Errorf("written are %d of 3:\n%s", len(written), listing)
			}
			d.step = nil
			got, err = d.writer.CreateAll(t.Context(), all)
			for i := range got {
				wantOutcome(t, got[i], err, vault.Written, "")
			}
			d.finish(t)
		})
	}
}
