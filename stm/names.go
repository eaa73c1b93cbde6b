package stm

import (
	"fmt"
	"regexp"
	"strconv"
)

// Kind says what a file of the log is.
type Kind string

// The kinds of files.
const (
	Raw       Kind = "raw"       // as it was written
	Compacted Kind = "compacted" // what still counts of several files
	History   Kind = "history"   // what was superseded in them; not read at start
	Odd       Kind = "odd"       // not a name that emberd gives: somebody's copy
)

// fileName is what the name of a log file says. Names are fixed-width, so that
// a directory listing is in order.
type fileName struct {
	kind     Kind
	from, to uint32 // segment numbers
	gen      int    // 0 for a raw segment
}

// segmentName names a raw segment.
func segmentName(n uint32) string { return fileName{kind: Raw, from: n, to: n}.String() }

func (n fileName) String() string {
	switch n.kind {
	case Raw:
		return fmt.Sprintf("s-%08d.jsonl", n.to)
	case Compacted:
		return fmt.Sprintf("c-%08d-%08d.g%d.jsonl", n.from, n.to, n.gen)
	case History:
		return fmt.Sprintf("h-%08d-%08d.g%d.jsonl", n.from, n.to, n.gen)
	}
	return ""
}

var (
	rawPattern  = regexp.MustCompile(`^s-(\d{8})\.jsonl$`)
	madePattern = regexp.MustCompile(`^([ch])-(\d{8})-(\d{8})\.g([1-9]\d{0,8})\.jsonl$`)
)

// parseFileName reads the name of a file that ends in .jsonl.
func parseFileName(name string) fileName {
	if m := rawPattern.FindStringSubmatch(name); m != nil {
		n := number(m[1])
		return fileName{kind: Raw, from: uint32(n), to: uint32(n)}
	}
	m := madePattern.FindStringSubmatch(name)
	if m == nil || number(m[2]) > number(m[3]) {
		return fileName{kind: Odd}
	}
	kind := Compacted
	if m[1] == "h" {
		kind = History
	}
	return fileName{kind: kind, from: uint32(number(m[2])), to: uint32(number(m[3])), gen: number(m[4])}
}

// number reads at most nine digits, which always fit.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// covers reports whether a compacted file named n stands for one named o.
func (n fileName) covers(o fileName) bool {
	return n.kind == Compacted && (o.kind == Raw || o.kind == Compacted) &&
		n.from <= o.from && o.to <= n.to && o.gen < n.gen
}

// companion is the history that belongs to a compacted file.
func (n fileName) companion() fileName {
	n.kind = History
	return n
}
