package record

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// Fingerprint is the fingerprint of a text that a caller deleted: its HMAC-SHA-256
// under the key of the device that wrote so.
type Fingerprint [sha256.Size]byte

func (p *Fingerprint) String() string { return base64.RawURLEncoding.EncodeToString(p[:]) }

func parsePrint(value []byte) (*Fingerprint, error) {
	text, err := Text(value)
	if err != nil {
		return nil, err
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) != sha256.Size {
		return nil, fmt.Errorf("invalid fingerprint %.50q", text)
	}
	return (*Fingerprint)(b), nil
}
