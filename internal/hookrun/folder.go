package hookrun

import (
	"os"
	"path/filepath"

	"emberd/internal/project"
)

// Off reports whether hooks are off in a folder: a file .emberd-off is in it or above it.
func Off(folder string) bool {
	for dir := range project.Above(folder) {
		if _, err := os.Lstat(filepath.Join(dir, ".emberd-off")); err == nil {
			return true
		}
	}
	return false
}
