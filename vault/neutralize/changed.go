package neutralize

import (
	"regexp"
	"strings"
	"sync"

	"emberd/vault/lex"
)

// Changed neutralizes a text that replaces another one in a note, except for what the note had
// already, which a user may have written to be run: whole blocks, and lines that end what they
// begin. Each counts as often as it was there. So only the user puts a line into a block that
// runs.
func Changed(was, now string) string {
	made := neutralizeMarkup(now)
	if made == now || was == "" {
		return made
	}
	blocks, lines := counted(was)
	out := strings.Split(made, "\n")
	at := 0
	for _, block := range blocksOf(now) {
		text := strings.Join(block, "\n")
		if blocks[text] > 0 {
			blocks[text]--
			copy(out[at:], block)
			at += len(block)
			continue
		}
		for _, line := range block {
			if lines[line] > 0 && complete(line) {
				lines[line]--
				out[at] = line
			}
			at++
		}
	}
	return strings.Join(out, "\n")
}

// counted returns how often each block and each line is in a text.
func counted(text string) (blocks, lines map[string]int) {
	blocks, lines = make(map[string]int), make(map[string]int)
	for _, block := range blocksOf(text) {
		blocks[strings.Join(block, "\n")]++
		for _, line := range block {
			lines[line]++
		}
	}
	return blocks, lines
}

// blocksOf splits a text into blocks of code, paragraphs, and single empty lines. A block in which
// a command or an element begins continues to the end of that.
func blocksOf(text string) (all [][]string) {
	left := strings.Split(text, "\n")
	for len(left) > 0 {
		n := max(1, fencedLines(left))
		open := newOpenings()
		for _, line := range left[:n] {
			open.take(line)
		}
		for n < len(left) && (open.any() || plainLine(left[n-1]) && plainLine(left[n])) {
			open.take(left[n])
			n++
		}
		all, left = append(all, left[:n]), left[n:]
	}
	return all
}

// plainLine reports whether a line may continue a paragraph.
func plainLine(line string) bool {
	return strings.Trim(line, " \t") != "" && fenceOf(line).Size == 0
}

// fenceOf returns the fence that a line may begin, also in a list or quote.
func fenceOf(line string) lex.Fence {
	mark, size, _ := lex.FenceMark([]byte(line[len(atStart().FindString(line)):]))
	return lex.Fence{Mark: mark, Size: size}
}

// fencedLines returns how many lines a block of code has, 0 if none begins here.
func fencedLines(left []string) int {
	open := fenceOf(left[0])
	if open.Size == 0 {
		return 0
	}
	for i, line := range left[1:] {
		mark, size, info := lex.FenceMark([]byte(line[len(atStart().FindString(line)):]))
		if mark == open.Mark && size >= open.Size && lex.IsBlankLine(info) {
			return i + 2
		}
	}
	return len(left)
}

// complete reports whether a line ends all that it begins, and has no mark of a region.
func complete(line string) bool {
	open := newOpenings()
	open.take(line)
	return !open.any() && fenceOf(line).Size == 0 && !regionMark().MatchString(line)
}

// pairs are what begins something and what ends it. The contents of these elements are not
// Markdown.
var pairs = sync.OnceValue(func() (all [][2]*regexp.Regexp) {
	for _, p := range [][2]string{{`<%`, `%>`}, {`<!--`, `-->`}, {`<[A-Za-z/!?]`, `>`}} {
		all = append(all, [2]*regexp.Regexp{regexp.MustCompile(p[0]), regexp.MustCompile(p[1])})
	}
	for _, element := range []string{"script", "style", "iframe", "object", "textarea", "pre", "svg", "template"} {
		all = append(all, [2]*regexp.Regexp{regexp.MustCompile(`(?i)<` + element + `\b`), regexp.MustCompile(`(?i)</` + element + `\b`)})
	}
	return all
})

// openings counts what began and has not ended.
type openings []int

func newOpenings() openings { return make(openings, len(pairs())) }

func (o openings) take(line string) {
	for i, p := range pairs() {
		o[i] += len(p[0].FindAllStringIndex(line, -1)) - len(p[1].FindAllStringIndex(line, -1))
		if i < 3 {
			o[i] = max(0, o[i])
		}
	}
}

func (o openings) any() bool {
	for _, n := range o {
		if n > 0 {
			return true
		}
	}
	return false
}
