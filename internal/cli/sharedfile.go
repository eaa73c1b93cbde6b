package cli

import (
	"os"
	"path/filepath"
)

// SharedFile is one that a package has for every user.
type SharedFile struct {
	Name string // below its folder
	Text []byte
}

// WriteShared writes files that everybody may read, as far as the umask lets them.
func WriteShared(s *App, folder string, files []SharedFile) error {
	written := []string{}
	for _, f := range files {
		path := filepath.Join(folder, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return &Exit{Code: ExitDisk, Err: err}
		}
		if err := os.WriteFile(path, f.Text, 0o644); err != nil {
			return &Exit{Code: ExitDisk, Err: err}
		}
		written = append(written, path)
	}
	return s.Answer(map[string]any{"written": written}, func() {
		s.Printf("%s in %s\n", Count(len(files), "file", "files"), Clean(folder))
	})
}
