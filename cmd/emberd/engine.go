package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"emberd/memory"
	"emberd/op"
)

// lookAgain is how often a command that waits for vectors asks how many there are.
const lookAgain = 500 * time.Millisecond

func (s *state) engineCommand() *cobra.Command {
	group := &cobra.Command{
		Use:   "engine",
		Short: "The vectors that tell what texts mean, and what makes them",
		Long: `With a model, each memory and each part of a note gets a vector, and searches
find what means the same in other words. Vectors are made in the background,
newest first, with at most embedding.cpu_share of one processor; no save and no
search waits for them, and answers tell how much has its vectors. Nothing that
has not changed gets a vector twice.

A model is a file, named in embedding.model (see emberd model), or a server of
this machine, named in embedding.url; emberd does without until there is one.
Files are run by the libraries of llama.cpp, if an engine is installed: in a
process of its own, which may crash without taking anything along. Else emberd
runs them itself, and knows fewer kinds of models.`,
		Example: `  emberd engine status
  emberd engine install
  emberd engine selftest`,
		Annotations: exits(nil),
	}
	asGroup(group)
	group.AddCommand(s.engineStatusCommand(), s.engineListCommand(), s.engineInstallCommand(), s.engineUseCommand(), s.engineRemoveCommand(),
		s.engineSelftestCommand(), s.engineBenchCommand(),
		engineSwitch(s, op.EnginePause, "pause", "Make no more vectors, until resumed", `Make no more vectors until "engine resume", even if the daemon is started again.
Those that there are stay in use.`),
		engineSwitch(s, op.EngineResume, "resume", "Go on making vectors, and try again what failed", `Go on making vectors. A model that brought the engine down, which is not tried
again by itself, is tried again.`))
	return group
}

func (s *state) engineStatusCommand() *cobra.Command {
	var wait, verbose bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Tell how much has its vectors, and by which model",
		Example: `  emberd engine status
  emberd engine status --wait
  emberd engine status --verbose`,
		Annotations: exits(endings{exitNoDaemon: "", exitConflict: "with --wait: nothing is being made, so that waiting would not end"}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			res, err := call(cmd.Context(), s, op.EngineStatus, &op.EngineStatusRequest{})
			if err == nil && wait {
				res, err = s.waitForVectors(cmd.Context(), res)
			}
			if err != nil {
				return err
			}
			return s.printEngine(res, verbose)
		},
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "come back when everything has its vectors")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "tell all about the engine, and what it printed when it last crashed")
	return cmd
}

func engineSwitch[Req any](s *state, o op.Op[Req, op.EngineStatusResult], use, short, long string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long,
		Example:     "  emberd engine " + use,
		Annotations: exits(endings{exitNoDaemon: ""}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			res, err := call(cmd.Context(), s, o, new(Req))
			if err != nil {
				return err
			}
			return s.printEngine(res, false)
		},
	}
}

// waitForVectors asks until everything has its vectors, and shows how far that is. What
// would never end is an error.
func (s *state) waitForVectors(ctx context.Context, res *op.EngineStatusResult) (*op.EngineStatusResult, error) {
	var shown *progress
	done := 0
	for res.State == op.EngineWorking || res.State == op.EngineWaiting {
		if res.State == op.EngineWaiting && res.Problem != "" {
			return nil, memory.Errorf(memory.Conflict, "vectors are not made at present: %s", res.Problem)
		}
		if shown == nil && res.Meaning.Total > 0 {
			shown = s.newSteps("making vectors", res.Meaning.Total)
			defer shown.done()
		}
		if shown != nil {
			shown.add(res.Meaning.Covered-done, 0)
			shown.describe("making vectors" + leftText(res))
			done = res.Meaning.Covered
		}
		select {
		case <-time.After(lookAgain):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		var err error
		if res, err = call(ctx, s, op.EngineStatus, &op.EngineStatusRequest{}); err != nil {
			return nil, err
		}
	}
	if res.State != op.EngineComplete {
		return nil, memory.Errorf(memory.Conflict, "no vectors are being made (%s), so that waiting would not end; emberd engine status tells why", res.State)
	}
	return res, nil
}

func (s *state) printEngine(r *op.EngineStatusResult, verbose bool) error {
	if s.json {
		return s.printJSON(r)
	}
	if r.State == op.EngineOff {
		s.rows("vectors", "none: "+clean(r.Problem), "")
		return nil
	}
	s.row("vectors", s.coverage(r.Meaning))
	s.rows("state", s.engineState(r), "")
	if r.Model != nil {
		s.rows("model", modelText(r.Model), "")
	}
	if r.Model != nil && r.State != op.EngineWaiting { // for the exam, maybe
		s.row("trust", s.trustText(r))
	}
	if r.Native != nil {
		s.printNative(r, verbose)
	}
	if r.Earlier != nil {
		s.row("meanwhile", "vectors of "+clean(r.Earlier.Name)+" answer, until these are complete")
	}
	for _, p := range r.Passed {
		if strings.Contains(r.Problem, p.Reason) {
			continue // which tells it
		}
		s.rows("passed", clean(p.Provider)+": "+clean(p.Reason), "")
	}
	if r.Model != nil {
		s.row("kept", fmt.Sprintf("%s, %s in %s", count(r.Vectors, "vector", "vectors"), size(r.Bytes), clean(r.Folder)))
	}
	if r.Skipped > 0 {
		s.row("", count(r.Skipped, "memory or note has", "memories and notes have")+" none, since it could not be read or the model failed on it")
	}
	if r.Problem != "" {
		s.warn("problem", clean(r.Problem))
	}
	return nil
}

// coverage draws how much has its vectors.
func (s *state) coverage(m *op.Meaning) string {
	const cells = 24
	if m.Total == 0 {
		return "none yet"
	}
	share := float64(m.Covered) / float64(m.Total)
	part := percent(share)
	if m.Covered < m.Total && share > 0.99 {
		part = "99 %"
	}
	text := fmt.Sprintf("%s, %s of %s", part, grouped(m.Covered), count(m.Total, "memory or note", "memories and notes"))
	return s.screen.paint(green, bar(share, cells)) + " " + text
}

func (s *state) engineState(r *op.EngineStatusResult) string {
	switch r.State {
	case op.EngineWorking:
		text := "working"
		if r.PerSecond > 0 {
			text += fmt.Sprintf(", %.3g a second%s", r.PerSecond, leftText(r))
		}
		return text + fmt.Sprintf("; takes at most %s of one processor", percent(r.Share))
	case op.EngineWaiting:
		if r.Again.IsZero() {
			return "waiting: " + cmp.Or(clean(r.Meaning.Without), "looking at what there is")
		}
		return "waiting, tried again " + in(r.Again.Sub(s.now()))
	case op.EnginePaused:
		return "paused; emberd engine resume goes on"
	case op.EngineUnused:
		return "unused: " + clean(r.Meaning.Without)
	}
	return clean(r.State)
}

// leftText tells how long it takes until everything has its vectors, if that is known.
func leftText(r *op.EngineStatusResult) string {
	if r.PerSecond == 0 {
		return ""
	}
	return fmt.Sprintf(", about %s left", lasted(time.Duration(r.Left)*time.Second))
}

func modelText(m *op.EngineModel) string {
	text := fmt.Sprintf("%s, by %s, %d numbers a text", cmp.Or(clean(m.Name), "without a name"), clean(m.Provider), m.Dim)
	if m.Lexical {
		text += ", by spelling alone"
	}
	if m.Loaded {
		text += "; in memory"
	}
	return text
}

// trustText tells what rankings make of the vectors.
func (s *state) trustText(r *op.EngineStatusResult) string {
	text := fmt.Sprintf("%.2f by the model's exam", r.Model.Trust)
	if r.Meaning.Weight != r.Model.Trust && r.State != op.EngineUnused && r.Earlier == nil {
		text += fmt.Sprintf("; searches weigh it with %.2f", r.Meaning.Weight)
	}
	return text
}
