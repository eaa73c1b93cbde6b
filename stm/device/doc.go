// Package device reports which device writes a log, where the log lies, and what the other
// devices said about themselves: identity, devices files, and the keys of fingerprints.
//
// It guarantees that a device never writes under an identity that another machine may have,
// and that a key is on the disk before a line needs it.
//
//	+------------------------+   +-----------------------+   +-----------------------+
//	| state/device.json      |   | data/devices/ID.json  |   | data/devices/ID.key   |
//	| identity of this       |   | how far device ID is; |   | 32 random bytes, the  |
//	| device; never synced   |   | it alone writes it    |   | key of fingerprints   |
//	+------------------------+   +-----------------------+   +-----------------------+
//
// A device.json is one line of JSON, and so is a file of data/devices:
//
//	{"device":"k7q2mzxa","machine":"0","data_inode":7,"last_segment":42,"heads":{"42":"0192f3a1b2c3-0000-k7q2mzxa"}}
//	{"device":"k7q2mzxa","name":"laptop","format":1,"at":"2024-11-03T12:00:00Z","last":7,"seen":{"b3k9w2pq":12}}
package device
