package vendors

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Alphabets that vendors make their tokens of.
const (
	digits    = "0123456789"
	lower     = "abcdefghijklmnopqrstuvwxyz"
	upper     = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lowerHex  = digits + "abcdef"
	alnum     = digits + upper + lower
	lowerNum  = digits + lower
	upperNum  = digits + upper
	url64     = alnum + "-_"
	std64     = alnum + "+/"
	base32    = upper + "234567"
	bech32    = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"
	printable = alnum + "!#%&*+-.:=?@^_~"
)

// source makes the random parts of samples.
type source struct{ *rand.Rand }

// of returns n characters of an alphabet.
func (s source) of(alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[s.IntN(len(alphabet))]
	}
	return string(b)
}

// hex returns n hexadecimal digits.
func (s source) hex(n int) string { return s.of(lowerHex, n) }

// between returns a number of at least low and at most high.
func (s source) between(low, high int) int { return low + s.IntN(high-low+1) }

// one returns one of the texts.
func (s source) one(of ...string) string { return of[s.IntN(len(of))] }

// bytes returns n random bytes.
func (s source) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(s.Uint32())
	}
	return b
}

// base64 returns n random bytes in standard base64.
func (s source) base64(n int) string { return base64.StdEncoding.EncodeToString(s.bytes(n)) }

// uuid returns a random UUID (RFC 9562, version 4).
func (s source) uuid() string {
	b := s.bytes(16)
	b[6], b[8] = b[6]&15|0x40, b[8]&63|0x80
	h := hex.EncodeToString(b)
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

// base62CRC returns the checksum of GitHub's and npm's tokens: CRC32 in base 62, six characters.
func base62CRC(body string) string {
	n, out := crc32.ChecksumIEEE([]byte(body)), make([]byte, 6)
	for i := range out {
		out[5-i] = alnum[n%62]
		n /= 62
	}
	return string(out)
}

// luhn appends the check digit of ISO/IEC 7812.
func luhn(number string) string {
	sum := 0
	for i := range len(number) {
		d := int(number[len(number)-1-i] - '0')
		if i%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return number + strconv.Itoa((10-sum%10)%10)
}

// pem returns a block of random bytes in lines of 64 characters (RFC 7468).
func (s source) pem(kind string, bytes int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "-----BEGIN %s-----\n", kind)
	body := s.base64(bytes)
	for len(body) > 64 {
		b.WriteString(body[:64] + "\n")
		body = body[64:]
	}
	fmt.Fprintf(&b, "%s\n-----END %s-----", body, kind)
	return b.String()
}

// words are what people make passwords and sentences of.
var words = strings.Fields(`falcon harbor copper meadow tiger anchor velvet summer pirate garden walnut rocket
	marble saturn ginger castle thunder pepper silver dragon`)

// password returns a password as people and password managers make them.
func (s source) password() string {
	word := s.one(words...)
	title := strings.ToUpper(word[:1]) + word[1:]
	switch s.IntN(4) {
	case 0:
		return title + s.one("!", "#", "$", "@") + s.of(digits, s.between(2, 4))
	case 1:
		return title + "-" + s.one(words...) + "-" + s.of(digits, 2) + s.one("!", "?", "")
	case 2:
		return s.of(lower, 1) + s.of(alnum, s.between(8, 14)) + s.of(digits, 1) + s.of(upper, 1)
	default:
		return s.of(alnum, 1) + s.of(printable, s.between(10, 18)) + s.of(digits, 1) + s.of(upper, 1)
	}
}
