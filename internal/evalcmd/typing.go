package evalcmd

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"emberd/internal/eval"
	"emberd/internal/tempdaemon"
	"emberd/memory"
	"emberd/op"
)

// The numbers of letters at which a note has to be among the hits.
const (
	fewestTyped = 4
	mostTyped   = 7
)

// typingReport is what a vault's search answers while the names of notes are typed.
type typingReport struct {
	Names  int              `json:"names"`
	Absent map[int][]string `json:"absent"` // by letters typed: names of notes that are no hit
	Steps  int              `json:"steps"`  // letters typed within a word
	Grown  []string         `json:"grown"`  // beginnings that have a hit that one letter less had not
}

func (s *session) typingCommand() *cobra.Command {
	sample := 80
	cmd := &cobra.Command{
		Use:  "typing VAULT",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return s.typing(cmd.Context(), args[0], sample) },
	}
	cmd.Flags().IntVar(&sample, "sample", sample, "")
	return cmd
}

func (s *session) typing(ctx context.Context, dir string, sample int) error {
	set, err := eval.KnownSet(ctx, dir)
	if err != nil {
		return memory.Errorf(memory.Invalid, "%s: %w", dir, err)
	}
	names := noteNames(set, sample)
	report := typingReport{Names: len(names), Absent: map[int][]string{}, Grown: []string{}}
	err = s.inVault(ctx, filepath.Join(dir, set.Root), func(d *tempdaemon.Daemon) error {
		for _, name := range names {
			if err := report.typed(ctx, d, name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.printTyping(&report)
}

// inVault calls do with a daemon that has read all notes of a vault.
func (s *session) inVault(ctx context.Context, dir string, do func(*tempdaemon.Daemon) error) error {
	vault, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	return s.inHome(false, func(home string) error {
		return s.withDaemon(ctx, home, []string{"--vault", vault}, func(d *tempdaemon.Daemon) error {
			if err := d.WaitIndexed(ctx); err != nil {
				return err
			}
			return do(d)
		})
	})
}

// noteNames returns the paths of at most so many notes whose names are long enough, spread over all.
func noteNames(set *eval.Set, most int) []string {
	var all, out []string
	for _, d := range set.Docs {
		if len([]rune(nameOf(d.Path))) >= mostTyped {
			all = append(all, d.Path)
		}
	}
	for i := range min(most, len(all)) {
		out = append(out, all[i*len(all)/min(most, len(all))])
	}
	return out
}

func nameOf(note string) string { return strings.TrimSuffix(path.Base(note), path.Ext(note)) }

// typed types the name of a note letter by letter.
func (r *typingReport) typed(ctx context.Context, d *tempdaemon.Daemon, note string) error {
	letters := []rune(nameOf(note))
	var before map[string]bool
	for n := 1; n <= len(letters); n++ {
		hits, err := allHits(ctx, d, string(letters[:n]))
		if err != nil {
			return err
		}
		if _, found := hits[note]; n >= fewestTyped && n <= mostTyped && !found {
			r.Absent[n] = append(r.Absent[n], note)
		}
		if n > 1 && within(letters[n-2]) && within(letters[n-1]) {
			r.Steps++
			r.grown(string(letters[:n]), before, hits)
		}
		before = hits
	}
	return nil
}

func within(r rune) bool { return unicode.In(r, unicode.L, unicode.N, unicode.M) }

// grown records a beginning with a hit by its words that was none before its last letter. What is near in meaning
// may change with every letter.
func (r *typingReport) grown(typed string, before, hits map[string]bool) {
	for path, byWords := range hits {
		if byWords && !before[path] {
			r.Grown = append(r.Grown, typed)
			return
		}
	}
}

// allHits returns the paths of all hits of a query, and whether they hold any of its words.
func allHits(ctx context.Context, d *tempdaemon.Daemon, query string) (map[string]bool, error) {
	hits := map[string]bool{}
	for offset := 0; ; offset += memory.MaxResults {
		res, err := op.Search.Call(ctx, d, &op.SearchRequest{Query: query, Scope: "notes", Limit: memory.MaxResults,
			Offset: offset, Trial: true, Explain: true})
		if memory.CodeOf(err) == memory.Invalid {
			return hits, nil // an operator half typed
		}
		if err != nil {
			return nil, err
		}
		for _, h := range res.Hits {
			hits[h.Note.Path] = len(h.Explain.Terms) > 0
		}
		if len(hits) >= res.Total || len(res.Hits) == 0 || offset == op.MaxOffset {
			return hits, nil
		}
	}
}

func (s *session) printTyping(r *typingReport) error {
	if s.json {
		return s.printJSON(r)
	}
	s.row("names", fmt.Sprint(r.Names))
	for n := fewestTyped; n <= mostTyped; n++ {
		absent := r.Absent[n]
		s.row(fmt.Sprintf("%d letters", n), fmt.Sprintf("%d absent %s", len(absent), strings.Join(absent, ", ")))
	}
	s.row("grown", fmt.Sprintf("%d of %d letters within a word: %s", len(r.Grown), r.Steps,
		strings.Join(r.Grown, ", ")))
	return nil
}
