// Package project names the project that a folder belongs to: the git repository around it. Hooks, the MCP server and
// the command line call it the same. It reads the file system and may be called by several goroutines.
package project

import (
	"iter"
	"os"
	"path/filepath"
	"strings"

	"emberd/internal/durable"
)

// maxUp bounds how many folders above one are looked at.
const maxUp = 64

// Above yields a folder and those above it, the closest first; none for a relative path.
func Above(folder string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !filepath.IsAbs(folder) {
			return
		}
		dir := filepath.Clean(folder)
		for range maxUp {
			if !yield(dir) || dir == filepath.Dir(dir) {
				return
			}
			dir = filepath.Dir(dir)
		}
	}
}

// Root is the root of the git repository, or of the worktree, that a folder is in, "" if it is in none.
func Root(folder string) string {
	for dir := range Above(folder) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
	}
	return ""
}

// Of names the git repository that a folder is in, "" if it is in none. A worktree has the name of the repository
// that it belongs to.
func Of(folder string) string {
	root := Root(folder)
	if root == "" {
		return ""
	}
	if name := linked(root); name != "" {
		return name
	}
	return filepath.Base(root)
}

// OfSession names the project of a session with an agent: the git repository of its folder, or the folder, which may be
// gone; "" for none and for the root of the file system.
func OfSession(folder string) string {
	if name := Of(folder); name != "" || !filepath.IsAbs(folder) {
		return name
	}
	return strings.Trim(filepath.Base(folder), string(filepath.Separator))
}

// Here is the project of the working directory, "" for none.
func Here() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return Of(dir)
}

// Main is the git repository whose worktree a folder is in, "" if it is in none.
func Main(folder string) string { return repositoryOf(Root(folder)) }

// linked names the repository of a worktree, "" of another folder.
func linked(dir string) string {
	repository := repositoryOf(dir)
	if repository == "" {
		return ""
	}
	return strings.TrimSuffix(filepath.Base(repository), ".git") // a bare one has it
}

// repositoryOf is the repository of a worktree: its .git is a file that leads to REPOSITORY/.git/worktrees/NAME. It
// returns "" for another folder with such a file, as a submodule.
func repositoryOf(dir string) string {
	info, err := os.Lstat(filepath.Join(dir, ".git"))
	if dir == "" || err != nil || !info.Mode().IsRegular() {
		return ""
	}
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
		return filepath.Dir(git)
	}
	return git
}
