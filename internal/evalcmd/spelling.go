package evalcmd

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/eval"
	"emberd/internal/tempdaemon"
	"emberd/memory"
	"emberd/op"
)

// firstFew is among how many hits the thing has to be.
const firstFew = 3

// spellingReport is what slips of the keyboard cost, and which right words are taken for wrong ones.
type spellingReport struct {
	Misspelled int      `json:"misspelled"`
	Right      int      `json:"right"`     // of them, found among the first three without the slip
	Wrong      int      `json:"wrong"`     // found with it
	Corrected  int      `json:"corrected"` // where the answer says so
	Lost       []string `json:"lost"`
	Rare       int      `json:"rare"` // right questions with a rare word
	Changed    []string `json:"changed"`
}

func (s *session) spellingCommand() *cobra.Command {
	sample, seed := 100, uint64(1)
	cmd := &cobra.Command{
		Use:  "spelling VAULT",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.spelling(cmd.Context(), args[0], sample, seed)
		},
	}
	cmd.Flags().IntVar(&sample, "sample", sample, "")
	cmd.Flags().Uint64Var(&seed, "seed", seed, "")
	return cmd
}

func (s *session) spelling(ctx context.Context, dir string, sample int, seed uint64) error {
	set, err := eval.KnownSet(ctx, dir)
	if err != nil {
		return memory.Errorf(memory.Invalid, "%s: %w", dir, err)
	}
	report := spellingReport{Lost: []string{}, Changed: []string{}}
	err = s.inVault(ctx, filepath.Join(dir, set.Root), func(d *tempdaemon.Daemon) error {
		for _, q := range append(set.Typos(sample, seed), set.RareWords(sample, seed)...) {
			if err := report.ask(ctx, d, set, q); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.printSpelling(&report)
}

// ask asks one question right, and with its slip.
func (r *spellingReport) ask(ctx context.Context, d *tempdaemon.Daemon, set *eval.Set, q eval.Typo) error {
	found, res, err := isFirst(ctx, d, set, q.Right, q.Name)
	if err != nil {
		return err
	}
	if len(res.Respelled) > 0 {
		r.Changed = append(r.Changed, fmt.Sprintf("%s (%s)", q.Right, strings.Join(res.Respelled[0].Terms, ", ")))
	}
	if q.Wrong == "" {
		r.Rare++
		return nil
	}
	still, res, err := isFirst(ctx, d, set, q.Wrong, q.Name)
	if err != nil {
		return err
	}
	r.Misspelled++
	r.Corrected += min(1, len(res.Respelled))
	if found {
		r.Right++
	}
	if still {
		r.Wrong++
	} else if found {
		r.Lost = append(r.Lost, q.Wrong)
	}
	return nil
}

// isFirst asks a question and reports whether a thing is among the first hits.
func isFirst(ctx context.Context, d *tempdaemon.Daemon, set *eval.Set, query, name string) (bool, *op.SearchResult,
	error) {
	res, err := op.Search.Call(ctx, d, &op.SearchRequest{Query: query + " ", Limit: firstFew, Trial: true})
	if err != nil {
		return false, nil, fmt.Errorf("question %s: %w", query, err)
	}
	return slices.ContainsFunc(res.Hits, func(h op.Hit) bool {
		return h.Note != nil && slices.ContainsFunc(set.Docs, func(doc eval.Doc) bool {
			return doc.Path == h.Note.Path && cmp.Or(doc.Name, doc.Path) == name
		})
	}), res, nil
}

func (s *session) printSpelling(r *spellingReport) error {
	if s.json {
		return s.printJSON(r)
	}
	s.row("right", fmt.Sprintf("%d of %d among the first %d", r.Right, r.Misspelled, firstFew))
	s.row("misspelled", fmt.Sprintf("%d of %d, %d corrected; lost: %s", r.Wrong, r.Misspelled, r.Corrected,
		strings.Join(r.Lost, ", ")))
	s.row("rare", fmt.Sprintf("%d more; changed of all right ones: %d: %s", r.Rare, len(r.Changed),
		strings.Join(r.Changed, ", ")))
	return nil
}
