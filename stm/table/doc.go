// Package table has the memories that the lines of the log add up to: rows, how lines
// merge into them, the table of them all, and the indexes that searches use.
//
// It guarantees that the order in which lines are merged makes no difference, nor does
// merging a line twice, and that a row never changes: an update makes a new row and swaps
// it in, so that readers need no lock. Changes come from one goroutine at a time; counts
// of use come from any.
package table
