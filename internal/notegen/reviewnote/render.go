package reviewnote

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"emberd/internal/notegen"
	"emberd/op"
)

// How many characters of texts are shown, and how many lines of a diff.
const (
	titleLetters    = 60
	textLetters     = 400
	evidenceLetters = 300
	remarkLetters   = 300
	diffLetters     = 200
	diffLines       = 12
	doneMemories    = 3
	itemMemories    = 10
)

// section is one part of the region: the lines of emberd's, without line ends.
type section struct {
	name  string // the token of an item, or one of the following
	lines []string
}

// The sections that are not of an item, in which a human may write, too.
const (
	topSection  = "top"
	doneSection = "decided"
	keptSection = "kept"
)

const (
	keptHeading    = "## Your notes on closed items"
	oldKeptHeading = "## Your notes on items that are gone" // of notes that earlier versions wrote
)

// sections returns the parts of a page.
func (p *Page) sections() []section {
	out := []section{{topSection, append(p.intro(), p.waitLines()...)}}
	for i := range p.Open {
		out = append(out, section{Token(p.Open[i].ID), p.Open[i].lines()})
	}
	if len(p.Done) > 0 {
		lines := []string{"", "## Decided", ""}
		for i := range p.Done {
			lines = append(lines, p.Done[i].line())
		}
		out = append(out, section{doneSection, lines})
	}
	return out
}

// intro returns how many items there are, and how to use the note.
func (p *Page) intro() []string {
	n := len(p.Open) + p.More
	lines := []string{fmt.Sprintf("> [!tip] %s your decision", waits(n))}
	if n == 0 {
		return []string{"> [!success] No item needs your decision",
			"> Items that need a decision appear here, with a box for each choice."}
	}
	lines = append(lines, "> Check one box of an item and do not edit the note for a minute. emberd applies your "+
		"choice and removes the item from the list. Text that you add to this note stays.")
	if p.After > 0 {
		lines = append(lines,
			fmt.Sprintf("> If you do not decide within %s, emberd closes the item and deletes no memory.",
				days(p.After)))
	}
	if p.More > 0 {
		lines = append(lines, fmt.Sprintf(
			"> This note shows the %d most urgent items. To see the other %d, run: `emberd review list`", len(p.Open),
			p.More))
	}
	return lines
}

// waitLines returns a box with what waits for a command of the user.
func (p *Page) waitLines() (lines []string) {
	if len(p.Waits) > 0 {
		lines = []string{"", "> [!warning] Run these commands so that emberd can continue"}
	}
	for _, w := range p.Waits {
		lines = append(lines, fmt.Sprintf("> - %s: `%s`", notegen.Inline(w.Text, textLetters), w.Command))
	}
	return lines
}

func waits(n int) string {
	if n == 1 {
		return "1 item needs"
	}
	return fmt.Sprintf("%d items need", n)
}

func days(d time.Duration) string {
	switch n := int(d / (24 * time.Hour)); {
	case n == 1:
		return "1 day"
	case n > 1:
		return fmt.Sprintf("%d days", n)
	}
	return d.String()
}

// lines returns the lines of an item: a heading, the reason, and a box for each choice.
func (it *Item) lines() []string {
	lines := []string{"", "## " + it.question(), "", "> [!" + callout(it.Urgency) + "] " + it.why()}
	shown := it.Memories[:min(itemMemories, len(it.Memories))]
	texts := emphasizeDifferences(shown)
	for i := range shown {
		lines = append(lines, "> - "+it.name(i)+cmp.Or(texts[i], "no words"), ">   "+about(&shown[i]))
	}
	if more := len(it.Memories) - len(shown); more > 0 {
		lines = append(lines, fmt.Sprintf("> - to show %d more memories, run: `emberd review show rev-%s`", more,
			Token(it.ID)))
	}
	lines = append(lines, it.different()...)
	if it.Remark != "" {
		lines = append(lines, "", "> [!failure] "+notegen.Inline(it.Remark, remarkLetters))
	}
	lines = append(lines, "")
	for _, d := range it.Choices {
		if at := it.choice(d); at != "" {
			lines = append(lines, "- [ ] "+it.label(d)+" ^rev-"+Token(it.ID)+"-"+it.Seen+"-"+at)
		}
	}
	return append(lines, "", it.footer())
}

// why returns the title of the box. The reason of an agent begins like a sentence; the
// text of a user stays as it is.
func (it *Item) why() string {
	text := cmp.Or(notegen.Inline(it.Evidence, evidenceLetters), "This item needs a review")
	if it.Agent != op.ReviewUser && text[0] >= 'a' && text[0] <= 'z' {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return text
}

// name leads a memory's line where there are several.
func (it *Item) name(i int) string {
	if len(it.Memories) == 1 {
		return ""
	}
	return "**" + letter(i) + "** "
}

// question returns the heading.
func (it *Item) question() string {
	ask, n := "", len(it.Memories)
	switch it.Action {
	case "merge":
		if ask = "Near-duplicates that cannot be merged"; !slices.Contains(it.Choices, op.DecideMerge) {
			break
		}
		ask = fmt.Sprintf("Merge %s that are near-duplicates?", counted(n))
	case "contradiction":
		ask = "Which is right?"
	case "gc_candidate":
		ask = "Still needed?"
	case "promote":
		ask = "Worth a note?"
	case "reinforce":
		ask = "Fading despite recent use"
	case "update":
		ask = "Up to date?"
	case op.ChooseText:
		ask = "Which text is right?"
	case op.AdoptNote:
		ask = "Does the note belong to the memory?"
	case "needs_review", "":
		ask = "Review this"
	default:
		ask = notegen.Inline(it.Action, titleLetters)
	}
	if n == 0 {
		return ask
	}
	return ask + " · " + cmp.Or(notegen.Title(it.Memories[0].Text, titleLetters), "no words")
}

func counted(n int) string {
	switch n {
	case 1:
		return "a memory"
	case 2:
		return "two memories"
	}
	return fmt.Sprintf("%d memories", n)
}

func urgencyName(urgency string) string {
	switch urgency {
	case "high":
		return "High"
	case "low":
		return "Low"
	}
	return "Medium"
}

func callout(urgency string) string {
	switch urgency {
	case "high":
		return "warning"
	case "low":
		return "info"
	}
	return "question"
}

// about returns what is known of a memory beside its text.
func about(e *notegen.Entry) string {
	line := fmt.Sprintf("*%s · %s", notegen.Mark(e.ID), e.Created.Format(time.DateOnly))
	if source := notegen.Inline(e.Source, 40); source != "" {
		line += " · from " + source
	}
	line += "*"
	if target, ok := notegen.Link(e.Note); ok {
		line += " · [[" + target + "|its note]]"
	}
	return line
}

// label returns what a box does.
func (it *Item) label(decision string) string {
	n := len(it.Memories)
	if id, one := strings.CutPrefix(decision, op.DecideForget+":"); one {
		return it.forgetOne(id)
	}
	if id, one := strings.CutPrefix(decision, op.DecideSupersede); one {
		i := slices.IndexFunc(it.Memories, func(m notegen.Entry) bool { return string(m.ID) == id })
		return letter(1-i) + " is right now: mark " + letter(i) + it.age(i) + ", as superseded"
	}
	if it.Agent == op.ReviewText {
		return it.textLabel(decision)
	}
	switch decision {
	case op.DecidePromote:
		return one(n, "Promote it: make a note of it", "Promote both: a note for each", "Promote them: a note for each")
	case op.DecideKeep:
		return one(n, "Keep it as it is", "Keep both as they are", "Keep all as they are")
	case op.DecideMerge:
		return one(n, "Merge it", "Merge both into one memory", "Merge all into one memory")
	case op.DecideForget:
		return one(n, "Forget it", "Forget both", fmt.Sprintf("Forget all %d", n))
	}
	return notegen.Inline(decision, titleLetters)
}

// textLabel returns what a box of an item about several texts does.
func (it *Item) textLabel(decision string) string {
	switch decision {
	case op.DecideKeep:
		return "Keep A, the current text of the memory"
	case op.DecideMerge:
		return "Keep all texts, one below the other"
	}
	return "Take " + letter(1+slices.Index(it.takes(), decision)) + " instead"
}

func one(n int, single, pair, many string) string {
	switch n {
	case 1:
		return single
	case 2:
		return pair
	}
	return many
}

// forgetOne returns which one of several is forgotten, and how it differs.
func (it *Item) forgetOne(id string) string {
	i := slices.IndexFunc(it.Memories, func(m notegen.Entry) bool { return string(m.ID) == id })
	label := "Forget " + letter(i)
	if len(it.Memories) != 2 {
		return label + " alone"
	}
	return label + it.age(i) + ", and keep " + letter(1-i)
}

// age returns which of two memories one is by its time, after a comma, or "".
func (it *Item) age(i int) string {
	if len(it.Memories) != 2 {
		return ""
	}
	switch it.Memories[i].Created.Compare(it.Memories[1-i].Created) {
	case -1:
		return ", the older one"
	case 1:
		return ", the newer one"
	}
	return ""
}

// footer names the agent that filed an item, and what happens without a decision.
func (it *Item) footer() string {
	line := fmt.Sprintf("*%s urgency · created by %s on %s", urgencyName(it.Urgency),
		cmp.Or(notegen.Inline(it.Agent, 20), "emberd"), it.Created.Format(time.DateOnly))
	if it.Claimed != "" {
		line += " · claimed by " + notegen.Inline(it.Claimed, 40)
	}
	if it.Policy != "" && !it.Due.IsZero() {
		line += fmt.Sprintf(" · if you tick no box, emberd closes this item on %s: %s", it.Due.Format(time.DateOnly),
			it.Policy)
	}
	return line + " · `emberd review show rev-" + Token(it.ID) + "`*"
}

// line returns what became of an item.
func (d *Done) line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "- %s · %s", d.At.Format(time.DateOnly), d.What)
	for i := range d.Memories[:min(doneMemories, len(d.Memories))] {
		m := &d.Memories[i]
		fmt.Fprintf(&b, " · %s %s", cmp.Or(notegen.Title(m.Text, titleLetters), "no words"), notegen.Mark(m.ID))
		if target, ok := notegen.Link(m.Note); ok {
			b.WriteString(" [[" + target + "|note]]")
		}
	}
	if more := len(d.Memories) - doneMemories; more > 0 {
		fmt.Fprintf(&b, " · and %d more", more)
	}
	if reason := notegen.Inline(d.Reason, remarkLetters); reason != "" {
		b.WriteString(" · " + reason)
	}
	if d.Tx != "" {
		b.WriteString(" · to undo: `emberd undo " + d.Tx + "`")
	}
	return b.String()
}
