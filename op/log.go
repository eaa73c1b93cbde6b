package op

import (
	"encoding/json"
	"time"

	"emberd/memory"
)

// HistoryRequest names a memory: live, in the trash, or by its whole id any that
// the log still describes.
type HistoryRequest struct {
	ID     string `json:"-" path:"id" doc:"ID of the memory, or at least the first or last four characters of the ID"`
	Limit  int    `json:"limit,omitempty" query:"limit" doc:"maximum number of results, 1 to 100, default 20"`
	Cursor string `json:"cursor,omitempty" query:"cursor" doc:"next_cursor of the previous page, to continue"`
}

// HistoryResult is one page of the versions of a memory, newest first.
type HistoryResult struct {
	ID         memory.ID        `json:"id"`
	Versions   []HistoryVersion `json:"versions"`
	Total      int              `json:"total"`
	NextCursor string           `json:"next_cursor,omitempty"`
	// Chain is what took whose place, the memory among them, the oldest first; none if
	// nothing did. It is on the first page alone.
	Chain []ChainLink `json:"chain,omitempty"`
}

// ChainLink is a memory that replaced others, or whose place was taken.
type ChainLink struct {
	ID   memory.ID `json:"id"`
	Text string    `json:"text"` // its beginning
	At   time.Time `json:"at"`   // of its creation
	// SupersededBy took its place, at SupersededAt; "" says that it counts.
	SupersededBy memory.ID `json:"superseded_by,omitempty"`
	SupersededAt time.Time `json:"superseded_at,omitzero"`
}

// HistoryVersion is what one change did to a memory. Action is created, changed,
// forgotten or restored.
type HistoryVersion struct {
	Rev    string        `json:"rev"`
	At     time.Time     `json:"at"`
	Action string        `json:"action"`
	Verb   string        `json:"verb"`
	By     memory.Actor  `json:"by"`
	Tx     string        `json:"tx"`
	Undoes string        `json:"undoes,omitempty"` // journal entry that it reverted
	Fields []FieldChange `json:"fields"`
	Cut    bool          `json:"cut,omitempty"` // what it replaced is not kept any more
}

// JournalRequest pages through the journal.
type JournalRequest struct {
	Limit  int    `json:"limit,omitempty" query:"limit" doc:"maximum number of results, 1 to 100, default 20"`
	Cursor string `json:"cursor,omitempty" query:"cursor" doc:"next_cursor of the previous page, to continue"`
}

// JournalResult is one page of the journal, newest entry first.
type JournalResult struct {
	Entries    []JournalEntry `json:"entries"`
	Total      int            `json:"total"`
	NextCursor string         `json:"next_cursor,omitempty"`
}

// JournalEntry is what one request changed, and whether that was reverted.
type JournalEntry struct {
	Entry
	Undone bool   `json:"undone,omitempty"`
	Undoes string `json:"undoes,omitempty"` // journal entry that it reverted
}

// FieldChange is a field with its value before and after, none when it was not
// set.
type FieldChange struct {
	Name string          `json:"name"`
	From json.RawMessage `json:"from,omitempty"`
	To   json.RawMessage `json:"to,omitempty"`
}

// QuarantineListRequest has no fields.
type QuarantineListRequest struct{}

// QuarantineListResult lists damaged log lines that no person has decided about.
type QuarantineListResult struct {
	Lines []QuarantinedLine `json:"lines"`
}

// QuarantinedLine is a damaged line of the log. What it seems to say is told as
// far as it can be read; no checksum vouches for it.
type QuarantinedLine struct {
	Name   string    `json:"name"` // file@offset
	Bytes  int       `json:"bytes"`
	Reason string    `json:"reason"` // what is wrong with it
	At     time.Time `json:"at,omitzero"`
	Op     string    `json:"op,omitempty"`
	Verb   string    `json:"verb,omitempty"`
	ID     memory.ID `json:"id,omitempty"`
	// Acceptable is set when accepting it can work; Hindrance reports why not.
	Acceptable bool   `json:"acceptable"`
	Hindrance  string `json:"hindrance,omitempty"`
}

// QuarantineShowRequest names a damaged line.
type QuarantineShowRequest struct {
	ID string `json:"-" path:"id" doc:"ID of the damaged line, from quarantine.list"`
}

// QuarantineShowResult is the line with its text, and what accepting it would
// change now.
type QuarantineShowResult struct {
	Line    QuarantinedLine `json:"line"`
	Text    string          `json:"text"` // as it stands, what is not UTF-8 replaced
	Changes []FieldChange   `json:"changes"`
}

// QuarantineAcceptRequest says that a damaged line is right.
type QuarantineAcceptRequest struct {
	ID string `json:"-" path:"id" doc:"ID of the damaged line, from quarantine.list"`
}

// QuarantineAcceptResult reports what the line still changed; without an entry,
// nothing, since all of it was written again later.
type QuarantineAcceptResult struct {
	Name string    `json:"name"`
	ID   memory.ID `json:"id"`
	Tx   string    `json:"tx,omitempty"`
}

// QuarantineDropRequest says that a damaged line is not needed.
type QuarantineDropRequest struct {
	ID string `json:"-" path:"id" doc:"ID of the damaged line, from quarantine.list"`
}

// QuarantineDropResult names the line that was dropped.
type QuarantineDropResult struct {
	Name string `json:"name"`
}

// BackupCreateRequest names the file of the backup.
type BackupCreateRequest struct {
	File string `json:"file,omitempty" doc:"absolute path of the new backup file; default: a new file in the folder backups of the state folder"`
}

// BackupCreateResult reports what was written.
type BackupCreateResult struct {
	File    string    `json:"file"`
	Bytes   int64     `json:"bytes"`
	Files   int       `json:"files"` // of the log
	Content int64     `json:"content_bytes"`
	Created time.Time `json:"created"`
	// Memories counts the live ones that the files of the backup add up to.
	Memories int `json:"memories"`
	// FromMemory counts those that the log on the disk lacked, in part or as a whole, and that were
	// written from what the daemon holds. LostTrash counts those of the trash that are lost.
	FromMemory int      `json:"from_memory,omitempty"`
	LostTrash  int      `json:"lost_trash,omitempty"`
	Damaged    []string `json:"damaged,omitempty"` // what was wrong with the log on the disk
	// Healed says that what the log lacked was written to it again.
	Healed bool `json:"healed,omitempty"`
}

// ExportRequest pages through everything, by ascending id.
type ExportRequest struct {
	Cursor string `json:"cursor,omitempty" query:"cursor" doc:"next_cursor of the previous page, to continue"`
}

// ExportResult is one page.
type ExportResult struct {
	Records    []Record `json:"records"`
	NextCursor string   `json:"next_cursor,omitempty"`
}

// Record is one memory as it is stored: every field it has, known or not.
type Record struct {
	ID     memory.ID                  `json:"id"`
	Fields map[string]json.RawMessage `json:"memory"`
	// Forgotten is when it went to the trash, if that is where it is.
	Forgotten time.Time `json:"forgotten,omitzero"`
	// Use adds up the use of all devices.
	Use *UseTotals `json:"use,omitempty"`
	Rev string     `json:"rev,omitempty" doc:"revision of the memory at the time of the export; an import ignores the revision"`
}

// UseTotals reports how often a memory was used and found, and when last.
type UseTotals struct {
	Uses         int64     `json:"uses,omitempty"`
	LastUsed     time.Time `json:"last_used,omitzero"`
	Accesses     int64     `json:"accesses,omitempty"`
	LastAccessed time.Time `json:"last_accessed,omitzero"`
}

// ImportRequest holds up to 500 records of an export. A batch that names the
// journal entry of an earlier one joins it.
type ImportRequest struct {
	Tx    string `json:"tx,omitempty" doc:"ID (tx) of the change that an earlier batch made; emberd adds this batch to the same change"`
	Again bool   `json:"again,omitempty" doc:"also import memories that were deleted on this device"`
	// Foreign records were not written by emberd. They are scanned for credentials, what they
	// leave out of entities and strength is set as for a save, and a memory that is there is
	// just so if its content is. An empty list of entities is none, and is not set.
	Foreign     bool `json:"foreign,omitempty" doc:"true: the records are from another program; emberd scans these records for credentials, and computes missing entities and strength"`
	AllowSecret bool `json:"allow_secret,omitempty" doc:"save even if the text looks like a credential"`
	// DryRun answers as the import would and changes nothing. Each batch is answered as if
	// it were the first, so a record that comes twice is added twice.
	DryRun  bool     `json:"dry_run,omitempty" doc:"show what would change, without changing anything"`
	Records []Record `json:"records"`
}

// ImportResult answers each record in its place.
type ImportResult struct {
	Tx      string         `json:"tx,omitempty"`
	Results []ImportAnswer `json:"results"`
}

// What an import did with a record.
const (
	ImportAdded     = "added"
	ImportPresent   = "present"   // it is there, just so
	ImportChanged   = "changed"   // it is there with other fields, and left so
	ImportForgotten = "forgotten" // it was forgotten here, and is left so
	ImportFailed    = "failed"
)

// ImportAnswer is the fate of one record.
type ImportAnswer struct {
	Fate string `json:"fate"`
	// Named says that a memory that is there gets aliases that it lacked.
	Named bool     `json:"named,omitempty"`
	Error *Problem `json:"error,omitempty"`
}
