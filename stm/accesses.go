package stm

import (
	"strconv"
	"time"
)

// lastAccessed is the key of the latest access that no device of the log counted.
const lastAccessed = "last_accessed_ts"

// AccessCount sums the tracked searches that returned the memory.
func (r *Row) AccessCount() int64 { return r.total().accesses }

// StoredAccesses are those of them that no device of the log counted: the memory came in
// with them, or was merged of others that had them.
func (r *Row) StoredAccesses() int64 { return int64(r.hot.accesses) }

// LastAccessed is the latest tracked search that returned the memory, or zero. What the
// memory came in with or was merged of counts, too.
func (r *Row) LastAccessed() time.Time {
	at := r.total().accessed
	if stored, err := milliField(r.value(lastAccessed)); err == nil {
		at = max(at, stored)
	}
	return milli(at)
}

// Confidence decodes how sure whoever saved the memory was of it, 0 to 1.
func (r *Row) Confidence() float64 {
	f, err := strconv.ParseFloat(string(r.value("confidence")), 64)
	if err != nil {
		return 1 // as of every memory that does not say
	}
	return f
}
