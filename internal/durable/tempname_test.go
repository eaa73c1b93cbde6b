package durable_test

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"emberd/internal/durable"
)

// An error names the file that was asked for, and not the temporary one.
func TestErrorsNameTheFileThatWasAskedFor(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "missing", "a.tar.gz")
	create := durable.CreateFile(durable.OS{}, name, func(io.Writer) error { return nil })
	for verb, err := range map[string]error{"create ": create, "replace ": durable.ReplaceFile(durable.OS{}, name, nil)} {
		if err == nil || !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), verb+name+": ") ||
			strings.Contains(err.Error(), ".durable-") {
			t.Errorf("got %v", err)
		}
	}
}
