// Package content adds up the files of a log and compares the result with what a store
// knows. A backup is whole if the files in it hold all that the store knew at that moment.
//
// # Guarantees
//
// [Folder.Compare] reads the files as a start does and changes nothing. It finds every live memory,
// field and delete of the store that the files lack, and makes files of the log that hold
// them under their own stamps. A [Summary] of the same files is always the same, in
// whatever order they are read.
//
// About [PartSize] memories of the files are in memory at once: of a larger log the files are read
// several times.
//
// # Digests
//
// The digest of a stage is the sum, modulo 2^64 in each of four lanes, of one SHA-256 for each
// field of each memory: over the ID, the name, the stamp and the JSON of the field. That of the trash is
// the sum over the ID and the stamp of each delete. Counts of use are in no digest.
//
// The values of the package may be used by one goroutine at a time.
package content
