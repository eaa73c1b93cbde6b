package main

import (
	"fmt"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"emberd/op"
)

func (s *state) openCommand() *cobra.Command {
	var onlyPrint bool
	cmd := &cobra.Command{
		Use:   "open ID|NOTE",
		Short: "Open a note in Obsidian",
		Long: `Open a note in Obsidian, or the note that was made of a memory. The link is
printed too, and only printed with --print or when the output is not a terminal.
A note is named by its path, its name, or an alias.`,
		Example: `  emberd open "Projects/Garden"
  emberd open 456789ab --print`,
		Annotations:       exits(endings{exitNothing: "no such note, or no vault", exitNoDaemon: ""}),
		Args:              takes(1, 1, "one memory id or note"),
		ValidArgsFunction: s.completeEither,
		RunE: func(cmd *cobra.Command, args []string) error {
			res, err := call(cmd.Context(), s, op.Open, &op.OpenRequest{Ref: args[0]})
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(res)
			}
			s.printf("%s\n", res.URI)
			if onlyPrint || s.screen.width == 0 {
				return nil
			}
			return launch(cmd, res.URI)
		},
	}
	cmd.Flags().BoolVar(&onlyPrint, "print", false, "only print the link")
	return cmd
}

// launch gives the link to whatever the desktop opens links with.
func launch(cmd *cobra.Command, uri string) error {
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	if err := exec.CommandContext(cmd.Context(), opener, uri).Run(); err != nil {
		return fmt.Errorf("%s could not open the link: %w; paste it into a browser", opener, err)
	}
	return nil
}
