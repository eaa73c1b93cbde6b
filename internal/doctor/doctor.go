// Package doctor checks what emberd depends on: the folders, the socket, the vault, the disk
// and the limits of the system. It reports problems with the command that repairs them.
//
// It needs no daemon and changes nothing. A repair that loses nothing is in [Finding.Fix].
// Findings have codes that scripts can rely on: codes are added and never removed.
package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Severity says how much a finding matters.
type Severity string

// The severities, the worst first.
const (
	Error   Severity = "bad"  // something does not work, or is open to others
	Warning Severity = "look" // the user should look at it
	Note    Severity = "note" // worth knowing, and nothing is wrong
	OK      Severity = "ok"
)

// A Finding is one thing that was looked at.
type Finding struct {
	Area     string // what it is about, one word
	Code     string // which finding it is, "" for what is all right
	Severity Severity
	Text     string // one sentence
	Next     string // the command that repairs it, or continues from there; may be empty
	// Fix mends it and says what it did. It is nil where a person has to decide.
	Fix func(context.Context) (string, error)
}

// Sort puts the worst first, and leaves what is as bad in its order.
func Sort(all []Finding) {
	order := []Severity{Error, Warning, Note, OK}
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Compare(slices.Index(order, a.Severity), slices.Index(order, b.Severity))
	})
}

// count writes a number with a word, in the plural unless it is one.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
