package fetch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"emberd/internal/durable"
)

// copyFile brings a file of this machine. It always starts anew: reading it again to know how
// far the last one came would take as long.
func copyFile(ctx context.Context, o *Options, p *partial) (*File, error) {
	from, size, err := openSource(o.Source)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	if err := checkSize(o, size); err != nil {
		return nil, err
	}
	free, err := durable.OS{}.Free(filepath.Dir(p.to))
	if err == nil && free < uint64(size) {
		return nil, tooLittle(filepath.Dir(p.to), free, size)
	}
	if err := p.reset(); err != nil {
		return nil, Explain(err, filepath.Dir(p.to))
	}
	p.note = note{Total: size}
	if err := pour(ctx, o, p, from); err != nil {
		p.remove()
		if refused, ok := errors.AsType[*refusal](err); ok {
			return nil, refused.error
		}
		return nil, fmt.Errorf("copy %s: %w", o.Source, Explain(err, filepath.Dir(p.to)))
	}
	return p.finish(o)
}

func openSource(source string) (*os.File, int64, error) {
	info, err := os.Stat(source)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, fmt.Errorf("there is no file %s: check its path", source)
	case err != nil:
		return nil, 0, fmt.Errorf("%s cannot be read: %w", source, err)
	case !info.Mode().IsRegular():
		return nil, 0, fmt.Errorf("%s is not a file: name the file itself", source)
	}
	f, err := os.Open(source)
	if err != nil {
		return nil, 0, fmt.Errorf("%s cannot be read: %w", source, err)
	}
	return f, info.Size(), nil
}
