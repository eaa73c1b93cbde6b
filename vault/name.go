package vault

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxName bounds the names of new notes in bytes, with .md. File systems allow 255,
// but sync tools and editors add to a name what they need themselves.
const maxName = 140

// NoteName makes the name of a note from any title: what every system, Obsidian's
// links and sync tools can live with, in NFC, at most 140 bytes, always the same
// from the same title. It has no folder. Different titles may give the same name,
// or two that look alike: short, if it is not "", is put behind the title to tell
// them apart, and should be a short lower-case word made from the memory's id.
func NoteName(title, short string) string {
	if short != "" {
		short = " " + clean(short)
	}
	room := maxName - len(short) - len(".md")
	name := notReserved(trimName(clip(trimName(clean(title)), room-1)))
	if name == "" {
		name = "Untitled"
	}
	return name + short + ".md"
}

// clean leaves out what a name cannot hold, and puts one space between words. What
// separates folders separates words.
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

// invisible is what shows as nothing or changes how the rest shows, but for what
// joins letters and emoji.
func invisible(r rune) bool {
	const joiner, nonJoiner = 0x200d, 0x200c
	return r != joiner && r != nonJoiner && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs) || r&0xfffe == 0xfffe
}

// trimName takes off the ends what hides a note, marks it as temporary, or is
// dropped by some system.
func trimName(name string) string {
	return strings.TrimRight(strings.TrimLeft(name, " .~\u200c\u200d"), " .~\u200c\u200d")
}

// clip shortens to a number of bytes, at a letter with all its marks.
func clip(name string, most int) string {
	if len(name) <= most {
		return name
	}
	at := most
	for at > 0 && !utf8.RuneStart(name[at]) {
		at--
	}
	for at > 0 {
		next, _ := utf8.DecodeRuneInString(name[at:])
		last, size := utf8.DecodeLastRuneInString(name[:at])
		if !unicode.Is(unicode.M, next) && next != 0x200d && last != 0x200d {
			break
		}
		at -= size
	}
	return name[:at]
}

// notReserved changes the names that Windows keeps for devices, whatever follows a
// dot (https://learn.microsoft.com/windows/win32/fileio/naming-a-file).
func notReserved(name string) string {
	device, rest, _ := strings.Cut(name, ".")
	device = strings.TrimRight(device, " ")
	upper := strings.ToUpper(device)
	reserved := upper == "CON" || upper == "PRN" || upper == "AUX" || upper == "NUL" || upper == "CONIN$" || upper == "CONOUT$"
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

// lookAlike finds a name in a folder that some system takes for the same.
func lookAlike(names []string, name string) (string, bool) {
	key := fold(path.Base(name))
	for _, other := range names {
		if fold(other) == key {
			return other, true
		}
	}
	return "", false
}
