package hookrun

import (
	"os"
	"path/filepath"

	"emberd/internal/project"
)

// OffFile is the file that turns hooks off in a folder and those below.
func OffFile(folder string) string { return filepath.Join(folder, ".emberd-off") }

// Off reports whether hooks are off in a folder: a file .emberd-off is in it or above it.
func Off(folder string) bool {
	for dir := range project.Above(folder) {
		if _, err := os.Lstat(OffFile(dir)); err == nil {
			return true
		}
	}
	return false
}
