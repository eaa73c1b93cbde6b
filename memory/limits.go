package memory

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what a memory may hold. Lengths are in characters (Unicode code
// points) unless the name says bytes.
const (
	MaxContent      = 50_000
	MaxContentBytes = 200 << 10
	MaxTags         = 50
	MaxTag          = 100
	MaxEntities     = 100
	MaxEntity       = 100
	MaxAliases      = 50
	MaxAlias        = 1_000
	MaxSource       = 500
	MaxContext      = 1_000
	MaxName         = 200 // category, type, section, collection, project, session_id
	MaxMetaBytes    = 64 << 10
	MaxQueryBytes   = 4 << 10
	MaxResults      = 100
	MaxIDs          = 100 // ids in one request
)

// CheckContent refuses text that cannot be a memory.
func CheckContent(s string) error {
	if !utf8.ValidString(s) {
		return Errorf(Invalid, "content is not valid UTF-8 at byte %d; convert the text to UTF-8 and save it again",
			invalidAt(s)).At("content")
	}
	if len(s) > MaxContentBytes {
		return Errorf(TooLarge, "too many bytes in content: %d (limit %d, 200 KiB); save the text in parts", len(s),
			MaxContentBytes).At("content")
	}
	if n := utf8.RuneCountInString(s); n > MaxContent {
		return Errorf(TooLarge, "too many characters in content: %d (limit %d); save the text in parts", n,
			MaxContent).At("content")
	}
	if strings.TrimSpace(s) == "" {
		return Errorf(Invalid, "missing content; pass the text to save").At("content")
	}
	return nil
}

func invalidAt(s string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size <= 1 {
				return i
			}
		}
	}
	return len(s)
}

// CheckText refuses a named text field that is not UTF-8 or longer than max characters.
func CheckText(field, s string, max int) error {
	if !utf8.ValidString(s) {
		return Errorf(Invalid, "invalid %s: the text is not UTF-8; send UTF-8 text", field).At(field)
	}
	if n := utf8.RuneCountInString(s); n > max {
		return Errorf(TooLarge, "too many characters in %s: %d (limit %d); shorten the text", field, n, max).At(field)
	}
	return nil
}

// CheckRange refuses a number outside [lo, hi]. NaN is outside.
func CheckRange(field string, v, lo, hi float64) error {
	if !(v >= lo && v <= hi) {
		return Errorf(Invalid, "%s %s is out of range (%s to %s)", field, digits(v), digits(lo), digits(hi)).At(field)
	}
	return nil
}

// digits writes a number without an exponent where that takes no more than 16 digits.
func digits(v float64) string {
	if math.Abs(v) < 1e16 && v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// NormalizeTags normalises every tag and drops repetitions, keeping the order.
func NormalizeTags(in []string) ([]string, error) {
	return normalizeList(in, "tags", MaxTags, NormalizeTag)
}

// NormalizeEntities normalises every entity and drops repetitions, keeping the order.
func NormalizeEntities(in []string) ([]string, error) {
	return normalizeList(in, "entities", MaxEntities, NormalizeEntity)
}

// NormalizeAliases drops repetitions and the white space around each alias, keeping the
// order, and refuses empty names and control characters.
func NormalizeAliases(in []string) ([]string, error) {
	return normalizeList(in, "aliases", MaxAliases, normalizeAlias)
}

func normalizeAlias(s string) (string, error) {
	s = strings.TrimSpace(s)
	if s == "" || s == "." || s == ".." { // which name nothing in the path of a request
		return "", Errorf(Invalid, "invalid alias %q; omit it", s).At("aliases")
	}
	if err := CheckText("alias", s, MaxAlias); err != nil {
		return "", err
	}
	if i := strings.IndexFunc(s, unicode.IsControl); i >= 0 {
		return "", Errorf(Invalid, "alias %q contains a control character; omit it", Clip(s)).At("aliases")
	}
	return s, nil
}

// CheckAliases refuses a list that [NormalizeAliases] would change or refuse.
func CheckAliases(in []string) error {
	out, err := NormalizeAliases(in)
	if err == nil && !slices.Equal(in, out) {
		err = Errorf(Invalid, "an alias occurs twice, or begins or ends with white space; correct it").At("aliases")
	}
	return err
}

func normalizeList(in []string, field string, max int, one func(string) (string, error)) ([]string, error) {
	if len(in) > max {
		return nil, Errorf(TooLarge, "too many %s: %d (limit %d); remove some", field, len(in), max).At(field)
	}
	var out []string
	seen := make(map[string]bool, len(in))
	for _, s := range in {
		t, err := one(s)
		if err != nil {
			return nil, err
		}
		if !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out, nil
}

// NormalizeTag gives a tag the form that is stored and compared: lower case,
// dots to hyphens, spaces and other signs to underscores, doubled separators
// joined, none at the ends. Letters of every script stay. A leading # is
// dropped, a/b stays nested as in Obsidian. (CortexGraph's rule, without its
// refusal of scripts other than Latin.)
func NormalizeTag(s string) (string, error) {
	t, err := normalize("tag", strings.ToLower(s), MaxTag, func(r rune) rune {
		switch {
		case r == '.':
			return '-'
		case r == '-' || r == '_' || r == '/' || isWord(r):
			return r
		}
		return '_'
	})
	if err != nil {
		return "", err.At("tags")
	}
	return t, nil
}

// NormalizeEntity does the same for the name of a thing, keeping case and spaces.
func NormalizeEntity(s string) (string, error) {
	t, err := normalize("entity", s, MaxEntity, func(r rune) rune {
		switch {
		case r == '.':
			return '-'
		case r == '-' || r == '_' || r == ' ' || isWord(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return '_'
	})
	if err != nil {
		return "", err.At("entities")
	}
	return t, nil
}

func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || r == '\u200d'
}

func normalize(what, s string, max int, keep func(rune) rune) (string, *Error) {
	if !utf8.ValidString(s) {
		return "", Errorf(Invalid, "%s %q is not valid UTF-8; convert the text to UTF-8 and try again", what, Clip(s))
	}
	var b strings.Builder
	var last rune
	for _, r := range strings.TrimSpace(s) {
		r = keep(r)
		if r == last && !isWord(r) {
			continue
		}
		b.WriteRune(r)
		last = r
	}
	out := strings.Trim(b.String(), "-_/ ")
	if out == "" {
		return "", Errorf(Invalid, "invalid %s %q; use at least one letter or digit", what, Clip(s))
	}
	if n := utf8.RuneCountInString(out); n > max {
		return "", Errorf(TooLarge, "%s %q has %d characters (limit %d)", what, Clip(s), n, max)
	}
	return out, nil
}
