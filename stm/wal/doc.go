// Package wal is the log below a store: the writer of this device's segments, recovery, the
// files of other devices, repair, when to write snapshots, and the place of compactions.
//
// It guarantees that a transaction is on the disk, whole, before its caller is answered
// and before table and index show it; that a start shows everything that was acknowledged
// and never refuses a log because of its contents; and that a batch whose outcome is
// unknown is written again, with the same numbers, before anything else. One goroutine
// writes; see [Log] for what it alone may change and for the order of locks.
//
// A start takes a snapshot, see package snapshot, only when it is whole and every own log file
// that it covers is as it was, or, for the one that was being written, begins as it did. It then
// reads the rest of the log. A snapshot that cannot be used costs time, nothing else.
package wal
