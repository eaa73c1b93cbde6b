// Package vectors keeps the vectors of chunks of text on disk, with int8 copies that are scanned for
// what is nearest to a query.
//
// A [Store] is one folder for one identity, that is for vectors that may be compared with each
// other. A vector is found by its [Key], the digest of what was embedded, so that a text that
// comes back, under another name or in another document, needs no second embedding. A [Doc] says
// which chunks a document consists of. The two come independently: a chunk whose vector is not
// there yet is passed over in [Store.Nearest], and a vector that no document has waits an hour
// for one before [Store.Compact] drops it.
//
// # Guarantees
//
// It is a cache: what is lost is embedded again, and [Store.Missing] says for which documents. So
// damage is never an error that stops anything; it is passed over, counted in [Status] and gone
// after the next compaction. But a wrong vector is never returned: every record is under a
// CRC-32C, which is checked when the folder is opened and again each time that a vector is read.
//
// What was put or placed before a call of [Store.Sync] that returned nil is there after a power
// loss at any later moment, also in the midst of a compaction. What was not synced may be there
// or not. An operation that returned an error changed nothing in memory, though a record of it
// may be found by the next Open.
//
// # Files
//
// Each device writes files of its own, DEVICE-NUMBER.vec with eight digits, and a new one with
// the next number after every Open and every failure that leaves doubt about what is in the old
// one; no file is appended to by two processes. They are read in the order of their numbers. A
// compaction writes all that is current into one file that stands for all own files of lower
// number:
//
//  1. the file being written is synced and given up; later records go to number n+1
//  2. all that is current is written to the temporary file .DEVICE-NUMBER.tmp, number n
//  3. it is synced, read back and compared
//  4. it is renamed and the folder synced: from here it stands for the files below n
//  5. the files below n are removed
//
// A crash before step 4 leaves the old files as they were, and a temporary file that the next
// Open removes; one after it leaves files that the next Open passes over and removes.
//
// The vectors, not the documents, in files of other devices are used too if [Options.Others] says
// so. These are only read, to the last whole record: a sync tool may be in the midst of bringing
// them. [Store.Refresh] looks for more.
//
// # Format
//
//	+--------+--------+--------+-----+--------+
//	| header | record | record | ... | synced |
//	+--------+--------+--------+-----+--------+
//
//	+------+------+--------+-----+---------+
//	| mark | kind | length | crc | payload |
//	+------+------+--------+-----+---------+
//	       |<--- crc --->|     |<- crc ->|
//
// All numbers are little-endian. A file of device a for vectors of two components, with the
// vector (0.6, 0.8) of the key 00 01 … 0f:
//
//	89 76 65 63 0d 0a 1a 0a  01 00  00 00  02 00 00 00   magic, version, flags, dim
//	00 00 00 00 00 00 00 00  01 00 6d  01 00 61          salt, identity m, device a
//	3c de 0d 85                                      crc
//	e5 76 72 a7  01  18 00 00  54 9a 65 ad               mark, kind, length, crc
//	00 01 02 03 04 05 06 07  08 09 0a 0b 0c 0d 0e 0f     key
//	9a 99 19 3f  cd cc 4c 3f                             components
//	e5 76 72 a7  04  00 00 00  22 da 59 22               synced
//
// A file begins with a header:
//
//	magic     8   "\x89vec\r\n\x1a\n": no text, and no transfer as text goes unnoticed
//	version   2   1
//	flags     2   bit 0: stands for all files of this device with a lower number
//	dim       4   components of a vector
//	salt      8   random
//	identity  2+n length and bytes
//	device    2+n length and bytes
//	crc       4   CRC-32C of all before it
//
// Then come records:
//
//	mark      4   "\xe5vr\xa7"
//	kind      1   1 vector, 2 document, 3 document gone, 4 synced
//	length    3   of the payload
//	crc       4   CRC-32C, continued from the header's, of kind, length and payload
//	payload
//
//	vector    key 16, dim × float32
//	document  digest 16, length of the name 2, name, then for each chunk key 16, line 4
//	gone      name
//	synced    nothing: all before it in the file is on the disk
//
// Since the sum continues that of a header with a random salt, bytes of another file, or of an
// earlier one on the same blocks of the disk, are no record here. Where there is no record the
// next mark is looked for that one begins with.
//
// What follows the last "synced" in a file of an earlier process can be read, but may not be on
// the disk, whatever a sync says now: when one fails, the system takes what it could not write
// for written. So the first Sync writes all of it again, by a compaction.
//
// # Scan
//
// A row is the vector divided by its scale, the greatest magnitude of a component over 127, and
// rounded to int8: 38 MB for 100,000 vectors of 384 components instead of 154. Rows are in slabs of
// 1,024; the values of full slabs are mapped from a file without a name, which the system may take
// out of memory. A slab that cannot be read is passed over, and its vectors are missing from then
// on. A query is rounded likewise. The best documents of the scan, at least 30 more than asked for, are
// compared again with the float32 vectors in the files, and more of them, up to 32 times as many
// or 1000 more, as long as the rounding may have put one behind that belongs in front. So the
// result is that of float32, unless more documents than that are nearer to each other than about
// 0.003. One scan serves several wants. Rows that are not near enough, or only in documents of
// another kind, the first letter of their names, cost no more than that. For a want that lists documents, a search
// reads the rows of these only.
//
// # Sharing
//
// A Store may be used by several goroutines. Slices handed in are copied, and a vector handed out
// is the caller's; the chunks of a Doc handed out are shared and must not be changed.
package vectors

import (
	"crypto/sha256"
	"encoding/binary"
)

// Key is the first half of the SHA-256 of what was embedded.
type Key [16]byte

// KeyOf is the key of the parts, which are distinguished: ("ab", "c") and ("a", "bc") differ.
func KeyOf(parts ...string) Key {
	h := sha256.New()
	var size [8]byte
	for _, p := range parts {
		binary.LittleEndian.PutUint64(size[:], uint64(len(p)))
		h.Write(size[:])
		h.Write([]byte(p))
	}
	return Key(h.Sum(nil)[:16])
}

// Entry is a vector to be stored. It has the store's dimension and unit length, or is all zeros,
// which is as near to everything.
type Entry struct {
	Key    Key
	Vector []float32
}

// Chunk is a part of a document that has a vector of its own. Line is where it begins: the line of
// a file, from 1, or what else the caller counts by.
type Chunk struct {
	Key  Key
	Line int
}

// Doc is a document as it was cut: Name is unique in the store, Digest that of the state of the
// document, up to the caller. One chunk may occur in several documents and several times in one.
type Doc struct {
	Name   string
	Digest [16]byte
	Chunks []Chunk
}

// Match is a document near a query: Chunk is the number in Doc.Chunks, from 0, of its nearest
// chunk, Line that chunk's line, and Cosine, from -1 to 1, how near it is.
type Match struct {
	Doc         string
	Chunk, Line int
	Cosine      float64
}
