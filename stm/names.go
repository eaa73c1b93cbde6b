package stm

import (
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"time"

	"emberd/compaction"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm/content"
	"emberd/stm/device"
	"emberd/stm/extent"
	"emberd/stm/history"
	"emberd/stm/journal"
	"emberd/stm/logcheck"
	"emberd/stm/quarantine"
	"emberd/stm/record"
	"emberd/stm/repair"
	"emberd/stm/snapshot"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// The names by which callers of a Store know what its parts define.
type (
	// A Row is one memory as the table has it.
	Row = table.Row
	// MemorySet is the memories that a store or a view shows.
	MemorySet = table.MemorySet
	// Use adds to what this device counts for a memory.
	Use = table.Use
	// Query asks for the live memories that fit best.
	Query = table.Query
	// Beside asks for a further list on the way.
	Beside = table.Beside
	// Match is one memory that matched.
	Match = table.Match
	// A Selection is a condition whose memories a store keeps a list of.
	Selection = table.Selection
	// Counts reports how many live memories there are.
	Counts = table.Counts
	// NormalizedText is a text less what does not tell it from another.
	NormalizedText = table.NormalizedText

	// Device names the part of the log that one installation writes.
	Device = record.Device
	// Stamp is a reading of the hybrid logical clock.
	Stamp = record.Stamp
	// Entry is one change of the journal.
	Entry = record.Entry
	// Kind is what a file of the log is.
	Kind = record.Kind
	// LogLine is one line of a log file.
	LogLine = record.LogLine
	// Log is the log of all devices.
	Log      = wal.Log
	AuditLog = wal.AuditLog
	// LogChange is what a line says about one memory.
	LogChange = record.LogChange
	// Segment is one file of the log.
	Segment = record.Segment
	// LineState reports what a reader of the log makes of a line.
	LineState = record.LineState

	// Durability is what an acknowledgement means.
	Durability = wal.Durability
	// Options of Open. The zero value is right.
	Options = wal.Options
	// Tx is one transaction: all of it is stored, or none.
	Tx = wal.Tx
	// Change is one operation of a transaction on one memory.
	Change = wal.Change
	// Receipt is what a committed transaction left.
	Receipt = wal.Receipt
	// Unlinked reports what Unlink removed.
	Unlinked = wal.Unlinked
	// Status is the state of the log.
	Status = wal.Status
	// Waiting is [wal.Waiting].
	Waiting = wal.Waiting
	// ForeignChange is what Refresh brought.
	ForeignChange = wal.ForeignChange
	// Healed is what a repair of the log brought back, see [repair.Healed].
	Healed = repair.Healed
	// Loss is what a log misses.
	Loss = repair.Loss
	// Folded is what log files add up to, see [repair.Folded].
	Folded = repair.Folded
	// LogCheck is what reading every line of a log showed.
	LogCheck = logcheck.Report
	// LogFinding is one thing that is wrong with a log.
	LogFinding = logcheck.Finding
	// Quarantined is a damaged line that was passed over.
	Quarantined = quarantine.Line
	// PeerStatus is a device as status shows it.
	PeerStatus = device.PeerStatus
	// Replayed is what an idempotency key stood for.
	Replayed = journal.Replayed
	// TrashItem is one forgotten memory, without its text.
	TrashItem = journal.TrashItem
	// TrashedMemory is a memory of the trash as it was when it was forgotten.
	TrashedMemory = history.TrashedMemory
	// Version is one version of a memory.
	Version = history.Version
	// TextEdit is one change of the text of a memory.
	TextEdit = history.TextEdit
	// Apart is a text that was written apart from the one that is shown.
	Apart = history.Apart
	// Field is a key with its value before and after.
	Field = history.Field
	// UsedAt reports how often a memory had been used by then.
	UsedAt = history.UsedAt
	// Undo asks to revert a change.
	Undo = history.Undo
	// Undone reports what was reverted, or would be.
	Undone = history.Undone
	// UndoneItem is what became of one memory.
	UndoneItem = history.UndoneItem
	// Journaled is a change of the journal, and what became of it.
	Journaled = history.Journaled
	// PastView is what the log contains of an earlier moment.
	PastView = history.PastView
	// Purges has for each memory that was purged when that was.
	Purges = content.Purges
	// Compaction lists what to rewrite and what to keep.
	Compaction = compaction.Job
	// Rewritten is what a compaction did, or would.
	Rewritten = compaction.Result
)

// See package record.
const (
	Full        = wal.Full
	None        = wal.None
	UndoVerb    = history.UndoVerb
	ImportVerb  = record.ImportVerb
	Reverted    = history.Reverted
	Removed     = history.Removed
	Restored    = history.Restored
	Left        = history.Left
	Created     = history.Created
	Forgot      = history.Forgot
	Recovered   = history.Recovered
	Itself      = record.Itself
	VaultClient = record.VaultClient
	MaxLine     = record.MaxLine
	Raw         = record.Raw
	Compacted   = record.Compacted
	History     = record.History
	Odd         = record.Odd
	LineGood    = record.LineGood
	LineUnknown = record.LineUnknown

	WaitingQuarantine = wal.WaitingQuarantine
	WaitingGaps       = wal.WaitingGaps
	WaitingStale      = wal.WaitingStale
)

// ErrLogGone is the cause when the state folder knows of a log that is not in the data
// folder.
var ErrLogGone = device.ErrLogGone

// Values returns the members of a JSON object by name. They share its bytes, which must not change. Of what is not a
// JSON object it returns the members in front of the fault.
func Values(object []byte) map[string]json.RawMessage { return record.Values(object) }

// SkipString returns the index after the JSON string that starts at i, -1 if none does or it has no end.
func SkipString(b []byte, i int) int { return record.SkipString(b, i) }

// Gone is the error of [Open] for a data folder that has lost the log of this device.
func Gone(fsys durable.FS, data, state string) error { return repair.Gone(fsys, data, state) }

// ForgetDevice makes the next Open mint a new device, see [device.ForgetDevice].
func ForgetDevice(fsys durable.FS, state, restored string) error {
	return device.ForgetDevice(fsys, state, restored)
}

// KeptSnapshots lists the snapshots of earlier logs, see [device.KeptSnapshots].
func KeptSnapshots(fsys durable.FS, state string) []string { return device.KeptSnapshots(fsys, state) }

// FoldSnapshot reads one, see [repair.OfSnapshot].
func FoldSnapshot(fsys durable.FS, name string) (*Folded, error) {
	return repair.OfSnapshot(fsys, name)
}

// KeepDamaged keeps a copy of a damaged file of a state folder, see [device.KeepDamaged].
func KeepDamaged(fsys durable.FS, state, name string) error {
	return device.KeepDamaged(fsys, state, name)
}

// Damaged says which files of a state folder were damaged, see [device.Damaged].
func Damaged(fsys durable.FS, state string) []string { return device.Damaged(fsys, state) }

// DamagedNow lists the files of a state folder, and the key of its device, that the next start finds damaged.
func DamagedNow(fsys durable.FS, data, state string) []string {
	names := device.DamagedNow(fsys, data, state)
	if dev, ok := device.Named(fsys, state); ok {
		names = slices.AppendSeq(names, maps.Values(extent.Damaged(fsys, state, dev)))
	}
	return names
}

// CheckSnapshot compares the snapshot in a state folder with its checksum.
func CheckSnapshot(fsys durable.FS, state string) error { return snapshot.Check(fsys, state) }

// CountQuarantined counts the damaged lines that a state folder has copies of.
func CountQuarantined(fsys durable.FS, state string) (int, error) {
	return quarantine.Count(fsys, state)
}

// CheckLog verifies a log, see [logcheck.Check].
func CheckLog(ctx context.Context, fsys durable.FS, path string, now time.Time) (*LogCheck, error) {
	return logcheck.Check(ctx, fsys, path, now)
}

// Lost compares the snapshot of a state folder with the files of a log, see [repair.Lost].
func Lost(ctx context.Context, fsys durable.FS, data, state string, log *slog.Logger) (*repair.Loss, error) {
	return repair.Lost(ctx, fsys, data, state, log)
}

// Fold returns what the log files under a data folder add up to, see [repair.Fold].
func Fold(ctx context.Context, fsys durable.FS, data string, log *slog.Logger) (*Folded, error) {
	return repair.Fold(ctx, fsys, data, log)
}

// FoldHistories returns what the histories under a data folder add up to, see [repair.FoldHistories].
func FoldHistories(ctx context.Context, fsys durable.FS, data string, log *slog.Logger) (*Folded, error) {
	return repair.FoldHistories(ctx, fsys, data, log)
}

// CheckDecidedLog verifies a log whose state folder is at hand, see [logcheck.CheckDecided].
func CheckDecidedLog(ctx context.Context, fsys durable.FS, path, state string, now time.Time) (*LogCheck, error) {
	return logcheck.CheckDecided(ctx, fsys, path, state, now)
}

// ParseStamp reads the text of a stamp.
func ParseStamp(s string) (Stamp, error) { return record.ParseStamp(s) }

// LogFiles lists the log files under path, see [record.LogFiles].
func LogFiles(fsys durable.FS, path string) ([]string, error) { return record.LogFiles(fsys, path) }

// ReadLog yields the lines of a log file, see [record.ReadLog].
func ReadLog(fsys durable.FS, name string) iter.Seq2[LogLine, error] {
	return record.ReadLog(fsys, name)
}

// NormalizeText returns a text less what does not tell it from another.
func NormalizeText(s string) NormalizedText { return table.NormalizeText(s) }

// NewPart returns what [Row.Holds] looks for.
func NewPart(s string) table.Part { return table.NewPart(s) }

// IsPartOfID reports whether a text may be the beginning or the end of an ID.
func IsPartOfID(s string) bool { return table.IsPartOfID(s) }

// Decode returns the memory that stored fields make, see [record.DecodeMemory].
func Decode(id memory.ID, fields map[string]json.RawMessage) (memory.Memory, error) {
	return record.DecodeMemory(id, fields)
}

// TextsApart returns the texts that were written apart from the shown one, see [history.TextsApart].
func TextsApart(edits []TextEdit, shown Stamp) []Apart { return history.TextsApart(edits, shown) }

// NotBehind reports whether a text did not lead to others, see [history.NotBehind].
func NotBehind(edits []TextEdit, text, others func(string) bool) bool {
	return history.NotBehind(edits, text, others)
}

// Implied removes what the log need not say, see [record.Implied].
func Implied(m *memory.Memory) { record.Implied(m) }

// The keys of a memory that hold relations, review items and sources.

// RelationKey returns the key of a relation.
func RelationKey(id string) string { return record.RelationKey(id) }

// IsRelationKey reports whether a key is where a relation belongs.
func IsRelationKey(key string) bool { return record.IsRelationKey(key) }

// RelationValue encodes a relation.
func RelationValue(r *memory.Relation) (json.RawMessage, error) { return record.RelationValue(r) }

// ParseRelation decodes a relation.
func ParseRelation(from memory.ID, key string, value []byte) (memory.Relation, error) {
	return record.ParseRelation(from, key, value)
}

// ReviewKey returns the key of a review item.
func ReviewKey(id string) string { return record.ReviewKey(id) }

// IsReviewKey reports whether a key is where a review item belongs.
func IsReviewKey(key string) bool { return record.IsReviewKey(key) }

// ReviewValue encodes a review item.
func ReviewValue(item *memory.ReviewItem) json.RawMessage { return record.ReviewValue(item) }

// ParseReviewItem decodes a review item.
func ParseReviewItem(key string, value []byte) (memory.ReviewItem, error) {
	return record.ParseReviewItem(key, value)
}

// IsSourceKey reports whether a key is where a source belongs.
func IsSourceKey(key string) bool { return record.IsSourceKey(key) }

// ParseSource decodes a source.
func ParseSource(key string, value []byte) (memory.Source, error) {
	return record.ParseSource(key, value)
}

// ParseFirstSource decodes the first source that a memory was saved with.
func ParseFirstSource(value []byte) (memory.Source, error) { return record.ParseFirstSource(value) }

// StoredLastUsed is the last use that a memory came in with or, without one, the time at which it came in.
func StoredLastUsed(r *Row) time.Time { return table.StoredLastUsed(r) }

// LastTouched is the later of the last use and the last opening of a memory: fading counts from then.
func LastTouched(r *Row) time.Time { return table.LastTouched(r) }

// LastOpened is when a whole memory was last shown to a caller, or zero.
func LastOpened(r *Row) time.Time { return table.LastOpened(r) }

// OtherText returns what searches look into of a warm memory beside its content.
func OtherText(r *Row) string { return table.OtherText(r) }

// NewSelection returns the selection of the memories that which reports. It looks at the row's document alone.
func NewSelection(which func(*Row) bool) *Selection { return table.NewSelection(which) }
