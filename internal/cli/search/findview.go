package search

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

// findWide is from how many columns on the preview stands beside the list, not below it.
const findWide = 100

const findPrompt = "find  "

func (d *finder) draw() {
	p := d.f.Screen()
	_, height := d.f.Cells.Size()
	before := cli.CutFront(cli.Clean(d.typed.text[:d.typed.at]), max(1, p.Width-len(findPrompt)-1))
	d.f.Draw(d.lines(p, height), len(findPrompt)+uniseg.StringWidth(before), 0)
}

// lines are what the screen shows: what is typed, a rule, hits and preview, and the keys.
func (d *finder) lines(p cli.Screen, height int) []string {
	rule := p.Paint(cli.Faint, strings.Repeat("─", p.Width))
	out := []string{d.prompt(p), rule}
	body := max(1, height-len(out)-1)
	if p.Width >= findWide {
		out = append(out, d.beside(p, body)...)
	} else {
		out = append(out, d.below(p, body)...)
	}
	return append(out, d.foot(p))
}

// prompt is what is typed, and how much was found for it, as far as both have room.
func (d *finder) prompt(p cli.Screen) string {
	room := max(1, p.Width-len(findPrompt)-1)
	text := cli.Clean(d.typed.text[:d.typed.at])
	text = cli.Cut(cli.CutFront(text, room)+cli.Clean(d.typed.text[d.typed.at:]), room)
	line := p.Paint(cli.Cyan, findPrompt) + text
	said := d.counted()
	if gap := p.Width - len(findPrompt) - uniseg.StringWidth(text) - uniseg.StringWidth(said); gap > 2 {
		line += strings.Repeat(" ", gap) + p.Paint(cli.Faint, said)
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
		return fmt.Sprintf("latest %s of %s", cli.Grouped(n), cli.Grouped(d.shown.total))
	case n < d.shown.total:
		return fmt.Sprintf("%s of %s", cli.Grouped(n), cli.Grouped(d.shown.total))
	default:
		return cli.Grouped(n)
	}
}

// foot is what is wrong, or else what can be pressed.
func (d *finder) foot(p cli.Screen) string {
	if err := d.shown.err; err != nil {
		return p.Paint(cli.Red, cli.Cut(problemLine(err), p.Width))
	}
	if d.shown.about != "" && !d.busy {
		return p.Paint(cli.Yellow, cli.Cut(d.shown.about, p.Width))
	}
	keys := []string{"↑↓: choose", "shift-↑↓: scroll", "enter: print", "esc: exit"}
	switch h := d.chosen(); {
	case h == nil:
		keys = keys[3:]
	case opens(d.s, h):
		keys[2] = "enter: open   tab: print"
	}
	for len(keys) > 1 && uniseg.StringWidth(strings.Join(keys, "   ")) > p.Width {
		keys = slices.Delete(keys, max(0, len(keys)-3), max(1, len(keys)-2)) // choosing explains itself
	}
	return p.Paint(cli.Faint, cli.Cut(strings.Join(keys, "   "), p.Width))
}

// below has the preview under the list.
func (d *finder) below(p cli.Screen, height int) []string {
	rows := min(max(2, height*2/5), height)
	out := d.list(p, rows)
	if rest := height - rows; rest >= 2 {
		out = append(out, d.previewHead(p, "─"))
		out = append(out, d.preview(p, rest-1)...)
	}
	return out
}

// beside has the preview to the right of the list.
func (d *finder) beside(p cli.Screen, height int) []string {
	left, right := p, p
	left.Width = p.Width * 9 / 20
	right.Width = p.Width - left.Width - len("  ") - 1
	list := d.list(left, height)
	text := append([]string{d.previewHead(right, "")}, d.preview(right, height-1)...)
	for i := range list {
		gap := strings.Repeat(" ", max(0, left.Width-uniseg.StringWidth(cli.Uncoloured(list[i]))))
		list[i] += gap + p.Paint(cli.Faint, " │ ") + text[i]
	}
	return list
}

// list is the hits around the chosen one, one a line, in just so many lines.
func (d *finder) list(p cli.Screen, rows int) []string {
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
		text := "no results; try other words"
		if strings.TrimSpace(d.typed.text) == "" {
			text = "no memories to show; type words to search for"
		}
		out = append(out, p.Paint(cli.Faint, cli.Cut("  "+text, p.Width)))
	}
	for len(out) < rows {
		out = append(out, "")
	}
	return out
}

// row is one hit: what it is, how near, how old, and how it begins.
func (d *finder) row(p cli.Screen, h *op.Hit, chosen bool) string {
	mark, what := "  ", p.Paint(cli.Green, cli.Pad("note", 8))
	if h.Memory != nil {
		what = p.Paint(cli.Yellow, h.ID.Short())
	}
	if chosen {
		mark = p.Paint(cli.Cyan, "▌") + " "
	}
	line, used := mark+what, 2+8
	if h.Rank > 0 && p.Width >= 60 {
		line += "  " + p.Paint(cli.Cyan, cli.Bar(h.Rank/d.shown.hits[0].Rank, 5))
		used += 2 + 5
	}
	if p.Width >= 48 {
		line += "  " + p.Paint(cli.Faint, cli.Pad(cli.Age(d.s.Now(), lastChange(h)), 6))
		used += 2 + 6
	}
	line, used = line+"  ", used+2
	st := cli.Style("")
	if chosen {
		st = cli.Bold
	}
	return line + p.Paint(st, headline(h, max(1, p.Width-used)))
}

// headline is what names a hit, in so many columns.
func headline(h *op.Hit, room int) string {
	if h.Tier == op.TierNote {
		return trail(noteTitles(h.Note), room)
	}
	return cli.Cut(cli.OneLine(h.Content), room)
}

// lastChange is when a memory was saved, or a note changed.
func lastChange(h *op.Hit) time.Time {
	if h.Memory != nil {
		return h.CreatedAt
	}
	return h.Note.Modified
}

// previewHead says whose text the preview is, between or after some of a rule.
func (d *finder) previewHead(p cli.Screen, rule string) string {
	h := d.chosen()
	if h == nil {
		return p.Paint(cli.Faint, strings.Repeat(rule, p.Width))
	}
	room := p.Width
	if rule != "" {
		room = max(1, p.Width-6)
	}
	text := d.about(h, room)
	if rule == "" {
		return p.Paint(cli.Faint, text)
	}
	left := max(0, p.Width-uniseg.StringWidth(text)-5)
	return p.Paint(cli.Faint, strings.Repeat(rule, 3)+" "+text+" "+strings.Repeat(rule, left))
}

// about is what a hit has besides its text, in so many columns. Of a path the end is kept.
func (d *finder) about(h *op.Hit, room int) string {
	var parts []string
	switch {
	case h.Memory == nil:
		parts = append(parts, "changed "+h.Note.Modified.In(d.s.Zone).Format(time.DateOnly))
	default:
		if h.Stage != memory.Active {
			parts = append(parts, string(h.Stage))
		}
		parts = append(parts, "saved "+cli.Ago(d.s.Now(), h.CreatedAt), fmt.Sprintf("score %.2f", h.Score))
		parts = append(parts, cli.NonEmpty(cli.Flat(h.Project), cli.Tagged(h.Tags))...)
	}
	if h.Why != "" {
		parts = append([]string{cli.Flat(h.Why)}, parts...)
	}
	text := strings.Join(parts, "  ")
	if h.Note == nil {
		return cli.Cut(text, room)
	}
	path := fmt.Sprintf("%s:%d", cli.Flat(h.Note.Path), max(1, h.Note.Line))
	path = cli.CutFront(path, max(room/2, room-uniseg.StringWidth(text)-len("  ")))
	return cli.Cut(path+"  "+text, room)
}

// preview is the text of the chosen hit from where it was scrolled to, with what matched in
// bold.
func (d *finder) preview(p cli.Screen, height int) []string {
	out := make([]string, height)
	if height == 0 {
		return out
	}
	if d.text.err != nil {
		out[0] = p.Paint(cli.Yellow, cli.Cut(problemLine(d.text.err), p.Width))
		return out
	}
	text := strings.ReplaceAll(cli.Clean(strings.TrimSpace(d.text.text)), "\t", "    ")
	var marks []cli.Span
	if h := d.chosen(); h != nil {
		marks = occurrences(text, markedWords(h.Snippet))
	}
	all := strings.Split(strings.TrimSuffix(p.Paragraph(text, marks, ""), "\n"), "\n")
	d.scroll = max(0, min(d.scroll, len(all)-height))
	copy(out, all[d.scroll:])
	if rest := len(all) - d.scroll - height; rest > 0 {
		out[height-1] = p.Paint(cli.Faint,
			cli.Cut(fmt.Sprintf("… %s, shift-↓", cli.Count(rest+1, "more line", "more lines")), p.Width))
	}
	return out
}

// markedWords are the words of a snippet that matched, the longest first.
func markedWords(sn op.Snippet) (words []string) {
	text, marks := cli.CleanSnippet(sn)
	for _, m := range marks {
		if word := strings.TrimSpace(text[m.From:m.To]); word != "" && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	return words
}

// occurrences are where a text holds one of the words, in any case and not within another
// word.
func occurrences(text string, words []string) (at []cli.Span) {
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
			at = append(at, cli.Span{From: m[0], To: m[1]})
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
	spaceless := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
		unicode.Khmer, unicode.Myanmar)
	return r != utf8.RuneError && !spaceless && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
