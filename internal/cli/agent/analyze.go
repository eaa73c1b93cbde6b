package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/op"
)

func classifyCommand(s *cli.App) *cobra.Command {
	oneMessage := cli.ArgCount(1, -1, "a message, or - to read the message from stdin")
	return cli.Command("classify TEXT… | -", oneMessage, nil,
		func(cmd *cobra.Command, args []string) error {
			text := strings.Join(args, " ")
			if text == "-" {
				var err error
				if text, err = s.ReadText(cmd.Context()); err != nil {
					return err
				}
			}
			return analyze(cmd.Context(), s, text)
		})
}

// analyzed is both verdicts, as --json tells them.
type analyzed struct {
	Message *op.AnalyzeMessageResult `json:"message"`
	Recall  *op.AnalyzeRecallResult  `json:"recall"`
}

func analyze(ctx context.Context, s *cli.App, text string) (err error) {
	var a analyzed
	if a.Message, err = cli.Call(ctx, s, op.AnalyzeMessage, &op.AnalyzeMessageRequest{Message: text}); err != nil {
		return err
	}
	if a.Recall, err = cli.Call(ctx, s, op.AnalyzeRecall, &op.AnalyzeRecallRequest{Message: text}); err != nil {
		return err
	}
	return s.Answer(&a, func() {
		printVerdict(s, "save", a.Message.ShouldSave, a.Message.Confidence, a.Message.Reasoning)
		suggest(s, "entities", strings.Join(a.Message.SuggestedEntities, ", "))
		suggest(s, "tags", strings.Join(a.Message.SuggestedTags, ", "))
		suggest(s, "strength", fmt.Sprint(a.Message.SuggestedStrength))
		printVerdict(s, "search", a.Recall.ShouldSearch, a.Recall.Confidence, a.Recall.Reasoning)
		suggest(s, "query", a.Recall.SuggestedQuery)
	})
}

func suggest(s *cli.App, what, value string) {
	if value != "" {
		s.Row("  "+what, cli.Clean(value))
	}
}

func printVerdict(s *cli.App, what string, should bool, confidence float64, why string) {
	says := "no"
	if should {
		says = "yes"
	}
	line := fmt.Sprintf("%s: %s, confidence %.2f; %s", what, says, confidence, cli.Clean(why))
	s.Printf("%s", s.Screen.Paragraph(line, []cli.Span{{From: 0, To: len(what)}}, ""))
}
