package review

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/internal/text"
	"emberd/internal/text/invisible"
	"emberd/memory"
	"emberd/op"
	"emberd/vault"
)

// Most characters that the evidence of a claim shows of a value, of tags, and of a path.
const (
	shownValue = 60
	shownTags  = 250
	shownPath  = 300
)

// claimEvidence describes what a note would change in a memory. All that is the note's is in quotes, or
// behind a mark on each line, so that it cannot pass for emberd's words. If it does not show the whole
// note, it says so.
func claimEvidence(item *memory.ReviewItem, m *memory.Memory, note *vault.Note, left string,
	detectSecrets bool) string {
	c := note.Carried
	closing := "emberd review close " + item.Short()
	head := fmt.Sprintf("Note %s contains the ID of this memory, but emberd does not use that note as the note of "+
		"the memory. If the note belongs to the memory, run: %s (to undo, use emberd undo). If the "+
		"note does not belong to the memory, run: %s keep (the memory and the note do not change). ",
		inQuotes(note.Path, shownPath), closing+" "+adoptDecision(item), closing)
	if left != "" {
		head += "emberd does not merge this note into the note of the memory automatically: " + left + ". "
	}
	head += "The decision promote changes the memory as follows:\n"
	says := append([]string{c.Body, c.Fields["category"], c.Fields["strength"], c.Fields["stage"]}, c.Tags...)
	if core.SecretIn(detectSecrets, strings.Join(says, "\n"), "") {
		return head + "(the note contains text that looks like a credential, so emberd does not show the text; read " +
			"the note before you decide)"
	}
	if changed := claimedChanges(m, c); len(changed) > 0 {
		head += strings.Join(changed, "\n") + "\n"
	}
	if strings.TrimSpace(c.Body) == "" {
		return head + "text of the note: (none)"
	}
	return head + claimedText(c.Body, op.MaxEvidence-utf8.RuneCountInString(head))
}

// claimedText quotes the text of a note, in at most so many characters.
func claimedText(body string, most int) string {
	head := func(more int) string {
		if more == 0 {
			return "text of the note:\n"
		}
		return fmt.Sprintf("text of the note (%d more characters are not shown; read the note before you decide):\n",
			more)
	}
	body = invisible.Show(body)
	quoted, more := text.QuoteFirst(body, most-len(head(len(body))))
	return head(more) + strings.TrimSuffix(quoted, "\n")
}

// claimedChanges are the fields of a memory that differ in a note, each with the value before and after.
func claimedChanges(m *memory.Memory, c *vault.Carried) []string {
	agreed := notes.Agreed(m, c)
	var changed []string
	change := func(field, from, to string) {
		if agreed[field] == "" {
			changed = append(changed, field+": "+from+" → "+to)
		}
	}
	change("tags", tagsInQuotes(m.Tags), tagsInQuotes(c.Tags))
	change("category", inQuotes(m.Category, shownValue), inQuotes(c.Fields["category"], shownValue))
	change("strength", strconv.FormatFloat(m.Strength, 'g', -1, 64), inQuotes(c.Fields["strength"], shownValue))
	change("stage", string(m.Stage), inQuotes(c.Fields["stage"], shownValue))
	return changed
}

// tagsInQuotes lists tags, and says how many it does not show.
func tagsInQuotes(tags []string) string {
	var shown []string
	size := 0
	for _, tag := range tags {
		quoted := inQuotes(tag, shownValue)
		if size += utf8.RuneCountInString(quoted) + len(", "); size > shownTags {
			break
		}
		shown = append(shown, quoted)
	}
	if more := len(tags) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more tags, which are not shown; read the note before you decide",
			more))
	}
	return cmp.Or(strings.Join(shown, ", "), "(none)")
}

// inQuotes quotes a value on one line, with escapes, and says if it is longer than most characters.
func inQuotes(s string, most int) string {
	if s == "" {
		return "(none)"
	}
	quoted := strconv.Quote(s)
	if n := utf8.RuneCountInString(quoted); n > most {
		return text.First(quoted, most) + fmt.Sprintf(`…" (%d characters)`, utf8.RuneCountInString(s))
	}
	return quoted
}
