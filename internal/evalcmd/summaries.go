package evalcmd

import (
	"context"
	"emberd/internal/cli"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"emberd/internal/eval"
	"emberd/internal/text"
	"emberd/internal/text/analysis"
	"emberd/rekindle"
)

func (s *session) summariesCommand() *cobra.Command {
	var o setOptions
	cmd := &cobra.Command{
		Use:  "summaries DIR",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.measureSummaries(cmd.Context(), &o, args[0])
		},
	}
	unitFlag(cmd, &o)
	return cmd
}

func (s *session) measureSummaries(ctx context.Context, o *setOptions, dir string) error {
	sets, err := s.readSets(ctx, o, dir)
	if err != nil {
		return err
	}
	report := &eval.Report{}
	err = s.inHome(false, func(home string) error {
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
		s.printf("%s  %s, %s\n", string(r.Unit),
			cli.Count(r.Documents, "document", "documents"), cli.Count(r.Questions, "question", "questions"))
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
	s := rekindle.NewSummarizer(analysis.New())
	return []remnant{
		{"summary", func(c string) string { return s.Summary(c, nil) }},
		{"first sentence", func(c string) string { return text.First(firstSentence(c), rekindle.Bound(c)) }},
		{"first characters", func(c string) string { return text.First(c, rekindle.Bound(c)) }},
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
	r := eval.SetReport{Unit: set.Unit, Files: set.Files, Documents: len(set.Docs), Loaded: len(set.Docs),
		Questions: len(set.Questions)}
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
		if sentences := text.Sentences(strings.TrimSpace(line)); len(sentences) > 0 {
			return sentences[0]
		}
	}
	return ""
}
