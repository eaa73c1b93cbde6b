// Package docfile keeps the documents of memories in files state/index/docs-*.doc, from which they are read one at a
// time, so that they need not be in memory. A snapshot names the files that its rows refer to.
//
// It guarantees that a file has its name only once all of it is on the disk; that it is never written to again; and
// that a document is returned only if it is, byte for byte, the one that was added for that memory. Files are read by
// pread and not mapped: a disk that fails makes an error, and does not end the process.
//
// # Format
//
// Numbers are little-endian, a sum is CRC-32C.
//
//	"emberdoc" | version 1, 8 bytes | records
//	record:  key of the memory 16 | length n 4 | sum of the 20 bytes before and of the document 4 | document n
//
// A document is what [table.Row] holds in memory: JSON, or a byte 1 and JSON compressed.
package docfile
