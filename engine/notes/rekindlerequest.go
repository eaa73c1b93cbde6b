package notes

import (
	"emberd/memory"
)

// MaxWishes is how many rekindle requests can wait. A search drops further ones.
const MaxWishes = 64

// RekindleRequest is a cold memory that a search matched, and the channel for its text. The
// channel gets one answer, or is closed without one.
type RekindleRequest struct {
	memory.Memory
	Text chan<- TextLookup
}

// RequestRekindle queues a rekindle request. It never blocks, and returns false if the queue
// is full.
func (e *Notes) RequestRekindle(m memory.Memory) (<-chan TextLookup, bool) {
	text := make(chan TextLookup, 1)
	select {
	case e.Wishes <- RekindleRequest{m, text}:
		return text, true
	default:
		return nil, false
	}
}
