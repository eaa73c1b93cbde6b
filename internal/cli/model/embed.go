package model

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

func embedCommand(s *cli.App) *cobra.Command {
	req := op.EmbedRequest{As: op.EmbedPassage}
	cmd := cli.Command("embed TEXT…", cli.ArgCount(1, -1, "one or more texts"), nil,
		func(cmd *cobra.Command, args []string) error {
			var err error
			if req.Texts, err = textsOf(cmd.Context(), s, args); err != nil {
				return err
			}
			return cli.Show(cmd.Context(), s, op.Embed, &req,
				func(s *cli.App, res *op.EmbedResult) { printEmbedded(s, req.Texts, res) })
		})
	cmd.Flags().StringVar(&req.As, "as", req.As, "")
	cli.CompleteWords(cmd, "as", op.EmbedQuery, op.EmbedPassage)
	return cmd
}

// textsOf are the arguments, with the lines of standard input in the place of a dash.
func textsOf(ctx context.Context, s *cli.App, args []string) ([]string, error) {
	var texts []string
	for _, arg := range args {
		if arg != "-" {
			texts = append(texts, arg)
			continue
		}
		in := bufio.NewScanner(s.Input(ctx))
		in.Buffer(nil, op.MostEmbedBytes+1)
		for in.Scan() {
			if line := strings.TrimSpace(in.Text()); line != "" {
				texts = append(texts, line)
			}
			if len(texts) > op.MostEmbedTexts {
				return nil, memory.Errorf(memory.Invalid, "too many texts (limit %d); split the request",
					op.MostEmbedTexts)
			}
		}
		if errors.Is(in.Err(), bufio.ErrTooLong) {
			return nil, memory.Errorf(memory.TooLarge, "too many bytes in a line of stdin (limit %d); shorten the line",
				op.MostEmbedBytes)
		}
		if err := in.Err(); err != nil {
			return nil, fmt.Errorf("read stdin: %w", err)
		}
	}
	if len(texts) == 0 {
		return nil, &cli.Exit{Code: cli.ExitNothing, Err: errors.New("missing text to embed")}
	}
	return texts, nil
}

// firstNumbers is how much of a vector people are shown.
const firstNumbers = 6

func printEmbedded(s *cli.App, texts []string, r *op.EmbedResult) {
	s.Rows("model", fmt.Sprintf("%s, by %s, %d dimensions", cmp.Or(cli.Clean(r.Model), "without a name"),
		cli.Clean(r.Provider), r.Dim), "")
	for i, text := range texts {
		s.Row(fmt.Sprintf("text %d", i+1), s.Gist(text, len("text 10    ")))
		tokens := cli.Count(r.Tokens[i], "token", "tokens")
		if r.Tokens[i] > r.MaxTokens {
			tokens += fmt.Sprintf(", %d of them used", r.MaxTokens)
		}
		s.Rows("", vectorText(s, tokens, r.Vectors[i]), cli.Faint)
	}
	switch {
	case len(r.Cosines) > widestTable:
		printNearest(s, r.Cosines)
	case len(r.Cosines) > 1:
		printCosines(s, "cosine", r.Cosines)
		if r.Meanings != nil {
			printCosines(s, "meaning", r.Meanings)
			return
		}
		s.Note("the model failed calibration, so cosines do not show similarity of meaning")
	}
}

func vectorText(s *cli.App, tokens string, vector []float32) string {
	if len(vector) == 0 {
		return tokens + ": the model cannot embed the text"
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
func printCosines(s *cli.App, name string, cosines [][]float64) {
	s.Printf("\n%s", s.Screen.Paint(cli.Bold, cli.Pad(name, 10)))
	for i := range cosines {
		s.Printf(" %6d", i+1)
	}
	s.Printf("\n")
	for i, row := range cosines {
		s.Printf("%s", cli.Pad(fmt.Sprintf("text %d", i+1), 10))
		for j, near := range row {
			of := map[bool]cli.Style{true: cli.Faint}[i == j] // itself
			s.Printf(" %s", s.Screen.Paint(of, fmt.Sprintf("%6.3f", near)))
		}
		s.Printf("\n")
	}
}

// pair are two texts and how near they are.
type pair struct {
	a, b int
	near float64
}

// printNearest shows the nearest texts, where a table of all would be too wide.
func printNearest(s *cli.App, cosines [][]float64) {
	var pairs []pair
	for i, row := range cosines {
		for j := range row[:i] {
			pairs = append(pairs, pair{j, i, row[j]})
		}
	}
	slices.SortStableFunc(pairs, func(p, q pair) int { return cmp.Compare(q.near, p.near) })
	s.Printf("\n%s\n", s.Screen.Paint(cli.Bold, "nearest    cosine"))
	for _, p := range pairs[:min(len(pairs), cli.MaxListLen)] {
		s.Printf("%s %6.3f\n", cli.Pad(fmt.Sprintf("%d and %d", p.a+1, p.b+1), 10), p.near)
	}
	if more := len(pairs) - cli.MaxListLen; more > 0 {
		s.Note("%s with a lower similarity not shown; to list all pairs, use --json", cli.Count(more, "pair", "pairs"))
	}
}
