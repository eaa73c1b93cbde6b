package notes

import (
	"emberd/memory"
)

// MaxWishes is how many rekindle requests can wait. Further ones are dropped.
const MaxWishes = 64

// RequestRekindle queues the request to rekindle a memory that was used. It never blocks, and returns false if the
// queue is full.
func (e *Notes) RequestRekindle(id memory.ID) bool {
	select {
	case e.Wishes <- id:
		return true
	default:
		return false
	}
}
