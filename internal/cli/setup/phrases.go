package setup

import (
	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/intent"
)

func configPhrasesCommand(s *cli.App) *cobra.Command {
	return cli.Command("phrases", cli.NoArgs, nil, func(*cobra.Command, []string) error {
		return s.Answer(map[string]string{"phrases": string(intent.DefaultFile())}, func() {
			s.Printf("%s", intent.DefaultFile())
		})
	})
}
