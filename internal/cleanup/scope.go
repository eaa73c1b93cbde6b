package cleanup

import (
	"cmp"
	_ "embed"
	"emberd/internal/text"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// scope is what a text holds for: a version of something, or a platform.
type scope struct {
	kind  string // Version or Platform
	what  string // product, or class of platforms
	value string // "2.7", "windows"
	// says that the version or platform is what the text tells, as in "runs on Python 3.12",
	// and not what it holds for.
	says bool
}

// lists of scope.txt.
type known struct {
	products  map[string]bool
	platforms map[string][2]string // by name: class, and value
}

//go:embed scope.txt
var scopeFile string

// names of scope.txt, see there.
var names = sync.OnceValue(func() *known {
	k := &known{products: make(map[string]bool), platforms: make(map[string][2]string)}
	for line := range strings.Lines(scopeFile) {
		class, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || strings.HasPrefix(class, "#") {
			continue
		}
		for group := range strings.FieldsSeq(rest) {
			if class == "products" {
				k.products[group] = true
				continue
			}
			all := strings.Split(group, "=")
			for _, name := range all {
				k.platforms[name] = [2]string{class, all[0]}
			}
		}
	}
	return k
})

var (
	versionLike = text.Pattern(`^v?(\d{1,4}(?:\.\d{1,5}){0,3})(?:\.x)?\+?$`)
	gluedLike   = text.Pattern(`^(\pL[\pL+#.]*?)-?(\d{1,4}(?:\.\d{1,4}){0,2})$`)
)

// scopesOf finds the versions and platforms in a text.
func scopesOf(text string) (out []scope) {
	words := strings.Fields(text)
	bare := make([]string, len(words))
	for i, w := range words {
		bare[i] = strings.TrimFunc(w,
			func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '+' && r != '#' })
	}
	for i := range bare {
		s, found := platformAt(bare, i)
		if !found {
			s, found = versionAt(bare, i)
		}
		if !found {
			continue
		}
		s.says = says(bare, i)
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// platformAt reads a platform at a word. Those that are words of every day need a capital.
func platformAt(bare []string, i int) (scope, bool) {
	p, ok := names().platforms[strings.ToLower(bare[i])]
	if !ok {
		p, ok = names().platforms[bare[i]]
	}
	if !ok || i+1 < len(bare) && versionLike().MatchString(bare[i+1]) && p[0] != "environment" {
		return scope{}, false // "Windows 11" is a version
	}
	first, _ := utf8.DecodeRuneInString(bare[i])
	if everyday(strings.ToLower(bare[i])) && !unicode.IsUpper(first) {
		return scope{}, false
	}
	return scope{kind: Platform, what: p[0], value: p[1]}, true
}

// everyday reports names that mean something else in small letters.
func everyday(lower string) bool {
	switch lower {
	case "windows", "edge", "safari", "opera", "brave", "arm", "go", "swift", "rust", "ruby", "spring", "next", "word",
		"excel", "office", "express", "helm",
		"unity", "atom", "julia", "dart", "crystal", "nest", "vault", "rails", "flask", "node":
		return true
	}
	return false
}

// versionAt reads a product with its version that begins at a word, or a version of what the
// word behind "of" names.
func versionAt(bare []string, i int) (scope, bool) {
	lower := strings.ToLower(bare[i])
	first, _ := utf8.DecodeRuneInString(bare[i])
	next := ""
	if i+1 < len(bare) {
		next = strings.ToLower(bare[i+1])
	}
	m := versionLike().FindStringSubmatch(next)
	if m != nil && isProduct(lower, unicode.IsUpper(first)) && plausible(m[1]) {
		return scope{kind: Version, what: lower, value: m[1]}, true
	}
	if m != nil && !names().products[lower] &&
		(strings.HasPrefix(next, "v") || strings.Contains(m[1], ".") && unicode.IsUpper(first)) && isThing(lower) {
		return scope{kind: Version, what: lower, value: m[1]}, true
	}
	if g := gluedLike().FindStringSubmatch(lower); g != nil && names().products[g[1]] && plausible(g[2]) {
		return scope{kind: Version, what: g[1], value: g[2]}, true
	}
	return ofVersion(bare, i)
}

// ofVersion reads "version 2.7 of Python" and "v2 of the API".
func ofVersion(bare []string, i int) (scope, bool) {
	at := i
	if lower := strings.ToLower(bare[i]); lower == "version" || lower == "release" {
		at++
	} else if !strings.HasPrefix(lower, "v") {
		return scope{}, false
	}
	if at+2 >= len(bare) || !strings.EqualFold(bare[at+1], "of") {
		return scope{}, false
	}
	m := versionLike().FindStringSubmatch(strings.ToLower(bare[at]))
	product := strings.ToLower(bare[at+2])
	if product == "the" && at+3 < len(bare) {
		product = strings.ToLower(bare[at+3])
	}
	if m == nil || !isThing(product) {
		return scope{}, false
	}
	return scope{kind: Version, what: product, value: m[1]}, true
}

// isProduct reports a known name of something that comes in versions.
func isProduct(lower string, capital bool) bool {
	return names().products[lower] && (capital || !everyday(lower))
}

// plausible reports a number that may be a version without its mark: of few digits, with
// points, or a year. What is longer is a port or a count.
func plausible(number string) bool {
	if strings.Contains(number, ".") {
		return strings.Count(number, ".") < 3 // or it is an address
	}
	n, err := strconv.Atoi(number)
	return err == nil && (n < 100 || n >= 1990 && n < 2100)
}

// isThing reports a word that may name what has versions: none that a number belongs to.
func isThing(lower string) bool {
	switch lower {
	case "", "version", "release", "section", "chapter", "figure", "fig", "table", "page", "step", "part", "item",
		"line", "number", "no", "room", "in", "on", "at", "of", "to", "from", "by", "is", "was", "are", "the", "a",
		"an", "and", "or", "with", "for", "since", "until", "than", "about", "over", "under", "up",
		"port", "costs", "paid", "scored", "rated", "magnitude", "only", "just", "it", "that", "this":
		return false
	}
	return strings.IndexFunc(lower, unicode.IsLetter) >= 0
}

// says reports whether the word at i is what a sentence tells: it stands behind a verb of use
// or change with at most small words between, unless that begins with when or if, or
// before "is required".
func says(bare []string, i int) bool {
	for back := 1; back <= 4 && i-back >= 0; back++ {
		lower := strings.ToLower(bare[i-back])
		if tells(lower) {
			before := bare[max(0, i-back-2) : i-back]
			return !slices.ContainsFunc(before, func(w string) bool {
				w = strings.ToLower(w)
				return w == "when" || w == "if" || w == "while" || w == "before" || w == "after"
			})
		}
		if !small(lower) {
			break
		}
	}
	for ahead := i + 1; ahead <= i+2 && ahead+1 < len(bare); ahead++ {
		if lower := strings.ToLower(bare[ahead]); lower == "is" || lower == "are" {
			switch strings.ToLower(bare[ahead+1]) {
			case "required", "used", "installed", "needed", "preferred", "mandatory", "deployed":
				return true
			}
		}
	}
	return false
}

// small reports what may stand between a verb and its object.
func small(lower string) bool {
	switch lower {
	case "", "a", "an", "the", "on", "to", "with", "in", "at", "least", "most", "only", "now", "still", "already",
		"currently", "from", "version", "it", "as":
		return true
	}
	return false
}

func tells(lower string) bool {
	switch lower {
	case "use", "uses", "used", "run", "runs", "ran", "running", "require", "requires", "required", "need", "needs",
		"needed", "is", "are", "was", "were", "target", "targets", "pinned", "install", "installs", "installed",
		"upgrade", "upgraded", "upgrades", "update", "updated", "migrate", "migrated", "switch", "switched", "move",
		"moved", "prefer", "prefers", "choose", "chose", "like", "likes", "want", "wants", "has", "have", "had",
		"bought",
		"deployed", "replaced", "supports", "support", "became", "stays", "kept":
		return true
	}
	return false
}

// Elsewhere reports whether two texts are about different versions of one thing, or
// different platforms, so that both may hold whatever else is different in them.
func Elsewhere(a, b string) bool {
	kind, _, _ := apart(scopesOf(a), scopesOf(b))
	return kind != ""
}

// apart is in what versions or platforms two texts hold that say different things, in their
// order, "" if they do not.
func apart(a, b []scope) (kind, x, y string) { return apartIf(a, b, false) }

// apartIf is apart, which also compares what they tell if told is true.
func apartIf(a, b []scope, told bool) (kind, x, y string) {
	for _, kind := range [...]string{Version, Platform} {
		for _, s := range a {
			for _, t := range b {
				if s.kind != kind || t.kind != kind || s.what != t.what || !told && (s.says || t.says) || near(s, t) ||
					sharesOne(a, b, s) {
					continue
				}
				if kind == Version {
					return kind, s.what + " " + s.value, t.what + " " + t.value
				}
				return kind, s.value, t.value
			}
		}
	}
	return "", "", ""
}

// sharesOne reports whether both texts hold for a common version or platform of the sort of s.
func sharesOne(a, b []scope, s scope) bool {
	return slices.ContainsFunc(a, func(x scope) bool {
		return x.kind == s.kind && x.what == s.what &&
			slices.ContainsFunc(b, func(y scope) bool { return y.kind == s.kind && y.what == s.what && near(x, y) })
	})
}

// near reports scopes of which one holds the other: 3 and 3.12, linux and ubuntu.
func near(s, t scope) bool {
	if s.kind == Platform {
		return s.value == t.value || s.value == "linux" && distribution(t.value) || t.value == "linux" &&
			distribution(s.value)
	}
	return s.value == t.value || strings.HasPrefix(s.value, t.value+".") || strings.HasPrefix(t.value, s.value+".")
}

func distribution(name string) bool {
	switch name {
	case "ubuntu", "debian", "fedora", "alpine", "centos", "rhel", "archlinux", "nixos", "wsl":
		return true
	}
	return false
}

// newer compares versions number by number.
func newer(a, b string) int {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(x), len(y)) {
		m, n := -1, -1
		if i < len(x) {
			m, _ = strconv.Atoi(x[i])
		}
		if i < len(y) {
			n, _ = strconv.Atoi(y[i])
		}
		if c := cmp.Compare(m, n); c != 0 {
			return c
		}
	}
	return 0
}
