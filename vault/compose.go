package vault

import (
	"bytes"
	"regexp"
	"strings"
)

// Compose makes a new note: always the same bytes from the same properties and body,
// and read again its [Carried] has the Body that Body makes of this one. Keys are
// words, each there once.
func Compose(properties []Field, body string) []byte {
	var b strings.Builder
	b.WriteString("---\n")
	for _, f := range properties {
		b.WriteString(f.Key + ":" + f.Value.render("", "", "\n"))
	}
	b.WriteString("---\n")
	if body = Body(body); body != "" {
		b.WriteString(body + "\n")
	}
	return []byte(b.String())
}

// What plugins of Obsidian run, or what only emberd may write, when a text that came
// from anywhere is put into a note: commands of Templater, code of Dataview
// (in blocks and within lines), and the marks of regions.
var (
	regionMark = regexp.MustCompile(`(<!--\s*/?\s*emberd):`)
	scriptMark = regexp.MustCompile("(?m)^([ \t>]*(?:`{3,}|~{3,})[ \t]*)dataviewjs\\b")
)

// Body is the form that a text has as the body of a note. Lines end in LF, control
// characters are spaces, and there are no empty lines at either end. What a plugin would
// run is taken apart so that it reads nearly the same: <% as <\%, a block of dataviewjs
// as one of js. Body of a Body is that Body.
func Body(text string) string {
	text = trimBody(string(plain([]byte(text))))
	text = regionMark.ReplaceAllString(text, "$1 :")
	text = scriptMark.ReplaceAllString(text, "${1}js")
	return strings.NewReplacer("<%", `<\%`, "`$=", "` $=").Replace(text)
}

// plain gives a text line ends and characters as notes are read with.
func plain(text []byte) []byte {
	out, _ := normalize(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
	return out
}
