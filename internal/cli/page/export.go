package page

import (
	"context"
	"errors"
	"fmt"
	"os"

	"emberd/internal/cli"
	"emberd/internal/page"
)

// export writes the page to a new file that only the user can read.
func export(ctx context.Context, s *cli.App, p *page.Page, name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	if err := errors.Join(p.Export(ctx, f), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	s.Printf("wrote the page to %s\n", cli.Clean(name))
	return nil
}
