package main

import (
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
	tools, err := os.ReadFile("../../docs/mcp-tools.md")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile("`(memory_[a-z]+)`").FindAllStringSubmatch(string(skill), -1)
	if len(names) < 3 {
		t.Errorf("the skill names %q, want at least three tools", names)
	}
	for _, name := range names {
		if !strings.Contains(string(tools), "\n### "+name[1]+"\n") {
			t.Errorf("the skill names the tool %s, which docs/mcp-tools.md does not have", name[1])
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
