package op

// A Waiting is one thing that continues only after the user answers or acts. Status lists all of them,
// and status, doctor and the page print them from there.
type Waiting struct {
	// Code is one of the Waits constants.
	Code string `json:"code"`
	// Count is how many items, notes or memories wait, at least 1.
	Count int `json:"count"`
	// Text states what waits and what follows, in one sentence.
	Text string `json:"text"`
	// Command answers it, or shows what there is to answer.
	Command string `json:"command"`
	// Warning is the entry of [StatusResult.Warnings] about the same, "" if there is none.
	Warning string `json:"warning,omitempty"`
}

// Codes of what waits for the user.
const (
	WaitsReview        = "review-open"      // undecided review items
	WaitsDeletions     = "vault-deletions"  // notes vanished together
	WaitsReleased      = "vault-released"   // the user closed the vault
	WaitsVaultGone     = "vault-away"       // the folder of the vault is not there
	WaitsUnread        = "vault-unread"     // notes that cannot be read
	WaitsWrites        = "note-writes"      // changes that could not be written to notes
	WaitsList          = "list-refused"     // another note is where a list belongs
	WaitsQuarantine    = "quarantine"       // damaged lines of the log
	WaitsLogGaps       = "log-damaged"      // records that the log lacks
	WaitsOfflineDevice = "stale"            // memories of a device that was offline for long
	WaitsPurge         = "purge-backups"    // backups that contain purged memories
	WaitsCredentials   = "credentials"      // memories of other devices that contain credentials
	WaitsEmbedding     = "embedding-paused" // the user paused embedding
	WaitsReadOnly      = "daemon-readonly"  // the log cannot be written
)
