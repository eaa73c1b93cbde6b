package sessions

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"emberd/internal/mcp/answer"
	"emberd/internal/text"
	"emberd/internal/text/invisible"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// The tags around what a model is told. A reader of transcripts removes what is between them.
const (
	Opening = "<emberd-memory>"
	Closing = "</emberd-memory>"
)

const (
	maxText = 320 // characters of a memory
	about   = "Memories from emberd, the user's memory store on this machine."
	howMore = "To search for more, use emberd's memory tools, if available."
)

// block is a text for a model: memories under headings.
type block struct {
	e       *Sessions
	project string
	parts   []part
	err     error
}

// part are memories under a heading.
type part struct {
	heading string
	items   []item
}

// item is a memory and the line that states it.
type item struct {
	memory op.Memory
	line   string
}

// add appends memories under a heading, while they fit in a number of tokens.
func (b *block) add(heading string, rows []*stm.Row, tokens int) {
	if p := b.part(heading, rows, tokens); len(p.items) > 0 {
		b.parts = append(b.parts, p)
	}
}

// first puts memories before all others.
func (b *block) first(heading string, rows []*stm.Row) {
	if p := b.part(heading, rows, b.e.Opt.Hooks.StartTokens); len(p.items) > 0 {
		b.parts = slices.Insert(b.parts, 0, p)
	}
}

func (b *block) part(heading string, rows []*stm.Row, tokens int) part {
	p, spent := part{heading: heading}, op.Tokens(heading)
	for _, r := range rows {
		if b.has(r.ID()) {
			continue
		}
		m, err := b.e.MemoryView(r, b.e.Opt.Now())
		if err != nil {
			b.err = err
			return p
		}
		l := line(&m.Memory)
		if spent += op.Tokens(l); spent > tokens {
			break
		}
		p.items = append(p.items, item{m, l})
	}
	return p
}

func (b *block) has(id memory.ID) bool {
	return slices.ContainsFunc(b.parts, func(p part) bool {
		return slices.ContainsFunc(p.items, func(i item) bool { return i.memory.ID == id })
	})
}

// line states a memory as a fact with its day and source.
func line(m *memory.Memory) string {
	who := "an agent"
	switch m.Trust() {
	case memory.TrustUser, memory.TrustConfirmed:
		who = "the user"
	case memory.TrustData:
		who = "a tool or the web, unconfirmed"
	case memory.TrustAgent:
		if m.Heard() {
			who = "a hook, from a message of the user"
		}
	}
	return fmt.Sprintf("- Recorded %s by %s: %s [%s]", m.CreatedAt.Format("2006-01-02"), who,
		inert(text.Truncate(m.Content, maxText)), m.ID.Short())
}

// marks are the tags that end a block for the model, or for what reads transcripts, or stand for who speaks.
var marks = text.Pattern(`(?i)<(\s*/?\s*(?:` + strings.Join([]string{"emberd-memory", "private", "hook_", "system",
	"untrusted_", "session_context", "user", "human", "assistant"}, "|") + `))`)

// inert returns a text on one line without such tags: their bracket is another character.
func inert(text string) string {
	return marks().ReplaceAllString(answer.OneLine(invisible.Show(text)), "‹$1")
}

// digest returns what tells two blocks apart.
func (b *block) digest() string {
	lines, _ := b.within(1 << 30)
	return digest(lines...)
}

// text returns the block within a number of tokens, "" if it has no memory, and the memories that are in it.
func (b *block) text(tokens int) (string, []op.Memory) {
	lines, shown := b.within(tokens - op.Tokens(b.frame("")) - answer.FenceRoom/4)
	if len(shown) == 0 {
		return "", nil
	}
	if b.project != "" {
		name := strconv.Quote(text.First(inert(b.project), maxName))
		lines = append([]string{"Project " + name + ":"}, lines...)
	}
	return b.frame(answer.Fence(strings.Join(lines, "\n"))), shown
}

// within returns the lines that fit in a number of tokens. A longer line gives way to shorter ones after it.
func (b *block) within(room int) (lines []string, shown []op.Memory) {
	for _, p := range b.parts {
		heading := p.heading
		for _, i := range p.items {
			cost := op.Tokens(i.line) + op.Tokens(heading) + 2
			if cost > room {
				continue
			}
			if room -= cost; heading != "" {
				lines, heading = append(lines, heading), ""
			}
			lines, shown = append(lines, i.line), append(shown, i.memory)
		}
	}
	return lines, shown
}

func (b *block) frame(fenced string) string {
	return strings.Join([]string{Opening, about + " " + howMore, fenced, Closing}, "\n")
}
