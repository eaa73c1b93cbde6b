package chunk

import (
	"emberd/internal/text"
	"strings"
)

// Markup that says nothing beside its words.
var (
	wikilink  = text.Pattern(`!?\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]`)
	link      = text.Pattern(`!?\[([^\[\]]*)\]\([^()\s]*(?:\s+"[^"]*")?\)`)
	emphasis  = text.Pattern("\\*+|~~|==|`+|\\b__|__\\b")
	listMark  = text.Pattern(`^([ \t]*)(?:[-*+][ \t]+)?(?:\[.\][ \t]+)?`)
	tableEdge = text.Pattern(`^[ \t]*\||\|[ \t]*$`)
)

// plain is a line of Markdown without markup.
func plain(line string) string {
	line = listMark().ReplaceAllString(line, "$1")
	if strings.Contains(line, "[") {
		line = wikilink().ReplaceAllStringFunc(line, shown)
		line = link().ReplaceAllString(line, "$1")
	}
	if strings.HasPrefix(strings.TrimSpace(line), "|") {
		line = strings.TrimSpace(tableEdge().ReplaceAllString(line, ""))
	}
	return strings.TrimRight(emphasis().ReplaceAllString(line, ""), " \t")
}

// shown is what a reader sees of a wikilink.
func shown(markup string) string {
	part := wikilink().FindStringSubmatch(markup)
	if part[2] != "" {
		return part[2]
	}
	return strings.ReplaceAll(part[1], "#", " ")
}
