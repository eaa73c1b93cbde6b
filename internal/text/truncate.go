package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Truncate returns the first max characters (code points) of s, and an ellipsis if there are
// more.
func Truncate(s string, max int) string {
	if first := First(s, max); len(first) < len(s) {
		return strings.TrimRightFunc(first, unicode.IsSpace) + "…"
	}
	return s
}

// First returns the first max characters (code points) of s. It leaves out a letter that
// would lose its accents, unless that letter alone is longer than max.
func First(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for at := range s {
		if max--; max < 0 {
			return s[:clusterStart(s, at)]
		}
	}
	return s
}

// FirstBytes is First with a limit in bytes.
func FirstBytes(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	if max <= 0 {
		return ""
	}
	return s[:clusterStart(s, max)]
}

// FirstWords is First for titles: it cuts behind a word if there is one in the second half,
// and leaves out the marks behind that word.
func FirstWords(s string, max int) string {
	first := First(s, max)
	if len(first) == len(s) {
		return s
	}
	if at := strings.LastIndexByte(s[:len(first)+1], ' '); at >= len(First(s, max/2)) {
		first = first[:at]
	}
	return strings.TrimRight(first, " ,;:-–—")
}

// clusterStart returns the start of the grapheme cluster around offset at of s, or at if
// that cluster is the first.
func clusterStart(s string, at int) int {
	start := at
	for start > 0 && (s[start] >= utf8.RuneSelf || s[start-1] >= utf8.RuneSelf || s[start] == '\n') {
		start--
	}
	for start < at {
		cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(s[start:], -1)
		if start+len(cluster) > at {
			break
		}
		start += len(cluster)
	}
	if start == 0 {
		return at
	}
	return start
}

// IsPrintable reports whether s is valid UTF-8 without control characters, line breaks
// included.
func IsPrintable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// OneLine joins the words of s with single spaces and leaves out what does not print, such as
// marks of direction. Control characters and invalid bytes separate words.
func OneLine(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), r == utf8.RuneError:
			return ' '
		case !unicode.IsPrint(r) && !unicode.IsSpace(r):
			return -1
		}
		return r
	}, s)), " ")
}
