package notes

import (
	"context"
	"fmt"

	"emberd/vault"
)

// VaultUnavailable returns why emberd cannot archive texts to the vault now, "" if it can.
func (e *Notes) VaultUnavailable() string {
	if e.Vault == nil {
		return "there is no vault to keep its text in; name one with vaults: in the config or emberd serve --vault"
	}
	_, w := e.Vault.Current()
	status := w.Status()
	switch {
	case status.Gone || !e.Vault.Root.Load().Current():
		return "the vault is not there; connect its disk, or let the sync tool bring it back"
	case !e.Vault.Complete.Load():
		return "the notes are still being read for the first time, and one of them may have its text"
	case status.Frozen != "":
		return fmt.Sprintf("%s; if that was meant: emberd vault confirm-deletions", status.Frozen)
	}
	return ""
}

// Reading reads a note that exists and has a memory ID. It returns an error if the note lost
// the ID.
func (e *Notes) Reading(ctx context.Context, path string) (*vault.Note, error) {
	note, err := e.Vault.Root.Load().Read(ctx, path)
	if err == nil && note.Carried == nil {
		err = fmt.Errorf("the note %q lost its memory-id while it was written", path)
	}
	return note, err
}
