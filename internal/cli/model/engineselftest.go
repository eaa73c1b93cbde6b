package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"emberd/embedding"
	"emberd/internal/cli"
	"emberd/internal/cli/daemon"
	"emberd/internal/config"
	"emberd/internal/tinybert"
	"emberd/memory"
)

func engineSelftestCommand(s *cli.App) *cobra.Command {
	return cli.Command("selftest [NAME]", cli.ArgCount(0, 1, "the name of a runtime"), s.Offer(completeEngines),
		s.Configured(func(cmd *cobra.Command, args []string, c *config.Config) error {
			t := &selftest{s: s, c: c, report: selftestReport{OK: true, Checks: []trial{}}}
			var err error
			if t.report.Dir, err = selftestDir(c, strings.Join(args, "")); err != nil {
				return engineError(err)
			}
			if t.helper, err = embedding.FindHelper(); err != nil {
				return memory.Errorf(memory.NotFound, "%w", err)
			}
			return t.run(cmd.Context())
		}))
}

// selftestDir returns the libraries of an engine by name or, without one, of the engine that
// settings choose.
func selftestDir(c *config.Config, name string) (string, error) {
	if name != "" {
		e, err := daemon.RuntimesOf(c).Intact(name)
		if err != nil {
			return "", err
		}
		return e.Dir, nil
	}
	if c.Embedding.Engine == daemon.NoEngine {
		return "", memory.Errorf(memory.NotFound,
			"the setting embedding.engine has the value none; pass the name of an installed runtime")
	}
	return daemon.EngineDir(c)
}

// selftestReport is what emberd model runtime selftest prints with --json.
type selftestReport struct {
	OK      bool    `json:"ok"`
	Dir     string  `json:"dir"`
	Release string  `json:"release,omitempty"`
	Checks  []trial `json:"checks"`
}

// trial is one check of an engine.
type trial struct {
	Name    string  `json:"name"`
	OK      bool    `json:"ok"`
	LeftOut bool    `json:"left_out,omitempty"` // because an earlier one failed
	Millis  float64 `json:"ms"`
	Text    string  `json:"text"`
}

// selftest is a run of the checks. It is for one goroutine.
type selftest struct {
	s      *cli.App
	c      *config.Config
	helper string
	report selftestReport
}

// run makes all checks and prints each.
func (t *selftest) run(ctx context.Context) error {
	t.check(ctx, "the files are unchanged", t.whole)
	t.check(ctx, "the libraries load", t.load)
	t.check(ctx, "the embeddings are correct", t.generated)
	if t.c.Embedding.Model != "" {
		t.check(ctx, "your model works", t.configured)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if t.s.JSON {
		if err := t.s.PrintJSON(t.report); err != nil {
			return err
		}
	}
	if !t.report.OK {
		return &cli.Exit{Code: cli.ExitNothing}
	}
	t.s.Note("to make a running daemon try the runtime again, run: emberd model resume")
	return nil
}

// check makes one check, unless an earlier one failed, and prints the result.
func (t *selftest) check(ctx context.Context, name string, do func(context.Context) (string, error)) {
	made := trial{Name: name, LeftOut: !t.report.OK || ctx.Err() != nil}
	if !made.LeftOut {
		start := time.Now()
		text, err := do(ctx)
		made.OK, made.Millis, made.Text = err == nil, float64(time.Since(start).Microseconds())/1000, text
		if err != nil {
			made.Text = err.Error()
		}
	}
	t.report.OK = t.report.OK && made.OK
	t.report.Checks = append(t.report.Checks, made)
	if !t.s.JSON && ctx.Err() == nil {
		printTrial(t.s, &made)
	}
}

func printTrial(s *cli.App, t *trial) {
	mark, took := s.Screen.Paint(cli.Green, "ok      "), cli.Millis(t.Millis)
	switch {
	case t.LeftOut:
		mark, took = s.Screen.Paint(cli.Faint, "left out"), ""
	case !t.OK:
		mark = s.Screen.Paint(cli.Red, "failed  ")
	}
	s.Printf("%s %9s  %s\n", mark, took, t.Name)
	if t.Text != "" {
		s.Printf("%s", s.Screen.Paragraph(cli.Clean(t.Text), nil, strings.Repeat(" ", 20)))
	}
	s.Stdout.Flush() // an error stays with the buffer
}

// whole compares the files of an installed engine with their digests, as each start of a daemon does.
func (t *selftest) whole(ctx context.Context) (string, error) {
	files, err := daemon.VerifyEngine(ctx, t.c, t.report.Dir)
	if err != nil || files > 0 {
		return cli.Count(files, "file", "files") + " with the expected SHA-256", err
	}
	return "emberd did not install these files, so it cannot compare their SHA-256", nil
}

func (t *selftest) load(ctx context.Context) (string, error) {
	hello, err := embedding.Probe(ctx, t.helper, t.report.Dir, daemon.Unconfined(t.c))
	if err != nil {
		return "", err
	}
	t.report.Release = hello.Engine.Release
	text := releaseText(hello.Engine.Release) + " on " + strings.Join(hello.Engine.Backends, ", ")
	return strings.Join(cli.NonEmpty(text, hello.Engine.Warning), "; "), nil
}

// open returns an embedder of one provider alone, ready to be used.
func (t *selftest) open(ctx context.Context, provider, model, badPairs string) (*embedding.Embedder, error) {
	e, err := embedding.Open(embedding.Options{Providers: []string{provider}, Model: model,
		MaxTokens: t.c.Embedding.MaxTokens, Helper: t.helper, Engine: t.report.Dir, Memory: badPairs,
		Unconfined: daemon.Unconfined(t.c)})
	if err != nil {
		return nil, err
	}
	if badPairs != "" {
		err = e.Retry(ctx) // a model that was given up is tried again
	}
	if err == nil {
		_, err = e.Ready(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// The smallest cosine of a vector of the engine and one of emberd's own. Processors add in another
// order, and most models have rounded weights.
const (
	minFullCosine    = 0.99999
	minRoundedCosine = 0.99
)

// generated tries a small model with weights that are written in full.
func (t *selftest) generated(ctx context.Context) (_ string, err error) {
	temp, err := os.MkdirTemp("", "emberd-selftest-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	file := filepath.Join(temp, "tiny"+ModelSuffix)
	if err := tinybert.New(tinybert.Tiny()).WriteFile(file); err != nil {
		return "", err
	}
	return t.model(ctx, file, "", minFullCosine, 300)
}

// configured tries the model that settings name.
func (t *selftest) configured(ctx context.Context) (string, error) {
	said, err := t.model(ctx, t.c.Embedding.Model, daemon.BadPairs(t.c), minRoundedCosine, 20)
	return filepath.Base(t.c.Embedding.Model) + ": " + said, err
}

// model embeds n generated texts two times, which has to give the same bits, and compares them
// with emberd's own vectors if emberd can run the model.
func (t *selftest) model(ctx context.Context, file, badPairs string, minCosine float64, n int) (string, error) {
	native, err := t.open(ctx, embedding.Llama, file, badPairs)
	if err != nil {
		return "", err
	}
	defer native.Close()
	texts := someTexts(n)
	first, err := native.Embed(ctx, embedding.Claim, texts)
	if err != nil {
		return "", err
	}
	again, err := native.Embed(ctx, embedding.Claim, texts)
	if err != nil {
		return "", err
	}
	if !slices.EqualFunc(first, again, slices.Equal) {
		return "", errors.New("the runtime computed different embeddings of the same text")
	}
	said := fmt.Sprintf("embeddings of %d texts, bit-identical in two runs", n)
	own, err := t.open(ctx, embedding.Go, file, "")
	if err != nil {
		return said + "; not compared with the built-in runtime, which cannot run the model", nil
	}
	defer own.Close()
	want, err := own.Embed(ctx, embedding.Claim, texts)
	if err != nil {
		return "", err
	}
	near := leastCosine(first, want)
	if !(near >= minCosine) { // nor is NaN right
		return "", fmt.Errorf("the embeddings differ from those of the built-in runtime: cosine %.5f, minimum %g", near,
			minCosine)
	}
	return fmt.Sprintf("%s; cosine with the embeddings of the built-in runtime: %.5f", said, near), nil
}

// leastCosine returns the smallest cosine of two vectors of one text. A text without words that
// the model knows has none.
func leastCosine(a, b [][]float32) float64 {
	least := 1.0
	for i := range a {
		if len(a[i]) != len(b[i]) {
			return math.Inf(-1)
		}
		product := 0.0
		for k := range a[i] {
			product += float64(a[i][k]) * float64(b[i][k])
		}
		if len(a[i]) > 0 {
			least = min(least, product)
		}
	}
	return least
}

// someTexts returns n texts of 1 to 40 words, the same each time.
func someTexts(n int) []string {
	var words []string
	for _, token := range tinybert.Tokens() {
		if word, whole := strings.CutPrefix(token, "▁"); whole {
			words = append(words, word)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	texts := make([]string, n)
	for i := range texts {
		text := make([]string, 1+random.IntN(40))
		for k := range text {
			text[k] = words[random.IntN(len(words))]
		}
		texts[i] = strings.Join(text, " ")
	}
	return texts
}
