package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// ProvenanceFlags are what one can say of where a text comes from.
type ProvenanceFlags struct {
	origin, from, quote string
}

func (p *ProvenanceFlags) Add(f *pflag.FlagSet) {
	f.StringVar(&p.origin, "origin", "", "")
	f.StringVar(&p.from, "from", "", "")
	f.StringVar(&p.quote, "quote", "", "")
}

// fileAndLine takes a place apart; digits behind the last colon are a line, but not in
// an address.
var fileAndLine = text.Pattern(`^(.+):([0-9]{1,9})$`)

func (p *ProvenanceFlags) Claimed() op.Provenance {
	out := op.Provenance{Origin: p.origin, File: p.from, Quote: p.quote}
	if parts := fileAndLine().FindStringSubmatch(p.from); parts != nil && !strings.Contains(p.from, "://") {
		out.File = parts[1]
		out.Line, _ = strconv.Atoi(parts[2]) // nine digits are a number
	}
	return out
}

// PrintSources prints whose words a memory is, and where it was learned, link by link.
func PrintSources(s *App, m *op.Memory, field func(name, value string)) {
	field("origin", originText(s, m))
	field("hidden", strings.Join(m.Hidden, ", "))
	for _, link := range m.Sources {
		field("learned", linkText(s, &link))
		if link.Evidence != "" {
			field("", strconv.Quote(OneLine(link.Evidence)))
		}
	}
	if n := m.SourcesDropped; n > 0 {
		field("", fmt.Sprintf("and %s in between, from sources that emberd no longer stores",
			Count(int(n), "time", "times")))
	}
}

// originText says what the standing of a memory is that a tool or the web said, or that an agent changed
// after the user said it; that of others is what its links say.
func originText(s *App, m *op.Memory) string {
	switch {
	case m.Memory.DataOnly():
		return Clean(m.Origin) + ": unconfirmed; to confirm it, run: " +
			Again(s, "edit", "--confirm", m.ID.Short())
	case !m.ConfirmedAt.IsZero():
		return Clean(m.Origin) + ", confirmed " + s.When(m.ConfirmedAt)
	case m.Origin == memory.FromAgent && len(m.Sources) > 0 && m.Sources[0].Kind == memory.FromUser:
		return "agent, which changed the user's text"
	}
	return ""
}

// WarnHidden says of a memory that was written that its text has what nobody sees.
func WarnHidden(s *App, m *op.Memory) {
	if len(m.Hidden) > 0 {
		s.Note("the text contains invisible characters: %s; emberd keeps them and displays them as codes",
			strings.Join(m.Hidden, " and "))
	}
}

// linkText says who learned it, and then what emberd and the kernel saw. What a program says of itself is
// claimed; what you said at your terminal is not called so.
func linkText(s *App, link *memory.Source) string {
	parts := []string{Clean(link.String()), WhenSet(s, link.At, time.Time{})}
	if n := link.Count(); n > 1 {
		parts[1] = strings.TrimSpace(fmt.Sprintf("%d times, last %s", n, parts[1]))
	}
	if by := link.By; by != nil && by.Via != stm.Itself {
		if by.Via != "cli" || by.Token != "" {
			parts[0] += " (claimed)"
		}
		if by.Token != "" {
			parts = append(parts, "with token "+Clean(by.Token))
		}
		parts = append(parts, fmt.Sprintf("by uid %d", by.UID))
		if by.PID != 0 {
			parts = append(parts, fmt.Sprintf("process %d", by.PID))
		}
	}
	return strings.Join(NonEmpty(parts...), ", ")
}
