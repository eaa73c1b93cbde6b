package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"emberd/vault"
)

// fingerprints tells apart what notes say of a memory: by field the first 16 hex
// digits of the SHA-256 of its text.
func fingerprints(c *vault.Carried) map[string]string {
	says := map[string]string{contentField: c.Body, "tags": strings.Join(c.Tags, "\n")}
	for _, field := range []string{"category", "strength", "stage"} {
		says[field] = "-"
		if value, ok := c.Fields[field]; ok {
			says[field] = "=" + value
		}
	}
	for field, text := range says {
		sum := sha256.Sum256([]byte(text))
		says[field] = hex.EncodeToString(sum[:8])
	}
	return says
}
