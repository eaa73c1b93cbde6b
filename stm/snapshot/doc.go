// Package snapshot is the file state/index/stm.snap: the memories of a log and their word index at one
// point of it, so that a start reads only what came after. It can be deleted at any time.
//
// It guarantees that a file which was not written to its end is never opened; that nothing is returned
// of a part whose checksums are wrong; and that writing one takes memory for one part, not for the whole.
// When to write one, and what a file that does not fit the log means, is decided in package wal.
//
// # Format
//
// Version 9 is a list of parts, a directory of them, and a trailer. Numbers are little-endian, sums are
// CRC-32C, and everything begins at a multiple of 8 bytes, with zeros before it.
//
//	"emberstm" 09 00 00 00 00 00 00 00
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
//	docs  the files of documents that rows refer to, by name, see package docfile; none if rows have all themselves
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
// # Documents
//
// A row has its document itself, or says in which file of documents it is and where. Those files are never written to
// again: a snapshot after few changes refers to the files of the one before, and to one more. A file that no snapshot
// in the folder refers to is removed by [Sweep], so that a text that must go is gone when the snapshot and the files
// that have it are written again. A snapshot one of whose files is not there is damaged.
//
// The document of a cold memory is compressed: a byte 1, and DEFLATE with the dictionary of [record.Deflate]. A row
// has each distinct stamp once, and its keys with their places in that list.
//
// # Versions 5 to 7
//
// Version 7 has all documents in the rows. It is read.
// Version 6 has all documents as JSON, and a stamp for each key that was written apart from the rest. It is read.
// Version 5 was one list of sections with one sum at its end. [Open] refuses it as [ErrStale]; [Witness] reads it.
package snapshot
