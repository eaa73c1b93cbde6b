package hookrun

import (
	"os"
	"path/filepath"
	"strings"

	"emberd/internal/durable"
)

// maxUp bounds how many folders above one are looked at.
const maxUp = 64

// above calls look with a folder and those above it until it returns true.
func above(folder string, look func(dir string) bool) {
	if !filepath.IsAbs(folder) {
		return
	}
	dir := filepath.Clean(folder)
	for range maxUp {
		if look(dir) || dir == filepath.Dir(dir) {
			return
		}
		dir = filepath.Dir(dir)
	}
}

// Off reports whether hooks are off in a folder: a file .emberd-off is in it or above it.
func Off(folder string) (off bool) {
	above(folder, func(dir string) bool {
		_, err := os.Lstat(filepath.Join(dir, ".emberd-off"))
		off = err == nil
		return off
	})
	return off
}

// Project names the git repository that a folder is in, "" if it is in none. A worktree has the name of
// the repository that it belongs to.
func Project(folder string) (name string) {
	above(folder, func(dir string) bool {
		info, err := os.Lstat(filepath.Join(dir, ".git"))
		switch {
		case err != nil:
			return false
		case info.Mode().IsRegular():
			name = linked(dir)
		}
		if name == "" {
			name = filepath.Base(dir)
		}
		return true
	})
	return name
}

// Dotted is the project that a flag names: a dot is the one of the working directory.
func Dotted(name string) string {
	if name != "." {
		return name
	}
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return Project(dir)
}

// linked names the repository of a worktree: its .git is a file that leads to REPOSITORY/.git/worktrees/NAME. It
// returns "" for another folder with such a file, as a submodule.
func linked(dir string) string {
	text, err := durable.ReadGiven(filepath.Join(dir, ".git"), 4<<10)
	to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
	if err != nil || !ok {
		return ""
	}
	if to = strings.TrimSpace(to); !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	worktrees := filepath.Dir(filepath.Clean(to))
	if filepath.Base(worktrees) != "worktrees" {
		return ""
	}
	git := filepath.Dir(worktrees)
	if filepath.Base(git) == ".git" {
		return filepath.Base(filepath.Dir(git))
	}
	return strings.TrimSuffix(filepath.Base(git), ".git") // a bare repository
}
