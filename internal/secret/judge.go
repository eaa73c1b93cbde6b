package secret

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// dummyParts are what people write inside a value that is not meant.
var dummyParts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)example|placeholder|change.?me|redacted|replace.?(?:me|this)` +
		`|\*\*\*|\.\.\.|<[a-z]|\$\{|\$\(|\{\{|^\$[a-z_]|^%[a-z_]+%$|^@[a-z_]+@$`)
})

// shortParts are dummy parts so short that a random token holds one by chance,
// once in ten thousand tokens.
var shortParts = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)xxxx|your|dummy|insert`) })

// dummyWords are whole values that stand for a password in documentation. They
// are compared in lower case and without digits or signs around them.
var dummyWords = []string{
	"", "abc", "admin", "api", "apikey", "bar", "baz", "default", "demo", "foo", "foobar", "guest", "key",
	"localhost", "mongo", "mypass", "mypassword", "mysecret", "mysql", "none", "null", "oauth", "pass", "passphrase",
	"passwd",
	"password", "port", "postgres", "pw", "pwd", "qwerty", "redis", "root", "sample", "secret", "secretpassword",
	"test", "testing", "token", "undefined", "user", "username", "xoauthbasic", "xaccesstoken", "xxx",
}

// placeholder reports whether s stands for a secret instead of being one:
// EXAMPLE keys, xxxx, your-token-here, ${VAR}, 0000..., 123456..., abcdef... .
// A run of A alone means nothing: it is how base64 writes zero bytes.
func placeholder(s string) bool {
	return maxRunLen(strings.ReplaceAll(s, "A", ""), 0) >= 6 || maxRunLen(s, 1) >= 7 ||
		dummyParts().MatchString(s) || shortParts().MatchString(s) && !machineMade(s)
}

// machineMade reports whether s changes its class of characters as often as text by
// a machine. Of random letters and digits six in ten differ in class from the
// one before, of what people write for a dummy one in five.
func machineMade(s string) bool { return changes(s) >= len(s)/4 }

// dummyWord reports whether s is a word that documentation uses for a password.
func dummyWord(s string) bool {
	bare := strings.Trim(strings.ToLower(s), "0123456789!@#$%^&*()_-+=.?~[]{}")
	bare = strings.NewReplacer("_", "", "-", "").Replace(bare)
	return slices.Contains(dummyWords, bare)
}

// maxRunLen returns the length of the longest stretch of s in which each byte
// is the one before it plus step.
func maxRunLen(s string, step byte) int {
	maxLen, run := 0, 0
	for i := range len(s) {
		if i > 0 && s[i] == s[i-1]+step {
			run++
		} else {
			run = 1
		}
		maxLen = max(maxLen, run)
	}
	return maxLen
}

// Character classes whose alternation distinguishes random text from words.
const (
	lowerCase = iota + 1
	upperCase
	digit
	sign
)

// changes counts how often s passes from one class of characters to another.
// Separators (- _ . : / + =) belong to none; they join words, as in a file name.
func changes(s string) int {
	n, last := 0, 0
	for i := range len(s) {
		class := classOf(s[i])
		if class == 0 {
			continue
		}
		if last != 0 && class != last {
			n++
		}
		last = class
	}
	return n
}

func classOf(c byte) int {
	switch {
	case 'a' <= c && c <= 'z' || c >= 0x80:
		return lowerCase
	case 'A' <= c && c <= 'Z':
		return upperCase
	case '0' <= c && c <= '9':
		return digit
	case strings.IndexByte("-_.:/+=", c) >= 0:
		return 0
	}
	return sign
}

// notSecret matches values that are public by nature: UUIDs, paths, URLs,
// versions and dates, format verbs, calls and member accesses in code.
var notSecret = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:%[a-z].*|(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}` +
		`|[~.]{0,2}/.*|[A-Za-z]:\\.*|\w+://.*` +
		`|(?:sha|aes|rsa|utf|iso|hs|rs|ed)[-_]?\d+|vault:.*|v?[\d.:TZ+-]+|sha(?:1|256|512)[:-].*` +
		`|\$.*|[*&][A-Za-z_][\w.]*|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[\w.]+[(\[].*)$`)
})

// keyIsPublic matches the rest of a key's name when the key names something
// about a secret and not the secret itself: password_hash, token_type.
var keyIsPublic = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^s?[_-]?(?:hash|sha|digest|checksum|id|name|type|url|uri|path|file|field|expir|ttl|len|length` +
		`|size|count|limit|policy|hint|prompt|format|version|endpoint|env|var|regex|pattern|ring|stroke|board|word)`)
})

// assigned judges the value of an assignment to a key that names a secret.
func assigned(between, value string) bool {
	return !keyIsPublic().MatchString(between) && !notSecret().MatchString(value) &&
		!dummyWord(value) && !commitHash(between, value) && hasLetter(value)
}

// commitHash reports whether value is a hash that the words before it call one.
func commitHash(between, value string) bool {
	hex := strings.Trim(strings.ToLower(value), "0123456789abcdef") == ""
	between = strings.ToLower(between)
	return hex && (strings.Contains(between, "commit") || strings.Contains(between, "sha1") ||
		strings.Contains(between, "sha256"))
}

// assignedKey is assigned for machine-made values. They hold digits and change
// class all the time; a camelCase name has one digit or few changes.
func assignedKey(between, value string) bool {
	digits := 0
	for i := range len(value) {
		if isDigit(value[i]) {
			digits++
		}
	}
	machineMade := digits >= 2 && changes(value) >= len(value)/4 || len(value) >= 20 && 5*changes(value) >= 2*len(value)
	return machineMade && assigned(between, value)
}

// assignedPassword is assigned for keys that name a password, where even a short
// value counts as long as it is more than words.
func assignedPassword(between, value string) bool {
	beyondWords := strings.ContainsFunc(value, func(r rune) bool {
		return r < 0x80 && classOf(byte(r)) >= digit
	})
	return beyondWords && changes(value) > 0 && assigned(between, value)
}

// netrcPassword is assignedPassword for words of which a sentence may consist, too.
func netrcPassword(between, value string) bool {
	return assignedPassword(between, strings.TrimRight(value, ".,:;"))
}

// spokenPassword is assignedPassword for a sentence, where an adjective can have a digit too: "the password is
// base64-encoded", "RS256-signed-JWT". A password ends in a digit or sign, or is not made of words.
func spokenPassword(between, value string) bool {
	value = strings.TrimRight(value, ".,:;")
	if !assignedPassword(between, value) {
		return false
	}
	n := changes(value)
	if n < 3 && between == ":" { // as in admin:staff1
		return false
	}
	oneWord := hasDigit("", value) && !strings.Contains(value, "-")
	return classOf(value[len(value)-1]) >= digit || n >= 4 || n == 3 && oneWord
}

// nearPassword is spokenPassword for a value that need not belong to the word for a password: with a line break or
// many words between them, only what changes often is one.
func nearPassword(between, value string) bool {
	const near = 28
	loose := len(between) > near || strings.Contains(between, "\n")
	return spokenPassword(between, value) && (!loose || changes(value) >= 3)
}

// usePassword matches the words that a password follows without a verb: "use password …".
var usePassword = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\\b(?:(?i:use|using|with|enter|type)(?i: the)? (?i:password)|[Pp]ass:) [\"'`]?$")
})

// usedPassword reports whether text[start:end], which follows the word password, is more than the next word: it
// changes its class of characters often, or the words before say that it is used. PASS: begins a test's result.
func usedPassword(text string, start, end int) bool {
	before := text[max(0, start-32):start]
	return usePassword().MatchString(before) || changes(text[start:end]) >= 3 && !strings.HasSuffix(before, "PASS: ")
}

func notDummy(_, value string) bool { return !dummyWord(value) && !notSecret().MatchString(value) }

// vendorKey judges a value next to a vendor's name. UUIDs count there: several
// vendors issue them as keys.
func vendorKey(between, value string) bool {
	return hasDigit(between, value) && !strings.Contains(value, "://") && !strings.HasPrefix(value, "/") &&
		!commitHash(between, value)
}

func hasDigit(_, value string) bool { return strings.ContainsAny(value, "0123456789") }

func hasLetter(value string) bool {
	return strings.ContainsFunc(value, func(r rune) bool { return r > ' ' && (r < '0' || r > '9') })
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isAlnum(c byte) bool { return isDigit(c) || 'a' <= lower(c) && lower(c) <= 'z' }

func isWord(c byte) bool { return isAlnum(c) || c == '_' }

func isHex(c byte) bool { return isDigit(c) || 'a' <= lower(c) && lower(c) <= 'f' }

func isBase64(c byte) bool { return isWord(c) || c == '+' || c == '/' || c == '=' || c == '-' }
