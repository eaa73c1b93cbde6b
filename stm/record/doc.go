// Package record has the bytes of the log: lines, their checksums, stamps, names of files,
// headers and seals, and the fields of a memory that the log itself reads. It knows no
// store and changes nothing on the disk.
//
// It guarantees that a line which [Line.Append] wrote reads back as it was, that a line
// with another bit is refused by [Verify], and that what a later version wrote is never
// mistaken for something that this version knows. A line is a JSON object on one line of
// text, ended by LF, at most [MaxLine] bytes long. A segment is a header, records and a
// seal; a segment without a seal ended in a crash. This is a segment of one record, each
// line of it broken in two for this comment:
//
//	{"v":1,"op":"seg","t":"0192f3a1b2c3-0000-k7q2mzxa",
//	    "d":{"dev":"k7q2mzxa","seg":42,"first":7,"format":1,"created":"2024-11-03T12:00:00Z"},"c":"a3049ef3"}
//	{"v":1,"q":7,"t":"0192f3a1b2c3-0004-k7q2mzxa","op":"set","id":"0192f3a1-b2c3-7d4e-8f50-61728394a5b6",
//	    "tx":"0192f3a1b2c3-0004-k7q2mzxa","do":"edit","d":{"tags":["db"]},"c":"4e3791d7"}
//	{"v":1,"op":"seal","t":"0192f3a1b2c3-0009-k7q2mzxa",
//	    "d":{"count":2,"last":7,"sum":"1d225525"},"c":"6e4e1540"}
//
//	+------------+----------+----------+-----+----------+-------------+
//	| op seg     | record q | record   | ... | record   | op seal     |
//	| dev seg    |          | q+1      |     | last     | count last  |
//	| first lost |          |          |     |          | sum (crc)   |
//	+------------+----------+----------+-----+----------+-------------+
//
// The members of a record are in this order; those that do not apply are left out:
//
//	+---+---+---+----+----+----+----+----+-----+----+-----+------+----+-----+----+------+---+---+
//	| v | q | t | op | id | tx | do | by | key | kh | ref | lift | au | cut | fp | prev | d | c |
//	+---+---+---+----+----+----+----+----+-----+----+-----+------+----+-----+----+------+---+---+
//	|<---------------------------- bytes that the checksum is of -------------------------->|   |
//	                                                         CRC-32C, eight hex digits -----^
//
// Package stm explains the members.
package record
