package record

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// TextKey is the key of a memory that holds its text.
const TextKey = "content"

// KeyLife is how long an idempotency key is remembered.
const KeyLife = 24 * time.Hour

// PurgedKey is what is known of a key, which a caller may have made of the text, when all
// that it was used for was purged. That of such a one is another, and means nothing.
func PurgedKey(key string) string {
	sum := sha256.Sum256([]byte("purged\x00" + key))
	return "sha256:" + hex.EncodeToString(sum[:16])
}
