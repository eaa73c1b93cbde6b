package notes_test

import (
	"slices"
	"testing"

	"emberd/engine/notes"
	"emberd/op"
)

// Notes that cannot be read for several reasons are not told as if one reason were that of all.
func TestSeveralReasonsAreTold(t *testing.T) {
	t.Parallel()
	one := op.VaultStatus{Name: "Notes", NotRead: []op.NotRead{{Reason: "it is binary", Count: 2}}}
	two := op.VaultStatus{Name: "Notes", NotRead: append(one.NotRead, op.NotRead{Reason: "bad name", Count: 1})}
	for want, v := range map[string]*op.VaultStatus{
		"vault Notes: emberd cannot read 2 notes: it is binary":                                         &one,
		"vault Notes: emberd cannot read 3 notes: there are 2 different reasons, such as: it is binary": &two,
	} {
		if got := notes.VaultWaits(v); len(got) != 1 || got[0].Text != want {
			t.Errorf("got %+v, want %q", got, want)
		}
	}
}

func TestVaultTroubleIsAWarning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		vault op.VaultStatus
		want  []string
	}{
		{"none", op.VaultStatus{Mode: "watching", Skipped: 3}, nil},
		{"polling", op.VaultStatus{Mode: "polling", Reason: "too few watches; raise the limit"},
			[]string{"vault Notes: too few watches; raise the limit; " +
				"emberd checks for edits every 30 seconds instead of watching the vault"}},
		{"held back", op.VaultStatus{Mode: "watching", Frozen: "60 of 70 notes are missing"},
			[]string{"vault Notes: 60 of 70 notes are missing; to confirm that you deleted notes, run: emberd vault confirm-deletions (to keep their memories, then undo the change \"note gone\")"}},
		{"missing", op.VaultStatus{Mode: "watching", Frozen: "/n cannot be opened", Missing: true},
			[]string{"vault Notes: /n cannot be opened; searches still find its notes; restore the vault, or " +
				"change vaults: in the config file and restart the daemon"}},
		{"failing", op.VaultStatus{Mode: "watching", Problem: "disk full"},
			[]string{"vault Notes: disk full; emberd retries automatically; if the problem persists, see the daemon log"}},
	} {
		c.vault.Name = "Notes"
		if got := notes.VaultWarnings(&c.vault); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
