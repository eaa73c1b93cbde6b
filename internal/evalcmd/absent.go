package evalcmd

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"emberd/internal/eval"
	"emberd/internal/tempdaemon"
	"emberd/memory"
	"emberd/op"
)

// believed is the relevance from which an answer is believed.
const believed = 0.5

// absentReport tells how relevant the best answers to questions are, in halves: one to choose
// parameters on, one to report.
type absentReport struct {
	Present [2][]float64 `json:"present"` // what is asked for is there
	Absent  [2][]float64 `json:"absent"`  // it is not
}

func (s *session) absentCommand() *cobra.Command {
	o, sample, seed := setOptions{}, 60, uint64(1)
	cmd := &cobra.Command{
		Use:  "absent DIR",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.absent(cmd.Context(), &o, args[0], sample, seed)
		},
	}
	cmd.Flags().StringVar(&o.unit, "unit", string(eval.Turns), "")
	cmd.Flags().IntVar(&sample, "sample", sample, "")
	cmd.Flags().Uint64Var(&seed, "seed", seed, "")
	return cmd
}

func (s *session) absent(ctx context.Context, o *setOptions, dir string, sample int, seed uint64) error {
	set, err := eval.Read(os.DirFS(dir), eval.Unit(o.unit))
	if err != nil {
		return memory.Errorf(memory.Invalid, "%s: %w", dir, err)
	}
	present, absent := set.WithoutHalf(2*sample, seed)
	if len(absent) == 0 || set.Root != "" {
		return memory.Errorf(memory.Invalid, "%s has no memories of several conversations with questions of each", dir)
	}
	var report absentReport
	err = s.inHome(false, func(home string) error {
		return s.withDaemon(ctx, home, nil, func(d *tempdaemon.Daemon) error {
			run := &unitRun{s: s, set: set, daemon: d, ids: map[memory.ID]string{}}
			if err := run.save(ctx); err != nil {
				return err
			}
			if err := d.WaitIndexed(ctx); err != nil {
				return err
			}
			if _, err := d.WaitEmbedded(ctx); err != nil {
				return err
			}
			if err := best(ctx, d, present, &report.Present); err != nil {
				return err
			}
			return best(ctx, d, absent, &report.Absent)
		})
	})
	if err != nil {
		return err
	}
	return s.printAbsent(&report)
}

// best asks questions as an agent does, and adds the relevance of the best answer to one half and the
// other by turns.
func best(ctx context.Context, d *tempdaemon.Daemon, questions []eval.Question, into *[2][]float64) error {
	for i, q := range questions {
		res, err := op.Query.Call(ctx, d, &op.QueryRequest{Query: q.Text, Scope: "notes", Limit: 1, Track: new(false)})
		if err != nil {
			return fmt.Errorf("question %s: %w", q.ID, err)
		}
		relevance := 0.0
		if len(res.Results) > 0 {
			relevance = res.Results[0].Relevance
		}
		into[i%2] = append(into[i%2], relevance)
	}
	return nil
}

func (s *session) printAbsent(r *absentReport) error {
	if s.json {
		return s.printJSON(r)
	}
	for half, name := range []string{"choose", "report"} {
		for _, of := range []struct {
			what  string
			found []float64
		}{{"there", r.Present[half]}, {"not there", r.Absent[half]}} {
			over, none := 0, 0
			for _, relevance := range of.found {
				if relevance > believed {
					over++
				}
				if relevance == 0 {
					none++
				}
			}
			s.row(name, fmt.Sprintf("%-9s  %d of %d answered with a relevance over %.1f, %d with nothing",
				of.what, over, len(of.found), believed, none))
		}
	}
	return nil
}
