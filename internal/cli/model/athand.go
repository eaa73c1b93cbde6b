package model

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"emberd/embedding"
	"emberd/internal/cli"
	"emberd/internal/config"
)

// A Trained is a trained model that can be chosen.
type Trained struct {
	Name string
	row  modelRow
}

// recommended is the known model that is offered where none is installed.
const recommended = "all-MiniLM-L6-v2"

// AtHand returns the trained model to offer: the one that is used, or else the first that is installed
// and that emberd runs by itself, or else a known one. It is nil if there is none.
func AtHand(c *config.Config) (*Trained, error) {
	list, err := listModels(c)
	if err != nil {
		return nil, engineError(err)
	}
	for _, fits := range []func(*modelRow) bool{
		func(m *modelRow) bool { return m.Used },
		func(m *modelRow) bool { return m.Installed && slices.Contains(m.Engines, embedding.Go) },
		func(m *modelRow) bool { return m.Name == recommended && m.SHA256 != "" },
	} {
		for _, m := range list.Models {
			if m.Problem == "" && fits(&m) {
				return &Trained{m.Name, m}, nil
			}
		}
	}
	return nil, nil
}

// beside is at most what a model takes of memory besides the size of its file: with all-MiniLM-L6-v2
// 4 MiB, in Q8_0 as in F32 (TestMemoryOfATrainedModel of package embedding).
const beside = 8 << 20

// About says what the model is and costs.
func (t *Trained) About() string {
	size := modelSize(&t.row) + " to download"
	if t.row.Path != "" {
		size = modelSize(&t.row) + ", installed"
	}
	return strings.Join(cli.NonEmpty(languagesText(t.row.Languages), size, cli.Clean(t.row.Licence),
		cli.Size(t.row.Bytes+beside)+" of RAM while loaded"), "; ")
}

// What is known of the speed of a model where it cannot be measured: the time of a token and the size
// of the file with all-MiniLM-L6-v2 in Q8_0 on a processor with AVX2, 24 ms for 61
// tokens. That of others is taken to be in proportion to their files.
const (
	knownPace  = 24 * time.Millisecond / 61
	knownBytes = 25 << 20
)

// bytesOfToken is about how much Markdown gives one token to embed, the title and the headings that
// go with each part included.
const bytesOfToken = 4

// paceTime is how long the speed of a model is measured at most.
const paceTime = 5 * time.Second

// Takes estimates how long the vectors of so many bytes of notes take, with the share of a processor
// that the settings allow. It embeds a few texts if the model is installed and emberd runs it;
// otherwise, measured is false.
func (t *Trained) Takes(ctx context.Context, c *config.Config, bytes int64) (took time.Duration, measured bool) {
	pace := time.Duration(float64(knownPace) * float64(t.row.Bytes) / knownBytes)
	if t.row.Path != "" && slices.Contains(t.row.Engines, embedding.Go) {
		if got, err := measure(ctx, t.row.Path); err == nil {
			pace, measured = got, true
		}
	}
	return time.Duration(float64(bytes/bytesOfToken) * float64(pace) / c.Embedding.CPUShare), measured
}

// measure returns the time that a token takes, the best of a few texts.
func measure(ctx context.Context, path string) (best time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, paceTime)
	defer cancel()
	e, err := embedding.Open(embedding.Options{Providers: []string{embedding.Go}, Model: path})
	if err != nil {
		return 0, err
	}
	defer e.Close()
	if _, err := e.Ready(ctx); err != nil {
		return 0, err
	}
	text := strings.Repeat("The policy for the van covers hail and theft, but not what was left inside. ", 5)
	for i := range 4 { // the first loads the model
		begun := time.Now()
		if _, err := e.Embed(ctx, embedding.Query, []string{text}); err != nil {
			return 0, err
		}
		if took := time.Since(begun); i > 0 && (best == 0 || took < best) {
			best = took
		}
	}
	return best / time.Duration(max(e.Tokens(ctx, text), 1)), nil
}

// nameOf returns what a model file is called in its folder.
func nameOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ModelSuffix) }
