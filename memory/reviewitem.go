package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// The states of a ReviewItem.
const (
	ItemOpen    = "open"
	ItemClaimed = "claimed"
	ItemClosed  = "closed"
)

// ReviewItem is a pending decision about some memories. It is kept
// with the first of them by id, goes to the trash with that one, and comes back with it.
type ReviewItem struct {
	ID string `json:"id"` // "rev-" and 32 hex digits, see [ReviewItemID]
	// Agent filed it: decay, cluster, merge, promote, relations, health, cleanup, note, text, or user.
	Agent string `json:"agent"`
	// Action is what the agent proposes, in its own words: reinforce, gc_candidate,
	// needs_review, merge, promote, contradiction, update.
	Action    string   `json:"action"`
	Urgency   string   `json:"urgency"` // high, medium or low
	Labels    []string `json:"labels,omitempty"`
	MemoryIDs []ID     `json:"memory_ids"` // ascending
	// Evidence reports why in a sentence. It may hold words of the memories.
	Evidence string `json:"evidence,omitempty"`
	// Texts are others that the memory could have, which searches find as long as the item is not closed.
	Texts []OtherText `json:"texts,omitempty"`

	Status    string    `json:"status"`
	CreatedAt time.Time `json:"created_at"`
	ClaimedBy string    `json:"claimed_by,omitempty"`
	ClaimedAt time.Time `json:"claimed_at,omitzero"`
	ClosedAt  time.Time `json:"closed_at,omitzero"`
	// Decision is what was done about it: promote, keep, merge, forget, supersede:ID, or "" for none;
	// Reason why it was closed, in the words of the reviewer.
	Decision string `json:"decision,omitempty"`
	Reason   string `json:"reason,omitempty"`
	// Bead is the issue of a bd tracker that mirrors it, "" for none.
	Bead string `json:"bead,omitempty"`
}

// OtherText is a text that was written for a memory apart from the one that it has.
type OtherText struct {
	Text string `json:"text"`
	// Rev is the version of the text in the log, and Note the path of the note that has it; one of them is set.
	Rev  string    `json:"rev,omitempty"`
	Note string    `json:"note,omitempty"`
	At   time.Time `json:"at,omitzero"` // when it was written, if that is known
}

// Digits stand for a text in decisions: 64 bits of its SHA-256.
func (o *OtherText) Digits() string {
	sum := sha256.Sum256([]byte(o.Text))
	return hex.EncodeToString(sum[:8])
}

// ReviewItemID is the id of the one item of an agent about a set of memories: the first
// half of a SHA-256 over the agent and the sorted ids, each ended by NUL.
func ReviewItemID(agent string, ids []ID) string {
	sorted := slices.Sorted(slices.Values(ids))
	var b strings.Builder
	b.WriteString(agent + "\x00")
	for _, id := range sorted {
		b.WriteString(string(id) + "\x00")
	}
	sum := sha256.Sum256([]byte(b.String()))
	return "rev-" + hex.EncodeToString(sum[:16])
}

// Short is the item's id as people are shown it, and may type it.
func (i *ReviewItem) Short() string { return i.ID[:min(len(i.ID), len("rev-12345678"))] }
