// Package notename makes and compares the names of notes. A name that [New] makes is valid on
// Linux, macOS and Windows, in Obsidian's links and for sync tools, and is not one that they give
// to copies or temporary files. [Fold] makes names equal that Obsidian or a file system takes for
// the same. Pure: nothing here reads the disk.
package notename

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"emberd/internal/text"
)

// maxName bounds the names of new notes in bytes, with .md. File systems allow 255,
// but sync tools and editors add to a name what they need themselves.
const maxName = 140

// New makes the name of a note from any title: valid on every system, in Obsidian's links and for
// sync tools, in NFC, at most 140 bytes, always the same from the same title. It has no folder.
// Different titles may give the same name, or two that look alike: if short is not "", New appends
// it to the title to tell them apart. It should be a short lower-case word made from the memory's
// ID.
func New(title, short string) string {
	if short != "" {
		short = " " + clean(short)
	}
	room := maxName - len(short) - len(".md")
	name := notReserved(trimName(text.FirstBytes(trimName(clean(title)), room-1)))
	if name == "" {
		name = "Untitled"
	}
	return name + short + ".md"
}

// clean removes what a name cannot contain, and puts one space between words. A separator of
// folders separates words.
func clean(title string) string {
	title = norm.NFC.String(strings.ToValidUTF8(title, ""))
	title = strings.Map(func(r rune) rune {
		switch {
		case r == '/' || r == '\\' || unicode.IsSpace(r):
			return ' '
		case strings.ContainsRune(`[]#^|:?*"<>`, r), invisible(r):
			return -1
		}
		return r
	}, title)
	// Not to be taken for the copy of a sync tool.
	title = strings.NewReplacer(".sync-conflict-", " sync conflict ").Replace(strings.Join(strings.Fields(title), " "))
	if at := strings.Index(strings.ToLower(title), "conflicted copy"); at >= 0 && at+len("conflicted") < len(title) {
		title = title[:at] + strings.ReplaceAll(title[at:], " ", "-")
	}
	return norm.NFC.String(title)
}

// invisible reports whether a letter shows as nothing or changes how the rest shows, except for
// those that join letters and emoji.
func invisible(r rune) bool {
	const joiner, nonJoiner = 0x200d, 0x200c
	return r != joiner && r != nonJoiner && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs) ||
		r&0xfffe == 0xfffe
}

// trimName removes from both ends what hides a note, marks it as temporary, or is dropped by some
// system.
func trimName(name string) string {
	return strings.TrimRight(strings.TrimLeft(name, " .~\u200c\u200d"), " .~\u200c\u200d")
}

// notReserved changes the names that Windows keeps for devices, whatever follows a
// dot (https://learn.microsoft.com/windows/win32/fileio/naming-a-file).
func notReserved(name string) string {
	device, rest, _ := strings.Cut(name, ".")
	device = strings.TrimRight(device, " ")
	upper := strings.ToUpper(device)
	reserved := upper == "CON" || upper == "PRN" || upper == "AUX" || upper == "NUL" || upper == "CONIN$" ||
		upper == "CONOUT$"
	for _, port := range []string{"COM", "LPT"} {
		number, ok := strings.CutPrefix(upper, port)
		reserved = reserved || ok && utf8.RuneCountInString(number) == 1 && strings.ContainsAny(number, "0123456789¹²³")
	}
	if !reserved {
		return name
	}
	if rest != "" {
		rest = "." + rest
	}
	return device + "_" + rest
}

// FindLookAlike returns the name of a folder that some system takes for the same as name.
func FindLookAlike(names []string, name string) (string, bool) {
	key := Fold(path.Base(name))
	for _, other := range names {
		if Fold(other) == key {
			return other, true
		}
	}
	return "", false
}
