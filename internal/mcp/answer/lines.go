package answer

import "strings"

// OneLine returns a stored text in one line.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
