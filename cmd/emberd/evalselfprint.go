package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"emberd/internal/config"
	"emberd/internal/durable"
	"emberd/internal/eval"
	"emberd/memory"
)

// applyProposals writes what is proposed to the config file.
func (s *state) applyProposals(c *config.Config, r *eval.SelfReport) error {
	if len(r.Proposed) == 0 {
		return nil
	}
	var changes []settingChange
	for _, p := range r.Proposed {
		changes = append(changes, settingChange{Setting: p.Setting, Value: p.Value})
	}
	if err := s.writeSettings(c, changes); err != nil {
		return err
	}
	r.Applied = c.File
	return nil
}

// configHead begins a config file that emberd makes.
const configHead = "# Settings of emberd: emberd config lists all of them, emberd config example explains them.\n"

// changeConfig writes settings to a config file, which need not be there yet. A link to
// one stays a link.
func changeConfig(file string, changes []config.Change) error {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &exit{code: exitDisk, err: err}
	}
	if err != nil {
		text = []byte(configHead)
	}
	if text, err = config.Set(file, text, changes); err != nil {
		return memory.Errorf(memory.Invalid, "%w", err)
	}
	err = os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = durable.ReplaceFile(durable.OS{}, file, text)
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err // its path is that of a file which is renamed when it is whole
	}
	if err != nil {
		return &exit{code: exitDisk, err: fmt.Errorf("the config file %s cannot be written: %w", file, err)}
	}
	return nil
}

// printSelf shows how search answers its user's own words, and what other settings would do.
func (s *state) printSelf(r *eval.SelfReport) {
	found := 0
	for _, n := range r.Found {
		found += n
	}
	s.printf("%s  %s of %s that your notes and memories hold, %s of them held out\n", s.screen.paint(bold, "questions"),
		grouped(r.Questions), grouped(found), grouped(r.HeldOut))
	width := 0
	for _, line := range r.Present {
		width = max(width, len(className(line.Category)))
	}
	s.printf("\n%s %6s %6s %6s %6s %7s\n", pad("present settings", width+2), "n", "R@5", "R@10", "MRR@10", "nDCG@10")
	for _, line := range r.Present {
		s.printf("  %s %6s %6.3f %6.3f %6.3f %7.3f  %s\n", pad(className(line.Category), width), grouped(line.Questions),
			line.Recall5, line.Recall10, line.MRR10, line.NDCG10, strings.TrimRight(bar(line.NDCG10, barCells), " "))
	}
	s.printTrials(r)
	s.printf("\n  latency of %s: p50 %s, p95 %s, p99 %s\n", count(r.Latency.Searches, "search", "searches"),
		millis(r.Latency.P50), millis(r.Latency.P95), millis(r.Latency.P99))
	s.printProposals(r)
	s.noteSelf(r)
}

// barCells is the length of a bar that stands for 1.
const barCells = 20

func className(class string) string {
	return map[string]string{
		"":                   "all that do not name their answer",
		string(eval.Alias):   "aliases",
		string(eval.Heading): "headings",
		string(eval.Link):    "texts of links",
		string(eval.Asked):   "questions",
		eval.Named:           "those that name their answer",
	}[class]
}

// printTrials shows one line a setting and value.
func (s *state) printTrials(r *eval.SelfReport) {
	if len(r.Trials) == 0 {
		return
	}
	width := len("as they are")
	for _, t := range r.Trials {
		width = max(width, len(t.Setting)+1+len(t.Value))
	}
	s.printf("\n%s %7s  %-*s %7s %9s %17s\n", pad("other settings", width+2), "nDCG@10", barCells, "", "chosen", "held out", "95 of 100")
	s.printf("  %s %7.3f  %s\n", pad("as they are", width), r.NDCG10, strings.TrimRight(bar(r.NDCG10, barCells), " "))
	for _, t := range r.Trials {
		line := fmt.Sprintf("  %s %7.3f  %s %+7.3f %+9.3f  %+.3f to %+.3f", pad(t.Setting+" "+t.Value, width), t.NDCG10,
			bar(t.NDCG10, barCells), t.Chosen.Mean, t.Confirmed.Mean, t.Confirmed.Low, t.Confirmed.High)
		s.printf("%s  %s\n", line, cmp.Or(t.Verdict, s.screen.paint(bold, "proposed")))
	}
}

func (s *state) printProposals(r *eval.SelfReport) {
	if len(r.Proposed) == 0 {
		s.printf("\nNothing is proposed: no other setting is better beyond chance.\n")
		return
	}
	s.printf("\nProposed:\n")
	for _, p := range r.Proposed {
		s.printf("  %s: %s  # now %s, %s\n", p.Setting, p.Value, clean(p.Was), clean(p.From))
	}
	if r.Applied != "" {
		s.printf("Written to %s; restart the daemon for it.\n", clean(r.Applied))
		return
	}
	s.printf("emberd eval self --apply writes it to the config file.\n")
}

// noteSelf says how the figures are to be read.
func (s *state) noteSelf(r *eval.SelfReport) {
	for _, class := range slices.Sorted(maps.Keys(r.Found)) {
		if asked, found := r.Classes[class], r.Found[class]; asked < found {
			s.note("%s of %s %s were asked, drawn by seed %d", grouped(asked), grouped(found), className(class), r.Seed)
		}
	}
	if r.Ambiguous > 0 {
		s.note("%s more than one note or memory and not asked", count(r.Ambiguous, "text stands for", "texts stand for"))
	}
	if r.Failed > 0 {
		s.note("%s refused, and counted as without a hit", count(r.Failed, "question was", "questions were"))
	}
	if r.Questions < leastTelling {
		s.note("so few questions tell little: every figure may be chance")
	}
}

// leastTelling is how many questions it takes for figures that mean something.
const leastTelling = 50
