package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"emberd/memory"
)

// checkTokens looks at who can read the files with tokens and their secrets. None of them
// is opened.
func (s *state) checkTokens(context.Context) ([]check, error) {
	c, err := s.load()
	if err != nil {
		return nil, err
	}
	secrets, err := filepath.Glob(filepath.Join(globbed(c.State), "tokens", "*.secret"))
	if err != nil {
		return nil, memory.Errorf(memory.Internal, "list the secrets of tokens: %w", err)
	}
	files := append(secrets, filepath.Join(c.State, "tokens.json"))
	if c.TokenFile != "" {
		files = append(files, c.TokenFile)
	}
	var found []check
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o077 != 0 {
			found = append(found, openToOthers(file, info.Mode()))
		}
	}
	return found, nil
}

// openToOthers is the finding about one file.
func openToOthers(file string, mode fs.FileMode) check {
	return check{Name: "tokens", Text: fmt.Sprintf("%s can be read by others (mode %04o): whoever did has what its token allows; emberd does not take it like that", file, mode.Perm()),
		Next: "chmod 600 " + quoted(file)}
}
