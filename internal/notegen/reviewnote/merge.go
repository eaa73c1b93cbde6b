package reviewnote

import (
	"emberd/internal/text"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Render returns the region that shows a page, with what a human wrote into the earlier one,
// which may be nil.
func Render(p *Page, before *Note) string {
	sections := p.sections()
	human := before.human(sections)
	var w writer
	for _, s := range sections {
		w.section(&s, human[s.name])
		delete(human, s.name)
	}
	w.kept(human)
	return strings.Join(w.lines, "\n") + "\n"
}

// block is what a human wrote in one place.
type block struct {
	section, anchor string // the line of emberd's that it stands below, "" for none
	lines           []string
	above, below    bool // an empty line stands there
}

// human parts what a human wrote from what emberd did, by section.
func (n *Note) human(fresh []section) map[string][]block {
	if n == nil {
		return nil
	}
	n.judge(fresh)
	names := n.sectionNames()
	within := n.within()
	r := reader{out: make(map[string][]block), seen: make(map[string]int)}
	r.at.section = topSection
	for i := range n.lines {
		line := &n.lines[i]
		if name, is := names[i]; is {
			r.flush()
			r.at.section = name
			clear(r.seen)
		}
		switch {
		case !line.fixed && blank(line.text) && (len(r.at.lines) == 0 || !within[i]):
			r.gap = true
		case line.mine:
			r.flush()
			r.at.anchor, r.gap = anchor(line.own, r.seen), false
			if line.box != "" && line.words != "" {
				r.add("- " + line.words)
			}
		case line.box != "" && line.words == "": // a human took the words away
		case line.box != "":
			r.add("- " + line.words)
		default:
			r.add(line.text)
		}
	}
	r.flush()
	return r.out
}

// reader gathers what a human wrote.
type reader struct {
	out  map[string][]block
	at   block
	gap  bool // the line before is empty
	seen map[string]int
}

func (r *reader) add(text string) {
	if len(r.at.lines) == 0 {
		r.at.above = r.gap
	}
	r.at.lines, r.gap = append(r.at.lines, text), false
}

// flush ends what a human wrote in one place.
func (r *reader) flush() {
	if len(r.at.lines) > 0 {
		r.at.below = r.gap
		r.out[r.at.section] = append(r.out[r.at.section], r.at)
	}
	r.at.lines = nil
}

// within tells of each line whether the next one that says something is a human's.
func (n *Note) within() []bool {
	out := make([]bool, len(n.lines))
	human := false
	for i := len(n.lines) - 1; i >= 0; i-- {
		out[i] = human
		if line := &n.lines[i]; line.fixed || !blank(line.text) {
			human = !line.mine
		}
	}
	return out
}

// anchor tells lines of the same words in one section apart.
func anchor(line string, seen map[string]int) string {
	line = sum(line)
	seen[line]++
	return fmt.Sprintf("%d %s", seen[line], line)
}

// judge tells which lines emberd wrote: those of the last time and those of now, and if the
// former are not known those that look like it.
func (n *Note) judge(fresh []section) {
	now := map[string]bool{sum(keptHeading): true}
	for _, s := range fresh {
		for _, line := range s.lines {
			now[sum(line)] = true
		}
	}
	if len(n.wrote) == 0 {
		n.guess(now)
	}
	for i := range n.lines {
		line := &n.lines[i]
		if line.fixed || blank(line.text) {
			continue
		}
		s := sum(line.own)
		line.mine = now[s] || n.wrote[s] || len(n.wrote) == 0 && line.looksOwn()
	}
}

// guess parts lines with boxes where it is not known what emberd wrote.
func (n *Note) guess(now map[string]bool) {
	for i := range n.lines {
		if line := &n.lines[i]; line.box != "" {
			line.part(func(own string) bool { return now[sum(own)] || labelForm().MatchString(own) })
		}
	}
}

// The forms of lines that emberd writes. Only where it is not known what it wrote does
// a line count as its own because of its form.
var (
	labelForm = text.Pattern(`^- \[ \] (Promote (it|both|them): .* (it|each)|Keep (it as it is|both as they are|all as they are)|Merge (it|(both|all) into one memory)|` +
		`Forget (it|both|all [0-9]+|[A-Z] alone|[A-Z](, the (older|newer) one)?, and keep [A-Z])) \^`)
	ownForms = []func() *regexp.Regexp{
		text.Pattern(`^>($| )`),
		text.Pattern(`^## (Decided$|(Merge .* that (are near-duplicates|say nearly the same)\?|Near-duplicates that cannot be merged|Nearly the same, and yet not to be merged|Which is right\?|Still needed\?|Worth a note\?|Fading although it was used|Fading despite recent use|Up to date\?|Please look at this|Review this)( · |$))`),
		text.Pattern(`^[-*+] [0-9]{4}-[0-9]{2}-[0-9]{2} · `),
		text.Pattern("^\\*(High|Medium|Low) urgency · (created|filed) by .*`\\*$"),
	}
)

func (l *parsed) looksOwn() bool {
	if l.box != "" {
		return labelForm().MatchString(l.own)
	}
	return slices.ContainsFunc(ownForms, func(form func() *regexp.Regexp) bool { return form().MatchString(l.text) })
}

// mentioned is how lines of emberd's name the item that they are of.
var mentioned = text.Pattern("(?: \\^rev-|`emberd review show rev-)([0-9a-f]{12})(?:-|`)")

// sectionNames tells at which lines another section begins, and which.
func (n *Note) sectionNames() map[int]string {
	out := make(map[int]string)
	heading := -1
	for i := range n.lines {
		line := &n.lines[i]
		if !line.mine {
			continue
		}
		switch text := line.own; {
		case text == "## Decided":
			out[i], heading = doneSection, -1
		case text == keptHeading || text == oldKeptHeading:
			out[i], heading = keptSection, -1
		case strings.HasPrefix(text, "## "):
			heading = i
		case heading >= 0:
			if item := mentioned().FindStringSubmatch(text); item != nil {
				out[heading], heading = item[1], -1
			}
		}
	}
	return out
}

// writer puts a region together. Empty lines that follow one another become one, but for
// those within what a human wrote.
type writer struct {
	lines []string
	gap   bool // before the next line
}

func (w *writer) line(text string) {
	if blank(text) {
		w.gap = true
		return
	}
	if w.gap && len(w.lines) > 0 {
		w.lines = append(w.lines, "")
	}
	w.lines, w.gap = append(w.lines, text), false
}

func (w *writer) block(b *block) {
	w.gap = w.gap || b.above
	for i, text := range b.lines {
		if i == 0 {
			w.line(text)
		} else {
			w.lines = append(w.lines, text)
		}
	}
	w.gap = b.below
}

// section writes a section and into it what a human wrote there.
func (w *writer) section(s *section, human []block) {
	seen := make(map[string]int)
	anchored := func(at string) {
		human = slices.DeleteFunc(human, func(b block) bool {
			if b.anchor == at {
				w.block(&b)
			}
			return b.anchor == at
		})
	}
	anchored("")
	for _, line := range s.lines {
		w.line(line)
		if !blank(line) {
			anchored(anchor(line, seen))
		}
	}
	for _, b := range human {
		w.apart(&b)
	}
}

// apart writes a block that has lost its place.
func (w *writer) apart(b *block) {
	b.above, b.below = true, true
	w.block(b)
}

// kept writes what has lost its item: what was kept before, and then the rest by item.
func (w *writer) kept(human map[string][]block) {
	if len(human) == 0 {
		return
	}
	w.gap = true
	w.line(keptHeading)
	w.gap = true
	names := make([]string, 0, len(human))
	for name := range human {
		if name != keptSection {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range append([]string{keptSection}, names...) {
		for _, b := range human[name] {
			w.apart(&b)
		}
	}
}
