package secret

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxRules bounds the rule table; with it the state of a scan has a fixed size.
const maxRules = 64

// rule is one shape of credential.
type rule struct {
	id    string
	index int
	// marks are the literals that start or introduce the credential.
	marks []mark
	// fold matches the marks regardless of ASCII case.
	fold bool
	// inside allows a mark in the middle of a word (dbPassword).
	inside bool
	// blob marks a shape that also turns up by chance in base64 data, so both
	// its neighbours must not be base64 characters.
	blob bool
	// weak marks a rule that goes by the surrounding words: it loses to any
	// rule that knows the token's own shape.
	weak bool
	// lead is what precedes the mark and belongs to the credential.
	lead lead
	// nearby must occur shortly before or after the mark; it is in lower case here
	// and in any case there.
	nearby string
	// pattern is matched right after the mark. Its first group that matches is
	// the credential; without groups that is mark and match together.
	pattern string
	// window is how many bytes after the mark the pattern may see.
	window int
	// entropy is the least entropy of the matched part, in bits per character.
	entropy float64
	// changes is the least number of changes between letter cases, digits and
	// signs in the matched part; ordinary identifiers have few.
	changes int
	// raw skips the check for placeholders.
	raw bool
	// accept, when set, has the last word; between is the text from the mark to
	// the secret.
	accept func(between, secret string) bool
	// check, when set, verifies what the credential itself carries, such as a checksum.
	check func(text string, start, end int) bool
}

// mark is a literal that makes its rule worth trying. One without a rule begins
// a stretch of base64 that is not worth reading.
type mark struct {
	literal string
	words   string
	rule    *rule
}

// at reports whether the mark stands in text at byte i, given that its bucket is that of the two bytes there.
func (m *mark) at(text string, i int) bool {
	if len(text)-i < len(m.literal) {
		return false
	}
	rest, text := m.literal[2:], text[i+2:]
	if m.rule == nil || !m.rule.fold {
		return text[:len(rest)] == rest
	}
	for k := range len(rest) {
		if lower(text[k]) != rest[k] {
			return false
		}
	}
	return true
}

// lead describes a run of characters in front of a mark. The zero value is none.
type lead struct {
	holds    func(byte) bool
	min, max int
}

// length returns the length of the run at the end of before, and whether it is
// within bounds.
func (l lead) length(before string) (int, bool) {
	if l.max == 0 {
		return 0, true
	}
	n := 0
	for n <= l.max && n < len(before) && l.holds(before[len(before)-1-n]) {
		n++
	}
	return n, n >= l.min && n <= l.max
}

// nearbyBytes is how far from a mark its rule's nearby word may stand.
const nearbyBytes = 240

func (r *rule) near(text string, at int) bool {
	if r.nearby == "" {
		return true
	}
	around := text[max(0, at-nearbyBytes):min(len(text), at+nearbyBytes)]
	return strings.Contains(strings.ToLower(around), r.nearby)
}

// startsAt reports whether a credential of this rule may begin at byte i.
func (r *rule) startsAt(text string, i int) bool {
	if i == 0 || r.inside {
		return true
	}
	if r.blob {
		return text[i-1] == '=' || !isBase64(text[i-1])
	}
	return !isAlnum(text[i-1])
}

func (r *rule) accepts(between, secret string) bool {
	if entropy(secret) < r.entropy || changes(secret) < r.changes {
		return false
	}
	if !r.raw && placeholder(secret) {
		return false
	}
	return r.accept == nil || r.accept(between, secret)
}

// table is the rules made ready for scanning. It is never changed once built.
type table struct {
	patterns []*regexp.Regexp
	// heads maps the first two bytes of every mark to its bucket, 0 being none.
	heads   [1 << 16]uint16
	buckets []bucket
	words   *wordList
}

// bucket holds the marks that begin with the same two bytes.
type bucket struct {
	marks []mark
	// anywhere is set when one of them may follow a letter or digit.
	anywhere bool
}

// rules builds the table on first use.
var rules = sync.OnceValue(func() *table {
	t := &table{buckets: make([]bucket, 1), words: words()}
	t.add(mark{literal: ";base64,"})
	for i, r := range allRules() {
		r.index = i
		t.patterns = append(t.patterns, regexp.MustCompile(`^(?:`+r.pattern+`)`))
		for _, m := range r.marks {
			m.rule = &r
			t.add(m)
		}
	}
	return t
})

// add files a mark under its first two bytes, in both cases where its rule
// ignores case.
func (t *table) add(m mark) {
	for _, first := range cases(m, 0) {
		for _, second := range cases(m, 1) {
			h := head(first, second)
			if t.heads[h] == 0 {
				t.buckets = append(t.buckets, bucket{})
				t.heads[h] = uint16(len(t.buckets) - 1)
			}
			b := &t.buckets[t.heads[h]]
			b.marks = append(b.marks, m)
			b.anywhere = b.anywhere || m.rule == nil || m.rule.inside || m.rule.lead.max > 0
		}
	}
}

// cases returns the bytes that may stand for byte i of the mark.
func cases(m mark, i int) []byte {
	c := m.literal[i]
	if m.rule != nil && m.rule.fold && 'a' <= c && c <= 'z' {
		return []byte{c, c - 'a' + 'A'}
	}
	return []byte{c}
}

func head(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }

// defaultWindow covers every token that has no window of its own.
const defaultWindow = 512

// window returns the first n bytes of s (defaultWindow when n is 0), cut at a
// border between characters.
func window(s string, n int) string {
	if n == 0 {
		n = defaultWindow
	}
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// base64Run returns how many bytes at the start of s are base64.
func base64Run(s string) int {
	n := 0
	for n < len(s) && isBase64(s[n]) {
		n++
	}
	return n
}
