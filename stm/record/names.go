package record

import (
	"emberd/internal/text"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Kind is what a file of the log is.
type Kind string

// The kinds of files.
const (
	Raw       Kind = "raw"       // as it was written
	Compacted Kind = "compacted" // what still counts of several files
	History   Kind = "history"   // what was superseded in them; not read at start
	Odd       Kind = "odd"       // not a name that emberd gives, such as a copy
)

// Name is what the name of a log file says. Names are fixed-width, so that
// a directory listing is in order.
type Name struct {
	Kind     Kind
	From, To uint32 // segment numbers
	Gen      int    // 0 for a raw segment
}

// SegmentName names a raw segment.
func SegmentName(n uint32) string { return Name{Kind: Raw, From: n, To: n}.String() }

func (n Name) String() string {
	switch n.Kind {
	case Raw:
		return fmt.Sprintf("s-%08d.jsonl", n.To)
	case Compacted:
		return fmt.Sprintf("c-%08d-%08d.g%d.jsonl", n.From, n.To, n.Gen)
	case History:
		return fmt.Sprintf("h-%08d-%08d.g%d.jsonl", n.From, n.To, n.Gen)
	}
	return ""
}

var (
	rawPattern  = text.Pattern(`^s-(\d{8})\.jsonl$`)
	madePattern = text.Pattern(`^([ch])-(\d{8})-(\d{8})\.g([1-9]\d{0,8})\.jsonl$`)
)

// ParseName reads the name of a file that ends in .jsonl.
func ParseName(name string) Name {
	if m := rawPattern().FindStringSubmatch(name); m != nil {
		n := number(m[1])
		return Name{Kind: Raw, From: uint32(n), To: uint32(n)}
	}
	m := madePattern().FindStringSubmatch(name)
	if m == nil || number(m[2]) > number(m[3]) {
		return Name{Kind: Odd}
	}
	kind := Compacted
	if m[1] == "h" {
		kind = History
	}
	return Name{Kind: kind, From: uint32(number(m[2])), To: uint32(number(m[3])), Gen: number(m[4])}
}

// number reads at most nine digits, which always fit.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// Covers reports whether a compacted file named n stands for one named o.
func (n Name) Covers(o Name) bool {
	return n.Kind == Compacted && (o.Kind == Raw || o.Kind == Compacted) &&
		n.From <= o.From && o.To <= n.To && o.Gen < n.Gen
}

// Companion is the history that belongs to a compacted file.
func (n Name) Companion() Name {
	n.Kind = History
	return n
}

// IsLogFile reports whether a directory entry is a file of the log.
func IsLogFile(e fs.DirEntry) bool {
	return e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".jsonl") && !strings.HasPrefix(e.Name(), ".")
}

// Racy is how old a file must be for its size and time to be believed: within
// one tick of the file system's clock a file can change and look the same.
const Racy = 2 * time.Second

// IsReadAtStart reports whether a directory entry is a log file that is read at start:
// under any name but a hidden one, so that a sync tool's conflict copy is too.
func IsReadAtStart(e fs.DirEntry) bool {
	return IsLogFile(e) && ParseName(e.Name()).Kind != History
}

// IsCopy reports whether a name is none that emberd gives: s-00000042.sync-conflict-….jsonl,
// "s-00000042 2.jsonl", "s-00000042 (conflicted copy).jsonl".
func IsCopy(name string) bool {
	return ParseName(filepath.Base(name)).Kind == Odd
}

// IsSaved reports whether a name is that of a file that a backup made for what the files of another device lacked.
func IsSaved(name string) bool {
	return IsCopy(name) && strings.HasPrefix(filepath.Base(name), SavedPrefix)
}

// SavedPrefix begins such names.
const SavedPrefix = "saved-"

// Transient are the counts of what a file holds now, in contrast to what
// reading it did.
func (r Recovery) Transient(before Recovery) Recovery {
	return Recovery{TornTail: r.TornTail - before.TornTail, NulTail: r.NulTail - before.NulTail,
		Quarantined: r.Quarantined - before.Quarantined, Future: r.Future - before.Future,
		Unknown: r.Unknown - before.Unknown}
}

func (r Recovery) Plus(o Recovery) Recovery {
	r.TornTail += o.TornTail
	r.NulTail += o.NulTail
	r.Quarantined += o.Quarantined
	r.Future += o.Future
	r.Unknown += o.Unknown
	return r
}
