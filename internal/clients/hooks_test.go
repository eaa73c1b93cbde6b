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

func hookServer(c *Client) Server {
	return Server{Command: "/opt/my bin/emberd", Args: []string{"hook", "--home", "/home/ada/e", c.Name}}
}

// withHooks are the clients that have hooks.
func withHooks() (out []*Client) {
	for _, c := range All() {
		if c.Hooks() {
			out = append(out, c)
		}
	}
	return out
}

func TestHookFiles(t *testing.T) {
	m := machine("linux", "/home/ada")
	moved := machine("linux", "/home/ada", "XDG_CONFIG_HOME=/conf", "CODEX_HOME=/codex", "CLAUDE_CONFIG_DIR=/claude", "COPILOT_HOME=/copilot")
	want := map[string][2]string{
		"claude-code": {"/home/ada/.claude/settings.json", "/claude/settings.json"},
		"codex":       {"/home/ada/.codex/hooks.json", "/codex/hooks.json"},
		"copilot":     {"/home/ada/.copilot/hooks/emberd.json", "/copilot/hooks/emberd.json"},
		"cursor":      {"/home/ada/.cursor/hooks.json", "/home/ada/.cursor/hooks.json"},
		"gemini-cli":  {"/home/ada/.gemini/settings.json", "/home/ada/.gemini/settings.json"},
		"opencode":    {"/home/ada/.config/opencode/plugin/emberd.js", "/conf/opencode/plugin/emberd.js"},
	}
	if n := len(withHooks()); n != len(want) {
		t.Errorf("%d clients have hooks, want %d", n, len(want))
	}
	for _, c := range withHooks() {
		if got := [2]string{c.HookFile(m), c.HookFile(moved)}; got != want[c.Name] {
			t.Errorf("%s: %q, want %q", c.Name, got, want[c.Name])
		}
	}
}

// tree returns the files and folders below a folder, with what the files hold.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all[path] = content(t, path)
		} else {
			all[path] = "/"
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// others are files in which somebody else has something, and hooks of their own.
var others = map[string]string{
	"claude-code": "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\"matcher\": \"\", \"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}\n\t\t]\n\t}\n}",
	"codex":       "{\"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"guard\"}]}]}}\n",
	"cursor":      "{\n  \"version\": 1,\n  // mine\n  \"hooks\": {\n    \"stop\": [{ \"command\": \"say done\" },],\n  },\n}\n",
	"gemini-cli":  "{\r\n  \"theme\": \"x\",\r\n  \"mcpServers\": {}\r\n}\r\n",
	"copilot":     "", "opencode": "",
}

// Hooks are added once and removed without a trace, from nothing and beside what others have.
func TestHooksThereAndBack(t *testing.T) {
	for _, c := range withHooks() {
		for _, text := range []string{"", others[c.Name]} {
			home := t.TempDir()
			file := c.HookFile(machine("linux", home))
			if err := os.MkdirAll(filepath.Dir(c.File(machine("linux", home))), 0o700); err != nil {
				t.Fatal(err)
			}
			if c.Name == "claude-code" {
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if text != "" {
				write(t, file, text)
			}
			before := tree(t, home)
			if c.HasHooks(file) {
				t.Errorf("%s has hooks from the start", c.Name)
			}
			ch, err := c.AddHooks(file, hookServer(c), false)
			apply(t, ch, err)
			if !c.HasHooks(file) {
				t.Errorf("%s has no hooks in\n%s", c.Name, content(t, file))
			}
			again, err := c.AddHooks(file, hookServer(c), false)
			if err != nil || again.Changes() {
				t.Errorf("%s: a second time changes %t (%v)", c.Name, again != nil && again.Changes(), err)
			}
			ch, err = c.RemoveHooks(file, false)
			if err != nil || !ch.Changes() {
				t.Fatalf("%s: %v", c.Name, err)
			}
			if _, err := ch.Apply(time.Now().Add(time.Second)); err != nil {
				t.Fatal(err)
			}
			after := tree(t, home)
			if len(after) != len(before) {
				t.Errorf("%s: %d files before, after removing %v", c.Name, len(before), after)
			}
			for name, was := range before {
				if after[name] != was {
					t.Errorf("%s: %s was\n%s\nand is\n%s", c.Name, name, was, after[name])
				}
			}
		}
	}
}

// A hook of an emberd elsewhere is replaced, and one of somebody else stays.
func TestHooksThatMoved(t *testing.T) {
	for _, c := range withHooks() {
		file := filepath.Join(t.TempDir(), "plugin", "f")
		if text := others[c.Name]; text != "" {
			write(t, file, text)
		}
		old := Server{Command: "/old/emberd", Args: []string{"hook", c.Name}}
		ch, err := c.AddHooks(file, old, false)
		apply(t, ch, err)
		ch, err = c.AddHooks(file, hookServer(c), false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ch.Apply(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		got := content(t, file)
		if strings.Contains(got, "/old/emberd") || !strings.Contains(got, "/opt/my bin/emberd") {
			t.Errorf("%s starts\n%s", c.Name, got)
		}
		if strings.Contains(others[c.Name], "say done") && !strings.Contains(got, "say done") {
			t.Errorf("%s lost a hook:\n%s", c.Name, got)
		}
	}
}

// What hooks start is what was given, in the form of each client.
func TestHookEntries(t *testing.T) {
	for _, tt := range []struct{ name, event, want string }{
		{"claude-code", "UserPromptSubmit", `[{"hooks":[{"type":"command","command":"/opt/my bin/emberd","args":["hook","--home","/home/ada/e","claude-code"],"timeout":2}]}]`},
		{"claude-code", "Stop", `[{"hooks":[{"type":"command","command":"/opt/my bin/emberd","args":["hook","--home","/home/ada/e","claude-code"],"timeout":10}]}]`},
		{"codex", "SessionStart", `[{"hooks":[{"type":"command","command":"'/opt/my bin/emberd' hook --home /home/ada/e codex","timeout":5}]}]`},
		{"copilot", "userPromptTransformed", `[{"type":"command","exec":"/opt/my bin/emberd","args":["hook","--home","/home/ada/e","copilot","userPromptTransformed"],"timeoutSec":2}]`},
		{"cursor", "beforeSubmitPrompt", `[{"command":"'/opt/my bin/emberd' hook --home /home/ada/e cursor"}]`},
		{"gemini-cli", "BeforeAgent", `[{"hooks":[{"type":"command","command":"'/opt/my bin/emberd' hook --home /home/ada/e gemini-cli","timeout":2000,"name":"emberd"}]}]`},
	} {
		c := client(t, tt.name)
		text, err := c.HookSnippet(hookServer(c))
		var v struct {
			Hooks map[string]json.RawMessage
		}
		if err != nil || json.Unmarshal([]byte(text), &v) != nil {
			t.Fatalf("%s: %v in\n%s", tt.name, err, text)
		}
		if got := compact(string(v.Hooks[tt.event])); got != compact(tt.want) {
			t.Errorf("%s: %s is %s, want %s", tt.name, tt.event, got, tt.want)
		}
	}
	c := client(t, "opencode")
	text, err := c.HookSnippet(hookServer(c))
	if want := `const command = ["/opt/my bin/emberd","hook","--home","/home/ada/e","opencode"]`; err != nil || !strings.Contains(text, want) {
		t.Errorf("the plugin has no %s (%v):\n%s", want, err, text)
	}
}

// What cannot be understood is not touched, and a file of somebody else is not replaced.
func TestHookRefusals(t *testing.T) {
	for name, text := range map[string]string{
		"claude-code": `{"hooks": []}`, "codex": `{"hooks": {"Stop": 5}}`, "cursor": `{"hooks": `,
		"copilot": `{"version": 1}`, "opencode": "export const Other = 1\n",
	} {
		c := client(t, name)
		file := filepath.Join(t.TempDir(), "f")
		write(t, file, text)
		_, err := c.AddHooks(file, hookServer(c), false)
		if code := memory.CodeOf(err); !slices.Contains([]memory.Code{memory.Invalid, memory.Conflict}, code) {
			t.Errorf("%s: %v", name, err)
		}
		if got := content(t, file); got != text {
			t.Errorf("%s: %q became %q", name, text, got)
		}
	}
}

// Lines of shell are known as hooks of emberd by the program and its first argument.
func TestHookLines(t *testing.T) {
	for line, want := range map[string]bool{
		"emberd hook codex": true, "/opt/emberd hook --home /h codex": true, "'/opt/my bin/emberd' hook cursor": true,
		"emberd hook": true, "emberd mcp": false, "my-emberd hook codex": false, "echo emberd hooks": false, "": false,
	} {
		if got := (hookCommand{Command: line}).isOurs(); got != want {
			t.Errorf("%q: %t, want %t", line, got, want)
		}
	}
}

// Claude Code lists the plugins that it loads, and those that are turned off.
func TestHasPlugin(t *testing.T) {
	for settings, want := range map[string]bool{
		"": false, "{": false, `{}`: false, `{"enabledPlugins":[]}`: false,
		`{"enabledPlugins":{"emberd@emberd":true,"other@emberd":true}}`: true,
		`{"enabledPlugins":{"emberd@emberd":false}}`:                    false,
		`{"enabledPlugins":{"emberd-other@emberd":true}}`:               false,
		`{"enabledPlugins":{"emberd@mine":["0.2.0"]}}`:                  true,
	} {
		m := Machine{GOOS: "linux", Home: t.TempDir(), Env: func(string) string { return "" }}
		c := client(t, "claude-code")
		if settings != "" {
			if err := os.MkdirAll(filepath.Dir(c.HookFile(m)), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, c.HookFile(m), settings)
		}
		if got := c.HasPlugin(m); got != want {
			t.Errorf("%s: %t, want %t", settings, got, want)
		}
		if client(t, "codex").HasPlugin(m) {
			t.Error("Codex has a plugin")
		}
	}
}
