package clients

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/memory"
)

func TestFiles(t *testing.T) {
	for _, tt := range []struct{ name, mac, linux, project string }{
		{"claude-code", "/home/ada/.claude.json", "/home/ada/.claude.json", ".mcp.json"},
		{"claude-desktop", "/home/ada/Library/Application Support/Claude/claude_desktop_config.json", "/home/ada/.config/Claude/claude_desktop_config.json", ""},
		{"codex", "/home/ada/.codex/config.toml", "/home/ada/.codex/config.toml", ".codex/config.toml"},
		{"copilot", "/home/ada/.copilot/mcp-config.json", "/home/ada/.copilot/mcp-config.json", ""},
		{"cursor", "/home/ada/.cursor/mcp.json", "/home/ada/.cursor/mcp.json", ".cursor/mcp.json"},
		{"gemini-cli", "/home/ada/.gemini/settings.json", "/home/ada/.gemini/settings.json", ".gemini/settings.json"},
		{"opencode", "/home/ada/.config/opencode/opencode.json", "/home/ada/.config/opencode/opencode.json", "opencode.json"},
		{"vscode", "/home/ada/Library/Application Support/Code/User/mcp.json", "/home/ada/.config/Code/User/mcp.json", ".vscode/mcp.json"},
		{"vscode-insiders", "/home/ada/Library/Application Support/Code - Insiders/User/mcp.json", "/home/ada/.config/Code - Insiders/User/mcp.json", ".vscode/mcp.json"},
		{"windsurf", "/home/ada/.codeium/windsurf/mcp_config.json", "/home/ada/.codeium/windsurf/mcp_config.json", ""},
		{"zed", "/home/ada/.config/zed/settings.json", "/home/ada/.config/zed/settings.json", ".zed/settings.json"},
	} {
		c := client(t, tt.name)
		if got := c.File(machine("darwin", "/home/ada")); got != tt.mac {
			t.Errorf("%s on macOS: %s, want %s", tt.name, got, tt.mac)
		}
		if got := c.File(machine("linux", "/home/ada")); got != tt.linux {
			t.Errorf("%s on Linux: %s, want %s", tt.name, got, tt.linux)
		}
		got, err := c.ProjectFile("/src/kettle")
		if want := filepath.Join("/src/kettle", tt.project); tt.project != "" && got != want || (err == nil) != (tt.project != "") {
			t.Errorf("%s in a project: %s (%v), want %s", tt.name, got, err, want)
		}
	}
	if n := len(All()); n != 11 {
		t.Errorf("%d clients are known, but 11 are in this table", n)
	}
}

func TestFilesThatVariablesMove(t *testing.T) {
	m := machine("linux", "/home/ada", "XDG_CONFIG_HOME=/conf", "CODEX_HOME=/codex", "CLAUDE_CONFIG_DIR=/claude", "COPILOT_HOME=/copilot")
	for name, want := range map[string]string{
		"claude-code": "/claude/.claude.json", "claude-desktop": "/conf/Claude/claude_desktop_config.json", "codex": "/codex/config.toml",
		"copilot": "/copilot/mcp-config.json", "vscode": "/conf/Code/User/mcp.json", "zed": "/conf/zed/settings.json",
	} {
		if got := client(t, name).File(m); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	m = machine("linux", "/home/ada", "XDG_CONFIG_HOME=conf")
	if got, want := client(t, "zed").File(m), "/home/ada/.config/zed/settings.json"; got != want {
		t.Errorf("with a relative XDG_CONFIG_HOME: %s, want %s, since the standard ignores such", got, want)
	}
}

func machine(goos, home string, env ...string) Machine {
	return Machine{GOOS: goos, Home: home, Env: func(name string) string {
		for _, pair := range env {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value
			}
		}
		return ""
	}}
}

func client(t *testing.T, name string) *Client {
	t.Helper()
	for _, c := range All() {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no client %s", name)
	return nil
}

func TestFound(t *testing.T) {
	home := t.TempDir()
	m := machine("linux", home)
	for _, c := range All() {
		if c.Found(m) {
			t.Errorf("%s is found in an empty home", c.Name)
		}
		write(t, c.File(m), "{}")
		if !c.Found(m) {
			t.Errorf("%s is not found beside its own file", c.Name)
		}
	}
}

// A client that was installed and not yet started is found by its program.
func TestFoundOnPath(t *testing.T) {
	home := t.TempDir()
	bin := filepath.Join(home, "bin")
	m := machine("linux", home, "PATH=/usr/nowhere:"+bin)
	claude := client(t, "claude-code")
	write(t, filepath.Join(bin, claude.Program), "#!/bin/sh\n")
	if claude.Found(m) {
		t.Error("a file that cannot be run counts as the program")
	}
	if err := os.Chmod(filepath.Join(bin, claude.Program), 0o700); err != nil {
		t.Fatal(err)
	}
	if !claude.Found(m) || client(t, "codex").Found(m) {
		t.Error("got something else than Claude Code alone")
	}
}

var server = Server{Command: "/opt/bin/emberd", Args: []string{"mcp", "--home", "/home/ada/e"}}

// What each client's documentation shows, with emberd in it.
func TestSnippets(t *testing.T) {
	const command = `"command":"/opt/bin/emberd","args":["mcp","--home","/home/ada/e"]`
	for name, want := range map[string]string{
		"claude-code":     `{"mcpServers":{"emberd":{"type":"stdio",` + command + `}}}`,
		"claude-desktop":  `{"mcpServers":{"emberd":{` + command + `}}}`,
		"copilot":         `{"mcpServers":{"emberd":{"type":"local",` + command + `,"tools":["*"]}}}`,
		"cursor":          `{"mcpServers":{"emberd":{"type":"stdio",` + command + `}}}`,
		"gemini-cli":      `{"mcpServers":{"emberd":{` + command + `}}}`,
		"opencode":        `{"mcp":{"emberd":{"type":"local","command":["/opt/bin/emberd","mcp","--home","/home/ada/e"]}}}`,
		"vscode":          `{"servers":{"emberd":{"type":"stdio",` + command + `}}}`,
		"vscode-insiders": `{"servers":{"emberd":{"type":"stdio",` + command + `}}}`,
		"windsurf":        `{"mcpServers":{"emberd":{` + command + `}}}`,
		"zed":             `{"context_servers":{"emberd":{` + command + `}}}`,
		"codex":           "[mcp_servers.emberd]\ncommand = \"/opt/bin/emberd\"\nargs = [\"mcp\", \"--home\", \"/home/ada/e\"]\n",
	} {
		c := client(t, name)
		got, err := c.Snippet(server)
		if name != "codex" {
			got = compact(got)
		}
		if err != nil || got != want {
			t.Errorf("%s: %s (%v), want %s", name, got, err, want)
		}
	}
}

// compact is JSON without white space; no text in these has any.
func compact(text string) string { return strings.Join(strings.Fields(text), "") }

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func apply(t *testing.T, ch *Change, err error) (backup string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if backup, err = ch.Apply(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	return backup
}

const settings = `{
    // how I like it
    "theme": "One Dark",
    "context_servers": {
        "files": {"command": "files", "args": ["/src"]}, // mine
    },
}
`

// Added, the file is what it was and one entry; removed again, it is what it was.
// There is a copy of what it was before, until it is that again.
func TestAddAndRemove(t *testing.T) {
	c := client(t, "zed")
	file := filepath.Join(t.TempDir(), "settings.json")
	write(t, file, settings)
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	ch, err := c.Add(file, server, false)
	backup := apply(t, ch, err)
	if got := content(t, backup); got != settings {
		t.Errorf("the copy holds %q, want what the file held", got)
	}
	if want := file + ".emberd-backup-20260102T030405.000Z"; backup != want {
		t.Errorf("the copy is %s, want %s", backup, want)
	}
	added := strings.Replace(settings, "// mine\n", `// mine
        "emberd": {
            "command": "/opt/bin/emberd",
            "args": [
                "mcp",
                "--home",
                "/home/ada/e"
            ]
        },
`, 1)
	if got := content(t, file); got != added {
		t.Errorf("the file holds\n%s\nwant\n%s", got, added)
	}
	if !c.Has(file) {
		t.Error("emberd was added, but is said not to be there")
	}
	mode := func(name string) {
		t.Helper()
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != 0o640 {
			t.Fatalf("%s has mode %v (%v), want the 0640 that the file had", name, info, err)
		}
	}
	mode(backup)
	if ch, err = c.Add(file, server, false); err != nil || ch.Changes() {
		t.Errorf("added again: %v, changes %v; want none", err, ch.Changes())
	}

	ch, err = c.Remove(file, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ch.Apply(time.Now()); err != nil {
		t.Fatal(err)
	}
	if got := content(t, file); got != settings {
		t.Errorf("after removing, the file holds\n%s\nwant\n%s", got, settings)
	}
	mode(file)
	names, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*"))
	if err != nil || len(names) != 1 {
		t.Errorf("in the folder are %v (%v), want the file alone", names, err)
	}
}

// A file that was made for the entry goes with it, and one that a user made empty stays.
func TestRemoveLeavesNoFileOfItsOwn(t *testing.T) {
	for _, name := range []string{"claude-code", "codex", "zed", "opencode"} {
		for _, before := range []string{"", " "} {
			c, file := client(t, name), filepath.Join(t.TempDir(), "settings")
			if before != "" {
				write(t, file, before)
			}
			ch, err := c.Add(file, server, false)
			if err == nil {
				_, err = ch.Apply(time.Now())
			}
			if err == nil {
				ch, err = c.Remove(file, false)
			}
			if err == nil {
				_, err = ch.Apply(time.Now())
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if _, err := os.Stat(file); os.IsNotExist(err) != (before == "") {
				t.Errorf("%s: after %q the file is there: %v", name, before, err == nil)
			}
		}
	}
}

// An entry of ours keeps what the user put into it; another is not ours to change.
func TestEntriesThatAreThere(t *testing.T) {
	for _, tt := range []struct{ name, before, after, forced, refusal string }{
		{
			"ours, elsewhere",
			`{"mcpServers":{"emberd":{"command":"/old/emberd","args":["mcp"],"disabled":true},"b":{}}}`,
			`{"mcpServers":{"emberd":{"command":"/opt/bin/emberd","args":["mcp","--home","/home/ada/e"],"disabled":true},"b":{}}}`,
			"", "",
		},
		{
			"somebody else's",
			`{"mcpServers":{"emberd":{"command":"npx","args":["ember-daemon"]},"b":{}}}`, "",
			`{"mcpServers":{"emberd":{"command":"/opt/bin/emberd","args":["mcp","--home","/home/ada/e"]},"b":{}}}`,
			`entry emberd already exists and starts another program ({"command":"npx","args":["ember-daemon"]}); to replace the entry, use --force`,
		},
		{
			"a server at a URL",
			`{"mcpServers":{"emberd":{"url":"http://127.0.0.1:1/mcp"}}}`, "",
			`{"mcpServers":{"emberd":{"command":"/opt/bin/emberd","args":["mcp","--home","/home/ada/e"]}}}`,
			`to replace the entry, use --force`,
		},
	} {
		c := client(t, "claude-desktop")
		file := filepath.Join(t.TempDir(), "claude_desktop_config.json")
		write(t, file, tt.before)
		ch, err := c.Add(file, server, false)
		if tt.refusal != "" {
			if memory.CodeOf(err) != memory.Conflict || !strings.Contains(err.Error(), tt.refusal) || !strings.Contains(err.Error(), file) {
				t.Errorf("%s: %v, want a conflict in %s: %s", tt.name, err, file, tt.refusal)
			}
			if _, err := c.Remove(file, false); memory.CodeOf(err) != memory.Conflict {
				t.Errorf("%s, remove: %v, want a conflict", tt.name, err)
			}
			ch, err = c.Add(file, server, true)
		}
		apply(t, ch, err)
		if got, want := compact(content(t, file)), tt.after+tt.forced; got != want {
			t.Errorf("%s: %s, want %s", tt.name, got, want)
		}
	}
}

// The file that a link leads to is changed, and the link stays.
func TestLinks(t *testing.T) {
	c := client(t, "cursor")
	home := t.TempDir()
	real, link := filepath.Join(home, "dotfiles", "mcp.json"), filepath.Join(home, ".cursor", "mcp.json")
	write(t, real, "{}")
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	ch, err := c.Add(link, server, false)
	backup := apply(t, ch, err)
	if filepath.Dir(backup) != filepath.Dir(real) {
		t.Errorf("the copy is %s, want it beside %s", backup, real)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v (%v)", info.Mode(), err)
	}
	if !c.Has(real) {
		t.Errorf("%s holds %s, want emberd in it", real, content(t, real))
	}

	if err := os.Remove(real); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Add(link, server, false); err == nil || !strings.Contains(err.Error(), "is a link to a missing file") {
		t.Errorf("a dangling link: %v, want it told", err)
	}
}

// What cannot be understood is not touched, and nor is what is no file.
func TestRefusals(t *testing.T) {
	c := client(t, "claude-desktop")
	for text, want := range map[string]string{
		"{\n  \"mcpServers\": {\n    \"a\": 1,\n  }\n}": "comments and trailing commas are not allowed in this file; nothing was changed; fix the file first",
		"{\"mcpServers\": []}":                          `line 1, column 16: "mcpServers" is not a JSON object`,
		"[1]":                                           "the text is not a JSON object",
	} {
		file := filepath.Join(t.TempDir(), "config.json")
		write(t, file, text)
		if _, err := c.Add(file, server, true); memory.CodeOf(err) != memory.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		if got := content(t, file); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if _, err := c.Add(t.TempDir(), server, false); err == nil || !strings.Contains(err.Error(), "is not a regular file; rename it or move it to another folder") {
		t.Errorf("a folder: %v, want it told", err)
	}
}

// Each client's own kind of file takes the entry, moves it and gives it back.
func TestEveryKindOfFile(t *testing.T) {
	for name, text := range map[string]string{
		"claude-code": "{}\n", "codex": "model = \"gpt-5\" # mine\n\n[mcp_servers.files]\ncommand = \"files\"\n",
		"opencode": "{\n  // mine\n  \"mcp\": {\"files\": {\"type\": \"local\", \"command\": [\"files\"]}}\n}\n",
	} {
		c := client(t, name)
		file := filepath.Join(t.TempDir(), "config")
		write(t, file, text)
		ch, err := c.Add(file, Server{Command: "/old/emberd", Args: []string{"mcp"}}, false)
		apply(t, ch, err)
		if ch, err = c.Add(file, server, false); err != nil || !ch.Changes() {
			t.Fatalf("%s: moved, changes %v (%v)", name, ch.Changes(), err)
		}
		if _, err := ch.Apply(time.Now()); err != nil {
			t.Fatal(err)
		}
		if got := c.Args(file); !c.Has(file) || !slices.Equal(got, server.Args) {
			t.Errorf("%s starts emberd with %q, want %q, in\n%s", name, got, server.Args, content(t, file))
		}
		if ch, err = c.Remove(file, false); err != nil {
			t.Fatal(err)
		}
		if _, err := ch.Apply(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		if got := content(t, file); got != text && name != "claude-code" {
			t.Errorf("%s: in the end the file holds\n%s\nwant\n%s", name, got, text)
		}
	}
}

// OpenCode reads the file with comments last, so that an entry in the other one may not count.
func TestOpenCodeWithComments(t *testing.T) {
	home := t.TempDir()
	m := machine("linux", home)
	file := filepath.Join(home, ".config", "opencode", "opencode.jsonc")
	write(t, file, "{}")
	if got := client(t, "opencode").File(m); got != file {
		t.Errorf("the file is %s, want %s", got, file)
	}
}

// A new file is for its user alone.
func TestNewFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "Code", "User", "mcp.json")
	ch, err := client(t, "vscode").Add(file, server, false)
	if backup := apply(t, ch, err); backup != "" {
		t.Errorf("a copy %s of nothing was made", backup)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v (%v), want 0600", info.Mode(), err)
	}
	var v map[string]map[string]Server
	if err := json.Unmarshal([]byte(content(t, file)), &v); err != nil || !slices.Equal(v["servers"]["emberd"].Args, server.Args) {
		t.Errorf("the new file holds %s (%v)", content(t, file), err)
	}
}

// The program that a file belongs to may write it meanwhile: that counts.
func TestAnotherWriter(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mcp.json")
	write(t, file, "{}")
	ch, err := client(t, "windsurf").Add(file, server, false)
	if err != nil {
		t.Fatal(err)
	}
	const newer = `{"mcpServers":{"other":{}}}`
	write(t, file, newer)
	if _, err := ch.Apply(time.Now()); memory.CodeOf(err) != memory.Conflict {
		t.Errorf("got %v, want a conflict", err)
	}
	if got := content(t, file); got != newer {
		t.Errorf("the file holds %s, want what was written last", got)
	}
	if left, _ := filepath.Glob(file + "*.tmp"); len(left) > 0 {
		t.Errorf("%v was left behind", left)
	}
}

// A file that its user has closed, or that another program generates, is not replaced.
func TestReadOnlyFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mcp.json")
	write(t, file, "{}")
	if err := os.Chmod(file, 0o444); err != nil {
		t.Fatal(err)
	}
	ch, err := client(t, "windsurf").Add(file, server, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ch.Apply(time.Now()); memory.CodeOf(err) != memory.Forbidden || !strings.Contains(err.Error(), "is read-only") {
		t.Errorf("got %v, want that the file is read-only", err)
	}
	if names, _ := os.ReadDir(filepath.Dir(file)); content(t, file) != "{}" || len(names) != 1 {
		t.Errorf("the file holds %s, and beside it are %v; want it as it was", content(t, file), names)
	}
}

// The page that users read has every client, with the folder or file it keeps.
func TestDocumentation(t *testing.T) {
	page := content(t, "../../docs/agents.md")
	for _, c := range All() {
		_, row, ok := strings.Cut(page, "\n| `"+c.Name+"` | ")
		row, _, _ = strings.Cut(row, "\n")
		if !ok || c.project != "" && !strings.Contains(row, "`"+c.project+"`") {
			t.Errorf("docs/agents.md says %q of %s, want a row with %s", row, c.Name, c.project)
		}
	}
}
