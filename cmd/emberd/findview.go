package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"emberd/memory"
	"emberd/op"
)

// findWide is from how many columns on the preview stands beside the list, not below it.
const findWide = 100

const findPrompt = "find  "

func (d *finder) draw() {
	p := d.f.screen()
	_, height := d.f.cells.Size()
	before := cutFront(clean(d.typed.text[:d.typed.at]), max(1, p.width-len(findPrompt)-1))
	d.f.draw(d.lines(p, height), len(findPrompt)+uniseg.StringWidth(before), 0)
}

// lines are what the screen shows: what is typed, a rule, hits and preview, and the keys.
func (d *finder) lines(p screen, height int) []string {
	rule := p.paint(faint, strings.Repeat("─", p.width))
	out := []string{d.prompt(p), rule}
	body := max(1, height-len(out)-1)
	if p.width >= findWide {
		out = append(out, d.beside(p, body)...)
	} else {
		out = append(out, d.below(p, body)...)
	}
	return append(out, d.foot(p))
}

// prompt is what is typed, and how much was found for it, as far as both have room.
func (d *finder) prompt(p screen) string {
	room := max(1, p.width-len(findPrompt)-1)
	text := clean(d.typed.text[:d.typed.at])
	text = cut(cutFront(text, room)+clean(d.typed.text[d.typed.at:]), room)
	line := p.paint(cyan, findPrompt) + text
	said := d.counted()
	if gap := p.width - len(findPrompt) - uniseg.StringWidth(text) - uniseg.StringWidth(said); gap > 2 {
		line += strings.Repeat(" ", gap) + p.paint(faint, said)
	}
	return line
}

func (d *finder) counted() string {
	switch n := len(d.shown.hits); {
	case d.busy:
		return "searching"
	case d.shown.err != nil:
		return ""
	case strings.TrimSpace(d.typed.text) == "" && n > 0:
		return fmt.Sprintf("latest %s of %s", grouped(n), grouped(d.shown.total))
	case n < d.shown.total:
		return fmt.Sprintf("%s of %s", grouped(n), grouped(d.shown.total))
	default:
		return grouped(n)
	}
}

// foot is what is wrong, or else what can be pressed.
func (d *finder) foot(p screen) string {
	if err := d.shown.err; err != nil {
		return p.paint(red, cut(problemLine(err), p.width))
	}
	if d.shown.about != "" && !d.busy {
		return p.paint(yellow, cut(d.shown.about, p.width))
	}
	keys := []string{"↑↓ choose", "shift-↑↓ scroll", "enter prints", "esc leaves"}
	switch h := d.chosen(); {
	case h == nil:
		keys = keys[3:]
	case d.s.opens(h):
		keys[2] = "enter opens   tab prints"
	}
	for len(keys) > 1 && uniseg.StringWidth(strings.Join(keys, "   ")) > p.width {
		keys = slices.Delete(keys, max(0, len(keys)-3), max(1, len(keys)-2)) // choosing explains itself
	}
	return p.paint(faint, cut(strings.Join(keys, "   "), p.width))
}

// below has the preview under the list.
func (d *finder) below(p screen, height int) []string {
	rows := min(max(2, height*2/5), height)
	out := d.list(p, rows)
	if rest := height - rows; rest >= 2 {
		out = append(out, d.previewHead(p, "─"))
		out = append(out, d.preview(p, rest-1)...)
	}
	return out
}

// beside has the preview to the right of the list.
func (d *finder) beside(p screen, height int) []string {
	left, right := p, p
	left.width = p.width * 9 / 20
	right.width = p.width - left.width - len("  ") - 1
	list := d.list(left, height)
	text := append([]string{d.previewHead(right, "")}, d.preview(right, height-1)...)
	for i := range list {
		gap := strings.Repeat(" ", max(0, left.width-uniseg.StringWidth(uncoloured(list[i]))))
		list[i] += gap + p.paint(faint, " │ ") + text[i]
	}
	return list
}

// list is the hits around the chosen one, one a line, in just so many lines.
func (d *finder) list(p screen, rows int) []string {
	d.rows = rows
	d.top = max(0, min(d.top, d.at, len(d.shown.hits)-rows))
	if d.at >= d.top+rows {
		d.top = d.at - rows + 1
	}
	var out []string
	for i := d.top; i < min(d.top+rows, len(d.shown.hits)); i++ {
		out = append(out, d.row(p, &d.shown.hits[i], i == d.at))
	}
	if len(out) == 0 && !d.busy && d.shown.err == nil {
		text := "nothing found; try other words, or fewer filters"
		if strings.TrimSpace(d.typed.text) == "" {
			text = "nothing here yet; type words to search for"
		}
		out = append(out, p.paint(faint, cut("  "+text, p.width)))
	}
	for len(out) < rows {
		out = append(out, "")
	}
	return out
}

// row is one hit: what it is, how near, how old, and how it begins.
func (d *finder) row(p screen, h *op.Hit, chosen bool) string {
	mark, what := "  ", p.paint(green, pad("note", 8))
	if h.Memory != nil {
		what = p.paint(yellow, h.ID.Short())
	}
	if chosen {
		mark = p.paint(cyan, "▌") + " "
	}
	line, used := mark+what, 2+8
	if h.Rank > 0 && p.width >= 60 {
		line += "  " + p.paint(cyan, bar(h.Rank/d.shown.hits[0].Rank, 5))
		used += 2 + 5
	}
	if p.width >= 48 {
		line += "  " + p.paint(faint, pad(age(d.s.now(), lastChange(h)), 6))
		used += 2 + 6
	}
	line, used = line+"  ", used+2
	st := style("")
	if chosen {
		st = bold
	}
	return line + p.paint(st, headline(h, max(1, p.width-used)))
}

// headline is what names a hit, in so many columns.
func headline(h *op.Hit, room int) string {
	if h.Tier == op.TierNote {
		return trail(noteTitles(h.Note), room)
	}
	return cut(oneLine(h.Content), room)
}

// lastChange is when a memory was saved, or a note changed.
func lastChange(h *op.Hit) time.Time {
	if h.Memory != nil {
		return h.CreatedAt
	}
	return h.Note.Modified
}

// previewHead says whose text the preview is, between or after some of a rule.
func (d *finder) previewHead(p screen, rule string) string {
	h := d.chosen()
	if h == nil {
		return p.paint(faint, strings.Repeat(rule, p.width))
	}
	room := p.width
	if rule != "" {
		room = max(1, p.width-6)
	}
	text := d.about(h, room)
	if rule == "" {
		return p.paint(faint, text)
	}
	left := max(0, p.width-uniseg.StringWidth(text)-5)
	return p.paint(faint, strings.Repeat(rule, 3)+" "+text+" "+strings.Repeat(rule, left))
}

// about is what a hit has besides its text, in so many columns. Of a path the end is kept.
func (d *finder) about(h *op.Hit, room int) string {
	var parts []string
	switch {
	case h.Memory == nil:
		parts = append(parts, h.Note.Modified.In(d.s.zone).Format(time.DateOnly))
	default:
		if h.Stage != memory.Active {
			parts = append(parts, string(h.Stage))
		}
		parts = append(parts, "saved "+ago(d.s.now(), h.CreatedAt), fmt.Sprintf("score %.2f", h.Score))
		parts = append(parts, nonEmpty(flat(h.Project), flat(tagged(h.Tags)))...)
	}
	text := strings.Join(parts, "  ")
	if h.Note == nil {
		return cut(text, room)
	}
	path := fmt.Sprintf("%s:%d", flat(h.Note.Path), max(1, h.Note.Line))
	path = cutFront(path, max(room/2, room-uniseg.StringWidth(text)-len("  ")))
	return cut(path+"  "+text, room)
}

// preview is the text of the chosen hit from where it was scrolled to, with what matched in
// bold.
func (d *finder) preview(p screen, height int) []string {
	out := make([]string, height)
	if height == 0 {
		return out
	}
	if d.text.err != nil {
		out[0] = p.paint(yellow, cut(problemLine(d.text.err), p.width))
		return out
	}
	text := strings.ReplaceAll(clean(strings.TrimSpace(d.text.text)), "\t", "    ")
	var marks []span
	if h := d.chosen(); h != nil {
		marks = occurrences(text, markedWords(h.Snippet))
	}
	all := strings.Split(strings.TrimSuffix(p.paragraph(text, marks, ""), "\n"), "\n")
	d.scroll = max(0, min(d.scroll, len(all)-height))
	copy(out, all[d.scroll:])
	if rest := len(all) - d.scroll - height; rest > 0 {
		out[height-1] = p.paint(faint, cut(fmt.Sprintf("… %s, shift-↓", count(rest+1, "more line", "more lines")), p.width))
	}
	return out
}

// markedWords are the words of a snippet that matched, the longest first.
func markedWords(sn op.Snippet) (words []string) {
	text, marks := cleanSnippet(sn)
	for _, m := range marks {
		if word := strings.TrimSpace(text[m.from:m.to]); word != "" && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	return words
}

// occurrences are where a text holds one of the words, in any case and not within another
// word.
func occurrences(text string, words []string) (at []span) {
	if len(words) == 0 {
		return nil
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = regexp.QuoteMeta(w)
	}
	any := regexp.MustCompile("(?i)" + strings.Join(quoted, "|"))
	for _, m := range any.FindAllStringIndex(text, -1) {
		if !joins(text, m[0]) && !joins(text, m[1]) {
			at = append(at, span{m[0], m[1]})
		}
	}
	return at
}

// joins reports whether a word goes on across a place in a text. Scripts without spaces have
// no such places.
func joins(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	return inWord(before) && inWord(after)
}

func inWord(r rune) bool {
	spaceless := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
	return r != utf8.RuneError && !spaceless && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
