package notename

import (
	"iter"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold returns the same string for all names that Obsidian treats as the same: NFC and
// case-folded.
func Fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(s)))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// TrimExtension removes .md from the end of a name.
func TrimExtension(name string) string {
	if at := len(name) - len(".md"); at > 0 && strings.EqualFold(name[at:], ".md") {
		return name[:at]
	}
	return name
}

// FolderOf returns the folder of a path, "" at the root.
func FolderOf(name string) string { return name[:max(0, strings.LastIndexByte(name, '/'))] }

// Folders yields the folders above a path, from the nearest to "".
func Folders(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name != "" {
			if name = FolderOf(name); !yield(name) {
				return
			}
		}
	}
}
