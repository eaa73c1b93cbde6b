package op

import (
	"time"

	"emberd/memory"
)

// VaultCheckRequest bounds the answer.
type VaultCheckRequest struct {
	Limit int `json:"limit,omitempty" query:"limit" doc:"maximum number of findings, 1 to 10,000, default 1,000"`
}

// MostFindings is the highest limit of a vault check.
const MostFindings = 10_000

// VaultCheckResult is what reading every note of the vault showed.
type VaultCheckResult struct {
	Vault    string    `json:"vault"`
	Path     string    `json:"path"`
	Notes    int       `json:"notes"`
	Links    int       `json:"links"`
	Broken   int       `json:"broken"` // links that lead to no note
	Skipped  int       `json:"skipped"`
	Findings []Finding `json:"findings"` // sorted by path and line
	Total    int       `json:"total"`    // findings before the limit
}

// Finding is one thing that is wrong with a note. Kind is one of
//
//   - link: it leads to no note
//   - frontmatter: its properties cannot be read
//   - note: something else about what it holds
//   - skipped: it is not read
//   - evicted: it is not read, for its content is in the cloud
//   - conflict: a sync tool made it of a note that was changed on two devices
//   - duplicate: it carries the id of a memory that has another note
//   - memory: it and the memory whose id it carries are not as they should be
//   - credential: it holds what looks like one
//   - pending: a change of it waits to be written
//
// Waits says that emberd will settle it by itself, or ask. Item is the open review item that asks about it.
type Finding struct {
	Kind  string `json:"kind"`
	Path  string `json:"path"`
	Line  int    `json:"line,omitempty"`
	Text  string `json:"text"`
	Waits bool   `json:"waits,omitempty"`
	Item  string `json:"item,omitempty"`
}

// VaultConfirmRequest confirms a loss.
type VaultConfirmRequest struct{}

// VaultLinksRequest writes the links of memories into their notes.
type VaultLinksRequest struct {
	DryRun bool `json:"dry_run,omitempty" doc:"show what would change, without changing anything"`
}

// MaxNoteLinks is how many notes a result of vault.links lists.
const MaxNoteLinks = 1_000

// VaultLinksResult reports what vault.links did.
type VaultLinksResult struct {
	DryRun  bool        `json:"dry_run,omitempty"`
	Notes   int         `json:"notes"`   // of memories
	Links   int         `json:"links"`   // that emberd has in them
	Changed []NoteLinks `json:"changed"` // or would be, the first 1,000
	Total   int         `json:"total"`   // notes that were to be changed
	Written int         `json:"written"`
	Waiting int         `json:"waiting"` // notes that cannot be written now, and are tried again
	// Added and Removed count the relations that follow links that persons added and removed in notes.
	Added       int    `json:"added"`
	Removed     int    `json:"removed"`
	Tx          string `json:"tx,omitempty"`           // the change of notes
	RelationsTx string `json:"relations_tx,omitempty"` // the change of relations
}

// NoteLinks is a note whose links change, with the properties that do.
type NoteLinks struct {
	Path       string    `json:"path"`
	ID         memory.ID `json:"id"`
	Properties []string  `json:"properties"`
}

// VaultReleaseRequest closes every file and folder of the vault.
type VaultReleaseRequest struct{}

// VaultOpenRequest ends a release.
type VaultOpenRequest struct{}

// VaultHoldResult reports what vault.release or vault.open did. Changed is false if the vault was released, or
// open, before.
type VaultHoldResult struct {
	Path    string `json:"path"`
	Changed bool   `json:"changed"`
}

// VaultConfirmResult reports what had been held back, "" if nothing was.
type VaultConfirmResult struct {
	Frozen  string `json:"frozen,omitempty"` // why, see VaultStatus
	Missing int    `json:"missing"`          // notes that are now taken out of the index, and whose memories go to the trash
}

// LinksRequest names a note by its path, or as a link would.
type LinksRequest struct {
	Note string `json:"note" query:"note" doc:"path, name or alias of a note"`
}

// LinksResult holds both directions.
type LinksResult struct {
	Note     string     `json:"note"` // path
	Outgoing []NoteLink `json:"outgoing"`
	Incoming []string   `json:"incoming"` // paths of the notes that link here
}

// NoteLink is one link as written, and where it leads.
type NoteLink struct {
	Target string `json:"target"`
	Path   string `json:"path,omitempty"` // "" when it leads to no note
	Line   int    `json:"line"`
	Embed  bool   `json:"embed,omitempty"`
}

// OpenRequest names a note or a memory.
type OpenRequest struct {
	Ref string `json:"ref" query:"ref" doc:"path, name or alias of a note, or the ID of its memory"`
}

// OpenResult is a link that Obsidian opens.
type OpenResult struct {
	URI  string `json:"uri"`
	Path string `json:"path"`
	File string `json:"file"` // on this disk
}

// VaultStatus reports how a vault is followed. Mode is watching or polling.
type VaultStatus struct {
	Name     string    `json:"name"`
	Path     string    `json:"path"` // "" for a caller whose token does not cover everything
	Mode     string    `json:"mode"`
	Reason   string    `json:"reason,omitempty"`   // why it polls
	Frozen   string    `json:"frozen,omitempty"`   // why deletions are held back
	Missing  bool      `json:"missing,omitempty"`  // the vault itself is not there
	Away     time.Time `json:"away,omitzero"`      // since when it is not there, released, or another folder
	Released bool      `json:"released,omitempty"` // vault.release let go of it
	Notes    int       `json:"notes"`              // in the index
	Archived int       `json:"archived,omitempty"` // in the archive folder, which is not searched
	Absent   int       `json:"absent,omitempty"`   // among them, whose files are missing; they go within a minute, unless frozen
	Waiting  int       `json:"waiting"`            // found, and not in the index yet
	Skipped  int       `json:"skipped"`            // paths that are not read; see vault.check
	LastScan time.Time `json:"last_scan,omitzero"`
	Memories int       `json:"memories"`       // notes that carry the id of a memory
	Settling int       `json:"settling"`       // memories whose note changed, which is taken over within two minutes
	Held     string    `json:"held,omitempty"` // why memories stay whose notes were deleted
	Problem  string    `json:"problem,omitempty"`
	Bytes    int64     `json:"index_bytes"`

	NotRead []NotRead `json:"not_read,omitempty"` // the skipped by reason, the commonest first

	// Pending counts the changes of notes that could not be made yet, and PendingFirst
	// are the oldest three; vault.check lists all.
	Pending      int            `json:"pending,omitempty"`
	PendingFirst []PendingWrite `json:"pending_first,omitempty"`
	// Aside says that the vault's file system cannot exchange two names, so that a note
	// is missing for a moment while it is written.
	Aside bool `json:"aside,omitempty"`
	// Lists are the notes in which emberd lists memories.
	Lists []ListStatus `json:"lists,omitempty"`
}

// ListStatus is what became of a note that lists memories, or in which decisions about
// them are made. Kind is index, core or inbox.
type ListStatus struct {
	Kind   string    `json:"kind"`
	Path   string    `json:"path"`
	State  string    `json:"state"`
	Reason string    `json:"reason,omitempty"` // why it is not written, or not where the settings want it
	Next   string    `json:"next,omitempty"`   // what to do about it
	Until  time.Time `json:"until,omitzero"`   // when it is tried again
	// Open is how many review items wait for a decision, of the inbox.
	Open int `json:"open,omitempty"`
	// Modified is when the note was last written, by emberd or by a human.
	Modified time.Time `json:"modified,omitzero"`
}

// The states of a list.
const (
	ListWritten = "written"   // the note has it
	ListEmpty   = "empty"     // there is nothing to list yet, and no note
	ListDeleted = "deleted"   // the user deleted the note; emberd does not create it again
	ListWaits   = "waiting"   // it is written later
	ListOther   = "elsewhere" // the keeper, another device, writes it
	ListRefused = "refused"   // the user has to act
)

// NotRead is how many paths of a vault are not read for one reason.
type NotRead struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}
