package page

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"emberd/internal/cli"
	"emberd/internal/page"
	"emberd/memory"
)

// export writes the page to a new file that only the user can read.
func export(ctx context.Context, s *cli.App, p *page.Page, name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return memory.Errorf(memory.Invalid, "%s already exists; choose another name, or delete it", cli.Clean(name))
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return memory.Errorf(memory.Invalid, "cannot write the page: %w", err)
	case err != nil:
		return fmt.Errorf("cannot write the page: %w", err)
	}
	if err := errors.Join(p.Export(ctx, f), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	s.Printf("wrote the page to %s\n", cli.Clean(name))
	return nil
}
