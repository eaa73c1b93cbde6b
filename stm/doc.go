// Package stm is the short-term memory: an append-only log of JSON lines, the
// table of memories that the log adds up to, and the word index over it.
//
// # Guarantees
//
// A transaction that Update acknowledged is on the disk: it survives the death
// of the process and a power cut, and it is all there or not at all. A search
// that begins after the acknowledgement finds it. Damage to one line costs at
// most that line; start-up never refuses a log because of what is in it, never
// deletes and never rewrites. Uses and accesses are the exception: they reach
// the disk within a second, and a crash may lose that second.
//
// # Assumptions
//
// fsync (fdatasync on Linux, F_FULLFSYNC on macOS) puts data and size of a file
// on the disk, or fails; after a failure the file is not trusted again. fsync
// of a directory does the same for its names. Sectors need not be atomic and
// unsynced bytes may survive in any part, as garbage or as NUL. One process
// writes, which the caller's lock ensures. The checksum finds accidents; a
// program that can write the files owns the data.
//
// # Files
//
//	data/stm/<device>/s-00000042.jsonl   a segment, written by that device only
//	data/stm/<device>/c-00000031-00000041.g3.jsonl
//	                                     a compacted file: what still counts of
//	                                     segments 31 to 41, of generation 3
//	data/stm/<device>/h-00000031-00000041.g3.jsonl
//	                                     its history: what no longer does
//	data/devices/<device>.json           how far that device is, written by it only
//	data/devices/<device>.key            32 random bytes, for its fingerprints
//	state/device.json                    which device this is
//	state/quarantine/                    copies of damaged lines; decided.jsonl says
//	                                     which a human accepted or dropped
//	state/index/stm.snap                 snapshot, disposable
//	state/index/docs-*.doc               documents of memories that it refers to, see package docfile
//	state/written/<device>/              how far each file was written, see package extent
//	state/seen.json                      how far other devices were read once
//	state/ballast                        room for a full disk; in the device's
//	                                     folder, as .ballast, if state is elsewhere
//
// A device is eight characters, minted once. Each start, and each 4 MiB or 24
// hours, begins a new segment, so nothing is ever appended to a file that
// another run wrote. Names are fixed-width and never used again.
//
// # Lines
//
// A line is one JSON object, UTF-8, at most 4 MiB, ended by LF, with these
// members in this order (those that do not apply are left out):
//
//	v     format version, 1
//	q     sequence number, from 1, per device; op seg and seal have none
//	t     stamp: hybrid logical clock and device, 0192f3a1b2c3-0004-k7q2mzxa
//	op    put, set, del, all, use; seg and seal begin and end a segment
//	id    the memory, for put, set and del
//	tx    journal entry: the stamp of its first line
//	do    what was asked for: save, add, reinforce, echo, confirm, edit, forget,
//	      undo, restore, import, …
//	by    the caller: {"via","uid","pid","client","session"}
//	key   idempotency key, kh the hash of the request it stands for
//	ref   the journal entry that this line, the last of an undo, takes back
//	lift  the forgotten memories whose text may be saved again from here on
//	au    seal of the audit log of the device: its lines by then, and an HMAC of who made
//	      the change and when
//	cut   true where compaction left something out; a history has the line
//	fp    the fingerprint of a forgotten text, of del and purge
//	prev  {"t","from","d"}: the revision before, the texts that a new text was made from, and
//	      the values that are superseded
//	d     what the operation says
//	ids   of a packed all, in place of d: the memories
//	z     and the operations on them, see package record
//	c     CRC-32C (Castagnoli), eight hex digits, of all bytes before ,"c":
//
// put holds a whole memory and creates it or brings it back. set holds new
// values of some keys, null removing one. del has no d; its prev holds the
// whole memory, with a revision of time 0 if it came in forgotten. all is several
// of these at once: d is an array of objects with
// op, id, prev and d. A line about archived memories is packed: its ids are in clear, so that a look
// for one finds it, and the rest is DEFLATE with a dictionary. In a compacted file the line that archived a
// memory has its text, in prev, and the one that saved the memory has it no more. use holds running totals
// of this device by memory: {"u" uses, "a" accesses, "lu" last used, "la" last accessed}. seg reports which
// segment this is, seal how many lines it has and the CRC-32C over their
// checksums; a segment without seal ended in a crash, which is legal.
//
// The seg line of a compacted file or a history also has from and seg (the first
// and the last segment it stands for), first and last (sequence numbers, all of
// which are accounted for), gen, and replaces: name, length and CRC-32C of every
// file that was folded in. That of a compacted file reports how many lines its
// history has and, as since, from when on all that was superseded is in it or in
// an earlier one; that of a history the oldest and the newest stamp in it. Their
// seals are always there and have a CRC-32C of all bytes before.
//
// Members and operations that a reader does not know are kept and passed over.
//
// # Forgotten texts
//
// The line of a del or purge that a caller asked for has a fingerprint of the text:
// base64url of its HMAC-SHA-256 (RFC 2104) under the key of the device that wrote
// the line, after Unicode normal form C, full case folding, and single spaces for
// white space. Store.ForgottenAs so knows the text again, on every device that
// has the key file, when nothing that can be read is left of it. The latest
// fingerprint of a memory counts until a later line lifts it: the put that brings
// the memory back, or the save that was asked for again. Compaction keeps both
// for good, some fifty bytes more for a tombstone. Without the key a fingerprint
// says nothing; with it a guess can be checked, and no more.
//
// # Merging
//
// Every operation commutes with every other and may be met twice: each
// top-level key of a memory is a last-writer-wins register by stamp, del is a
// tombstone that hides what is older, only a put brings a memory back, and
// totals take the maximum per device and add up over devices. So the order in
// which files are read is irrelevant, a bad line can be skipped, and several
// devices can share a synced folder.
//
// What has parts that several devices add to is no key but several: a relation, and a
// link of the provenance chain, which is in a key named for the device that learned it.
// So none of them is lost.
//
// # Texts that were written apart
//
// A new text names the texts that its writer knew: from has the stamp of the one that it
// replaces, and those of others that it was joined of. So the log tells two texts of which one
// led to the other from two that devices wrote while apart, of which the later one is shown
// and the other would be in the history only. TextsApart names the memories for which lines of
// another device may show so, TextEdits reads their texts, and the function TextsApart tells
// those that did not lead to the shown one. A line without from counts as written with
// knowledge of all that is older.
//
// # Where a memory was learned
//
// These keys of a memory say so. A link is {"kind","ref","line","at","evidence",
// "project","by","times"}, see memory.Source.
//
//	origin              whose words it is: user, agent, tool, web or import; left
//	                    out where it is the kind of the first link
//	confirmed_at        when a person said that it holds all the same
//	sources             the links that it was saved with; the first has no at where
//	                    that is created_at
//	sources_dropped     how often it was learned by links that are not among them
//	source.<device>.<n> one link learned later, n from 0 to 49, by that device;
//	                    with "dropped", how often the links before it in this
//	                    place were learned
//	superseded_by, superseded_at
//	                    the memory that took its place, and since when; the other
//	                    one has a relation of kind supersedes that leads here
//
// # Writing
//
//  1. The caller's goroutine locks the memories, looks at them, encodes and
//     analyses what is to change, makes sure that it can be read back, and
//     queues it; a full queue is "busy".
//  2. The writer takes all that is queued (up to 512 lines or 1 MiB), sees that
//     the log's folders and file are still where they were, stamps and numbers
//     the batch, writes it in one write and syncs once.
//  3. Only now table and index change and the callers are answered.
//
// A crash before 2 leaves nothing; within 2 it leaves whole lines, a torn last
// line, or NUL bytes; after 2 everything. When a write fails, the file is cut
// back to the last good line. When a sync fails, the file is given up and the
// batch is written again, same numbers and stamps, to a new segment; if that
// fails too the log is read-only, and the caller is told that the outcome is
// unknown. Such a batch is kept, and is what is written first, same numbers and
// stamps, when the log can be written again.
//
// A log that cannot be written is tried again with a new segment, every minute
// after a failed sync and every five seconds after anything else, so that it is
// writable again without a restart and without a save. A segment that
// cannot be begun leaves no file and no used number, and while there is an older
// one that one continues. Below 16 MiB of free space only deletes are written. When
// the disk is full anyway, the ballast goes, the deletes of the batch are
// written again, and saves are refused until there is room for new ballast.
//
// A start on a folder from which the log of this device is gone is refused,
// since its disk may only not be mounted.
//
// # Compaction
//
// Rewrite folds own files that are no longer written into one. It is a function of
// their bytes, the time, and how long things are kept; it does not look at the
// table but for deletions by other devices. Line by line, in order:
//
//   - A line that counts wholly and supersedes nothing is copied as it is.
//   - Of one that counts in part, or that reports what it supersedes, the keys that
//     count are kept, with stamp, number and journal entry, and marked as cut; the
//     whole line goes to the history. A key removed by null counts like any other.
//   - One of which nothing counts any more goes to the history.
//   - A delete keeps what it superseded while it can be restored from the trash,
//     and is a bare tombstone after.
//   - A tombstone is dropped when the caller says that every other device knows of
//     it, the inputs begin with the first segment, every line in them can be read,
//     and no file of another device says something older about the memory.
//   - A line with an idempotency key stays whole for 24 hours. What only a later
//     version understands, what is damaged and what was edited by hand stays as it
//     is, but for damaged lines that a human has decided about, which go.
//   - Of the use lines only the highest totals are kept, in as many of the last
//     ones as it takes.
//   - Lines older than the history is kept for go to neither.
//
// The files are written under temporary names, synced, read back, and compared:
// the stamp and a hash of every value, every total, and every line that had to be
// kept. Then the history and after it the compacted file get names that no file
// ever had, each followed by a sync of the folder. Unlink removes the inputs later,
// one by one, each only if it still is what was folded in. In between, and after a
// crash at any point, any mix of inputs and outputs says the same, since lines may
// be met twice. A file that a whole compacted one stands for is not read at start.
//
// A history is read when a caller asks for an entry that may be in it, to undo it
// or to find the newest that stands, and is forgotten again by the next
// compaction.
//
// # The past
//
// What the memories were at an earlier moment is what all lines up to it add up
// to, those of histories too. Where compaction may have left one out, the first
// line after the moment reports what it superseded. From since on that is exact but
// for the totals of use: a total counts that was last raised before the moment,
// and what there was before a higher one that compaction kept alone is not known.
//
// # Recovery
//
//  1. The snapshot is used if it fits the files it covers; else all is read.
//     It covers what was read or written, so a file that grew since is met
//     again, and so is one with a line that was passed over. What was merged
//     from another device's file stays, whatever became of the file since.
//  2. Every *.jsonl file of every device is read line by line, under whatever
//     name, so that a sync tool's conflict copy is too, but for histories and
//     for what a whole compacted file stands for. One of another device that
//     cannot be read is tried again. A line with a value that cannot be read is
//     passed over as a whole.
//  3. A line with LF and right checksum is applied. A last line without LF is
//     applied if its checksum is right, else it is torn and left alone.
//  4. NUL bytes, a byte-order mark, CR and spaces around a line are stripped.
//     A line without the member c that is valid JSON, a valid put or set of a
//     valid memory, with no member twice, is a human's edit. It counts at its
//     own stamp, so what was written later stays, and what of it holds is
//     written again as a new transaction. What remains is copied to the
//     quarantine and passed over. A human may accept such a line, which then
//     counts as a human's edit does, or drop it; it stays where it is until
//     compaction, and is known by the hash of its bytes.
//  5. A line of another device stamped more than a day ahead is held back.
//     A line whose sequence number was met before is merged anyway.
//  6. A snapshot that was not used is compared with what was read, register by register. What it
//     has beyond that is merged, and written before the store is used, as lines that have the verb
//     recover and the stamps of the writes that they stand for; the snapshot stays until then. So
//     is, two minutes after a file of another device was found shorter or gone, what is in the
//     table and in no file. Purges and deletes of either side come first. See package repair. A
//     header then says which records of other devices the files of this one keep; it counts
//     where all of the files that it names were read, by their length and checksum.
//  7. Missing sequence numbers of this device are counted, with the help of
//     the headers and seals, and the extents in the state folder, that tell how many there
//     were; those whose effect a copy has are given up in the next header. A sealed segment of
//     sound lines that are not those its seal describes is counted too.
//  8. The next write begins a new segment.
//
// # Other devices
//
// Refresh does the same with what has arrived since. A file of another device is
// known by its size, time and inode, and by the CRC-32C of what was read of it:
// one that grew, or was replaced by one that begins the same, is read on from the
// last whole line, any other from the beginning. An unfinished last line is not
// damage there. A line that is held back is taken when its time has come. Only
// the writer merges, while the memories concerned are locked.
//
// The header of a compacted file may name a floor: the stamp of the latest
// tombstone that was dropped, with how far each device had been read. A line of
// another device that is older than a floor and beyond what was read, and writes
// to a memory that is neither alive nor deleted, waits for a decision.
//
// # Sharing
//
// Everything may be called from many goroutines. Rows and the slices they give
// are shared and must not be changed; what goes in is not kept.
package stm
