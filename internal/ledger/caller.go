package ledger

import (
	"cmp"
	"slices"
	"strings"

	"emberd/internal/text"
	"emberd/memory"
)

// The kinds of callers.
const (
	Token   = "token"   // showed a capability token of that name
	Claimed = "claimed" // says so itself
	Via     = "via"     // did not say, and the name is the way it came; or emberd itself, by the name of its work
	Others  = "others"  // all callers beyond the bound
)

var kinds = []string{Token, Claimed, Via, Others}

// itself is the way of what emberd does without a request, such as applying notes.
const itself = "emberd"

// Caller is what counts go by.
type Caller struct{ Kind, Name string }

// note is the way of decisions that the user makes in the note of review items. No request comes this way.
const note = "note"

// page is the name of the user's page in a browser, which emberd page serves.
const page = "page"

// Of returns the caller that an actor counts as: its token, or else the name that its
// client claims without a version, or else the way it came. The command line is one
// caller, whatever its version, and the page that it serves another. The name of emberd's own work is not a claim.
func Of(a memory.Actor) Caller {
	name, _, _ := strings.Cut(a.Client, "/")
	switch {
	case a.Token != "":
		return Caller{Token, text.FirstBytes(a.Token, maxName)}
	case (a.Via == itself || a.Via == note) && name != "":
		return Caller{Via, text.FirstBytes(strings.TrimSpace(name), maxName)}
	case a.Via == "cli" && name == page:
		return Caller{Via, page}
	case a.Via == "cli" || name == "":
		return Caller{Via, text.FirstBytes(cmp.Or(a.Via, "unknown"), maxName)}
	}
	return Caller{Claimed, text.FirstBytes(strings.TrimSpace(name), maxName)}
}

// recordedAs reports whether name is that of an actor in the audit log, which once had emberd's own work
// and the user's decisions in a note as claimed.
func recordedAs(a memory.Actor, name string) bool {
	c := Of(a)
	return c.String() == name ||
		(a.Via == itself || a.Via == note) && name == Caller{Claimed, c.Name}.String()
}

// Is reports whether a caller is meant by a name, or by kind:name. What begins with a kind
// is always the latter: a client that claims the name "token:work" is claimed:token:work,
// and cannot stand in the way of the token.
func (c Caller) Is(name string) bool {
	switch kind, _, split := strings.Cut(name, ":"); {
	case name == "":
		return false
	case split && slices.Contains(kinds, kind):
		return c.String() == name
	}
	return c.Name == name || c.Kind == Others && name == Others
}

// String returns kind:name.
func (c Caller) String() string { return c.Kind + ":" + c.Name }

// MarshalText implements [encoding.TextMarshaler]: kind:name.
func (c Caller) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (c *Caller) UnmarshalText(text []byte) error {
	c.Kind, c.Name, _ = strings.Cut(string(text), ":")
	if slices.Contains(kinds, c.Kind) {
		return nil
	}
	return memory.Errorf(memory.Invalid, "invalid caller type %q", memory.Clip(c.Kind))
}
