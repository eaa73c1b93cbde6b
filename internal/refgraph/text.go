package refgraph

import (
	"slices"
	"strings"
)

// Text returns the content of an entity's memory.
func Text(name string, observations []string) string {
	return Add(title(name), observations)
}

// title returns a name in one line.
func title(name string) string {
	return strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(name)
}

// Add appends observations to the content of an entity's memory.
func Add(content string, observations []string) string {
	var b strings.Builder
	b.WriteString(content)
	for i, text := range observations {
		if i > 0 || !strings.HasSuffix(content, "\n") {
			b.WriteByte('\n')
		}
		b.WriteString("- " + strings.ReplaceAll(text, "\n", "\n  "))
	}
	return b.String()
}

// Observations returns what the content of an entity's memory says below its name.
func Observations(name, content string) []string {
	var out []string
	for _, it := range items(name, strings.Split(content, "\n")) {
		out = append(out, it.text())
	}
	return out
}

// Remove takes every observation that is in texts out of the content of an entity's
// memory.
func Remove(name, content string, texts []string) string {
	lines := strings.Split(content, "\n")
	for _, it := range slices.Backward(items(name, lines)) {
		if slices.Contains(texts, it.text()) {
			lines = slices.Delete(lines, it.from, it.to)
		}
	}
	return strings.Join(lines, "\n")
}

// item is an observation: the lines that it stands in, and what they say.
type item struct {
	from, to int
	says     []string
}

func (it *item) text() string { return strings.Join(it.says, "\n") }

// items finds the observations. An item of a list continues as long as lines are
// indented, over empty lines too; other text continues to the next empty line or item.
func items(name string, lines []string) []item {
	var out []item
	start := 0
	if _, listed := marked(lines[0]); !listed || lines[0] == title(name) {
		start = 1
	}
	open, list := false, false // something is being read; it is an item of a list
	for i := start; i < len(lines); i++ {
		line := lines[i]
		first, listed := marked(line)
		rest, indented := unindented(line)
		switch {
		case listed:
			out, open, list = append(out, item{from: i, to: i + 1, says: []string{first}}), true, true
		case open && list && indented:
			out[len(out)-1].extend(i, rest)
		case strings.TrimSpace(line) == "":
			open = open && list
		case open && !list:
			out[len(out)-1].extend(i, line)
		default:
			out, open, list = append(out, item{from: i, to: i + 1, says: []string{strings.TrimSpace(line)}}), true,
				false
		}
	}
	return out
}

// extend adds a line, and the empty ones before it.
func (it *item) extend(at int, text string) {
	for ; it.to < at; it.to++ {
		it.says = append(it.says, "")
	}
	it.says, it.to = append(it.says, text), at+1
}

// marked returns what a line says behind the mark of a list.
func marked(line string) (string, bool) {
	for _, mark := range []string{"-", "*", "+"} {
		if line == mark {
			return "", true
		}
		if rest, ok := strings.CutPrefix(line, mark+" "); ok {
			return rest, true
		}
	}
	return "", false
}

// unindented returns what a line says that belongs to the item above it.
func unindented(line string) (string, bool) {
	if rest, ok := strings.CutPrefix(line, "  "); ok {
		return rest, true
	}
	return strings.CutPrefix(line, "\t")
}
