package text

import (
	"strings"
	"unicode/utf8"
)

// breaks replaces everything that ends a line in some program by a line feed.
var breaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n",
	"\u2029", "\n")

// QuoteMark begins each line of a quoted text.
const QuoteMark = "> "

// Quote marks every line of a stored text, so that none of it can pass for emberd's words.
func Quote(s string) string {
	s = strings.TrimRight(breaks.Replace(s), "\n")
	return QuoteMark + strings.ReplaceAll(s, "\n", "\n"+QuoteMark) + "\n"
}

// QuoteFirst is Quote for the beginning of a text, in about so many characters. It returns how many
// characters of the text it leaves out.
func QuoteFirst(s string, most int) (quoted string, more int) {
	s = strings.TrimRight(breaks.Replace(s), "\n")
	all, room := utf8.RuneCountInString(s), most-len(QuoteMark)
	shown := 0
	for _, r := range s {
		if room--; r == '\n' {
			room -= len(QuoteMark)
		}
		if room < 0 {
			break
		}
		shown++
	}
	begins := First(s, shown)
	return Quote(begins), all - utf8.RuneCountInString(begins)
}
