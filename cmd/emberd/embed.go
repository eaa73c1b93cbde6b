package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"emberd/memory"
	"emberd/op"
)

func (s *state) embedCommand() *cobra.Command {
	req := op.EmbedRequest{As: op.EmbedPassage}
	cmd := &cobra.Command{
		Use:   "embed TEXT…",
		Short: "Show the vectors of texts, and how near they are",
		Long: `Show what the model that the daemon uses makes of texts: the beginning of the
vector of each, how many tokens it has, and of several how near they are to each
other: as a cosine of -1 to 1, and as meaning from 0, nothing in common, to 1,
where the model's exam trusts it. A dash reads texts from standard input, one a
line. Nothing is kept of them.

Some models want a question told apart from what is searched: --as query sets
embedding.query_prefix before each text instead of embedding.passage_prefix.`,
		Example: `  emberd embed "car insurance" "the policy for the van" "a green tea"
  emberd embed --as query "who insures the van?" --json | jq .vectors[0]
  emberd embed - < questions.txt`,
		Annotations: exits(endings{exitNothing: "there is no text", exitNoDaemon: "no daemon that answers, or no model that does"}),
		Args:        takes(1, -1, "a text, or several"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if req.Texts, err = s.textsOf(cmd.Context(), args); err != nil {
				return err
			}
			res, err := call(cmd.Context(), s, op.Embed, &req)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(res)
			}
			s.printEmbedded(req.Texts, res)
			return nil
		},
	}
	cmd.Flags().StringVar(&req.As, "as", req.As, "embed the texts as `WHAT`: query or passage")
	completeWords(cmd, "as", op.EmbedQuery, op.EmbedPassage)
	return cmd
}

// textsOf are the arguments, with the lines of standard input in the place of a dash.
func (s *state) textsOf(ctx context.Context, args []string) ([]string, error) {
	var texts []string
	for _, arg := range args {
		if arg != "-" {
			texts = append(texts, arg)
			continue
		}
		in := bufio.NewScanner(s.input(ctx))
		in.Buffer(nil, op.MostEmbedBytes+1)
		for in.Scan() {
			if line := strings.TrimSpace(in.Text()); line != "" {
				texts = append(texts, line)
			}
			if len(texts) > op.MostEmbedTexts {
				return nil, memory.Errorf(memory.Invalid, "more than %d texts cannot be embedded at once; give them in parts", op.MostEmbedTexts)
			}
		}
		if errors.Is(in.Err(), bufio.ErrTooLong) {
			return nil, memory.Errorf(memory.TooLarge, "a line of stdin has more than %d bytes; only its beginning counts, so shorten it", op.MostEmbedBytes)
		}
		if err := in.Err(); err != nil {
			return nil, fmt.Errorf("read stdin: %w", err)
		}
	}
	if len(texts) == 0 {
		return nil, &exit{code: exitNothing, err: errors.New("there is no text to embed")}
	}
	return texts, nil
}

// firstNumbers is how much of a vector people are shown.
const firstNumbers = 6

func (s *state) printEmbedded(texts []string, r *op.EmbedResult) {
	s.rows("model", fmt.Sprintf("%s, by %s, %d numbers a text", cmp.Or(clean(r.Model), "without a name"), clean(r.Provider), r.Dim), "")
	for i, text := range texts {
		s.row(fmt.Sprintf("text %d", i+1), s.gist(text, len("text 10    ")))
		tokens := count(r.Tokens[i], "token", "tokens")
		if r.Tokens[i] > r.MaxTokens {
			tokens += fmt.Sprintf(", of which %d count", r.MaxTokens)
		}
		s.rows("", s.vectorText(tokens, r.Vectors[i]), faint)
	}
	switch {
	case len(r.Cosines) > widestTable:
		s.printNearest(r.Cosines)
	case len(r.Cosines) > 1:
		s.printCosines("cosine", r.Cosines)
		if r.Meanings != nil {
			s.printCosines("meaning", r.Meanings)
			return
		}
		s.note("the model's exam does not trust it, so that cosines of it say nothing of meaning")
	}
}

func (s *state) vectorText(tokens string, vector []float32) string {
	if len(vector) == 0 {
		return tokens + ": the model can make nothing of it"
	}
	var b strings.Builder
	b.WriteString(tokens + ":")
	for _, x := range vector[:min(firstNumbers, len(vector))] {
		fmt.Fprintf(&b, " %+.4f", x)
	}
	if len(vector) > firstNumbers {
		b.WriteString(" …")
	}
	return b.String()
}

// widestTable is how many columns of cosines fit on a terminal.
const widestTable = 9

// printCosines shows how near each text is to each, by one measure.
func (s *state) printCosines(name string, cosines [][]float64) {
	s.printf("\n%s", s.screen.paint(bold, pad(name, 10)))
	for i := range cosines {
		s.printf(" %6d", i+1)
	}
	s.printf("\n")
	for i, row := range cosines {
		s.printf("%s", pad(fmt.Sprintf("text %d", i+1), 10))
		for j, near := range row {
			of := map[bool]style{true: faint}[i == j] // itself
			s.printf(" %s", s.screen.paint(of, fmt.Sprintf("%6.3f", near)))
		}
		s.printf("\n")
	}
}

// pair are two texts and how near they are.
type pair struct {
	a, b int
	near float64
}

// printNearest shows the nearest texts, where a table of all would be too wide.
func (s *state) printNearest(cosines [][]float64) {
	var pairs []pair
	for i, row := range cosines {
		for j := range row[:i] {
			pairs = append(pairs, pair{j, i, row[j]})
		}
	}
	slices.SortStableFunc(pairs, func(p, q pair) int { return cmp.Compare(q.near, p.near) })
	s.printf("\n%s\n", s.screen.paint(bold, "nearest    cosine"))
	for _, p := range pairs[:min(len(pairs), longestList)] {
		s.printf("%s %6.3f\n", pad(fmt.Sprintf("%d and %d", p.a+1, p.b+1), 10), p.near)
	}
	if more := len(pairs) - longestList; more > 0 {
		s.note("and %s less near; --json has all", count(more, "pair", "pairs"))
	}
}
