package answer

import "strings"

// breaks replaces everything that ends a line in some program by a line feed.
var breaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n",
	"\u2029", "\n")

// Quote marks every line of a stored text, so that none of it can pass for emberd's words.
func Quote(text string) string {
	text = strings.TrimRight(breaks.Replace(text), "\n")
	return "> " + strings.ReplaceAll(text, "\n", "\n> ") + "\n"
}

// OneLine returns a stored text in one line.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
