package notes

import (
	"context"
	"fmt"

	"emberd/vault"
)

// VaultUnavailable returns why emberd cannot archive texts to the vault now, "" if it can.
func (e *Notes) VaultUnavailable() string {
	if e.Vault == nil {
		return "no vault configured to archive its text to; set vaults: in the config file, or run: emberd serve " +
			"--vault DIR"
	}
	_, w := e.Vault.Current()
	status := w.Status()
	switch {
	case status.Gone || !e.Vault.Root.Load().Current():
		return "the vault is missing; connect its disk, or wait for the sync tool to restore it"
	case !e.Vault.Complete.Load():
		return "the notes are still being read for the first time, and one of them may have its text"
	case status.Frozen != "":
		return fmt.Sprintf("%s; if you deleted them, run: emberd vault confirm-deletions", status.Frozen)
	}
	return ""
}

// Reading reads a note that exists and has a memory ID. It returns an error if the note lost
// the ID.
func (e *Notes) Reading(ctx context.Context, path string) (*vault.Note, error) {
	note, err := e.Vault.Root.Load().Read(ctx, path)
	if err == nil && note.Carried == nil {
		err = fmt.Errorf("after the write, note %q no longer contains its memory-id", path)
	}
	return note, err
}
