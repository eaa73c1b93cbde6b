package ledger

import (
	"cmp"
	"strings"

	"emberd/memory"
)

// The kinds of callers.
const (
	Token   = "token"   // showed a capability token of that name
	Claimed = "claimed" // says so itself
	Via     = "via"     // did not say; the name is the way it came
	Others  = "others"  // all for whom there was no room
)

// Caller is what counts go by.
type Caller struct{ Kind, Name string }

// Of returns the caller that an actor counts as: its token, or else the name that its
// client claims without a version, or else the way it came. The command line is one
// caller, whatever its version.
func Of(a memory.Actor) Caller {
	name, _, _ := strings.Cut(a.Client, "/")
	switch {
	case a.Token != "":
		return Caller{Token, clip(a.Token)}
	case a.Via == "cli" || name == "":
		return Caller{Via, clip(cmp.Or(a.Via, "unknown"))}
	}
	return Caller{Claimed, clip(strings.TrimSpace(name))}
}

func clip(name string) string {
	return strings.ToValidUTF8(name[:min(len(name), longestName)], "")
}

// Is reports whether a caller is meant by a name, or by kind:name.
func (c Caller) Is(name string) bool {
	return name != "" && (c.Name == name || c.Kind+":"+c.Name == name) || c.Kind == Others && name == Others
}

// MarshalText implements [encoding.TextMarshaler]: kind:name.
func (c Caller) MarshalText() ([]byte, error) { return []byte(c.Kind + ":" + c.Name), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (c *Caller) UnmarshalText(text []byte) error {
	c.Kind, c.Name, _ = strings.Cut(string(text), ":")
	switch c.Kind {
	case Token, Claimed, Via, Others:
		return nil
	}
	return memory.Errorf(memory.Invalid, "%q is no kind of caller", memory.Clip(c.Kind))
}
