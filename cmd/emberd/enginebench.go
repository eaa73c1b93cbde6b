package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"emberd/embedding"
	"emberd/internal/config"
	"emberd/internal/tinybert"
	"emberd/memory"
)

type engineBench struct{ texts, tokens int }

// Bounds of emberd engine bench.
const (
	mostBenchTexts   = 10_000
	leastBenchTokens = 3
)

func (s *state) engineBenchCommand() *cobra.Command {
	o := engineBench{texts: 200, tokens: 64}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure how fast vectors are made here, by each engine",
		Long: `Measure how fast vectors are made on this machine: by the engine that is used,
by emberd itself, and by the server of embedding.url, whichever there are. Each
makes vectors of the same generated texts, all in a row and one by one, with the
model that is used; without one, with one of the shape of all-MiniLM-L6-v2 whose
weights mean nothing.

A daemon that makes vectors meanwhile slows this down, and the other way round:
emberd engine pause.`,
		Example: `  emberd engine bench
  emberd engine bench --texts 50 --tokens 256`,
		Annotations: exits(endings{exitNothing: "nothing could be measured"}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := s.load()
			if err != nil {
				return err
			}
			if o.texts < 1 || o.texts > mostBenchTexts {
				return memory.Errorf(memory.Invalid, "--texts is %d, outside 1 to %s", o.texts, grouped(mostBenchTexts))
			}
			if o.tokens < leastBenchTokens || o.tokens > c.Embedding.MaxTokens {
				return memory.Errorf(memory.Invalid, "--tokens is %d, outside %d to %d, which is embedding.max_tokens", o.tokens, leastBenchTokens, c.Embedding.MaxTokens)
			}
			temp, err := os.MkdirTemp("", "emberd-bench-")
			if err != nil {
				return &exit{code: exitDisk, err: err}
			}
			return errors.Join(s.engineBench(cmd.Context(), c, &o, temp), os.RemoveAll(temp))
		},
	}
	cmd.Flags().IntVar(&o.texts, "texts", o.texts, "measure with `N` texts")
	cmd.Flags().IntVar(&o.tokens, "tokens", o.tokens, "of about `N` tokens each")
	return cmd
}

// benchReport is what emberd engine bench tells.
type benchReport struct {
	Model     string     `json:"model"` // the file
	Generated bool       `json:"generated"`
	Texts     int        `json:"texts"`
	Tokens    int        `json:"tokens"` // of each, on average
	Rows      []benchRow `json:"rows"`
}

// benchRow is how fast one provider is.
type benchRow struct {
	Provider  string  `json:"provider"`
	What      string  `json:"what,omitempty"`
	StartMS   float64 `json:"start_ms"`   // until the first vector
	PerSecond float64 `json:"per_second"` // texts in a row
	P50       float64 `json:"p50_ms"`     // of one text
	P99       float64 `json:"p99_ms"`
	Bytes     int64   `json:"bytes,omitempty"` // of memory that it takes; 0 where that cannot be told
	Problem   string  `json:"problem,omitempty"`
}

func (s *state) engineBench(ctx context.Context, c *config.Config, o *engineBench, temp string) error {
	report := &benchReport{Model: c.Embedding.Model, Texts: o.texts, Rows: []benchRow{}}
	if report.Model == "" {
		report.Model, report.Generated = filepath.Join(temp, "minilm"+modelSuffix), true
		if err := tinybert.New(tinybert.MiniLM(tinybert.Q8_0)).WriteFile(report.Model); err != nil {
			return &exit{code: exitDisk, err: err}
		}
	}
	steps := s.newSteps("measuring", 0)
	defer steps.done()
	measured := 0
	for _, provider := range []string{embedding.Llama, embedding.Go, embedding.HTTP} {
		if provider == embedding.HTTP && c.Embedding.URL == "" {
			continue
		}
		steps.describe("measuring " + provider)
		row := s.benchOne(ctx, c, o, provider, report)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		report.Rows = append(report.Rows, row)
		if row.Problem == "" {
			measured++
		}
	}
	steps.done()
	return s.found(report, measured, func() { s.printBench(report, c.Embedding.Providers) })
}

// benchOne measures one provider.
func (s *state) benchOne(ctx context.Context, c *config.Config, o *engineBench, provider string, report *benchReport) benchRow {
	row := benchRow{Provider: provider}
	helper, dir, why := native(c)
	key, err := readKey(c.Embedding.KeyFile, "key")
	if err != nil {
		row.Problem = err.Error()
		return row
	}
	e, err := embedding.Open(embedding.Options{Providers: []string{provider}, Model: report.Model, MaxTokens: c.Embedding.MaxTokens,
		Helper: helper, Engine: dir, NoEngine: why, URL: c.Embedding.URL, URLModel: c.Embedding.URLModel, Key: key})
	if err == nil {
		err = measure(ctx, e, o, report, &row)
		err = errors.Join(err, e.Close())
	}
	if err != nil {
		row.Problem = strings.TrimPrefix(err.Error(), provider+": ")
	}
	return row
}

// measure fills in a row.
func measure(ctx context.Context, e *embedding.Embedder, o *engineBench, report *benchReport, row *benchRow) error {
	debug.FreeOSMemory()
	before := resident(os.Getpid())
	start := time.Now()
	if _, err := e.Ready(ctx); err != nil {
		return err
	}
	if _, err := e.Embed(ctx, embedding.Query, []string{"note"}); err != nil {
		return err
	}
	row.StartMS = sinceMillis(start)
	texts, tokens := benchTexts(ctx, e, o)
	report.Tokens = tokens
	start = time.Now()
	if _, err := e.Embed(ctx, embedding.Passage, texts); err != nil {
		return err
	}
	row.PerSecond = float64(len(texts)) / time.Since(start).Seconds()
	times := make([]float64, min(len(texts), mostSingles))
	for i := range times {
		start = time.Now()
		if _, err := e.Embed(ctx, embedding.Query, texts[i:i+1]); err != nil {
			return err
		}
		times[i] = sinceMillis(start)
	}
	slices.Sort(times)
	row.P50, row.P99 = times[len(times)/2], times[(len(times)-1)*99/100]
	status := e.Status()
	row.What = status.Model
	if n := status.Native; n != nil && n.PID != 0 {
		row.What, row.Bytes = strings.Join(nonEmpty(releaseText(n.Release), strings.Join(n.Backends, ", ")), ", "), resident(n.PID)
	} else if row.Provider == embedding.Go {
		debug.FreeOSMemory()
		row.Bytes = max(0, resident(os.Getpid())-before)
	}
	return nil
}

// mostSingles is how many texts are embedded one by one.
const mostSingles = 200

func sinceMillis(start time.Time) float64 { return float64(time.Since(start).Microseconds()) / 1000 }

// benchTexts are texts of about as many tokens as are asked for, and how many they have
// on average.
func benchTexts(ctx context.Context, e *embedding.Embedder, o *engineBench) ([]string, int) {
	words := strings.Fields(strings.Join(someTexts(o.texts*2, 2*o.tokens), " "))
	texts := make([]string, o.texts)
	total, at := 0, 0
	for i := range texts {
		text := words[at%len(words)]
		for at++; e.Tokens(ctx, text+" "+words[at%len(words)]) <= o.tokens; at++ {
			text += " " + words[at%len(words)]
		}
		texts[i] = text
		total += e.Tokens(ctx, text)
	}
	return texts, total / len(texts)
}

func (s *state) printBench(r *benchReport, providers []string) {
	model := filepath.Base(r.Model)
	if r.Generated {
		model = "generated, of the shape of all-MiniLM-L6-v2 in Q8_0"
	}
	s.rows("model", clean(model), "")
	if r.Tokens > 0 { // else nothing could be measured
		s.row("texts", fmt.Sprintf("%s of about %s", grouped(r.Texts), count(r.Tokens, "token", "tokens")))
	}
	s.printf("\n%s\n", s.screen.paint(bold, fmt.Sprintf("%s %10s %12s %12s %12s %12s", pad("", 8), "start", "texts/s", "one, p50", "one, p99", "memory")))
	for _, row := range r.Rows {
		if row.Problem != "" {
			s.printf("%s", s.screen.said(yellow, row.Provider+": "+clean(row.Problem)))
			continue
		}
		held := "?"
		if row.Bytes > 0 {
			held = size(row.Bytes)
		}
		s.printf("%s %10s %12.1f %12s %12s %12s\n", pad(row.Provider, 8), millis(row.StartMS), row.PerSecond, millis(row.P50), millis(row.P99), held)
	}
	for _, row := range r.Rows {
		if row.What != "" && row.Provider != embedding.Go {
			s.note("%s: %s", row.Provider, clean(row.What))
		}
	}
	if first, better := slower(r.Rows, providers); better != "" {
		s.note("%s is faster here than %s, and makes the same vectors: put it before %s in embedding.providers, if the model that you use is like this one",
			better, first, first)
	}
}

// muchFaster is how many times as fast an engine has to be to be worth a setting.
const muchFaster = 1.2

// slower is the engine that providers put first of those that run files, and the one that
// they should, "" if that is not much faster.
func slower(rows []benchRow, providers []string) (first, better string) {
	speed := map[string]float64{}
	for _, row := range rows {
		if row.Provider != embedding.HTTP && row.Problem == "" { // which has a model of its own
			speed[row.Provider] = row.PerSecond
		}
	}
	at := slices.IndexFunc(providers, func(name string) bool { return speed[name] > 0 })
	if at < 0 {
		return "", ""
	}
	first = providers[at]
	for name, n := range speed {
		if n > muchFaster*speed[first] {
			better = name
		}
	}
	return first, better
}
