package notes

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"emberd/internal/text"
	"emberd/memory"
)

// NoteTags returns the tags of a memory in the form of Obsidian, which needs a character
// besides digits and slashes. A numeric tag gets a "_" in front, which normalization removes
// again.
func NoteTags(tags []string) []string {
	out := slices.Clone(tags)
	for i, tag := range out {
		if isNumeric(tag) {
			out[i] = "_" + tag
		}
	}
	return out
}

// tagOfNote returns the search form of a note's tag.
func tagOfNote(name string) string {
	if tag := strings.TrimLeft(name, "_"); isNumeric(tag) {
		return tag
	}
	return name
}

func isNumeric(tag string) bool { return tag != "" && strings.Trim(tag, "0123456789/") == "" }

// maxTitle is in characters.
const maxTitle = 60

// TitleOf returns the memory's name, or the first words of its text.
func TitleOf(m *memory.Memory) string {
	return text.FirstWords(FirstLine(m), maxTitle)
}

// FirstLine returns the text that TitleOf shortens, with single spaces.
func FirstLine(m *memory.Memory) string {
	var name string
	if json.Unmarshal(m.Meta["name"], &name) == nil && hasWord(name) {
		return strings.Join(strings.Fields(name), " ")
	}
	for line := range strings.Lines(m.Content) {
		if line = plainLine(line); hasWord(line) {
			return strings.Join(strings.Fields(line), " ")
		}
	}
	return ""
}

func hasWord(s string) bool {
	return strings.ContainsFunc(s,
		func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.In(r, unicode.So) })
}

// Markdown that a title leaves out.
var (
	lineMarks = text.Pattern("^(?:\\s|#{1,6}\\s|>|[-*+]\\s|\\d{1,9}[.)]\\s|\\[[ xX]\\]\\s|`{3,}|~{3,})*")
	aliased   = text.Pattern(`!?\[\[[^\[\]|]*\|([^\[\]]*)\]\]`)
	linked    = text.Pattern(`!?\[([^\[\]]*)\]\([^()]*\)`)
	emphasis  = text.Pattern("\\*+|~~|==|`+|\\b__|__\\b")
)

// plainLine removes Markdown. It runs an expression only if the line has its characters,
// because a line may have many thousand words.
func plainLine(line string) string {
	line = lineMarks().ReplaceAllString(line, "")
	if strings.Contains(line, "[") {
		line = aliased().ReplaceAllString(line, "$1")
		line = linked().ReplaceAllString(line, "$1")
	}
	if strings.ContainsAny(line, "*~=`_") {
		line = emphasis().ReplaceAllString(line, "")
	}
	return strings.TrimSpace(line)
}
