package memories

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"emberd/internal/cli"
	"emberd/memory"
)

// draft is a text that somebody wrote in an editor, with the file it lies in
// until it is discarded, so that a failed save does not lose it.
type draft struct {
	text string
	file string
}

func (d *draft) discard() { os.RemoveAll(filepath.Dir(d.file)) }

// keep adds to an error where the text still is.
func (d *draft) keep(err error) error {
	return fmt.Errorf("%w\nyour text was saved to %s", err, d.file)
}

// compose opens $VISUAL, $EDITOR or vi on text, in a file only the user reads.
func compose(ctx context.Context, s *cli.App, text string) (*draft, error) {
	dir, err := os.MkdirTemp("", "emberd-")
	if err != nil {
		return nil, fmt.Errorf("cannot create a file for the text: %w", err)
	}
	d := &draft{file: filepath.Join(dir, "memory.md")}
	if err := os.WriteFile(d.file, []byte(text), 0o600); err != nil {
		d.discard()
		return nil, fmt.Errorf("cannot write the text for the editor: %w", err)
	}
	if err := openEditor(ctx, s, d.file); err != nil {
		d.discard()
		return nil, err
	}
	after, err := os.ReadFile(d.file)
	if err != nil {
		d.discard()
		return nil, fmt.Errorf("cannot read the edited text: %w", err)
	}
	d.text = strings.TrimSuffix(string(after), "\n")
	return d, nil
}

// openEditor runs the editor through the shell, as git does, since $EDITOR may
// hold arguments.
func openEditor(ctx context.Context, s *cli.App, file string) error {
	editor := cmp.Or(namedEditor(), "vi")
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", editor+` "$@"`, editor, file)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.Stdin, s.Terminal, s.Stderr
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		return memory.Errorf(memory.Invalid,
			"editor %q failed (%v); nothing was changed; set VISUAL or EDITOR to a working editor", editor, err)
	}
	if err != nil {
		return fmt.Errorf("cannot open the editor: %w", err)
	}
	return nil
}

// namedEditor is the editor that the user asked for, "" when none.
func namedEditor() string { return cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR")) }
