package chain

import (
	"crypto/hmac"
	"encoding/hex"
	"strconv"
	"strings"
)

// end is where a chain ends.
type end struct {
	key []byte
	n   int64 // of the last line that is on the disk
}

// sealBytes is how much of a MAC a seal has.
const sealBytes = 16

// Seal returns what vouches for a text from now on: how many lines the chain has on the disk, and a
// MAC of that and the text. It is "" before the chain was opened. Any goroutine can call it.
func (c *Chain) Seal(text []byte) string {
	at := c.end.Load()
	if at == nil {
		return ""
	}
	number := strconv.FormatInt(at.n, 10)
	return number + "." + hex.EncodeToString(sealOf(at.key, number, text))
}

// Sealed reports whether a seal is of a text, and how many lines the chain had then. The chain must
// have been opened by Append or Check. After Append any goroutine can call it.
func (c *Chain) Sealed(text []byte, seal string) (n int64, ok bool) {
	number, sum, _ := strings.Cut(seal, ".")
	n, err := strconv.ParseInt(number, 10, 64)
	mac, bad := hex.DecodeString(sum)
	return n, err == nil && bad == nil && hmac.Equal(mac, sealOf(c.sealKey(), number, text))
}

func sealOf(key []byte, number string, text []byte) []byte {
	return macBy(key, []byte("seal "+number+" "), text)[:sealBytes]
}

// sealKey returns the key that this process seals with, or else the one that a check read.
func (c *Chain) sealKey() []byte {
	if at := c.end.Load(); at != nil {
		return at.key
	}
	return c.key
}

// End returns the number of the last line that this process has on the disk, 0 before it opened the
// chain. Any goroutine can call it.
func (c *Chain) End() int64 {
	if at := c.end.Load(); at != nil {
		return at.n
	}
	return 0
}
