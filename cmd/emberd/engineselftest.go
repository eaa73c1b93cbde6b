package main

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
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"emberd/embedding"
	"emberd/internal/config"
	"emberd/internal/tinybert"
	"emberd/memory"
)

func (s *state) engineSelftestCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "selftest [NAME]",
		Short: "Try out whether an engine works here",
		Long: `Try an engine out, the one that is used or another: its files are those that
were installed, its libraries load, a small model that is generated here gives
the vectors that it should, the same as when emberd runs it itself, and the same
each time; and when the process of the engine is killed, the next one goes on.
The model that embedding.model names is loaded and tried, too.

No daemon is needed, and none is disturbed. A model that once brought the engine
down is not tried again by itself; this tries it, and forgets that if it passes.
A daemon that runs hears of it by emberd engine resume.`,
		Example: `  emberd engine selftest
  emberd engine selftest b8390 --json`,
		Annotations:       exits(endings{exitDone: "the engine works", exitNothing: "it does not, or there is none"}),
		Args:              takes(0, 1, "the name of an engine"),
		ValidArgsFunction: s.completeEngines,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := s.load()
			if err != nil {
				return err
			}
			dir, err := chosenEngine(c, strings.Join(args, ""))
			if err != nil {
				return err
			}
			helper, err := embedding.FindHelper()
			if err != nil {
				return memory.Errorf(memory.NotFound, "%w", err)
			}
			temp, err := os.MkdirTemp("", "emberd-selftest-")
			if err != nil {
				return &exit{code: exitDisk, err: err}
			}
			t := &selftest{s: s, c: c, helper: helper, temp: temp, report: selftestReport{OK: true, Dir: dir, Checks: []trial{}}}
			err = t.run(cmd.Context())
			return errors.Join(err, os.RemoveAll(temp))
		},
	}
}

// selftestReport is what emberd engine selftest tells.
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
	LeftOut bool    `json:"left_out,omitempty"` // since one before it failed
	Millis  float64 `json:"ms"`
	Text    string  `json:"text"`
}

// selftest is a run of the checks. It is for one goroutine.
type selftest struct {
	s            *state
	c            *config.Config
	helper, temp string
	report       selftestReport
	native, own  *embedding.Embedder // of the generated model
}

// run makes all checks and shows each.
func (t *selftest) run(ctx context.Context) error {
	defer t.close()
	t.check(ctx, "its files are those that came", t.whole)
	t.check(ctx, "the libraries load", t.load)
	t.check(ctx, "a small model loads", t.loadTiny)
	t.check(ctx, "its vectors are right", t.golden)
	t.check(ctx, "as emberd makes them itself", t.agree)
	t.check(ctx, "the same each time", t.repeat)
	t.check(ctx, "it comes back when killed", t.killed)
	if model := t.c.Embedding.Model; model != "" {
		t.check(ctx, "your model works", t.configured)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if t.s.json {
		if err := t.s.printJSON(t.report); err != nil {
			return err
		}
	}
	if !t.report.OK {
		return &exit{code: exitNothing}
	}
	t.s.note("emberd engine resume has a daemon that runs try again")
	return nil
}

func (t *selftest) close() {
	for _, e := range []*embedding.Embedder{t.native, t.own} {
		if e != nil {
			_ = e.Close() // what was tried is told; nothing is kept
		}
	}
}

// check makes one check, unless one before it failed, and shows what came of it.
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
	if !t.s.json && ctx.Err() == nil {
		t.s.printTrial(&made)
	}
}

func (s *state) printTrial(t *trial) {
	mark, took := s.screen.paint(green, "ok      "), millis(t.Millis)
	switch {
	case t.LeftOut:
		mark, took = s.screen.paint(faint, "left out"), ""
	case !t.OK:
		mark = s.screen.paint(red, "failed  ")
	}
	s.printf("%s %9s  %s\n", mark, took, t.Name)
	if t.Text != "" {
		s.printf("%s", s.screen.paragraph(clean(t.Text), nil, strings.Repeat(" ", 20)))
	}
	s.stdout.Flush() // an error stays with the buffer
}

// whole reads the files of an installed engine through; at each start only their sizes are
// looked at.
func (t *selftest) whole(ctx context.Context) (string, error) {
	all := enginesOf(t.c)
	installed, err := all.List()
	if err != nil {
		return "", err
	}
	for _, e := range installed {
		if e.Dir == t.report.Dir && e.Linked == "" {
			_, err := all.Verify(ctx, e.Name)
			return count(len(e.Files), "file", "files") + " with the SHA-256 that they had", err
		}
	}
	return "they were not installed, and so there is nothing to compare them with", nil
}

func (t *selftest) load(ctx context.Context) (string, error) {
	hello, err := embedding.Probe(ctx, t.helper, t.report.Dir)
	if err != nil {
		return "", err
	}
	t.report.Release = hello.Engine.Release
	text := releaseText(hello.Engine.Release) + " on " + strings.Join(hello.Engine.Backends, ", ")
	return strings.Join(nonEmpty(text, hello.Engine.Warning), "; "), nil
}

// open is an embedder of one provider alone, ready to be used.
func (t *selftest) open(ctx context.Context, provider, model, badPairs string) (*embedding.Embedder, error) {
	e, err := embedding.Open(embedding.Options{Providers: []string{provider}, Model: model, MaxTokens: t.c.Embedding.MaxTokens,
		Helper: t.helper, Engine: t.report.Dir, Memory: badPairs})
	if err != nil {
		return nil, err
	}
	if badPairs != "" {
		err = e.Retry(ctx) // what is remembered is put to the test
	}
	if err == nil {
		_, err = e.Ready(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (t *selftest) loadTiny(ctx context.Context) (string, error) {
	file := filepath.Join(t.temp, "tiny"+modelSuffix)
	if err := tinybert.New(tinybert.Tiny()).WriteFile(file); err != nil {
		return "", err
	}
	var err error
	if t.native, err = t.open(ctx, embedding.Llama, file, ""); err != nil {
		return "", err
	}
	if t.own, err = t.open(ctx, embedding.Go, file, ""); err != nil {
		return "", err
	}
	if _, err = t.native.Embed(ctx, embedding.Claim, []string{"note"}); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d numbers a text", t.native.Status().Dim), nil
}

// How far vectors may be from what they should be. Other processors add in another
// order; all that were seen stay far below.
const (
	mostAside  = 2e-4 // of weights that are written in full
	leastAlike = 0.99 // cosine of those of a model that is rounded, as most are
)

// golden compares a vector with that of llama.cpp v0.5.0, on another machine.
func (t *selftest) golden(ctx context.Context) (string, error) {
	got, err := t.native.Embed(ctx, embedding.Claim, []string{"note memory search"})
	if err != nil {
		return "", err
	}
	want := []float32{0.01906, 0.24115, 0.02762, -0.10363}
	if begins := got[0][:min(len(want), len(got[0]))]; asideOf(begins, want) > mostAside {
		return "", fmt.Errorf("a vector that is known begins with %.5f, and should with %.5f", begins, want)
	}
	return "", nil
}

// tried is how many generated texts are embedded.
const tried = 300

func (t *selftest) agree(ctx context.Context) (string, error) {
	texts := someTexts(tried, 40)
	got, err := t.native.Embed(ctx, embedding.Claim, texts)
	if err != nil {
		return "", err
	}
	want, err := t.own.Embed(ctx, embedding.Claim, texts)
	if err != nil {
		return "", err
	}
	most := 0.0
	for i := range want {
		most = max(most, asideOf(got[i], want[i]))
	}
	if most > mostAside {
		return "", fmt.Errorf("of %d texts one has a vector that is %.1g aside, %.1g at most is right", tried, most, mostAside)
	}
	return fmt.Sprintf("%d texts, at most %.0e aside", tried, most), nil
}

// asideOf is the greatest difference of two vectors in one number; infinite where they
// are not of one length.
func asideOf(a, b []float32) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	most := 0.0
	for i := range a {
		most = max(most, math.Abs(float64(a[i])-float64(b[i])))
	}
	return most
}

func (t *selftest) repeat(ctx context.Context) (string, error) {
	return t.twice(ctx, t.native, someTexts(50, 40))
}

// twice embeds texts two times, which has to give the same bits.
func (t *selftest) twice(ctx context.Context, e *embedding.Embedder, texts []string) (string, error) {
	first, err := e.Embed(ctx, embedding.Claim, texts)
	if err != nil {
		return "", err
	}
	again, err := e.Embed(ctx, embedding.Claim, texts)
	if err != nil {
		return "", err
	}
	if !slices.EqualFunc(first, again, slices.Equal) {
		return "", errors.New("a text has another vector when it is embedded again")
	}
	return fmt.Sprintf("%d texts, to the bit", len(texts)), nil
}

// killed ends the helper's process, of which there has to be another with the next text.
func (t *selftest) killed(ctx context.Context) (string, error) {
	texts := []string{"note memory search"}
	before, err := t.native.Embed(ctx, embedding.Claim, texts)
	if err != nil {
		return "", err
	}
	pid := t.native.Status().Native.PID
	if pid == 0 {
		return "", errors.New("the helper does not run after it gave a vector")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return "", fmt.Errorf("kill the helper: %w", err)
	}
	start := time.Now()
	after, err := t.native.Embed(ctx, embedding.Claim, texts)
	if err != nil {
		return "", err
	}
	if !slices.EqualFunc(before, after, slices.Equal) {
		return "", errors.New("the process that came after it makes other vectors")
	}
	return "the next vector took " + millis(float64(time.Since(start).Microseconds())/1000), nil
}

// configured tries the model that settings name.
func (t *selftest) configured(ctx context.Context) (string, error) {
	model := t.c.Embedding.Model
	e, err := t.open(ctx, embedding.Llama, model, badPairs(t.c))
	if err != nil {
		return "", err
	}
	defer e.Close()
	texts := someTexts(20, 40)
	said, err := t.twice(ctx, e, texts)
	if err != nil {
		return "", err
	}
	said = filepath.Base(model) + ": " + said
	own, err := t.open(ctx, embedding.Go, model, "")
	if err != nil {
		return said + "; emberd cannot run it itself to compare", nil
	}
	defer own.Close()
	alike, err := leastCosine(ctx, e, own, texts)
	if err != nil {
		return "", err
	}
	if alike < leastAlike {
		return "", fmt.Errorf("emberd itself makes other vectors of it: their cosine is %.3f, %.2f at least is right", alike, leastAlike)
	}
	return fmt.Sprintf("%s; as emberd makes them itself: cosine %.5f", said, alike), nil
}

// leastCosine is how far two embedders are apart in the text where they are farthest.
func leastCosine(ctx context.Context, a, b *embedding.Embedder, texts []string) (float64, error) {
	ofA, err := a.Embed(ctx, embedding.Claim, texts)
	if err != nil {
		return 0, err
	}
	ofB, err := b.Embed(ctx, embedding.Claim, texts)
	if err != nil {
		return 0, err
	}
	least := 1.0
	for i := range texts {
		if len(ofA[i]) == 0 && len(ofB[i]) == 0 {
			continue // of words that the model does not know
		}
		product := 0.0
		for k := range min(len(ofA[i]), len(ofB[i])) {
			product += float64(ofA[i][k]) * float64(ofB[i][k])
		}
		least = min(least, product)
	}
	return least, nil
}

// someTexts are n texts of 1 to most words, the same each time.
func someTexts(n, most int) []string {
	var words []string
	for _, token := range tinybert.Tokens() {
		if word, whole := strings.CutPrefix(token, "▁"); whole {
			words = append(words, word)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	texts := make([]string, n)
	for i := range texts {
		text := make([]string, 1+random.IntN(most))
		for k := range text {
			text[k] = words[random.IntN(len(words))]
		}
		texts[i] = strings.Join(text, " ")
	}
	return texts
}
