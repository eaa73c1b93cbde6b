package secret

import (
	"bytes"
	"crypto/sha256"
	"math/big"
	"regexp"
	"strings"
	"sync"
)

// base58 are the digits of Base58Check, the encoding of Bitcoin's keys and addresses.
const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// base58Check reports whether text[start:end] ends in its checksum: the first four bytes of the SHA-256 of the
// SHA-256 of what is before it.
func base58Check(text string, start, end int) bool {
	n, radix := new(big.Int), big.NewInt(int64(len(base58)))
	for _, c := range []byte(text[start:end]) {
		digit := strings.IndexByte(base58, c)
		if digit < 0 {
			return false
		}
		n.Add(n.Mul(n, radix), big.NewInt(int64(digit)))
	}
	key := n.Bytes()
	if len(key) < 5 {
		return false
	}
	body, sum := key[:len(key)-4], key[len(key)-4:]
	once := sha256.Sum256(body)
	twice := sha256.Sum256(once[:])
	return bytes.Equal(twice[:4], sum)
}

// cardWords are the words near a card number. Without one, sixteen digits are an order number.
var cardWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:(?:debit|credit)?card|debit|code on the back|security code|kreditkarte|visa|mastercard` +
		`|amex|american express|maestro|discover|diners|jcb|(?-i:PAN)|cc|cv[cv]2?|valid thru|exp(?:iry|ires)?)\b`)
})

// cardContext is how many bytes before and after a card number may have a word about cards.
const cardContext = 48

// cardNumber reports whether text[start:end] is the number of a payment card: in an issuer's range and with the
// check digit of ISO/IEC 7812, not part of a longer number, and with a word about cards near it. A number of few
// different digits is one that a payment provider publishes for tests.
func cardNumber(text string, start, end int) bool {
	number := strings.NewReplacer(" ", "", "-", "").Replace(text[start:end])
	if !issued(number) || !luhn(number) || distinct(number) <= 5 {
		return false
	}
	longerBefore := start >= 2 && isDigit(text[start-2]) && !isAlnum(text[start-1])
	longerAfter := end+1 < len(text) && text[end] == '-' && isDigit(text[end+1])
	if longerBefore || longerAfter {
		return false
	}
	before, after := text[max(0, start-cardContext):start], text[end:min(len(text), end+cardContext)]
	return cardWords().MatchString(before) || cardWords().MatchString(after)
}

// issued reports whether cards with this beginning have this many digits.
func issued(number string) bool {
	switch prefix := number[:2]; prefix {
	case "34", "37":
		return len(number) == 15
	case "36", "38":
		return len(number) == 14
	case "22", "23", "24", "25", "26", "27":
		return len(number) == 16 && "2221" <= number[:4] && number[:4] <= "2720"
	default:
		return len(number) == 16
	}
}

// luhn reports whether the last digit of a number is its check digit.
func luhn(number string) bool {
	sum := 0
	for i := range len(number) {
		d := int(number[len(number)-1-i] - '0')
		if i%2 == 1 {
			d *= 2
		}
		sum += d/10 + d%10
	}
	return sum%10 == 0
}

// distinct returns how many different bytes s has.
func distinct(s string) int {
	n := 0
	for i := range len(s) {
		if strings.IndexByte(s, s[i]) == i {
			n++
		}
	}
	return n
}
