package op

import (
	"time"

	"emberd/memory"
)

// StaleListRequest asks which memories wait for a decision.
type StaleListRequest struct{}

// StaleListResult lists them by id.
type StaleListResult struct {
	Memories []StaleMemory `json:"memories"`
}

// StaleMemory is one that a device which was silent for long wrote to, and that
// may have been deleted in the meantime.
type StaleMemory struct {
	ID      memory.ID `json:"id"`
	Device  string    `json:"device"`
	Changes int       `json:"changes"` // that wait
	At      time.Time `json:"at"`      // of the latest
}

// StaleDecideRequest keeps such a memory or moves it to the trash.
type StaleDecideRequest struct {
	ID   string `json:"-" path:"id" doc:"ID of the memory, from stale.list"`
	Keep *bool  `json:"keep" doc:"true: restore the memory; false: leave the memory deleted"`
}

// StaleDecideResult names the memory and the journal entry of the decision.
type StaleDecideResult struct {
	ID memory.ID `json:"id"`
	Tx string    `json:"tx,omitempty"`
}
