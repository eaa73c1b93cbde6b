package transcript

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A File is a transcript on disk.
type File struct {
	Agent    string
	Path     string
	Size     int64 // bytes
	Modified time.Time
}

// A place is where an agent keeps its sessions.
type place struct {
	variable string // that names the folder, if it is set
	below    string // the folder below the one that the variable names
	home     string // the folder below the home directory otherwise
	patterns []string
}

var places = map[string]place{
	// Not the transcripts of subagents, in a folder beside that of their session.
	ClaudeCode: {"CLAUDE_CONFIG_DIR", "", ".claude", []string{"projects/*/*.jsonl"}},
	Codex: {"CODEX_HOME", "", ".codex", []string{
		"sessions/*/*/*/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl",
	}},
	Copilot: {"COPILOT_HOME", "", ".copilot", []string{"session-state/*/events.jsonl"}},
	GeminiCLI: {"GEMINI_CLI_HOME", ".gemini", ".gemini", []string{
		"tmp/*/chats/session-*.json", "tmp/*/chats/session-*.jsonl",
	}},
	Antigravity: {"", "", ".gemini", []string{"antigravity*/brain/*/.system_generated/logs/transcript.jsonl"}},
	OpenCode:    {"XDG_DATA_HOME", "opencode", ".local/share/opencode", []string{"opencode.db"}},
}

// Agents returns the agents whose sessions can be read, in order.
func Agents() []string { return sortedNames(places) }

// Find returns the transcripts of agents, or of all where agents is empty, the oldest change first. home is the
// home directory; env returns a variable of the environment, such as CLAUDE_CONFIG_DIR, CODEX_HOME and
// COPILOT_HOME, which move the folders. A folder that is missing or cannot be read has no transcripts. It
// fails with [ErrAgent].
func Find(home string, env func(string) string, agents []string) (all []File, err error) {
	if len(agents) == 0 {
		agents = Agents()
	}
	for _, agent := range agents {
		kept, ok := places[agent]
		if !ok {
			return nil, fmt.Errorf("%w %q", ErrAgent, agent)
		}
		all = append(all, kept.files(agent, kept.folder(home, env))...)
	}
	slices.SortStableFunc(all, func(a, b File) int {
		return cmp.Or(a.Modified.Compare(b.Modified), cmp.Compare(a.Path, b.Path))
	})
	return all, nil
}

// folder returns the folder of an agent.
func (p place) folder(home string, env func(string) string) string {
	if p.variable != "" && env(p.variable) != "" {
		return filepath.Join(env(p.variable), p.below)
	}
	return filepath.Join(home, filepath.FromSlash(p.home))
}

// files returns the regular files in a folder that the patterns name.
func (p place) files(agent, folder string) (all []File) {
	root := os.DirFS(folder)
	for _, pattern := range p.patterns {
		names, err := fs.Glob(root, pattern)
		if err != nil {
			panic(err) // a pattern above is malformed
		}
		for _, name := range names {
			if info, err := fs.Stat(root, name); err == nil && info.Mode().IsRegular() {
				path := filepath.Join(folder, filepath.FromSlash(name))
				all = append(all, File{agent, path, info.Size(), info.ModTime()})
			}
		}
	}
	return all
}
