package page

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
)

// ago says how long ago a time is, in one unit.
func ago(now, t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	if d := now.Sub(t); d >= time.Minute {
		return span(d) + " ago"
	}
	return "just now"
}

// until says how far ahead a time is.
func until(now, t time.Time) string {
	if d := t.Sub(now); d >= time.Minute {
		return "in " + span(d)
	}
	return "now"
}

// span is a duration in its largest unit.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "moments"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return days(d)
}

// days is a duration in days, from two years on in years.
func days(d time.Duration) string {
	n := int(d.Hours() / 24)
	if n >= 730 {
		return fmt.Sprintf("%d years", n/365)
	}
	return fmt.Sprint(n, " ", plural(n, "day", "days"))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func count(n int, one, many string) string { return grouped(n) + " " + plural(n, one, many) }

// grouped writes a whole number of any type in groups of three digits.
func grouped(n any) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func size(n int64) string {
	units, v, i := []string{"B", "KiB", "MiB", "GiB", "TiB"}, float64(n), 0
	for v >= 1024 && i < len(units)-1 {
		v, i = v/1024, i+1
	}
	return fmt.Sprintf("%.3g %s", v, units[i])
}

// stageText says what becomes of a memory in a stage.
func stageText(s memory.Stage) string {
	switch s {
	case memory.Active:
		return "in use, the text is in the log"
	case memory.Demoted:
		return "not used for a while, the text is in the log"
	case memory.Archived:
		return "summary kept, the text is in a note"
	case memory.Rehydratable:
		return "key terms kept, the text is in a note"
	}
	return ""
}

// maxGist is how much of a text a line shows, in characters.
const maxGist = 160

// gist is the beginning of a text as one line.
func gist(s string) string { return gistOf(s, maxGist) }

func gistOf(s string, most int) string {
	return text.Truncate(strings.Join(strings.Fields(s), " "), most)
}

// letter names one of several memories that stand side by side.
func letter(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return strconv.Itoa(i + 1)
}

// part is a piece of a text, marked or not.
type part struct {
	Text string
	Mark bool
}

// snippetParts splits a snippet at its marks.
func snippetParts(s op.Snippet) (parts []part) {
	at := 0
	for _, m := range s.Marks {
		if m[0] < at || m[1] < m[0] || m[1] > len(s.Text) {
			continue
		}
		parts = append(parts, part{s.Text[at:m[0]], false}, part{s.Text[m[0]:m[1]], true})
		at = m[1]
	}
	return append(parts, part{s.Text[at:], false})
}

// differing marks the words of a text that other texts lack, in any case.
func differing(s string, others ...string) (parts []part) {
	known := map[string]bool{}
	for _, o := range others {
		for _, w := range strings.FieldsFunc(o, notInWord) {
			known[strings.ToLower(w)] = true
		}
	}
	text := s
	for s != "" {
		n := strings.IndexFunc(s, func(r rune) bool { return notInWord(r) != notInWord(firstRune(s)) })
		if n < 0 {
			n = len(s)
		}
		mark := !notInWord(firstRune(s)) && !known[strings.ToLower(s[:n])]
		parts = append(parts, part{s[:n], mark})
		s = s[n:]
	}
	return joined(text, parts)
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}

func notInWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
}

// joined joins neighbors of a text that are both marked or both not, and a space between marked words.
func joined(text string, parts []part) (out []part) {
	from, at := 0, 0 // of the last part of out in the text
	for i, p := range parts {
		space := p.Text == " " && i > 0 && parts[i-1].Mark && i+1 < len(parts) && parts[i+1].Mark
		if n := len(out); n > 0 && (out[n-1].Mark == p.Mark || space) {
			at += len(p.Text)
			out[n-1].Text = text[from:at]
			continue
		}
		from, at = at, at+len(p.Text)
		out = append(out, p)
	}
	return out
}
