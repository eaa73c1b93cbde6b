// Package journal knows where every transaction line of the log is, which changes were
// undone, which idempotency keys were used, and which number each file of the log has.
//
// It guarantees that a line is found wherever compaction moved it. It reads history
// segments only for a question that they may answer. Any goroutine may read it.
package journal
