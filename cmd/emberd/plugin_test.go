package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The skill of the plugin for Claude Code names tools that there are.
func TestPluginNamesTools(t *testing.T) {
	t.Parallel()
	skill, err := os.ReadFile("../../packaging/claude-code/skills/emberd/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	tools, err := os.ReadFile("../../docs/reference/mcp-tools.md")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile("`(memory_[a-z]+)`").FindAllStringSubmatch(string(skill), -1)
	if len(names) < 3 {
		t.Errorf("the skill names %q, want at least three tools", names)
	}
	for _, name := range names {
		if !strings.Contains(string(tools), "\n### "+name[1]+"\n") {
			t.Errorf("the skill names the tool %s, which docs/reference/mcp-tools.md does not have", name[1])
		}
	}
}

// The plugin has the version of the program, which the changelog names first.
func TestPluginVersion(t *testing.T) {
	t.Parallel()
	changes, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("../../packaging/claude-code/.claude-plugin/plugin.json")
	if err != nil {
		t.Fatal(err)
	}
	var plugin struct{ Version string }
	newest := regexp.MustCompile(`(?m)^## (\S+)$`).FindSubmatch(changes)
	if err := json.Unmarshal(raw, &plugin); err != nil || newest == nil || plugin.Version != string(newest[1]) {
		t.Errorf("the plugin has version %q (%v), the changelog begins with %q", plugin.Version, err, newest)
	}
}

// pluginLine returns the line of shell that the plugin runs at an event, which is the same at each.
func pluginLine(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../packaging/claude-code/hooks/hooks.json")
	var file struct {
		Hooks map[string][]struct{ Hooks []struct{ Command string } }
	}
	if err != nil || json.Unmarshal(text, &file) != nil || len(file.Hooks) != 5 {
		t.Fatalf("the hooks of the plugin are %s (%v)", text, err)
	}
	line := file.Hooks["Stop"][0].Hooks[0].Command
	for event, groups := range file.Hooks {
		if got := groups[0].Hooks[0].Command; got != line {
			t.Errorf("%s runs %s, Stop %s", event, got, line)
		}
	}
	return line
}

// The hook of the plugin runs emberd wherever it is, reads its input without one, and stands aside if the settings
// have the same hook. An emberd that fails fails no prompt.
func TestPluginHook(t *testing.T) {
	t.Parallel()
	line := pluginLine(t)
	exe, err := exec.LookPath("emberd")
	if err != nil {
		t.Fatal(err)
	}
	const told = "#!/bin/sh\ncat >/dev/null; echo told >&2; echo \"$*\"; exit 2\n"
	for _, tt := range []struct{ name, emberd, at, settings, want string }{
		{"none", "", "", "", ""},
		{"on the path", told, "bin", "{}", "hook claude-code\n"},
		{"in ~/.local/bin", told, ".local/bin", "", "hook claude-code\n"},
		{"installed, too", told, "bin", `{"hooks":{"Stop":[{"hooks":[{"command": "/opt/emberd",` + "\n" + `"args": ["hook", "x"]}]}]}}`, ""},
		{"the real one", "#!/bin/sh\nexec '" + exe + "' \"$@\"\n", "bin", "", ""},
	} {
		home := t.TempDir()
		for name, text := range map[string]string{filepath.Join(tt.at, "emberd"): tt.emberd, ".claude/settings.json": tt.settings} {
			file := filepath.Join(home, name)
			if text == "" {
				continue
			}
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o700)); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", line)
		cmd.Env = []string{"PATH=" + filepath.Join(home, "bin") + ":/usr/bin:/bin", "HOME=" + home}
		cmd.Stdin = strings.NewReader(turnEvent)
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != tt.want {
			t.Errorf("%s: %v, %q, want %q", tt.name, err, out, tt.want)
		}
	}
}

// Claude Code itself accepts the plugin and the list of plugins that has it.
func TestPluginIsValid(t *testing.T) {
	if os.Getenv("EMBERD_TEST_CLIENTS") == "" {
		t.Skip("needs what npm installs: make clients")
	}
	program, err := filepath.Glob("../../tools/clients/node_modules/@anthropic-ai/claude-code-linux-*/claude")
	if err != nil || len(program) == 0 {
		t.Fatalf("Claude Code is not installed (%v): make clients", err)
	}
	for _, dir := range []string{"../..", "../../packaging/claude-code"} {
		cmd := exec.CommandContext(t.Context(), program[0], "plugin", "validate", "--strict", dir)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", dir, err, out)
		}
	}
}
