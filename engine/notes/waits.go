package notes

import (
	"fmt"
	"time"

	"emberd/engine/core"
	"emberd/op"
	"emberd/vault"
)

// confirmDeletions is the command that answers notes that vanished together.
const confirmDeletions = "emberd vault confirm-deletions"

const deletedNotes = "to confirm that you deleted notes, run: " + confirmDeletions +
	` (to keep their memories, then undo the change "note gone")`

// VaultWaits returns what waits for the user in a vault: its absence, notes that vanished together, lists that
// another note keeps from being written, notes that cannot be read, and changes that cannot be written.
func VaultWaits(v *op.VaultStatus) []op.Waiting {
	out := absenceWaits(v)
	if v.Held != "" {
		out = append(out, op.Waiting{Code: op.WaitsDeletions, Count: 1, Command: confirmDeletions,
			Text:    fmt.Sprintf("vault %s: %s", v.Name, v.Held),
			Warning: vaultWarning(v, v.Held, deletedNotes)})
	}
	for _, l := range v.Lists {
		if l.State == op.ListRefused {
			text := fmt.Sprintf("cannot write the list %q: %s", l.Path, l.Reason)
			out = append(out, op.Waiting{Code: op.WaitsList, Count: 1, Command: "emberd config",
				Text:    fmt.Sprintf("vault %s: %s; %s", v.Name, text, l.Next),
				Warning: vaultWarning(v, text, l.Next)})
		}
	}
	return append(out, unreadWaits(v)...)
}

// absenceWaits returns why no note is read from a vault and none is written, if the user has to act.
func absenceWaits(v *op.VaultStatus) []op.Waiting {
	if v.Frozen == "" {
		return nil
	}
	away := v.Frozen
	if !v.Away.IsZero() {
		away = fmt.Sprintf("the vault has been unavailable since %s: %s", v.Away.UTC().Format("2006-01-02 15:04 UTC"),
			v.Frozen)
	}
	w := op.Waiting{Count: 1}
	switch {
	case v.Released:
		w.Code, w.Command = op.WaitsReleased, "emberd vault reopen"
		w.Text = fmt.Sprintf("vault %s is released, so emberd writes no notes and archives no memories", v.Name)
		w.Warning = vaultWarning(v, away,
			"until you open the vault, emberd writes no notes and treats no note as deleted; run: emberd vault reopen")
	case v.Missing:
		w.Code, w.Command = op.WaitsVaultGone, "emberd config vaults"
		w.Text = fmt.Sprintf("vault %s is missing (%s): searches still find its notes, but emberd "+
			"archives no memories; restore the vault, or set another folder", v.Name, v.Frozen)
		w.Warning = vaultWarning(v, away, "searches still find its notes; restore the vault, or "+
			"change vaults: in the config file and restart the daemon")
	default:
		w.Code, w.Command = op.WaitsDeletions, confirmDeletions
		w.Text = fmt.Sprintf("vault %s: %s; in the meantime, emberd archives no memories", v.Name, v.Frozen)
		w.Warning = vaultWarning(v, away, deletedNotes)
	}
	return []op.Waiting{w}
}

// writesWaitAfter is how long a change must have failed to be written before the user has to look. Editors and
// sync tools finish before.
const writesWaitAfter = 10 * time.Minute

// unreadWaits returns the notes that cannot be read before the user acts.
func unreadWaits(v *op.VaultStatus) []op.Waiting {
	unread, reasons := 0, []string(nil)
	for _, n := range v.NotRead {
		if n.Reason != string(vault.Symlink) && n.Reason != string(vault.NotRegular) { // left out on purpose
			unread += n.Count
			reasons = append(reasons, n.Reason)
		}
	}
	if unread == 0 {
		return nil
	}
	reason := reasons[0]
	if len(reasons) > 1 {
		reason = fmt.Sprintf("there are %d different reasons, such as: %s", len(reasons), reason)
	}
	return []op.Waiting{{Code: op.WaitsUnread, Count: unread, Command: "emberd vault check",
		Text: fmt.Sprintf("vault %s: emberd cannot read %s: %s", v.Name, core.NumberOf(unread, "note", "notes"),
			reason)}}
}

// WriteWaits returns the changes that could not be written to notes for a while.
func WriteWaits(v *op.VaultStatus, now time.Time) []op.Waiting {
	if v.Frozen != "" || len(v.PendingFirst) == 0 || now.Sub(v.PendingFirst[0].Since) < writesWaitAfter {
		return nil
	}
	first := v.PendingFirst[0]
	return []op.Waiting{{Code: op.WaitsWrites, Count: v.Pending, Command: "emberd vault check",
		Text: fmt.Sprintf("vault %s: emberd has not written %s to notes yet; the first note is %q: %s", v.Name,
			core.NumberOf(v.Pending, "change", "changes"), first.Path, first.Reason)}}
}
