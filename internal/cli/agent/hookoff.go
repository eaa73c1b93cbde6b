package agent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/hookrun"
	"emberd/internal/project"
	"emberd/internal/text"
	"emberd/memory"
)

// switched is what a command that turns hooks off or on did; with --json it is the result.
type switched struct {
	Folder  string `json:"folder"`
	Off     bool   `json:"off"`
	Changed bool   `json:"changed"`
}

func hookOffCommand(s *cli.App) *cobra.Command {
	return cli.Command("off [FOLDER]", cli.ArgCount(0, 1, "a folder, or none"), nil,
		func(_ *cobra.Command, args []string) error {
			root, err := sessionRoot(args)
			if err != nil {
				return err
			}
			f, err := os.OpenFile(hookrun.OffFile(root), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
			if err == nil {
				err = f.Close()
			} else if errors.Is(err, fs.ErrExist) {
				return printSwitched(s, &switched{root, true, false})
			}
			if err != nil {
				return err
			}
			return printSwitched(s, &switched{root, true, true})
		})
}

func hookOnCommand(s *cli.App) *cobra.Command {
	return cli.Command("on [FOLDER]", cli.ArgCount(0, 1, "a folder, or none"), nil,
		func(_ *cobra.Command, args []string) error {
			root, err := sessionRoot(args)
			if err != nil {
				return err
			}
			err = os.Remove(hookrun.OffFile(root))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if file := hookrun.OffBy(root); file != "" {
				return memory.Errorf(memory.Conflict,
					"hooks are still off in %s because of the file %s; to turn them on, run: emberd hook on %s", root,
					file, text.ShellWord(filepath.Dir(file)))
			}
			return printSwitched(s, &switched{root, false, err == nil})
		})
}

// sessionRoot is the folder that hooks are turned off in: the repository around the one that is named, or that itself.
func sessionRoot(args []string) (string, error) {
	dir := "."
	if len(args) > 0 {
		dir = args[0]
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", memory.Errorf(memory.NotFound, "%s is not a folder; pass an existing folder", dir)
	}
	if root := project.Root(dir); root != "" {
		return root, nil
	}
	return dir, nil
}

func printSwitched(s *cli.App, r *switched) error {
	return s.Answer(r, func() {
		switch folder := cli.Flat(r.Folder); {
		case r.Off && r.Changed:
			s.Printf("turned off hooks in %s and its subfolders\n", folder)
			s.Note("to turn them on again, run: emberd hook on %s", folder)
		case r.Off:
			s.Printf("hooks were already off in %s\n", folder)
		case r.Changed:
			s.Printf("hooks are on in %s\n", folder)
		default:
			s.Printf("hooks were already on in %s\n", folder)
		}
	})
}
