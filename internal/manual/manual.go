// Package manual writes pages of the manual, in the man macros that man-pages(7) and
// groff_man(7) describe, from texts as help and our documents have them.
//
// A page is written from its top to its end by one caller; nothing is shared. Everything
// outside ASCII, and every character that roff gives a meaning to, is written by its name
// in groff_char(7), so that a page says the same in every locale and to every formatter.
package manual

import (
	"fmt"
	"strings"
	"time"
)

// Head is what stands above and below a page.
type Head struct {
	Name    string    // of the page, as in "emberd-save"
	Section int       // of the manual: 1 for commands, 5 for files
	Short   string    // what it is, in one phrase
	Date    time.Time // of the text; none when zero
	Source  string    // what it belongs to, with its version
}

// A Page is one that is being written.
type Page struct{ b strings.Builder }

// New begins a page.
func New(h *Head) *Page {
	p := &Page{}
	date := ""
	if !h.Date.IsZero() {
		date = h.Date.UTC().Format(time.DateOnly)
	}
	fmt.Fprintf(&p.b, ".TH %s %d %s %s %s\n", argument(strings.ToUpper(h.Name)), h.Section, `"`+date+`"`, argument(h.Source), argument("emberd manual"))
	p.b.WriteString(".nh\n.ad l\n") // no added hyphens and blanks, because users copy names from here
	p.Heading("Name")
	fmt.Fprintf(&p.b, "%s \\- %s\n", escape(h.Name), escape(h.Short))
	return p
}

// Bytes returns the page as it is so far.
func (p *Page) Bytes() []byte { return []byte(p.b.String()) }

// Heading begins a section.
func (p *Page) Heading(title string) {
	fmt.Fprintf(&p.b, ".SH %s\n", argument(strings.ToUpper(title)))
}

// Subheading begins a part of a section.
func (p *Page) Subheading(title string) { fmt.Fprintf(&p.b, ".SS %s\n", argument(title)) }

// Synopsis says how a program is called, its name first.
func (p *Page) Synopsis(program, rest string) {
	p.b.WriteString(strings.TrimSpace(bold(program)+" "+escape(rest)) + "\n")
}

// Text writes what help says: paragraphs apart by an empty line, and lines that begin with
// a blank as they are.
func (p *Page) Text(text string) {
	for i, part := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			p.b.WriteString(".PP\n")
		}
		p.blocks(strings.Split(part, "\n"))
	}
}

// blocks writes lines of a paragraph, of which some may be indented.
func (p *Page) blocks(lines []string) {
	for len(lines) > 0 {
		n, indented := 1, isIndented(lines[0])
		for n < len(lines) && isIndented(lines[n]) == indented {
			n++
		}
		if indented {
			p.Verbatim(strings.Join(lines[:n], "\n"))
		} else {
			p.prose(escape(strings.Join(lines[:n], " ")))
		}
		lines = lines[n:]
	}
}

func isIndented(line string) bool { return strings.HasPrefix(line, " ") }

// Verbatim shows lines as they are, but for the blanks that all begin with.
func (p *Page) Verbatim(text string) {
	p.b.WriteString(".RS 4\n.EX\n")
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		p.b.WriteString(guard(escape(strings.TrimPrefix(line, "  "))) + "\n")
	}
	p.b.WriteString(".EE\n.RE\n")
}

// Entry is a term and what it means, under each other.
func (p *Page) Entry(term Term, text string) {
	p.b.WriteString(".TP\n" + guard(term.roff()) + "\n")
	p.prose(escape(text))
}

// Term is what an entry is about: names, and what stands for a value.
type Term struct {
	Name  string // in bold
	Value string // in italics, after a blank
}

func (t Term) roff() string {
	if t.Value == "" {
		return bold(t.Name)
	}
	return bold(t.Name) + ` \fI` + escape(t.Value) + `\fR`
}

// References names other pages.
func (p *Page) References(names []string) {
	for i, name := range names {
		page, section, _ := strings.Cut(strings.TrimSuffix(name, ")"), "(")
		end := ","
		if i == len(names)-1 {
			end = ""
		}
		fmt.Fprintf(&p.b, ".BR %s (%s)%s\n", escape(page), section, end)
	}
}

// lineWidth is how long lines of a page's source may get.
const lineWidth = 78

// prose writes text that is escaped already, a sentence on lines of its own.
func (p *Page) prose(text string) {
	line := ""
	flush := func() {
		if line != "" {
			p.b.WriteString(guard(line) + "\n")
		}
		line = ""
	}
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > lineWidth {
			flush()
		}
		if line != "" {
			line += " "
		}
		line += word
		if strings.HasSuffix(strings.TrimRight(word, `)"`), ".") {
			flush()
		}
	}
	flush()
}

// guard keeps a line from being taken for a request, which begins with a full stop.
func guard(line string) string {
	if strings.HasPrefix(line, ".") {
		return `\&` + line
	}
	return line
}

func bold(s string) string { return `\fB` + escape(s) + `\fR` }

// argument returns s as one argument of a macro.
func argument(s string) string {
	return `"` + strings.ReplaceAll(escape(s), `"`, `\(dq`) + `"`
}

// names are those of characters that formatters change or act upon, or that a terminal of ASCII
// alone would leave out.
var names = map[rune]string{'…': `.\|.\|.\&`, '\\': `\e`, '-': `\-`, '\'': `\(aq`, '`': `\(ga`, '^': `\(ha`, '~': `\(ti`}

func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch name, ok := names[r]; {
		case ok:
			b.WriteString(name)
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
