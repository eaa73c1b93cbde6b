// Package history reads what the log recorded and reverts it: the journal, undo, versions,
// the trash, views of the past, purges, and the fingerprints of deleted texts.
//
// It guarantees that undo never overwrites a later change unless it is forced to, that a
// crash in the middle of an undo or a purge leaves something that can be repeated, and
// that after a purge no file of this device contains the memory. It changes memories only
// through the [Updater] that it is given.
package history
