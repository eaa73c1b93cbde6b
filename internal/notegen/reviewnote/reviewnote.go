// Package reviewnote writes and reads the note in which the user decides about memories by
// checking boxes. Its functions are pure: they use no file and no clock.
//
// [Render] writes the region of the note that is emberd's, [Parse] reads the note back.
// Each box ends with a block id that names the item, what of it was seen, and the choice:
//
//   - [ ] Merge them into one ^rev-3f9ab2c41d07-5e21c0a4-merge
//
// so a checked box means the same wherever the user moves the line and whatever the user
// writes beside it. Lines that the user writes in the region stay: at their place as long as
// the line above does, else at the end of their item, and without the item at the end of the
// region. [Parse] recognizes the user's lines by the lines that emberd wrote before, see
// [Sums]; without those by their form.
//
// Texts of memories are data. They are in quoted lines and headings, on one line each and
// escaped (see package notegen), and never part of a line with a box.
//
// The package neither changes nor keeps the slices that it receives.
package reviewnote

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"emberd/internal/notegen"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
)

// Most is how many items a note shows.
const Most = 10

// The lengths of what stands for an item and for what was seen of it, in hex digits.
const (
	tokenDigits = 12
	seenDigits  = 8
)

// Page is what a note is to say.
type Page struct {
	Open []Item // in the order in which they stand
	More int    // open items that are not shown
	Done []Done // in the order in which they stand
	// Waits are other things that wait for the user, in the order in which they stand.
	Waits []Wait
	// After is the time without a decision after which the policy decides, 0 for never.
	After time.Duration
}

// Wait is something other than an item that continues only after the user runs a command.
type Wait struct{ Text, Command string }

// Item is an open item.
type Item struct {
	ID string // of the review item
	// Seen is [Seen] of all that a decision depends on.
	Seen     string
	Agent    string
	Action   string
	Urgency  string
	Claimed  string // who works on it
	Evidence string
	Created  time.Time
	Memories []notegen.Entry
	// Diff is as in [op.ReviewShowResult].
	Diff []string
	// Choices are the decisions that can be carried out, in the words of package op:
	// promote, keep, merge, forget, and forget:ID and supersede:ID for one of its memories.
	Choices []string
	// Policy is the decision at Due if the user makes none, "" for none.
	Policy string
	Due    time.Time
	// Remark says why a tick was not carried out.
	Remark string
}

// Done is something that was decided lately, or could not be.
type Done struct {
	At time.Time
	// What is a few words of emberd's own, such as "merged".
	What     string
	Reason   string
	Memories []notegen.Entry
	Tx       string // journal entry, "" for nothing to undo
}

// CheckedBox is a box with a tick in it.
type CheckedBox struct {
	Item   string // [Token] of the item
	Seen   string // as it was when the box was written
	Choice string // [Item.Decision] knows what it means
	Words  string // what a human wrote behind what the box says
}

// Token returns what stands for a review item in a note.
func Token(id string) string {
	digits := strings.TrimPrefix(id, "rev-")
	return digits[:min(tokenDigits, len(digits))]
}

// Seen returns a short digest of what the user decides on.
func Seen(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d\n%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))[:seenDigits]
}

// token is how a box names an item and a choice; the rest of a line is not looked at.
var token = text.Pattern(`(?:^|[ \t])\^rev-([0-9a-f]{12})-([0-9a-f]{8})-([a-z]+(?:-[0-9]{1,3})?)(?:[ \t]|$)`)

// Decision returns what a choice of a tick means, ok if the item offers it.
func (it *Item) Decision(choice string) (decision string, ok bool) {
	decision = choice
	for _, of := range ofOne() {
		n, is := strings.CutPrefix(choice, strings.Replace(of, ":", "-", 1))
		if !is {
			continue
		}
		i, err := strconv.Atoi(n)
		if err != nil || i < 1 || i > len(it.Memories) {
			return "", false
		}
		decision = of + string(it.Memories[i-1].ID)
	}
	if n, is := strings.CutPrefix(choice, takeChoice); is {
		i, err := strconv.Atoi(n)
		if texts := it.takes(); err == nil && i > 0 && i <= len(texts) {
			decision = texts[i-1]
		}
	}
	return decision, slices.Contains(it.Choices, decision)
}

// takeChoice begins how a box names a text; its number among the others of the item follows.
const takeChoice = "take-"

// takes returns the decisions for a text other than the memory's.
func (it *Item) takes() []string {
	return slices.DeleteFunc(slices.Clone(it.Choices),
		func(d string) bool { return !strings.HasPrefix(d, op.DecideTake) })
}

// choice returns how a box names a decision, "" if it cannot.
func (it *Item) choice(decision string) string {
	if i := slices.Index(it.takes(), decision); i >= 0 {
		return fmt.Sprintf("%s%d", takeChoice, i+1)
	}
	for _, of := range ofOne() {
		id, one := strings.CutPrefix(decision, of)
		if !one {
			continue
		}
		if i := it.index(memory.ID(id)); i >= 0 {
			return fmt.Sprintf("%s-%d", strings.TrimSuffix(of, ":"), i+1)
		}
		return ""
	}
	return decision
}

// ofOne returns how decisions about one of several memories begin; its ID follows.
func ofOne() []string { return []string{op.DecideForgetOne, op.DecideSupersede} }

func (it *Item) index(id memory.ID) int {
	return slices.IndexFunc(it.Memories, func(m notegen.Entry) bool { return m.ID == id })
}

// letter names a memory of an item with several.
func letter(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return "No. " + strconv.Itoa(i+1)
}

// Sums stand for the lines that emberd writes for a page. With those of this page and of earlier
// ones, [Parse] distinguishes the user's lines from emberd's, also in a restored note.
func Sums(p *Page) []string {
	seen := map[string]bool{sum(keptHeading): true}
	out := []string{sum(keptHeading)}
	for _, s := range p.sections() {
		for _, line := range s.lines {
			if s := sum(line); !blank(line) && !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	return out
}

// sum stands for a line. What plugins that tidy notes change makes no difference: blanks,
// the marks of lists and of emphasis, and backslashes.
func sum(line string) string {
	s := sha256.Sum256([]byte(tidied.Replace(bullet().ReplaceAllString(line, "$1-"))))
	return hex.EncodeToString(s[:8])
}

var (
	bullet = text.Pattern(`^((?:[ \t]|>)*)[*+-][ \t]`)
	tidied = strings.NewReplacer(" ", "", "\t", "", "*", "", "_", "", `\`, "")
)

func blank(line string) bool { return strings.Trim(line, " \t\r\n") == "" }
