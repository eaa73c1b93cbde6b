package frontmatter

import "strings"

// readFlat reads a block beyond the limits of YAML if it consists of lines of "key: value", as
// programs write them that keep records in notes.
func readFlat(block []byte) ([]Property, error) {
	tooLarge := func(line int) error {
		return &Fault{line, "the frontmatter is larger than 64 KiB, 1,000 keys or 32 levels; shorten it"}
	}
	var all []Property
	seen := map[string]bool{}
	line := 0
	for text := range strings.Lines(string(block)) {
		line++
		p, ok := flatProperty(strings.TrimRight(text, " \t\n"))
		if !ok || seen[p.Key] {
			return nil, tooLarge(line)
		}
		seen[p.Key] = true
		p.Line = line
		all = append(all, p)
	}
	return all, nil
}

// flatProperty reads a line that means the same in YAML whatever stands around it.
func flatProperty(line string) (Property, bool) {
	key, value, ok := strings.Cut(line, ":")
	value = strings.TrimLeft(value, " ")
	if !ok || key == "" || key != strings.Trim(key, " \t") || special(key) {
		return Property{}, false
	}
	quoted := len(value) > 1 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0]
	if quoted {
		value = value[1 : len(value)-1]
		if strings.ContainsAny(value, `"'\`) {
			return Property{}, false
		}
	} else if special(value) {
		return Property{}, false
	}
	return Property{Key: key, Text: value}, true
}

// special reports whether YAML may read a text as more than plain text.
func special(s string) bool {
	return s != "" && strings.ContainsRune("-?:,[]{}#&*!|>'\"%@`", rune(s[0])) ||
		strings.Contains(s, ": ") || strings.Contains(s, " #") || strings.HasSuffix(s, ":")
}

// Values returns the items of a list, or the parts of a text.
func (p Property) Values(split func(string) []string) []string {
	items := p.items
	if !p.list {
		items = split(p.Text)
	}
	var values []string
	for _, item := range items {
		if item = strings.TrimSpace(item); item != "" {
			values = append(values, item)
		}
	}
	return values
}
