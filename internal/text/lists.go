package text

import "strings"

// Lists returns the lists of words in a file by name. A line "name: words" begins a list,
// and lines with white space in front continue it. Lines that begin with # are comments.
// Words are separated by white space.
func Lists(file string) map[string]string {
	lists := map[string]string{}
	name := ""
	for line := range strings.Lines(file) {
		if line[0] == '#' || strings.TrimSpace(line) == "" {
			continue
		}
		words := line
		if line[0] != ' ' {
			name, words, _ = strings.Cut(line, ":")
		}
		lists[name] += " " + strings.TrimSpace(words)
	}
	return lists
}
