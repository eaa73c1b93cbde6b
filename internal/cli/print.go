package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Answer prints an answer, as JSON or for people.
func (s *App) Answer(answer any, print func()) error {
	if s.JSON {
		return s.PrintJSON(answer)
	}
	print()
	return nil
}

// Found is [App.Answer] that ends with "nothing found" when n is 0.
func (s *App) Found(answer any, n int, print func()) error {
	if err := s.Answer(answer, print); err != nil || n > 0 {
		return err
	}
	return &Exit{Code: ExitNothing}
}

// Row prints a name and a value side by side.
func (s *App) Row(name, value string) {
	s.Printf("%s %s\n", s.Screen.Paint(Faint, Pad(name, 10)), value)
}

// Rows prints a name and a text on as many lines as it takes, in one style.
func (s *App) Rows(name, text string, st Style) {
	for _, l := range Lines(text, max(0, s.Screen.Width-len("warning    "))) {
		s.Row(name, s.Screen.Paint(st, text[l.From:l.To]))
		name = ""
	}
}

// Warn prints a warning on as many lines as it takes.
func (s *App) Warn(name, text string) { s.Rows(name, text, Yellow) }

// Short is the id that people read and type.
func (s *App) Short(id memory.ID) string { return s.Screen.Paint(Yellow, id.Short()) }

// Gist is the beginning of a text on what is left of a line.
func (s *App) Gist(text string, used int) string {
	width := 72 // enough to know it again; nothing needs the rest on a pipe
	if s.Screen.Width > 0 {
		width = s.Screen.Width - used
	}
	return Cut(OneLine(text), width)
}

func (s *App) UndoHint(tx string) {
	if tx != "" {
		s.Note("to undo, run: emberd undo %s", tx)
	}
}

// VerbText is what the journal or a timeline calls a change, in words of the guide.
func VerbText(verb string) string {
	words := map[string]string{"wake": "reactivate", "woken": "reactivated", "mend": "repair", "recover": "log repair",
		"repeat": "save again"}
	return cmp.Or(words[verb], Clean(verb))
}

// PrintPending tells why a note does not have yet what its memory has.
func PrintPending(s *App, w *op.PendingWrite) {
	if w != nil {
		s.Note("emberd has not updated note %s yet: %s", Flat(w.Path), Clean(w.Reason))
	}
}

func NoteLoading(s *App, l *op.Loading) {
	if l != nil {
		s.Note("the keyword index is loading (%s of %s): results are complete, but their ranking is approximate",
			Grouped(l.Indexed), Grouped(l.Total))
	}
}

func NoteIndexing(s *App, l *op.Loading) {
	if l != nil {
		s.Note("the vault index is loading (%s of %s notes)", Grouped(l.Indexed), Grouped(l.Total))
	}
}

// NoteAway says that the vault is not there.
func NoteAway(s *App, since time.Time) {
	if !since.IsZero() {
		s.Note("the vault has been unavailable since %s, so results show "+
			"the notes as of that time; to see why, run: emberd status", since.Local().Format("2006-01-02 15:04"))
	}
}

// NoteWithout says why vectors had no part in an answer in which they else would have had.
func NoteWithout(s *App, m *op.Meaning) {
	if m != nil && m.Weight > 0 && m.Without != "" {
		s.Note("emberd searched by keywords only: %s", Clean(m.Without))
	}
}

// Place is where a note is, on a line of its own on a terminal.
func Place(s *App, n *op.Note) string {
	line := fmt.Sprintf(":%d", n.Line)
	if s.Screen.Width == 0 {
		return "  " + Flat(n.Path) + line
	}
	return "\n  " + s.Screen.Paint(Faint, CutFront(Flat(n.Path)+line, s.Screen.Width-2))
}

// WhenSet is when for a time that may be unset or the same as another.
func WhenSet(s *App, t, other time.Time) string {
	if t.IsZero() || t.Equal(other) {
		return ""
	}
	return s.When(t)
}

// MaxListLen is how many items of an answer are worth reading on a screen.
const MaxListLen = 20

func NonEmpty(parts ...string) []string {
	return slices.DeleteFunc(parts, func(p string) bool { return p == "" })
}

// PlainValue is a JSON string without quotes, and any other value as written.
func PlainValue(raw json.RawMessage) string {
	var text *string
	if json.Unmarshal(raw, &text) == nil && text != nil {
		return *text
	}
	return string(raw)
}

// Joined is all errors, with the exit code of the first; one stays as it is.
func Joined(all []error) error {
	err := errors.Join(all...)
	many, ok := err.(interface{ Unwrap() []error })
	switch {
	case !ok:
		return nil
	case len(many.Unwrap()) == 1:
		return many.Unwrap()[0]
	}
	return &Exit{Code: CodeOf(many.Unwrap()[0]), Err: err}
}

// Lasted writes a duration for people.
func Lasted(d time.Duration) string {
	switch {
	case d < time.Minute:
		return d.Round(time.Second).String()
	case d < 48*time.Hour:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// In says how far off something is.
func In(d time.Duration) string {
	if d < time.Second {
		return "now"
	}
	return "in " + Lasted(d)
}

// Percent writes a share without calling anything nothing.
func Percent(share float64) string {
	if share < 0.005 {
		return "<1 %"
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

func Millis(ms float64) string { return fmt.Sprintf("%.1f ms", ms) }

// Uncoloured takes the colours off a line of our own.
func Uncoloured(line string) string {
	for _, st := range []Style{Bold, Faint, Red, Green, Yellow, Cyan} {
		line = strings.ReplaceAll(line, "\x1b["+string(st)+"m", "")
	}
	return strings.ReplaceAll(line, "\x1b[0m", "")
}

// ActionText is what a review item proposes, as people read it.
func ActionText(item *memory.ReviewItem) string {
	switch item.Action {
	case op.AdoptNote:
		return "does the note belong to the memory?"
	case op.ChooseText:
		return "which text is correct?"
	}
	return item.Action
}

// By says who asked for something: first the token, which was checked, and then what the client claims.
func By(a memory.Actor) string {
	claims := strings.Join(NonEmpty(a.Via, a.Client, a.Session), " ")
	if a.Token == "" {
		return Clean(claims)
	}
	return Clean("token " + a.Token + " (" + claims + ")")
}

// DeviceName is a device's id with the name of its host, which a file says that
// anybody may have written.
func DeviceName(id, host string) string {
	if host == "" {
		return Clean(id)
	}
	return Clean(id) + " (" + Clean(host) + ")"
}

func Either(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// Bucket is one counted name.
type Bucket struct {
	Name string
	N    int
}

// Largest orders counts by size and then by name.
func Largest(counts map[string]int) []Bucket {
	var out []Bucket
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, Bucket{Name: name, N: counts[name]})
	}
	slices.SortStableFunc(out, func(a, b Bucket) int { return cmp.Compare(b.N, a.N) })
	return out
}

// CheckLimit refuses a limit that was given as zero, which the request would
// take for "not given".
func CheckLimit(cmd *cobra.Command, limit int) error {
	if cmd.Flags().Changed("limit") && (limit < 1 || limit > memory.MaxResults) {
		return memory.Errorf(memory.Invalid, "limit %d is out of range (1 to %d)", limit, memory.MaxResults).At("limit")
	}
	return nil
}

func NoneListed(then, filtered bool) string {
	switch {
	case filtered:
		return "no matching memories; remove a filter, or run: emberd list"
	case then:
		return "no memories existed at that time"
	}
	return "no memories found; to save a memory, run: emberd save TEXT"
}

func Shorts(ids []memory.ID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = id.Short()
	}
	return out
}

func Because(reason string) string {
	if reason == "" {
		return ""
	}
	return "  " + Clean(reason)
}

// PrintField prints what a field was and is, on two lines if one is too short for both.
func PrintField(s *App, f op.FieldChange) {
	const name = 14
	const head = 8 + name + 1
	room := max(0, s.Screen.Width-head)
	from, to := cmp.Or(Flat(PlainValue(f.From)), "–"), cmp.Or(Flat(PlainValue(f.To)), "–")
	if f.From != nil && string(f.To) == "null" {
		to = "–"
	}
	line := func(label, text string) {
		s.Printf("        %s %s\n", s.Screen.Paint(Faint, Pad(Clean(label), name)), text)
	}
	switch both := uniseg.StringWidth(from) + len(" → ") + uniseg.StringWidth(to); {
	case f.From == nil:
		line(f.Name, s.Screen.Paint(Green, Cut(to, room)))
	case room > 0 && both > room:
		line(f.Name, s.Screen.Paint(Red, Cut(from, room)))
		line("", "→ "+s.Screen.Paint(Green, Cut(to, max(1, room-len("→ ")))))
	default:
		line(f.Name, s.Screen.Paint(Red, from)+" → "+s.Screen.Paint(Green, to))
	}
}

// LeftOf counts the memories that an undo left as they are.
func LeftOf(res *op.UndoResult) int {
	left := 0
	for _, item := range res.Items {
		if item.Action == stm.Left {
			left++
		}
	}
	return left
}

// NoteLeft says how many memories an undo left as they are, if any, and how to change them too.
func (s *App) NoteLeft(left int, forced bool) {
	if left > 0 && !forced {
		what := Count(left, "memory was not reverted", "memories were not reverted")
		s.Note("%s; to revert the remaining changes too, use --force", what)
	}
}

// Plain writes a JSON value for people: a string without its quotes.
func Plain(raw json.RawMessage) string {
	return Clean(PlainValue(raw))
}

// NotePartial says that notes are still being read.
func NotePartial(s *App, partial bool) {
	if partial {
		s.Note("emberd is still reading notes, so some results can be missing; try again in a moment")
	}
}

func IsPathError(err error) bool {
	_, ok := errors.AsType[*fs.PathError](err)
	return ok
}
