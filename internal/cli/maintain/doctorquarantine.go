package maintain

import (
	"cmp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/op"
)

func quarantineCommand(s *cli.App) *cobra.Command {
	return cli.Group("quarantine",
		quarantineListCommand(s), quarantineShowCommand(s), quarantineAcceptCommand(s),
		quarantineDropCommand(s))
}

func quarantineListCommand(s *cli.App) *cobra.Command {
	return cli.Command("list", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		res, err := cli.Reach(cmd.Context(), s, op.QuarantineList, &op.QuarantineListRequest{})
		if err != nil {
			return err
		}
		return s.Found(res, len(res.Lines), func() {
			for _, l := range res.Lines {
				printQuarantined(s, &l)
			}
			if len(res.Lines) == 0 {
				s.Note("no damaged lines to review")
			}
		})
	})
}

func printQuarantined(s *cli.App, l *op.QuarantinedLine) {
	at := ""
	if !l.At.IsZero() {
		at = l.At.In(s.Zone).Format(time.DateTime)
	}
	says := strings.Join(cli.NonEmpty(at, cli.Clean(l.Verb), cli.Clean(l.Op), string(l.ID)), " ")
	s.Printf("%s  %s\n", s.Screen.Paint(cli.Yellow, cli.Clean(l.Name)), cmp.Or(says, "not readable"))
	s.Printf("    %s, %d bytes\n", cli.Clean(l.Reason), l.Bytes)
	if !l.Acceptable {
		s.Printf("    emberd cannot accept this line: %s\n", cli.Clean(l.Hindrance))
	}
}

func quarantineShowCommand(s *cli.App) *cobra.Command {
	return cli.Command("show LINE", cli.ArgCount(1, 1, "the name of one line"), s.Offer(completeQuarantine),
		func(cmd *cobra.Command, args []string) error {
			res, err := cli.Reach(cmd.Context(), s, op.QuarantineShow, &op.QuarantineShowRequest{ID: args[0]})
			if err != nil {
				return err
			}
			return s.Answer(res, func() {
				printQuarantined(s, &res.Line)
				if res.Line.Acceptable && len(res.Changes) == 0 {
					s.Printf("    accepting this line would change nothing, because " +
						"newer records replace all values of the line\n")
				}
				for _, f := range res.Changes {
					cli.PrintField(s, f)
				}
				s.Printf("\n%s\n", cli.Clean(strings.TrimRight(res.Text, "\r\n")))
			})
		})
}

func quarantineAcceptCommand(s *cli.App) *cobra.Command {
	return cli.Command("accept LINE…", cli.ArgCount(1, -1, "one or more line names"),
		s.Offer(completeQuarantine),
		func(cmd *cobra.Command, args []string) error {
			return eachLine(s, args, func(name string) (*op.QuarantineAcceptResult, error) {
				return cli.Reach(cmd.Context(), s, op.QuarantineAccept, &op.QuarantineAcceptRequest{ID: name})
			}, func(res *op.QuarantineAcceptResult) {
				if res.Tx == "" {
					s.Printf("accepted %s; nothing changed, because newer records replace all values of the line\n",
						res.Name)
					return
				}
				s.Printf("accepted %s: memory %s\n", res.Name, s.Short(res.ID))
				s.UndoHint(res.Tx)
			})
		})
}

func quarantineDropCommand(s *cli.App) *cobra.Command {
	return cli.Command("drop LINE…", cli.ArgCount(1, -1, "one or more line names"), s.Offer(completeQuarantine),
		func(cmd *cobra.Command, args []string) error {
			return eachLine(s, args, func(name string) (*op.QuarantineDropResult, error) {
				return cli.Reach(cmd.Context(), s, op.QuarantineDrop, &op.QuarantineDropRequest{ID: name})
			}, func(res *op.QuarantineDropResult) { s.Printf("dropped %s\n", res.Name) })
		})
}

// eachLine decides about one line after the other and tells each decision.
func eachLine[Res any](s *cli.App, names []string, decide func(string) (*Res, error), print func(*Res)) error {
	done := []*Res{}
	for _, name := range names {
		res, err := decide(name)
		if err != nil {
			return err
		}
		if done = append(done, res); !s.JSON {
			print(res)
		}
	}
	if s.JSON {
		return s.PrintJSON(map[string]any{"lines": done})
	}
	return nil
}

// completeQuarantine offers the damaged lines that wait for a decision.
func completeQuarantine(s *cli.App, cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	return cli.Offered(cmd, s, op.QuarantineList, &op.QuarantineListRequest{},
		func(res *op.QuarantineListResult) []op.QuarantinedLine { return res.Lines },
		func(l *op.QuarantinedLine) cobra.Completion {
			return cobra.CompletionWithDesc(l.Name, strings.TrimSpace(l.Verb+" "+l.ID.Short()))
		})
}
