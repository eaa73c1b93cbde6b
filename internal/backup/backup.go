// Package backup keeps a folder of files as one file: a tar archive in gzip that
// lists its content and proves that it is whole.
//
// # Format
//
// The file is two gzip members (RFC 1952). The first is a tar archive (POSIX.1):
// manifest.json, see [Manifest], and then the files it lists, in its order, which
// is that of their names. The second member is empty, has a fixed length, and
// its comment is "sha256:" and the SHA-256, in hex, of all bytes before it. So
// ordinary tools unpack a backup, and a change of any one byte of it shows.
//
//	+-------------------------------------------------+---------------------------+
//	| gzip member 1                                   | gzip member 2             |
//	| +---------------+--------------+-----+--------+ | comment:                  |
//	| | manifest.json | first file   | ... | last   | | sha256: and 64 hex digits |
//	| +---------------+--------------+-----+--------+ | content: none             |
//	+-------------------------------------------------+---------------------------+
//	|<-------------- bytes that the sum is of ------->|
//
// A manifest of one file is this, but with digests of 64 digits, see package content:
//
//	{
//	  "format": 1,
//	  "emberd": "1.2.0",
//	  "created": "2024-11-03T12:00:00Z",
//	  "device": "k7q2mzxa",
//	  "seq": 7,
//	  "stamp": "0192f3a1b2c3-0004-k7q2mzxa",
//	  "memories": 1,
//	  "holds": {
//	    "active": {
//	      "memories": 1,
//	      "digest": "3b1f09c2"
//	    }
//	  },
//	  "trash_since": "2024-10-04T12:00:00Z",
//	  "files": [
//	    {
//	      "name": "stm/k7q2mzxa/s-00000042.jsonl",
//	      "size": 512,
//	      "sha256": "5f70bf18"
//	    }
//	  ]
//	}
//
// # Guarantees
//
// A backup appears under its name whole and on the disk, or not at all. One of a log holds all
// that the store knew at its moment, see [Log]: what the files of the log had lost by then is
// written from memory. [Restore] reads and verifies all of a backup before it touches anything,
// unpacks it beside its target, and puts it in place by renaming; what was there is moved
// aside, never deleted. [Manifest.Settle] compares what the unpacked log holds with the manifest.
// What a backup may unpack to is bounded by what it says it holds, that by its own size, and its
// names cannot lead out of the target.
//
// Functions may be called by several goroutines, for different targets.
package backup

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"emberd/stm/content"
)

const (
	format       = 1
	manifestName = "manifest.json"

	maxManifest = 64 << 20 // bytes
	maxDepth    = 8        // folders in a name
	// maxRatio is above what deflate can save, 1032 to 1 (zlib's technical notes):
	// what unpacks to more is not a backup.
	maxRatio = 1100
)

// Manifest reports what a backup holds. Device, Seq and Stamp are the point of the
// log that it was taken at, for people.
type Manifest struct {
	Format   int       `json:"format"`
	Emberd   string    `json:"emberd"` // version that made it
	Created  time.Time `json:"created"`
	Device   string    `json:"device"`
	Seq      uint64    `json:"seq"`
	Stamp    string    `json:"stamp"`
	Memories int       `json:"memories"` // live ones
	// Automatic says that the daemon made it unasked, so that it may remove it again.
	Automatic bool `json:"automatic,omitempty"`
	// Holds is what the files add up to, by stage; nil in a backup of an earlier version, which
	// cannot be compared. Deletes before TrashSince are not counted.
	Holds      content.Summary `json:"holds,omitempty"`
	TrashSince time.Time       `json:"trash_since,omitzero"`
	// FromMemory counts the memories that the log on the disk lacked, in part or as a whole, and that
	// were written from what the daemon held; LostTrash those of the trash that neither held.
	// Damaged says what was wrong with the log then.
	FromMemory int      `json:"from_memory,omitempty"`
	LostTrash  int      `json:"lost_trash,omitempty"`
	Damaged    []string `json:"damaged,omitempty"`
	Files      []File   `json:"files"`
}

// Devices names the devices that wrote the log in a backup.
func (m *Manifest) Devices() (names []string) {
	for _, f := range m.Files {
		if dir, base := path.Split(f.Name); strings.HasPrefix(dir, "stm/") && path.Ext(base) == ".jsonl" {
			names = append(names, path.Base(dir))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// File is one file of a backup, by its slash-separated path in the folder.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	data   []byte // of a file that is in no folder
}

// Bytes adds up the sizes of the files.
func (m *Manifest) Bytes() int64 {
	var n int64
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}

// check refuses a manifest that does not describe a folder, or one larger than a
// file of so many bytes can hold.
func (m *Manifest) check(packed int64) error {
	if m.Format != format {
		return fmt.Errorf("the backup has format %d, but this version of emberd supports "+
			"format %d; use the version of emberd that created the backup", m.Format, format)
	}
	var sum int64
	for i, f := range m.Files {
		if err := checkName(f.Name); err != nil {
			return err
		}
		if i > 0 && f.Name <= m.Files[i-1].Name {
			return fmt.Errorf("invalid order of files in the manifest: %q follows %q", f.Name, m.Files[i-1].Name)
		}
		if f.Size < 0 || f.Size > packed*maxRatio-sum {
			return fmt.Errorf("the manifest lists %q with %d bytes, which is invalid for a backup of %d bytes", f.Name,
				f.Size, packed)
		}
		sum += f.Size
	}
	return nil
}

// checkName refuses a path that could lead out of the folder, or that a backup
// never holds.
func checkName(name string) error {
	parts := strings.Split(name, "/")
	hidden := false
	for _, p := range parts {
		hidden = hidden || strings.HasPrefix(p, ".")
	}
	if !filepath.IsLocal(name) || path.Clean(name) != name || hidden || len(parts) > maxDepth ||
		strings.ContainsAny(name, "\\\x00") || name == manifestName {
		return fmt.Errorf("invalid file name %q in the backup", name)
	}
	return nil
}
