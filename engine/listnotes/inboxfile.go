package listnotes

import (
	"time"

	"emberd/memory"
)

// InboxFile is what the state folder keeps about the review note.
type InboxFile struct {
	// Sums are the checksums of the lines that emberd wrote, latest first.
	Sums []string `json:"sums,omitempty"`
	// Done are the ticked decisions. One without Tx was in progress when the daemon ended.
	Done []DecidedItem `json:"done,omitempty"`
	// Remarks are why ticks of open items had no effect, by item ID.
	Remarks map[string]InboxRemark `json:"remarks,omitempty"`
	Missed  []MissedTick           `json:"missed,omitempty"`
}

// DecidedItem is a decision about an item.
type DecidedItem struct {
	Item     string      `json:"item"`
	At       time.Time   `json:"at"`
	Decision string      `json:"decision"`
	Reason   string      `json:"reason,omitempty"`
	Tx       string      `json:"tx,omitempty"`
	IDs      []memory.ID `json:"ids"`
}

// InboxRemark is a remark about an item in the state that it then had.
type InboxRemark struct {
	Seen string `json:"seen"`
	Text string `json:"text"`
}

// MissedTick is a tick of an item that was closed already.
type MissedTick struct {
	At   time.Time   `json:"at"`
	Item string      `json:"item"` // its token
	Why  string      `json:"why"`
	IDs  []memory.ID `json:"ids,omitempty"`
}

// InboxKind is the kind of the review note.
const InboxKind = "inbox"
