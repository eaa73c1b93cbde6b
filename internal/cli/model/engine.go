package model

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"emberd/embedding"
	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

// lookAgain is how often a command that waits for vectors asks how many there are.
const lookAgain = 500 * time.Millisecond

// runtimeCommand is about what runs models.
func runtimeCommand(s *cli.App) *cobra.Command {
	return cli.Group("runtime",
		engineListCommand(s), engineInstallCommand(s), engineUseCommand(s), engineRemoveCommand(s),
		engineSelftestCommand(s))
}

func engineStatusCommand(s *cli.App) *cobra.Command {
	var wait, verbose bool
	cmd := cli.Command("status", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		res, err := cli.Call(cmd.Context(), s, op.EngineStatus, &op.EngineStatusRequest{})
		if err == nil && wait {
			res, err = waitForVectors(cmd.Context(), s, res)
		}
		if err != nil {
			return err
		}
		return s.Answer(res, func() { printEngine(s, res, verbose) })
	})
	cmd.Flags().BoolVar(&wait, "wait", false, "")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "")
	return cmd
}

func engineSwitch[Req any](s *cli.App, o op.Op[Req, op.EngineStatusResult], use string) *cobra.Command {
	return cli.Command(use, cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		return cli.Show(cmd.Context(), s, o, new(Req),
			func(s *cli.App, res *op.EngineStatusResult) { printEngine(s, res, false) })
	})
}

// waitForVectors asks until everything has its vectors, and shows how far that is. What
// would never end is an error.
func waitForVectors(ctx context.Context, s *cli.App, res *op.EngineStatusResult) (*op.EngineStatusResult, error) {
	var shown *cli.Progress
	done := 0
	for res.State == op.EngineWorking || res.State == op.EngineWaiting {
		if res.Waits != "" {
			return nil, memory.Errorf(memory.Conflict, "the computation of embeddings is %s", waitsText(res))
		}
		if res.State == op.EngineWaiting && res.Problem != "" {
			return nil, memory.Errorf(memory.Conflict, "cannot compute embeddings now: %s", res.Problem)
		}
		if shown == nil && res.Meaning.Total > 0 {
			shown = cli.NewSteps(s, "making vectors", res.Meaning.Total)
			defer shown.Done()
		}
		if shown != nil {
			shown.Add(res.Meaning.Covered-done, 0)
			shown.Describe("making vectors" + leftText(res))
			done = res.Meaning.Covered
		}
		select {
		case <-time.After(lookAgain):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		var err error
		if res, err = cli.Call(ctx, s, op.EngineStatus, &op.EngineStatusRequest{}); err != nil {
			return nil, err
		}
	}
	if res.State != op.EngineComplete {
		return nil, memory.Errorf(memory.Conflict, "cannot wait for the embeddings, because emberd does not "+
			"compute embeddings now (state %s); run: emberd model status", res.State)
	}
	return res, nil
}

func printEngine(s *cli.App, r *op.EngineStatusResult, verbose bool) {
	if r.State == op.EngineOff {
		s.Rows("vectors", "none: "+cli.Clean(r.Problem), "")
		return
	}
	s.Row("vectors", Coverage(s, r.Meaning))
	s.Rows("state", engineState(s, r), "")
	if r.Model != nil {
		s.Rows("model", modelText(r.Model), "")
	}
	if r.Model != nil && r.State != op.EngineWaiting { // for the exam, maybe
		s.Row("trust", trustText(s, r))
	}
	if r.Native != nil {
		printNative(s, r, verbose)
	}
	if r.Earlier != nil {
		s.Row("until then", "searches "+
			"use the embeddings of "+cli.Clean(r.Earlier.Name)+" until the new embeddings are complete")
	}
	for _, p := range r.Passed {
		if strings.Contains(r.Problem, p.Reason) {
			continue // which tells it
		}
		s.Rows("not used", cli.Clean(p.Provider)+": "+cli.Clean(p.Reason), "")
	}
	if r.Model != nil {
		s.Row("kept", fmt.Sprintf("%s, %s in %s", cli.Count(r.Vectors, "vector", "vectors"), cli.Size(r.Bytes),
			cli.Clean(r.Folder)))
	}
	if r.Skipped > 0 {
		s.Row("", cli.Count(r.Skipped, "memory or note has", "memories and notes have")+" no embedding, because "+
			"emberd could not read the text or the model failed")
	}
	if r.Problem != "" {
		s.Warn("problem", cli.Clean(r.Problem))
	}
}

// Coverage draws how much has its vectors.
func Coverage(s *cli.App, m *op.Meaning) string {
	const cells = 24
	if m.Total == 0 {
		return "none yet"
	}
	share := float64(m.Covered) / float64(m.Total)
	part := cli.Percent(share)
	if m.Covered < m.Total && share > 0.99 {
		part = "99 %"
	}
	text := fmt.Sprintf("%s, %s of %s", part, cli.Grouped(m.Covered), cli.Count(m.Total, "memory or note",
		"memories and notes"))
	return s.Screen.Paint(cli.Green, cli.Bar(share, cells)) + " " + text
}

// rate is a number with three digits, or all digits of a larger one.
func rate(n float64) string {
	if n >= 100 {
		return cli.Grouped(int(math.Round(n)))
	}
	return fmt.Sprintf("%.3g", n)
}

func engineState(s *cli.App, r *op.EngineStatusResult) string {
	switch r.State {
	case op.EngineWorking:
		text := "working"
		if r.PerSecond > 0 {
			text += fmt.Sprintf(", %s a second%s", rate(r.PerSecond), leftText(r))
		}
		return text + fmt.Sprintf("; CPU limit: %s of one processor", cli.Percent(r.Share))
	case op.EngineWaiting:
		if r.Waits != "" {
			return waitsText(r)
		}
		if r.Again.IsZero() {
			return "waiting: " + cmp.Or(cli.Clean(r.Meaning.Without), "scanning texts")
		}
		return "waiting for the next attempt " + cli.In(r.Again.Sub(s.Now()))
	case op.EnginePaused:
		return "paused; to continue, run: emberd model resume"
	case op.EngineUnused:
		return "unused: " + cli.Clean(r.Meaning.Without)
	}
	return cli.Clean(r.State)
}

// waitsText says why vectors wait, and the command that has them made.
func waitsText(r *op.EngineStatusResult) string {
	return "paused, because the computer is " + cli.Clean(r.Waits) + "; to continue anyway, run: emberd model resume"
}

// leftText tells how long it takes until everything has its vectors, if that is known.
func leftText(r *op.EngineStatusResult) string {
	if r.PerSecond == 0 {
		return ""
	}
	return fmt.Sprintf(", about %s left", cli.Lasted(time.Duration(r.Left)*time.Second))
}

func modelText(m *op.EngineModel) string {
	text := fmt.Sprintf("%s, by %s, %d dimensions", cmp.Or(cli.Clean(m.Name), "without a name"),
		cli.Clean(m.Provider),
		m.Dim)
	if m.Lexical {
		text += ", compares only the spelling of words"
	}
	if m.Loaded {
		text += "; in memory"
	}
	return text
}

// trustText tells what rankings make of the vectors.
func trustText(s *cli.App, r *op.EngineStatusResult) string {
	text := fmt.Sprintf("calibration %.2f", r.Model.Trust)
	if r.Meaning.Weight != r.Model.Trust && r.State != op.EngineUnused && r.Earlier == nil {
		text += fmt.Sprintf("; weight of embeddings in searches %.2f", r.Meaning.Weight)
	}
	if r.Model.Provider == embedding.Static {
		text += "; emberd compares words to find duplicates, because the model ignores word order"
	}
	return text
}
