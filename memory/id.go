package memory

import (
	"github.com/google/uuid"
)

// ID names one memory: a UUID in canonical lower-case text. New ids are
// version 7 (RFC 9562), so their order is the order of creation; ids that come
// from elsewhere keep their version.
type ID string

// NewID returns a fresh version 7 id. It fails only when the system has no
// randomness to give.
func NewID() (ID, error) {
	u, err := uuid.NewV7()
	if err != nil {
		return "", Errorf(Internal, "create a memory ID: %v", err)
	}
	return ID(u.String()), nil
}

// DeriveID returns the id that always belongs to these bytes (version 5 in a
// namespace of our own), so that importing one file twice adds nothing twice.
func DeriveID(seed []byte) ID {
	return ID(uuid.NewSHA1(deriveSpace, seed).String())
}

var deriveSpace = uuid.MustParse("6c1f7a52-9d0e-5b7e-8a64-0e6d62657264")

// ParseID accepts a UUID in its 36-character form, in any case.
func ParseID(s string) (ID, error) {
	u, err := uuid.Parse(s)
	if err != nil || len(s) != 36 {
		return "", Errorf(Invalid, "invalid memory ID %q; copy a UUID from emberd list or emberd search",
			Clip(s)).At("id")
	}
	return ID(u.String()), nil
}

// Bytes is the 16-byte form of an id that ParseID or NewID made.
func (id ID) Bytes() [16]byte {
	u, _ := uuid.Parse(string(id))
	return u
}

// IDFromBytes is the inverse of [ID.Bytes].
func IDFromBytes(b [16]byte) ID { return ID(uuid.UUID(b).String()) }

// Short is what people read and type: the last eight characters, which are
// random in every id that emberd makes.
func (id ID) Short() string {
	if len(id) < 8 {
		return string(id)
	}
	return string(id[len(id)-8:])
}
