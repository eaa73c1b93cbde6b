package search

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

func FindCommand(s *cli.App) *cobra.Command {
	var o searchOptions
	cmd := cli.Command("find [WORDS…]", cli.ArgCount(0, -1, ""), nil, func(cmd *cobra.Command, args []string) error {
		return runFind(s, cmd, &o, strings.Join(args, " "))
	})
	o.searchFlags(cmd.Flags())
	cli.CompleteWords(cmd, "scope", "all", "memories", "notes", "archive")
	return cmd
}

// findLimit is how many hits are asked for, unless --limit says it.
const findLimit = 50

func runFind(s *cli.App, cmd *cobra.Command, o *searchOptions, words string) error {
	if err := o.complete(cmd); err != nil {
		return err
	}
	if o.req.Scope == "sessions" {
		return memory.Errorf(memory.Invalid, "emberd find cannot open messages of past sessions; to "+
			"search past sessions, run: emberd search --scope sessions").At("scope")
	}
	if o.req.Limit == 0 {
		o.req.Limit = findLimit
	}
	o.req.Trial = true
	ctx := cmd.Context()
	if _, err := cli.Call(ctx, s, op.Version, &op.VersionRequest{}); err != nil { // while a sentence can still be read
		return err
	}
	chosen, err := pickOnScreen(ctx, s, &o.req, words)
	if err != nil {
		return err
	}
	return finish(s, cmd, chosen)
}

// pickOnScreen has the terminal for as long as somebody chooses, however that ends.
func pickOnScreen(ctx context.Context, s *cli.App, req *op.SearchRequest, words string) (choice, error) {
	f, err := cli.OpenFullscreen("emberd search --interactive")
	if err != nil {
		return choice{}, err
	}
	defer f.Close()
	return pick(ctx, s, f, req, words)
}

// choice is what somebody picked, and whether they want it opened rather than printed.
type choice struct {
	hit  *op.Hit // nil when they left without one
	open bool
}

// opens reports whether enter opens a hit: it has a note, and nobody waits for its name.
func opens(s *cli.App, h *op.Hit) bool {
	return h.Note != nil && s.Screen.Width > 0 && !s.JSON
}

// finish does with the choice what was asked for.
func finish(s *cli.App, cmd *cobra.Command, c choice) error {
	switch {
	case c.hit == nil:
		return &cli.Exit{Code: cli.ExitInterrupted}
	case s.JSON:
		return s.PrintJSON(c.hit)
	case !c.open:
		s.Printf("%s\n", namedMemory(s, c.hit))
		return nil
	}
	res, err := cli.Call(cmd.Context(), s, op.Open, &op.OpenRequest{Ref: c.hit.Note.Path})
	if err != nil {
		return err
	}
	s.Printf("%s\n", res.URI)
	s.Stdout.Flush() // an error stays with the buffer
	return cli.Launch(res.URI)
}

// namedMemory is the id of a memory or the path of a note, as show and open take it. On a
// terminal a path is made safe to look at.
func namedMemory(s *cli.App, h *op.Hit) string {
	switch {
	case h.Memory != nil:
		return string(h.ID)
	case s.Screen.Width > 0:
		return cli.Flat(h.Note.Path)
	}
	return h.Note.Path
}

// found is what an answer to the words typed so far shows.
type foundHits struct {
	n     int // of the question
	hits  []op.Hit
	total int
	about string // what is to be said of the answer, "" for nothing
	err   error
}

// ask searches for text; without one it lists the latest memories.
func ask(ctx context.Context, s *cli.App, n int, req op.SearchRequest, text string) foundHits {
	if req.Query = strings.TrimSpace(text); req.Query == "" {
		return latestMemory(ctx, s, n, &req)
	}
	res, err := cli.Call(ctx, s, op.Search, &req)
	if err != nil {
		return foundHits{n: n, err: err}
	}
	return foundHits{n: n, hits: res.Hits, total: res.Total, about: aboutAnswer(res)}
}

func latestMemory(ctx context.Context, s *cli.App, n int, req *op.SearchRequest) foundHits {
	if req.Scope == "notes" || req.Scope == "archive" {
		return foundHits{n: n, about: "type words to search for"}
	}
	res, err := cli.Call(ctx, s, op.List, &op.ListRequest{Filter: req.Filter, Sort: "used", Limit: req.Limit})
	if err != nil {
		return foundHits{n: n, err: err}
	}
	out := foundHits{n: n, total: res.Total}
	for i := range res.Memories {
		out.hits = append(out.hits, op.Hit{Tier: op.TierMemory, Memory: &res.Memories[i]})
	}
	return out
}

// aboutAnswer says what search would note below its answer, in few words.
func aboutAnswer(res *op.SearchResult) string {
	switch {
	case res.Loading != nil:
		return "the index is loading, so the ranking is approximate"
	case res.Indexing != nil:
		return "emberd is still reading the vault"
	case len(res.Respelled) > 0:
		return "few or no texts contain " + cli.Flat(res.Respelled[0].Word) + "; emberd also searched for " +
			cli.Flat(strings.Join(res.Respelled[0].Words(), ", ")) + ""
	case res.Nearest:
		return "no good match; showing the nearest results"
	case res.Similar:
		return "no results with all phrases in quotes; showing results without the quotes"
	}
	return ""
}

// preview is the text of the chosen hit, for the lower or right part of the screen.
type preview struct {
	n    int // which it was asked for as
	text string
	err  error
}

// previewRead is how much of a note a preview has, in characters.
const previewRead = 8_000

// readNote reads the section of a note that matched.
func readNote(ctx context.Context, s *cli.App, n int, note *op.Note) preview {
	res, err := cli.Call(ctx, s, op.NoteRead, &op.NoteReadRequest{Path: note.Path, Line: max(1, note.Line),
		Limit: previewRead})
	if err != nil {
		return preview{n: n, err: err}
	}
	return preview{n: n, text: section(res.Text)}
}

// section is a text up to the next heading of the same level or above, if it begins with one.
func section(text string) string {
	level := headingLevel(text)
	if level == 0 {
		return text
	}
	at, fenced := 0, false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			fenced = !fenced
		}
		if other := headingLevel(line); at > 0 && !fenced && other > 0 && other <= level {
			return text[:at]
		}
		at += len(line)
	}
	return text
}

// headingLevel counts the signs of an ATX heading that a text begins with, 0 for none
// (https://spec.commonmark.org/0.31.2/#atx-headings).
func headingLevel(text string) int {
	signs := len(text) - len(strings.TrimLeft(text, "#"))
	if signs == 0 || signs > 6 || len(text) > signs && !strings.ContainsRune(" \t\n\r", rune(text[signs])) {
		return 0
	}
	return signs
}

// problemLine is an error for one line of the screen.
func problemLine(err error) string {
	if memory.CodeOf(err) == memory.Unavailable {
		return "no answer: " + cli.Flat(err.Error())
	}
	return cli.Flat(err.Error())
}
