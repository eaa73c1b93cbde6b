// Package wal is the log below a store: the writer of this device's segments, recovery, the
// files of other devices, the quarantine, snapshots, and the place of compactions.
//
// It guarantees that a transaction is on the disk, whole, before its caller is answered
// and before table and index show it; that a start shows everything that was acknowledged
// and never refuses a log because of its contents; and that a batch whose outcome is
// unknown is written again, with the same numbers, before anything else. One goroutine
// writes; see [Log] for what it alone may change and for the order of locks.
//
// The snapshot, state/index/stm.snap, is the table and the word index at one point of the
// log. It can be deleted at any time:
//
//	"emberstm" 05 …
//	+-------+---------+----------+--------+--------+---------+------+------+-----------+--------+-------+--------+
//	| magic | version | analyzer | device | cursor | journal | keys | rows | deletions | purges | words | CRC-32C|
//	+-------+---------+----------+--------+--------+---------+------+------+-----------+--------+-------+--------+
package wal
