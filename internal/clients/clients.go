// Package clients knows where the clients of the Model Context Protocol keep the list
// of servers that they start, and puts emberd on that list.
//
// Where and how each keeps it is from its own documentation:
//
//   - claude-desktop: https://modelcontextprotocol.io/quickstart/user
//   - claude-code: https://code.claude.com/docs/en/mcp
//   - codex: https://developers.openai.com/codex/mcp
//   - copilot: https://docs.github.com/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers
//   - cursor: https://cursor.com/docs/mcp
//   - gemini-cli: https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md
//   - opencode: https://opencode.ai/docs/mcp-servers
//   - vscode: https://code.visualstudio.com/docs/agents/reference/mcp-configuration
//   - windsurf: https://docs.windsurf.com/windsurf/cascade/mcp
//   - zed: https://zed.dev/docs/ai/mcp
//
// These files belong to other programs and to the people who edit them: everything
// but the one entry stays as it is, byte for byte, the file is replaced as a whole or
// not at all, and what it held before is kept beside it. A file that is not
// well-formed is left alone, and so is one in which emberd cannot be put without touching
// other bytes: [Client.Snippet] is for the user to put in.
package clients

import (
	"os"
	"path/filepath"
	"slices"

	"emberd/internal/jsonedit"
	"emberd/memory"
)

// Machine is where to look for clients.
type Machine struct {
	GOOS string              // as runtime.GOOS
	Home string              // the user's home directory
	Env  func(string) string // as os.Getenv
}

// Client is one program that starts servers.
type Client struct {
	Name    string // as it is typed
	Title   string // as it calls itself
	Restart string // what makes it read the file again, "" when it notices by itself

	Program string // which a shell finds, "" for a program with windows

	user    func(m Machine) string   // the file for all projects
	marks   func(m Machine) []string // any of which is there once it was started; nil for the folder of the file
	project string                   // the file below the root of a project, "" for none
	keys    []string                 // on the way to the servers
	dialect jsonedit.Dialect
	toml    bool
	form    form
	hooks   *hookForm // nil if it is not known how the client runs hooks
}

// form is what an entry has besides the command and its arguments.
type form struct {
	Type  string
	Tools []string
	List  bool // the command and its arguments are one list
}

// name is the server's in every list.
const name = "emberd"

// All lists the clients that are known, by name. It returns a fresh slice.
func All() []*Client {
	mcpServers, servers := []string{"mcpServers"}, []string{"servers"}
	return []*Client{
		{Name: "claude-code", Title: "Claude Code", Program: "claude", Restart: "start a new session",
			user: claudeCode, marks: claudeMarks, project: ".mcp.json", keys: mcpServers, form: form{Type: "stdio"},
			hooks: claudeHooks()},
		{Name: "claude-desktop", Title: "Claude Desktop", Restart: "quit the program and start it again",
			user: inConfig("Claude", "claude_desktop_config.json"), keys: mcpServers},
		{Name: "codex", Title: "Codex", Program: "codex", Restart: "start a new session",
			user: inHome("CODEX_HOME", ".codex", "config.toml"), project: ".codex/config.toml",
			keys: []string{"mcp_servers"}, toml: true,
			hooks: codexHooks()},
		{Name: "copilot", Title: "GitHub Copilot CLI", Program: "copilot", Restart: "start a new session",
			user: inHome("COPILOT_HOME", ".copilot", "mcp-config.json"), keys: mcpServers,
			form:  form{Type: "local", Tools: []string{"*"}},
			hooks: copilotHooks()},
		{Name: "cursor", Title: "Cursor", Restart: "restart it",
			user: inHome("", ".cursor", "mcp.json"), project: ".cursor/mcp.json", keys: mcpServers,
			dialect: jsonedit.Comments, form: form{Type: "stdio"},
			hooks: cursorHooks()},
		{Name: "gemini-cli", Title: "Gemini CLI", Program: "gemini", Restart: "start a new session",
			user: inHome("", ".gemini", "settings.json"), project: ".gemini/settings.json", keys: mcpServers,
			dialect: jsonedit.Comments,
			hooks:   geminiHooks()},
		{Name: "opencode", Title: "OpenCode", Program: "opencode", Restart: "start a new session",
			user: openCode, project: "opencode.json", keys: []string{"mcp"},
			dialect: jsonedit.Comments, form: form{Type: "local", List: true},
			hooks: openCodeHooks()},
		{Name: "vscode", Title: "VS Code", Restart: "start the server with the command \"MCP: List Servers\"",
			user: inConfig("Code", "User", "mcp.json"), project: ".vscode/mcp.json", keys: servers,
			dialect: jsonedit.Comments, form: form{Type: "stdio"}},
		{Name: "vscode-insiders", Title: "VS Code Insiders", Restart: "start the server with the " +
			"command \"MCP: List Servers\"",
			user: inConfig("Code - Insiders", "User", "mcp.json"), project: ".vscode/mcp.json", keys: servers,
			dialect: jsonedit.Comments, form: form{Type: "stdio"}},
		{Name: "windsurf", Title: "Windsurf", Restart: "refresh the list of MCP servers",
			user: inHome("", ".codeium", "windsurf", "mcp_config.json"), keys: mcpServers},
		{Name: "zed", Title: "Zed",
			user: zed, project: ".zed/settings.json", keys: []string{"context_servers"}, dialect: jsonedit.Comments},
	}
}

// inConfig returns a file where programs with windows keep their settings: the
// platform's folder for that.
func inConfig(path ...string) func(Machine) string {
	return func(m Machine) string {
		if m.GOOS == "darwin" {
			return filepath.Join(m.Home, "Library", "Application Support", filepath.Join(path...))
		}
		return filepath.Join(m.xdgConfig(), filepath.Join(path...))
	}
}

// inHome returns a file in a folder of the home directory, or in the one that a variable
// names.
func inHome(variable string, path ...string) func(Machine) string {
	return func(m Machine) string {
		if variable != "" {
			if dir := m.Env(variable); dir != "" {
				return filepath.Join(dir, filepath.Join(path[1:]...))
			}
		}
		return filepath.Join(m.Home, filepath.Join(path...))
	}
}

// claudeCode keeps its file in the home directory itself.
func claudeCode(m Machine) string {
	if dir := m.Env("CLAUDE_CONFIG_DIR"); dir != "" {
		return filepath.Join(dir, ".claude.json")
	}
	return filepath.Join(m.Home, ".claude.json")
}

// claudeMarks are its file, and the folder with its settings and transcripts.
func claudeMarks(m Machine) []string {
	file := claudeCode(m)
	if m.Env("CLAUDE_CONFIG_DIR") != "" {
		return []string{file}
	}
	return []string{file, filepath.Join(m.Home, ".claude")}
}

// zed follows XDG on Linux, and has the same folder everywhere else.
func zed(m Machine) string {
	if m.GOOS == "linux" {
		return filepath.Join(m.xdgConfig(), "zed", "settings.json")
	}
	return filepath.Join(m.Home, ".config", "zed", "settings.json")
}

// openCode has the same folder everywhere, and reads a file with comments last if there is one.
func openCode(m Machine) string {
	dir := filepath.Join(m.xdgConfig(), "opencode")
	if commented := filepath.Join(dir, "opencode.jsonc"); exists(commented) {
		return commented
	}
	return filepath.Join(dir, "opencode.json")
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func (m Machine) xdgConfig() string {
	if dir := m.Env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) { // as the standard has it
		return dir
	}
	return filepath.Join(m.Home, ".config")
}

// File returns where the client keeps the servers for all projects.
func (c *Client) File(m Machine) string { return c.user(m) }

// ProjectFile returns where it keeps those of the project with this root. Not every client
// has such a file.
func (c *Client) ProjectFile(root string) (string, error) {
	if c.project == "" {
		return "", memory.Errorf(memory.Invalid, "%s does not support MCP servers per project; omit --project", c.Title)
	}
	return filepath.Join(root, filepath.FromSlash(c.project)), nil
}

// Found reports whether the client seems to be on this machine: it was started at least
// once, or its program is in a folder of PATH.
func (c *Client) Found(m Machine) bool {
	return slices.ContainsFunc(c.Marks(m), exists) || c.Program != "" && m.onPath(c.Program)
}

// onPath reports whether a shell finds a program.
func (m Machine) onPath(program string) bool {
	return slices.ContainsFunc(filepath.SplitList(m.Env("PATH")), func(dir string) bool {
		info, err := os.Stat(filepath.Join(dir, program))
		return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
	})
}

// Marks are the files and folders that a client makes when it is started first.
func (c *Client) Marks(m Machine) []string {
	if c.marks != nil {
		return c.marks(m)
	}
	return []string{filepath.Dir(c.user(m))}
}
