package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

const HandPrefix = "hand:"

// IsHandKey reports whether an idempotency key reports which hand edit was taken.
func IsHandKey(key string) bool { return strings.HasPrefix(key, HandPrefix) }

// NameOf names the bytes of a line, so that it is met once.
func NameOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// IsHandEdit reports whether b is a put or set that could count if only it had
// a checksum, which it has not.
func IsHandEdit(b []byte) bool {
	names, _ := members(b)
	_, err := ParseEdit(b)
	return err == nil && !names["c"]
}

// ParseEdit decodes a line whose bytes no checksum vouches for, and refuses
// what is not a whole and valid put or set of a valid memory.
func ParseEdit(b []byte) (Line, error) {
	if !json.Valid(b) || !utf8.Valid(b) {
		return Line{}, errors.New("the line is not valid JSON")
	}
	l, err := Decode(b)
	switch {
	case err != nil:
		return Line{}, err
	case l.Version != FormatVersion:
		return Line{}, fmt.Errorf("the line has the unsupported version %d", l.Version)
	case l.Op != OpPut && l.Op != OpSet:
		return Line{}, fmt.Errorf("emberd does not accept operation %q from a line without a checksum", l.Op)
	}
	for _, object := range [][]byte{b, l.Data} {
		if _, once := members(object); !once {
			return Line{}, errors.New("the line contains the same field twice")
		}
	}
	doc, err := WithKeys(l.Data, nil)
	if err == nil {
		_, err = checkDoc(doc)
	}
	return l, err
}

// members returns the names of an object's members, and whether each is there
// only once.
func members(obj []byte) (names map[string]bool, once bool) {
	names, once = map[string]bool{}, true
	// What is not an object is refused by others.
	_ = EachField(obj, func(name, _ []byte) bool {
		once = once && !names[string(name)]
		names[string(name)] = true
		return true
	})
	return names, once
}

// HashOf is what a damaged line is known by.
func HashOf(b []byte) string { return NameOf(bytes.TrimSpace(b)) }
