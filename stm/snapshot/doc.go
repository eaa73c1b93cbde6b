// Package snapshot is the file state/index/stm.snap: the memories of a log and their word index at one
// point of it, so that a start reads only what came after. It can be deleted at any time.
//
// It guarantees that a file which was not written to its end is never opened; that nothing is returned
// of a part whose checksums are wrong; and that writing one takes memory for one part, not for the whole.
// When to write one, and what a file that does not fit the log means, is decided in package wal.
//
// # Format
//
// Version 7 is a list of parts, a directory of them, and a trailer. Numbers are little-endian, sums are
// CRC-32C, and everything begins at a multiple of 8 bytes, with zeros before it.
//
//	"emberstm" 07 00 00 00 00 00 00 00
//	+-------+---------+--------+-----+--------+-----------+---------+
//	| magic | version | part 1 |  …  | part n | directory | trailer |
//	| 8     | 8       |        |     |        | 32 × n    | 32      |
//	+-------+---------+--------+-----+--------+-----------+---------+
//
//	part       "part" | kind 4 | length of content 8 | items in it 4 | sum of these 20 bytes 4 |
//	           content, zeros | the sum of each MiB of content and zeros, 4 each, zeros
//	directory  kind 4 | items 4 | where the part begins 8 | length of content 8 |
//	           sum of its sums, with zeros 4 | 0 4
//	trailer    where the directory begins 8 | n 4 | sum of the directory 4 | 0 4 |
//	           sum of these 20 bytes 4 | "emberend"
//
// The kinds of parts, in the order in which they are written; all but "meta" and "word" may occur any
// number of times, of about a MiB each:
//
//	meta  analyzer, device, clock and last own number, dead bytes, the log's files, numbers met, hand edits taken
//	refs  the journal: where each line is
//	undo  which entries were taken back, and by which
//	keys  idempotency keys
//	rows  memories, deleted ones too
//	open  when memories of rows before were last opened, by device; versions that do not know it pass it over
//	dels  where the lines are that deleted memories
//	bare  the deletes of which no line has what they superseded
//	purg  which memories were purged
//	word  the word index, see [words.Index.WriteTo]
//
// In a content a number is an unsigned varint, a text its length and bytes, a list its length and items;
// a stamp is 8 bytes and the 8 letters of a device.
//
// # Reading in place
//
// A part's content is contiguous and aligned, and each MiB of it can be checked alone, so a reader may map
// the file and read documents and postings where they lie. That is safe because a snapshot is never
// written to again nor truncated: a newer one takes its name by a rename, and the older file lives on
// until nothing maps it. This package keeps to that, and everything else must, because access to a mapped
// file that was truncated ends the process. The reader here copies part by part.
//
// The document of a cold memory is compressed: a byte 1, and DEFLATE with the dictionary of [record.Deflate]. A row
// has each distinct stamp once, and its keys with their places in that list.
//
// # Versions 5 and 6
//
// Version 6 has all documents as JSON, and a stamp for each key that was written apart from the rest. It is read.
// Version 5 was one list of sections with one sum at its end. [Open] refuses it as [ErrStale]; [Witness] reads it.
package snapshot
