package hookrun

import (
	"os"
	"path/filepath"

	"emberd/internal/project"
)

// OffFile is the file that turns hooks off in a folder and those below.
func OffFile(folder string) string { return filepath.Join(folder, ".emberd-off") }

// Off reports whether hooks are off in a folder: a file .emberd-off is in it or above it, also
// where a symbolic link leads, or in the repository whose worktree it is.
func Off(folder string) bool { return OffBy(folder) != "" }

// OffBy returns the file that turns hooks off in a folder, "" if they are on.
func OffBy(folder string) string {
	real, _ := filepath.EvalSymlinks(folder) // "" if it is not there
	for _, start := range []string{folder, real, project.Main(folder)} {
		for dir := range project.Above(start) {
			if _, err := os.Lstat(OffFile(dir)); err == nil {
				return OffFile(dir)
			}
		}
	}
	return ""
}
