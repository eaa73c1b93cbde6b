package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"emberd/op"
)

func (s *state) analyzeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "analyze TEXT… | -",
		Short: "Judge whether a message is worth keeping, or a question",
		Long: `Judge a message as an agent does that asks what to do with it: whether it says
something worth keeping, and as what, and whether it asks for something kept
earlier, and what to search for. Nothing is saved or searched.

From a confidence of 0.7 on an agent does it, from 0.4 on it asks. The phrases
that count are printed by emberd config phrases.`,
		Example: `  emberd analyze "Remember: I prefer TypeScript over JavaScript"
  emberd analyze "What did I say about the staging port?"`,
		Annotations: exits(endings{exitNoDaemon: "", exitAgain: ""}),
		Args:        takes(1, -1, "a message, or - to read it from stdin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := strings.Join(args, " ")
			if text == "-" {
				var err error
				if text, err = s.readText(cmd.Context()); err != nil {
					return err
				}
			}
			return s.analyze(cmd.Context(), text)
		},
	}
}

// analyzed is both verdicts, as --json tells them.
type analyzed struct {
	Message *op.AnalyzeMessageResult `json:"message"`
	Recall  *op.AnalyzeRecallResult  `json:"recall"`
}

func (s *state) analyze(ctx context.Context, text string) (err error) {
	var a analyzed
	if a.Message, err = call(ctx, s, op.AnalyzeMessage, &op.AnalyzeMessageRequest{Message: text}); err != nil {
		return err
	}
	if a.Recall, err = call(ctx, s, op.AnalyzeRecall, &op.AnalyzeRecallRequest{Message: text}); err != nil {
		return err
	}
	if s.json {
		return s.printJSON(&a)
	}
	s.verdict("save", a.Message.ShouldSave, a.Message.Confidence, a.Message.Reasoning)
	s.suggest("entities", strings.Join(a.Message.SuggestedEntities, ", "))
	s.suggest("tags", strings.Join(a.Message.SuggestedTags, ", "))
	s.suggest("strength", fmt.Sprint(a.Message.SuggestedStrength))
	s.verdict("search", a.Recall.ShouldSearch, a.Recall.Confidence, a.Recall.Reasoning)
	s.suggest("query", a.Recall.SuggestedQuery)
	return nil
}

func (s *state) suggest(what, value string) {
	if value != "" {
		s.row("  "+what, clean(value))
	}
}

func (s *state) verdict(what string, should bool, confidence float64, why string) {
	says := "no"
	if should {
		says = "yes"
	}
	line := fmt.Sprintf("%s: %s, confidence %.2f; %s", what, says, confidence, clean(why))
	s.printf("%s", s.screen.paragraph(line, []span{{0, len(what)}}, ""))
}
