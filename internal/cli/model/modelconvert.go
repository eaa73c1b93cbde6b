package model

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/models"
	"emberd/internal/text"
)

func modelConvertCommand(s *cli.App) *cobra.Command {
	var as, file string
	cmd := cli.Command("convert FOLDER", cli.ArgCount(1, 1, "the folder of a model"), nil,
		func(_ *cobra.Command, args []string) error {
			c, err := models.Convert(args[0], file, as)
			if err != nil {
				return engineError(err)
			}
			return s.Answer(c, func() { printConverted(s, c) })
		})
	cmd.Flags().StringVar(&as, "type", "q8_0", "")
	cmd.Flags().StringVarP(&file, "out", "o", "", "")
	return cmd
}

func printConverted(s *cli.App, c *models.Converted) {
	s.Printf("wrote %s\n", c.File)
	s.Note("%s, %d dimensions, %s, license %s", cli.Clean(c.Name), c.Dim, cli.Size(c.Bytes),
		cli.Clean(cmp.Or(c.Licence, "not told")))
	s.Note("to compute embeddings with the model, run: emberd model install %s, and then: emberd model use %s",
		text.ShellWord(c.File), text.ShellWord(strings.TrimSuffix(filepath.Base(c.File), ModelSuffix)))
}
