// Package search has the commands that find memories and notes: one search, an interactive
// search on a terminal, a question with its context, and the reasons why a search does not
// return a memory.
package search

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

// operatorSigns are what a query with operators has one of.
const operatorSigns = ":#[-\""

type searchOptions struct {
	req      op.SearchRequest
	within   cli.Window
	scope    string
	memories bool
	notes    bool
	asOf     cli.AsOf
}

func SearchCommand(s *cli.App) *cobra.Command {
	var o searchOptions
	cmd := cli.Command("search WORDS…", cli.ArgCount(1, -1, "words to search for"), nil,
		func(cmd *cobra.Command, args []string) error {
			return search(s, cmd, &o, args)
		})
	f := cmd.Flags()
	o.searchFlags(f)
	o.narrowFlags(f)
	o.asOf.Add(f, "search every memory")
	cli.Bind(f, &o.req, "offset", "explain", "stm-weight", "ltm-weight", "no-track:!track_access")
	cli.CompleteWords(cmd, "scope", "all", "memories", "notes", "archive", "sessions")
	return cmd
}

// searchFlags are what says which search it is.
func (o *searchOptions) searchFlags(f *pflag.FlagSet) {
	cli.FilterFlags(f, &o.req.Filter, &o.within)
	cli.Bind(f, &o.req, "limit,n")
	f.StringVar(&o.scope, "scope", "", "")
	f.BoolVar(&o.memories, "memories", false, "")
	f.BoolVar(&o.notes, "notes", false, "")
}

// narrowFlags are filters beyond those of every list.
func (o *searchOptions) narrowFlags(f *pflag.FlagSet) {
	cli.Bind(f, &o.req, "category", "min-score", "min-confidence", "no-review:!include_review_candidates")
}

// complete makes the request of the flags.
func (o *searchOptions) complete(cmd *cobra.Command) error {
	if err := cli.CheckLimit(cmd, o.req.Limit); err != nil {
		return err
	}
	o.req.WindowDays = o.within.Days
	switch o.req.Scope = o.scope; {
	case o.memories && o.notes:
		return memory.Errorf(memory.Invalid,
			"--memories and --notes cannot be combined; to search both, omit both flags").At("scope")
	case (o.memories || o.notes) && o.scope != "":
		return memory.Errorf(memory.Invalid, "--scope cannot be combined with --memories or --notes").At("scope")
	case o.memories:
		o.req.Scope = "memories"
	case o.notes:
		o.req.Scope = "notes"
	}
	return nil
}

func search(s *cli.App, cmd *cobra.Command, o *searchOptions, args []string) error {
	if err := o.complete(cmd); err != nil {
		return err
	}
	var err error
	if o.req.AsOf, err = o.asOf.Moment(s); err != nil {
		return err
	}
	if o.req.Query = strings.Join(args, " "); strings.TrimSpace(o.req.Query) == "" {
		return memory.Errorf(memory.Invalid, "missing words to search for; to list memories, run: emberd list").At("q")
	}
	return cli.List(cmd.Context(), s, op.Search, &o.req,
		func(res *op.SearchResult) int { return len(res.Hits) },
		func(s *cli.App, res *op.SearchResult) { printHits(s, res, o.tip()) })
}

// tip says what to try when nothing was found.
func (o *searchOptions) tip() string {
	if o.req.Scope == "sessions" {
		return "try other words; to store past sessions, run: emberd import sessions --search-only"
	}
	all := o.req.Scope == "" && reflect.DeepEqual(o.req.Filter, op.Filter{})
	if all && !strings.ContainsAny(o.req.Query, operatorSigns) {
		return "try other words"
	}
	return "try fewer filters or other words"
}

// printHits prints an answer; tip says what to try if it is empty.
func printHits(s *cli.App, res *op.SearchResult, tip string) {
	for i, h := range res.Hits {
		if i > 0 {
			s.Printf("\n")
		}
		printHit(s, &h, res.Hits[0].Rank)
	}
	s.PrintThen(res.AsOf, slices.ContainsFunc(res.Hits, func(h op.Hit) bool { return h.Note != nil }))
	cli.NoteLoading(s, res.Loading)
	cli.NoteIndexing(s, res.Indexing)
	cli.NoteAway(s, res.Away)
	cli.NoteWithout(s, res.Meaning)
	noteRespelled(s, res.Respelled, res.Similar)
	if res.Nearest && len(res.Respelled) == 0 { // else the note on the spelling says how certain the results are
		s.Note("no good match; showing the nearest results")
	}
	switch more := res.Total - len(res.Hits); {
	case res.Total == 0:
		s.Note("no results for %s; %s", cli.JsonText(cli.Clean(res.Query)), tip)
	case more > 0:
		s.Note("%s of %s%s shown; to see more, use --limit", cli.Grouped(len(res.Hits)), atLeast(res.AtLeast),
			cli.Count(res.Total, "result", "results"))
	case res.AtLeast:
		s.Note("at least %s found; to see others, use another phrase or more words",
			cli.Count(res.Total, "result", "results"))
	}
}

// printHit prints one hit; best is the rank of the first.
func printHit(s *cli.App, h *op.Hit, best float64) {
	s.Printf("%s\n", hitLine(s, h, best))
	if fate := fateLine(s, h); fate != "" {
		s.Printf("%s", s.Screen.Said(cli.Green, fate))
	}
	if by := h.Superseded; by != nil {
		s.Printf("%s", s.Screen.Said(cli.Green, "superseded by "+by.By.Short()+": "+cli.Flat(by.Text)))
	}
	if h.Why != "" {
		s.Printf("%s", s.Screen.Said(cli.Faint, cli.Flat(h.Why)))
	}
	text, marks := cli.CleanSnippet(h.Snippet)
	s.Printf("%s", s.Screen.Paragraph(text, marks, "  "))
	if h.Explain != nil {
		printExplain(s, h)
	}
}

// noteRespelled says that other words were searched for than those given.
func noteRespelled(s *cli.App, respelled []op.Respelling, similar bool) {
	for _, r := range respelled {
		s.Note("few or no memories and notes contain %s; emberd also searched for %s", cli.JsonText(cli.Clean(r.Word)),
			cli.Clean(strings.Join(r.Words(), ", ")))
	}
	if similar && len(respelled) == 0 {
		s.Note("no results with all phrases in quotes; showing results without the quotes")
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
func hitLine(s *cli.App, h *op.Hit, best float64) string {
	if h.Tier == op.TierNote {
		return noteLine(s, h, best)
	}
	if h.Session != nil {
		return sessionLine(s, h, best)
	}
	parts := append([]string{s.Short(h.ID)}, s.Screen.Ranked(h, best)...)
	parts = append(parts, s.Screen.Paint(cli.Faint, cli.Pad(cli.Age(s.Now(), h.CreatedAt), 6)))
	if h.Stage != memory.Active {
		parts = append(parts, s.Screen.Paint(cli.Red, string(h.Stage)))
	}
	if h.Review {
		parts = append(parts, s.Screen.Paint(cli.Yellow, "about to fade"))
	}
	if h.Project != "" {
		parts = append(parts, s.Screen.Paint(cli.Faint, cli.Clean(h.Project)))
	}
	parts = append(parts, s.Screen.Paint(cli.Cyan, cli.Tagged(h.Tags)))
	line := strings.TrimRight(strings.Join(parts, "  "), " ")
	if h.Note != nil {
		line += cli.Place(s, h.Note)
	}
	return line
}

// fateLine says how an archived memory that is relevant is restored, "" for others.
func fateLine(s *cli.App, h *op.Hit) string {
	if h.Rekindle == "" {
		return ""
	}
	return "archived; to restore it, run: " + cli.Again(s, "rekindle", h.ID.Short())
}

// noteLine names a note, the section that answers and its date, and where that is.
// On a terminal both get a line of their own where one is too short.
func noteLine(s *cli.App, h *op.Hit, best float64) string {
	n := h.Note
	what := cli.Pad("note", 8)
	if h.Memory != nil {
		what = h.ID.Short() // the note was made of it
	}
	date := "changed " + n.Modified.In(s.Zone).Format(time.DateOnly)
	room := 0 // a pipe, where nothing is cut
	if used := uniseg.StringWidth(strings.Join(slices.Concat([]string{what, date, ""},
		cli.Screen{Width: s.Screen.Width}.Ranked(h, best)), "  ")); s.Screen.Width > 0 {
		room = max(10, s.Screen.Width-used)
	}
	parts := append([]string{s.Screen.Paint(cli.Yellow, what)}, s.Screen.Ranked(h, best)...)
	parts = append(parts, s.Screen.Paint(cli.Faint, date), trail(noteTitles(n), room))
	return strings.Join(parts, "  ") + cli.Place(s, n)
}

// sessionLine names a past session and who said what answers, and when.
func sessionLine(s *cli.App, h *op.Hit, best float64) string {
	p := h.Session
	parts := append([]string{s.Screen.Paint(cli.Yellow, cli.Pad("session", 8))}, s.Screen.Ranked(h, best)...)
	if !p.At.IsZero() {
		parts = append(parts, s.Screen.Paint(cli.Faint, p.At.In(s.Zone).Format(time.DateOnly)))
	}
	parts = append(parts, cli.NonEmpty(cli.Flat(p.Role), cli.Flat(p.Agent), cli.Flat(p.Project), cli.Flat(p.ID))...)
	return strings.Join(parts, "  ")
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
	whole := cli.Flat(strings.Join(titles, arrow))
	if room <= 0 || len(titles) == 1 || uniseg.StringWidth(whole) <= room {
		return cli.Cut(whole, room)
	}
	last := cli.Flat(titles[len(titles)-1])
	room -= uniseg.StringWidth(arrow)
	first := cli.Cut(cli.Flat(titles[0]), max(room/3, room-uniseg.StringWidth(last)))
	return first + arrow + cli.Cut(last, room-uniseg.StringWidth(first))
}

// printExplain shows the sum and the product behind a rank.
func printExplain(s *cli.App, h *op.Hit) {
	e := h.Explain
	labels, width := make([]string, len(e.Terms)), 20
	for i, t := range e.Terms {
		labels[i] = cli.Cut(termLabel(t), 48)
		width = max(width, uniseg.StringWidth(labels[i]))
	}
	s.Printf("  %s\n", s.Screen.Paint(cli.Faint, cli.Pad("term", width)+"   tf      df     idf    norm    adds"))
	for i, t := range e.Terms {
		s.Printf("  %s %s %7.3f\n", cli.Pad(labels[i], width), factors(t), t.Score)
	}
	for _, line := range otherParts(e) {
		s.Printf("  %s %s %7.3f\n", cli.Pad(cli.Cut(line.label, width), width), line.of, line.score)
	}
	coarse := ""
	if e.Coarse {
		coarse = "  (approximate, because the index is still loading)"
	}
	s.Printf("  relevance %.2f; matched share of the query: %.2f\n", h.Relevance, e.Share)
	product := fmt.Sprintf("rank %.3f = relevance %.3f × age %.3f × tier %g%s", h.Rank, e.Relevance, e.Age, e.Tier,
		coarse)
	if e.Above != "" {
		product = fmt.Sprintf("rank %.3f = rank of %s, a superseded memory that matches better; own rank = %s", h.Rank,
			e.Above.Short(), strings.SplitN(product, "= ", 2)[1])
	}
	if s.Screen.Width > 0 { // where the line breaks, a factor stays with its name and sign
		for _, name := range []string{"rank", "relevance", "age", "tier", "×"} {
			product = strings.ReplaceAll(product, name+" ", name+"\u00a0")
		}
	}
	s.Printf("%s", s.Screen.Paragraph(product, nil, "  "))
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
		label := "semantic"
		if m.Line > 0 {
			label = fmt.Sprintf("semantic, line %d", m.Line)
		}
		out = append(out, otherPart{label, fmt.Sprintf("%28s", fmt.Sprintf("cosine %.3f, near %.3f", m.Cosine, m.Near)),
			m.Score})
	}
	if d := e.Date; d != nil {
		out = append(out, otherPart{cli.Clean(d.For), without, d.Score})
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
	return fmt.Sprintf("%4d %7s %7.3f %7s", t.TF, cli.Grouped(t.DF), t.IDF, norm)
}

// termLabel is a term, what it stands for, and where it stood.
func termLabel(t op.TermExplain) string {
	if t.Term == "" {
		return t.Field // a share that no single term gives
	}
	label := cli.Clean(t.Term)
	if t.For != "" {
		label += " for " + cli.Clean(t.For)
	}
	switch t.Field {
	case "":
	case op.FieldForm:
		label += ", same form"
	default:
		label += " in " + t.Field
	}
	if t.Weight > 1 {
		label += fmt.Sprintf(" × %g", t.Weight)
	}
	return label
}
