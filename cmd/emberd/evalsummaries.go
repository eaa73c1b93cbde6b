package main

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"emberd/internal/eval"
	"emberd/internal/text"
	"emberd/rekindle"
)

func (s *state) evalSummariesCommand() *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:   "summaries DIR",
		Short: "Measure what is still found when only a summary is left",
		Long: `Measure what is still found in a judged set when only the summary of each text
is left, or only its key terms: by plain BM25, so that nothing but the words
counts. Beside stand the first sentence and the first characters, held to the
length that a summary may have, and the whole text. DIR is as in emberd eval.`,
		Example: `  emberd eval summaries locomo/dev
  emberd eval summaries locomo/dev --unit notes --json`,
		Annotations: exits(nil),
		Args:        takes(1, 1, "the folder of a judged set"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.evalSummaries(cmd.Context(), &o, args[0])
		},
	}
	unitFlag(cmd, &o)
	return cmd
}

func (s *state) evalSummaries(ctx context.Context, o *evalOptions, dir string) error {
	sets, err := s.evalSets(ctx, o, dir)
	if err != nil {
		return err
	}
	report := &eval.Report{}
	err = s.inEvalHome(false, func(home string) error {
		report.Manifest, err = s.manifest(dir, home)
		return err
	})
	if err != nil {
		return err
	}
	for _, set := range sets {
		report.Sets = append(report.Sets, summariesReport(set))
	}
	if s.json {
		return s.printJSON(report)
	}
	for i := range report.Sets {
		r := &report.Sets[i]
		s.printf("%s  %s, %s\n", s.screen.paint(bold, string(r.Unit)),
			count(r.Documents, "document", "documents"), count(r.Questions, "question", "questions"))
		s.printResults(r.Results)
		s.printf("\n")
	}
	return nil
}

// A remnant is what may be left of a text.
type remnant struct {
	name string
	of   func(content string) string
}

func remnants() []remnant {
	s := rekindle.NewSummarizer(text.New())
	return []remnant{
		{"summary", func(c string) string { return s.Summary(c, nil) }},
		{"first sentence", func(c string) string { return beginning(firstSentence(c), rekindle.Bound(c)) }},
		{"first characters", func(c string) string { return beginning(c, rekindle.Bound(c)) }},
		{"first sentence, whole", firstSentence},
		{"key terms", func(c string) string { return strings.Join(s.KeyTerms(c, nil), " ") }},
		{"summary and key terms", func(c string) string {
			summary, terms := s.Remains(c, nil)
			return summary + " " + strings.Join(terms, " ")
		}},
		{"whole text", func(c string) string { return c }},
	}
}

// summariesReport searches each remnant of a set's texts.
func summariesReport(set *eval.Set) eval.SetReport {
	r := eval.SetReport{Unit: set.Unit, Files: set.Files, Documents: len(set.Docs), Loaded: len(set.Docs), Questions: len(set.Questions)}
	scopes := []string{eval.ScopeAll}
	if set.Grouped() {
		scopes = append(scopes, eval.ScopeGroup)
	}
	all := remnants()
	texts := make([][]string, len(all))
	kept := make([]float64, len(all))
	for k, way := range all {
		texts[k] = make([]string, len(set.Docs))
		characters, of := 0, 0
		for i := range texts[k] {
			content := bodyOf(set, i)
			texts[k][i] = way.of(content)
			characters += utf8.RuneCountInString(texts[k][i])
			of += utf8.RuneCountInString(content)
		}
		kept[k] = float64(characters) / float64(max(1, of))
	}
	for _, scope := range scopes {
		for _, j := range set.Judgements {
			for k, way := range all {
				run := set.Plain(eval.Baseline{Texts: texts[k]}, scope == eval.ScopeGroup)
				r.Results = append(r.Results, eval.Result{Judgements: j.File, Scope: scope, System: way.name,
					Kept: kept[k], Figures: j.Measure(set.Questions, run)})
			}
		}
	}
	return r
}

// bodyOf is what a summary is made of: a note's text without its properties.
func bodyOf(set *eval.Set, i int) string {
	content := set.Docs[i].Content
	if set.Unit == eval.Notes {
		content = set.Baselines[0].Texts[i]
		if _, body, found := strings.Cut(strings.TrimPrefix(content, "---\n"), "\n---\n"); found {
			content = body
		}
	}
	return content
}

// firstSentence is that of the first line that has any.
func firstSentence(content string) string {
	for line := range strings.Lines(content) {
		if sentences := rekindle.Sentences(strings.TrimSpace(line)); len(sentences) > 0 {
			return sentences[0]
		}
	}
	return ""
}

// beginning returns the first characters of a text.
func beginning(s string, n int) string {
	runes := []rune(s)
	return string(runes[:min(n, len(runes))])
}
