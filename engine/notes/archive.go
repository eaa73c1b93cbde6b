package notes

import (
	"context"
	"fmt"

	"emberd/vault"
)

// VaultUnavailable returns why emberd cannot archive texts to the vault now, "" if it can.
func (e *Notes) VaultUnavailable() string {
	if e.Vault == nil {
		return "no vault configured, so emberd cannot archive texts; set vaults: in the config file, or run: emberd " +
			"serve --vault DIR"
	}
	_, w := e.Vault.Current()
	status := w.Status()
	switch {
	case status.Gone || !e.Vault.Root.Load().Current():
		return "the vault is missing; connect its disk, or wait for the sync tool to restore it"
	case !e.Vault.Complete.Load():
		return "emberd is still reading the notes for the first time; try again later"
	case status.Frozen != "":
		return fmt.Sprintf("%s; if you deleted the notes, run: emberd vault confirm-deletions", status.Frozen)
	}
	return ""
}

// Reading reads a note that exists and has a memory ID. It returns an error if the note lost
// the ID.
func (e *Notes) Reading(ctx context.Context, path string) (*vault.Note, error) {
	note, err := e.Vault.Root.Load().Read(ctx, path)
	if err == nil && note.Carried == nil {
		err = fmt.Errorf("emberd wrote note %q, but the note no longer contains the property memory-id", path)
	}
	return note, err
}
