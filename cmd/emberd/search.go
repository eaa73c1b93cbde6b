package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"emberd/memory"
	"emberd/op"
)

type searchOptions struct {
	req      op.SearchRequest
	within   window
	noTrack  bool
	scope    string
	memories bool
	notes    bool
	asOf     asOf
	noReview bool
	weights  struct{ stm, ltm float64 }
}

func (s *state) searchCommand() *cobra.Command {
	var o searchOptions
	cmd := &cobra.Command{
		Use:   "search WORDS…",
		Short: "Search by words, best match first",
		Long: `Search memories and notes by words, best match first. Any word may match; more
and rarer words rank higher, and so does what is used and fresh. Operators:
"a phrase", -word, tag:x, entity:name, path:dir/, file:name, [key:value],
before:2026-01, after:7d; put -- before words that begin with a hyphen.
--explain shows how each rank came about.

What has faded comes back when a search means it: an archived memory that holds
most of what was asked is read from its note again. --scope archive searches
what is left of those, and nothing else. A few memories that match and are about
to fade may stand among the hits, as a reminder.`,
		Example: `  emberd search authentication
  emberd search 'garden tag:plants -winter after:2025'
  emberd search jwt tokens --tag security --within 30d
  emberd search deploy --json | jq -r '.hits[].content'`,
		Annotations: exits(endings{exitNothing: "nothing found", exitNoDaemon: ""}),
		Args:        takes(1, -1, "words to search for"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.search(cmd, &o, args)
		},
	}
	f := cmd.Flags()
	o.searchFlags(f)
	f.BoolVar(&o.noTrack, "no-track", false, "do not count this search as access, and bring nothing back")
	o.asOf.add(f, "search every memory")
	f.IntVar(&o.req.Offset, "offset", 0, "pass over the best `N` hits, up to 1,000")
	f.BoolVar(&o.req.KeepNotes, "keep-notes", false, "filter memories only: show notes whatever --status, --min-score and such say")
	f.Float64Var(&o.weights.stm, "stm-weight", 0, "`FACTOR` on the rank of memories, 0 to 2 (default search.stm_weight of the config)")
	f.Float64Var(&o.weights.ltm, "ltm-weight", 0, "`FACTOR` on the rank of notes, 0 to 2 (default search.ltm_weight of the config)")
	f.BoolVar(&o.req.Explain, "explain", false, "show term by term how each rank came about")
	completeWords(cmd, "scope", "all", "memories", "notes", "archive")
	return cmd
}

// searchFlags are what says which search it is.
func (o *searchOptions) searchFlags(f *pflag.FlagSet) {
	filterFlags(f, &o.req.Filter, &o.within)
	f.IntVarP(&o.req.Limit, "limit", "n", 0, "at most `N` hits, 1 to 100 (default search.limit of the config)")
	f.StringVar(&o.scope, "scope", "", "search `WHERE`: all, memories, notes or archive")
	f.BoolVar(&o.memories, "memories", false, "search memories only, as --scope memories does")
	f.BoolVar(&o.notes, "notes", false, "search notes only, as --scope notes does")
	f.BoolVar(&o.noReview, "no-review", false, "mix in nothing that is about to fade")
}

// complete makes the request of the flags.
func (o *searchOptions) complete(cmd *cobra.Command) error {
	if err := checkLimit(cmd, o.req.Limit); err != nil {
		return err
	}
	settle(&o.req.Filter, o.within)
	if o.noTrack {
		o.req.Track = new(bool)
	}
	if o.noReview {
		o.req.IncludeReview = new(bool)
	}
	switch o.req.Scope = o.scope; {
	case o.memories && o.notes:
		return memory.Errorf(memory.Invalid, "--memories and --notes exclude one another; leave both out to search both").At("scope")
	case (o.memories || o.notes) && o.scope != "":
		return memory.Errorf(memory.Invalid, "--scope says where to search; leave --memories and --notes out").At("scope")
	case o.memories:
		o.req.Scope = "memories"
	case o.notes:
		o.req.Scope = "notes"
	}
	return nil
}

func (s *state) search(cmd *cobra.Command, o *searchOptions, args []string) error {
	if err := o.complete(cmd); err != nil {
		return err
	}
	var err error
	if o.req.AsOf, err = o.asOf.moment(s); err != nil {
		return err
	}
	o.req.Query = strings.Join(args, " ")
	o.req.STMWeight = optional(cmd.Flags(), "stm-weight", o.weights.stm)
	o.req.LTMWeight = optional(cmd.Flags(), "ltm-weight", o.weights.ltm)
	res, err := call(cmd.Context(), s, op.Search, &o.req)
	if err != nil {
		return err
	}
	return s.found(res, len(res.Hits), func() { s.printHits(res) })
}

// checkLimit refuses a limit that was given as zero, which the request would
// take for "not given".
func checkLimit(cmd *cobra.Command, limit int) error {
	if cmd.Flags().Changed("limit") && (limit < 1 || limit > memory.MaxResults) {
		return memory.Errorf(memory.Invalid, "limit is %d, outside 1 to %d", limit, memory.MaxResults).At("limit")
	}
	return nil
}

func (s *state) printHits(res *op.SearchResult) {
	for i, h := range res.Hits {
		if i > 0 {
			s.printf("\n")
		}
		s.printHit(&h, res.Hits[0].Rank)
	}
	s.printThen(res.AsOf, slices.ContainsFunc(res.Hits, func(h op.Hit) bool { return h.Note != nil }))
	s.noteLoading(res.Loading)
	s.noteIndexing(res.Indexing)
	s.noteWithout(res.Meaning)
	s.noteRespelled(res.Respelled, res.Similar)
	switch more := res.Total - len(res.Hits); {
	case res.Total == 0:
		s.note("nothing found for %s; try fewer filters or other words", jsonText(clean(res.Query)))
	case more > 0:
		s.note("%s of %s%s shown; --limit shows more", grouped(len(res.Hits)), atLeast(res.AtLeast), count(res.Total, "hit", "hits"))
	case res.AtLeast:
		s.note("there are at least %s; another phrase or more words may show others", count(res.Total, "hit", "hits"))
	}
}

// printHit prints one hit; best is the rank of the first.
func (s *state) printHit(h *op.Hit, best float64) {
	s.printf("%s\n", s.hitLine(h, best))
	if fate := fateLine(h); fate != "" {
		s.printf("%s", s.screen.said(green, fate))
	}
	if by := h.Superseded; by != nil {
		s.printf("%s", s.screen.said(green, "superseded by "+by.By.Short()+": "+flat(by.Text)))
	}
	text, marks := cleanSnippet(h.Snippet)
	s.printf("%s", s.screen.paragraph(text, marks, "  "))
	if h.Explain != nil {
		s.printExplain(h)
	}
}

// noteRespelled says that other words were searched for than those given.
func (s *state) noteRespelled(respelled []op.Respelling, similar bool) {
	for _, r := range respelled {
		s.note("nothing holds %s; shown is what holds similar words: %s", jsonText(clean(r.Word)), clean(strings.Join(r.Terms, ", ")))
	}
	if similar && len(respelled) == 0 {
		s.note("nothing holds the phrase; shown is what holds its words")
	}
}

// atLeast precedes a count that is a lower bound.
func atLeast(bound bool) string {
	if bound {
		return "at least "
	}
	return ""
}

// hitLine is what stands above the text of a hit.
func (s *state) hitLine(h *op.Hit, best float64) string {
	if h.Tier == op.TierNote {
		return s.noteLine(h, best)
	}
	parts := append([]string{s.short(h.ID)}, s.screen.ranked(h, best)...)
	parts = append(parts, s.screen.paint(faint, pad(age(s.now(), h.CreatedAt), 6)))
	if h.Stage != memory.Active {
		parts = append(parts, s.screen.paint(red, string(h.Stage)))
	}
	if h.Review {
		parts = append(parts, s.screen.paint(yellow, "about to fade"))
	}
	if h.Project != "" {
		parts = append(parts, s.screen.paint(faint, clean(h.Project)))
	}
	parts = append(parts, s.screen.paint(cyan, tagged(h.Tags)))
	line := strings.TrimRight(strings.Join(parts, "  "), " ")
	if h.Note != nil {
		line += s.place(h.Note)
	}
	return line
}

// fateLine says what became of a memory that had faded and was meant, "" for others.
func fateLine(h *op.Hit) string {
	switch r := h.Rekindled; {
	case h.Rekindling:
		return "its text is being read and comes back in a moment; shown is its summary"
	case h.Rekindle != "":
		return "its text is in the vault: emberd rekindle " + h.ID.Short()
	case r == nil:
		return ""
	case r.Verdict == "gone":
		return "its note is gone; the summary is what is left: emberd rekindle " + h.ID.Short()
	case r.Verdict == "moved" && r.Edited:
		return "back from " + flat(r.Path) + ", where its note was moved, edited since"
	case r.Verdict == "moved":
		return "back from " + flat(r.Path) + ", where its note was moved"
	case r.Verdict == "edited":
		return "back from " + flat(r.Path) + ", edited since it was archived"
	default:
		return "back from " + flat(r.Path)
	}
}

// ranked shows the rank as a bar, on a terminal, and as a number.
func (p screen) ranked(h *op.Hit, best float64) []string {
	number := fmt.Sprintf("%5.2f", h.Rank)
	if p.width == 0 || best <= 0 {
		return []string{number}
	}
	return []string{p.paint(cyan, bar(h.Rank/best, 5)), number}
}

// noteLine names a note, the section that answers and its date, and where that is.
// On a terminal both get a line of their own where one is too short.
func (s *state) noteLine(h *op.Hit, best float64) string {
	n := h.Note
	what := pad("note", 8)
	if h.Memory != nil {
		what = h.ID.Short() // the note was made of it
	}
	date := n.Modified.In(s.zone).Format(time.DateOnly)
	room := 0 // a pipe, where nothing is cut
	if used := uniseg.StringWidth(strings.Join(slices.Concat([]string{what, date, ""}, screen{width: s.screen.width}.ranked(h, best)), "  ")); s.screen.width > 0 {
		room = max(10, s.screen.width-used)
	}
	parts := append([]string{s.screen.paint(yellow, what)}, s.screen.ranked(h, best)...)
	parts = append(parts, s.screen.paint(faint, date), trail(noteTitles(n), room))
	return strings.Join(parts, "  ") + s.place(n)
}

// noteTitles are the title of a note and the headings that lead to the section, which may
// begin with the title.
func noteTitles(n *op.Note) []string {
	if len(n.Heading) > 0 && n.Heading[0] == n.Title {
		return n.Heading
	}
	return append([]string{n.Title}, n.Heading...)
}

// trail is a title with the headings that lead to a section. Where it is too long
// for the room, the title and the last heading share it.
func trail(titles []string, room int) string {
	const arrow = " › "
	whole := flat(strings.Join(titles, arrow))
	if room <= 0 || len(titles) == 1 || uniseg.StringWidth(whole) <= room {
		return cut(whole, room)
	}
	last := flat(titles[len(titles)-1])
	room -= uniseg.StringWidth(arrow)
	first := cut(flat(titles[0]), max(room/3, room-uniseg.StringWidth(last)))
	return first + arrow + cut(last, room-uniseg.StringWidth(first))
}

// place is where a note is, on a line of its own on a terminal.
func (s *state) place(n *op.Note) string {
	line := fmt.Sprintf(":%d", n.Line)
	if s.screen.width == 0 {
		return "  " + flat(n.Path) + line
	}
	return "\n  " + s.screen.paint(faint, cutFront(flat(n.Path)+line, s.screen.width-2))
}

func (s *state) noteLoading(l *op.Loading) {
	if l != nil {
		s.note("the word index is still loading (%s of %s): all is searched, but the order may be rough", grouped(l.Indexed), grouped(l.Total))
	}
}

func (s *state) noteIndexing(l *op.Loading) {
	if l != nil {
		s.note("the vault is still being read (%s of %s notes)", grouped(l.Indexed), grouped(l.Total))
	}
}

// noteWithout says why vectors had no part in an answer in which they else would have had.
func (s *state) noteWithout(m *op.Meaning) {
	if m != nil && m.Weight > 0 && m.Without != "" {
		s.note("searched by words alone: %s", clean(m.Without))
	}
}

// printExplain shows the sum and the product behind a rank.
func (s *state) printExplain(h *op.Hit) {
	e := h.Explain
	labels, width := make([]string, len(e.Terms)), 20
	for i, t := range e.Terms {
		labels[i] = cut(termLabel(t), 48)
		width = max(width, uniseg.StringWidth(labels[i]))
	}
	s.printf("  %s\n", s.screen.paint(faint, pad("term", width)+"   tf      df     idf    norm    adds"))
	for i, t := range e.Terms {
		s.printf("  %s %s %7.3f\n", pad(labels[i], width), factors(t), t.Score)
	}
	for _, line := range otherParts(e) {
		s.printf("  %s %s %7.3f\n", pad(cut(line.label, width), width), line.of, line.score)
	}
	coarse := ""
	if e.Coarse {
		coarse = "  (coarse: found by scanning while the index loads)"
	}
	product := fmt.Sprintf("rank %.3f = relevance %.3f × (%.2f + %.2f × decay %.3f) × stage %g × tier %g%s",
		h.Rank, e.Relevance, e.Floor, 1-e.Floor, e.Bounded, e.Stage, e.Tier, coarse)
	if e.Above != "" {
		product = fmt.Sprintf("rank %.3f = that of %s, whose place it took and which matches better; its own = %s", h.Rank, e.Above.Short(), strings.SplitN(product, "= ", 2)[1])
	}
	if s.screen.width > 0 { // where the line breaks, a factor stays with its name and sign
		for _, name := range []string{"rank", "relevance", "decay", "stage", "tier", "×"} {
			product = strings.ReplaceAll(product, name+" ", name+"\u00a0")
		}
	}
	s.printf("%s", s.screen.paragraph(product, nil, "  "))
}

// otherPart is a part of a relevance that is of no word.
type otherPart struct {
	label, of string
	score     float64
}

// otherParts are what meaning and dates add, as far as they do.
func otherParts(e *op.Explain) (out []otherPart) {
	const without = "   –       –       –       –"
	if m := e.Meaning; m != nil {
		label := "meaning"
		if m.Line > 0 {
			label = fmt.Sprintf("meaning, at line %d", m.Line)
		}
		out = append(out, otherPart{label, fmt.Sprintf("%28s", fmt.Sprintf("cosine %.3f, near %.3f", m.Cosine, m.Near)), m.Score})
	}
	if d := e.Date; d != nil {
		out = append(out, otherPart{clean(d.For), without, d.Score})
	}
	return out
}

// factors are what the share of a term is made of. A share that no single term gives
// has none, and the norm of a note is part of its fields' weights.
func factors(t op.TermExplain) string {
	if t.Term == "" {
		return "   –       –       –       –"
	}
	norm := "–"
	if t.Norm != 0 {
		norm = fmt.Sprintf("%.3f", t.Norm)
	}
	return fmt.Sprintf("%4d %7s %7.3f %7s", t.TF, grouped(t.DF), t.IDF, norm)
}

// termLabel is a term, what it stands for, and where it stood.
func termLabel(t op.TermExplain) string {
	if t.Term == "" {
		return t.Field // a share that no single term gives
	}
	label := clean(t.Term)
	if t.For != "" {
		label += " for " + clean(t.For)
	}
	if t.Field != "" {
		label += " in " + t.Field
	}
	return label
}
