package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// provenanceFlags are what one can say of where a text comes from.
type provenanceFlags struct {
	origin, from, quote string
}

func (p *provenanceFlags) add(f *pflag.FlagSet) {
	f.StringVar(&p.origin, "origin", "", "whose words they are, `WHO`: user, agent, tool or web; user unless you say otherwise. What a tool or the web said is data only until emberd confirm")
	f.StringVar(&p.from, "from", "", "`FILE[:LINE]` that it was learned from")
	f.StringVar(&p.quote, "quote", "", "the very `WORDS` it was learned from")
}

// fileAndLine takes a place apart; digits behind the last colon are a line, but not in
// an address.
var fileAndLine = regexp.MustCompile(`^(.+):([0-9]{1,9})$`)

func (p *provenanceFlags) claimed() op.Provenance {
	out := op.Provenance{Origin: p.origin, File: p.from, Quote: p.quote}
	if parts := fileAndLine.FindStringSubmatch(p.from); parts != nil && !strings.Contains(p.from, "://") {
		out.File = parts[1]
		out.Line, _ = strconv.Atoi(parts[2]) // nine digits are a number
	}
	return out
}

// printSources prints whose words a memory is, and where it was learned, link by link.
func (s *state) printSources(m *op.Memory, field func(name, value string)) {
	field("origin", s.originText(m))
	field("hidden", strings.Join(m.Hidden, ", "))
	for _, link := range m.Sources {
		field("learned", s.linkText(&link))
		if link.Evidence != "" {
			field("", strconv.Quote(oneLine(link.Evidence)))
		}
	}
	if n := m.SourcesDropped; n > 0 {
		field("", fmt.Sprintf("and %s in between", count(int(n), "time", "times")))
	}
}

// originText says what the standing of a memory is that a tool or the web said; that of
// others is what its links say.
func (s *state) originText(m *op.Memory) string {
	switch {
	case m.Memory.DataOnly():
		return clean(m.Origin) + ": data only until a person confirms it, with emberd confirm " + m.ID.Short()
	case !m.ConfirmedAt.IsZero():
		return clean(m.Origin) + ", confirmed " + s.when(m.ConfirmedAt)
	}
	return ""
}

// warnHidden says of a memory that was written that its text has what nobody sees.
func (s *state) warnHidden(m *op.Memory) {
	if len(m.Hidden) > 0 {
		s.note("its text has %s, which nobody sees; it is kept as it is, and shown as codes", strings.Join(m.Hidden, " and "))
	}
}

// linkText says who learned it, as claimed, and then what emberd and the kernel saw.
func (s *state) linkText(link *memory.Source) string {
	parts := []string{clean(link.String()), s.whenSet(link.At, time.Time{})}
	if n := link.Count(); n > 1 {
		parts[1] = strings.TrimSpace(fmt.Sprintf("%d times, last %s", n, parts[1]))
	}
	if by := link.By; by != nil && by.Via != stm.Itself {
		parts[0] += " (claimed)"
		parts = append(parts, fmt.Sprintf("by uid %d", by.UID))
		if by.PID != 0 { // over the port there is none
			parts = append(parts, fmt.Sprintf("process %d", by.PID))
		}
	}
	return strings.Join(nonEmpty(parts...), ", ")
}
