package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var updateHooks = flag.Bool("update-hooks", false, "rewrite testdata/hooks")

// hookAgent is a coding agent whose hooks emberd installs.
type hookAgent struct {
	name   string // for emberd
	client string // in realClients
	config string // without a server
	args   []string
}

var hookAgents = []hookAgent{{
	name: "claude-code", client: "Claude Code", config: `{}`, args: []string{"-p", "$PROMPT", "--output-format", "json"},
}, {
	name: "codex", client: "Codex",
	config: `model = "mock"
model_provider = "mock"
check_for_update_on_startup = false
[features]
hooks = true
[model_providers.mock]
name = "mock"
base_url = "$URL/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
`,
	args: []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
		"--dangerously-bypass-hook-trust", "$PROMPT"},
}, {
	name: "gemini-cli", client: "Gemini CLI",
	config: `{"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"enableAutoUpdate":false},
		"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false}}`,
}, {
	name: "copilot", client: "Copilot CLI", config: `{}`,
}, {
	name: "opencode", client: "OpenCode",
	config: `{"autoupdate":false,"share":"disabled","provider":{"mock":{"npm":"@ai-sdk/openai-compatible",
		"options":{"baseURL":"$URL/v1","apiKey":"mock"},"models":{"mock":{}}}}}`,
	args: []string{"run", "--model", "mock/mock", "$PROMPT"},
}}

// What the user types in the sessions, one after the other, and what is saved before the last.
const (
	decides   = "We decided to use Redis for the session cache, not Postgres."
	continues = "What shall I do next?"
	asksCache = "Which cache do we use for sessions?"
	cacheFact = "The cache for sessions is the Redis of host kestrel, port 6380."
)

// hookTest is an agent with hooks, its home, which is a git repository, and a daemon.
type hookTest struct {
	hookAgent
	run      clientRun
	exe      string
	daemon   string // its home
	received strings.Builder
}

// TestClientHooks runs real coding agents with the hooks that emberd agent install gives them: what the user decides
// in one session reaches the model in the next, and what bears on a prompt comes with the prompt.
func TestClientHooks(t *testing.T) {
	if os.Getenv("EMBERD_TEST_CLIENTS") == "" {
		t.Skip("needs what npm installs: make clients")
	}
	exe, err := filepath.Abs("../../bin/emberd")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range hookAgents {
		t.Run(a.name, func(t *testing.T) {
			c := realClients[slices.IndexFunc(realClients, func(c client) bool { return c.name == a.client })]
			c.program(t)
			if c.file = a.settings(c.file); a.args != nil {
				c.args = a.args
			}
			h := &hookTest{hookAgent: a, exe: exe, daemon: serveOutside(t, exe, "--set", "hooks.recall=on")}
			h.run = clientRun{client: &c, home: filepath.Join(t.TempDir(), "orion")}
			h.install(t)
			if a.name == "codex" {
				h.isUntrusted(t)
			}
			h.sessions(t)
			h.compare(t)
		})
	}
}

// settings returns the file for the settings that the agent has without a server.
func (a *hookAgent) settings(file string) string {
	if a.name == "claude-code" {
		return "settings.json"
	}
	return file
}

// install makes the home of the agent and has emberd put its hooks there.
func (h *hookTest) install(t *testing.T) {
	t.Helper()
	config := filepath.Join(h.run.home, h.run.file)
	if err := errors.Join(os.MkdirAll(filepath.Join(h.run.home, ".git"), 0o700),
		os.MkdirAll(filepath.Dir(config), 0o700), os.WriteFile(config, []byte(h.config), 0o600)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), h.exe, "--home", h.daemon, "install-client", h.name, "--hooks", "--force")
	cmd.Dir, cmd.Env = h.run.home, h.run.environ(h.run.words("", nil))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// isUntrusted runs emberd doctor, which asks the agent whether it skips the hooks, as it does before the user trusts them.
func (h *hookTest) isUntrusted(t *testing.T) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), h.exe, "--home", h.daemon, "doctor")
	cmd.Dir, cmd.Env = h.run.home, append(h.run.environ(h.run.words("", nil)),
		"PATH="+filepath.Dir(h.run.program(t))+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), "Codex skips the hooks of emberd at ") {
		t.Errorf("emberd doctor tells\n%s\nwant that Codex skips the hooks", out)
	}
}

// sessions runs the sessions and keeps what their models receive.
func (h *hookTest) sessions(t *testing.T) {
	t.Helper()
	h.session(t, decides)
	if got := h.session(t, continues); !strings.Contains(got, decides) {
		t.Errorf("the model of the next session does not receive the decision, but %q", got)
	}
	ct := clientTest{exe: h.exe, home: h.daemon}
	ct.emberd(t, "save", "--project", "", "--importance", "low", cacheFact) // of no project: a session start does not tell it
	got := h.session(t, asksCache)
	if !strings.Contains(got, cacheFact) || strings.Count(got, decides) != 1 {
		t.Errorf("the model does not receive the memory that bears on the prompt and, once, the decision, but %q", got)
	}
}

// session runs the agent with a prompt, and returns what its model received of emberd.
func (h *hookTest) session(t *testing.T, prompt string) string {
	t.Helper()
	model := &mockModel{protocol: h.run.protocol}
	api := httptest.NewServer(model)
	defer api.Close()
	ctx, cancel := context.WithTimeout(t.Context(), clientLimit)
	defer cancel()
	run := clientRun{client: h.run.client, home: h.run.home, asks: prompt}
	words := run.words(api.URL, nil)
	h.address(t, words)
	run.launch(ctx, t, run.args, words)
	wrote := run.wait(t)
	_, shown := model.received()
	if !strings.Contains(shown, prompt) {
		t.Fatalf("the model does not receive the prompt; the agent wrote\n%s", wrote)
	}
	blocks := blocksOf(t, shown)
	fmt.Fprintf(&h.received, "== %s\n%s\n", prompt, blocks)
	return blocks
}

// address puts the address of the model API into the agent's settings.
func (h *hookTest) address(t *testing.T, words func(string) string) {
	t.Helper()
	if !strings.Contains(h.config, "$URL") {
		return
	}
	if err := os.WriteFile(filepath.Join(h.run.home, h.run.file), []byte(words(h.config)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// compare compares what the models received with the golden file.
func (h *hookTest) compare(t *testing.T) {
	t.Helper()
	golden, got := filepath.Join("testdata", "hooks", h.name+".golden"), []byte(h.received.String())
	if *updateHooks {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the models received\n%s\nwant (%v; -update-hooks)\n%s", got, err, want)
	}
}

// What differs from run to run in a block.
var (
	blockText = regexp.MustCompile(`(?s)<emberd-memory>.*?</emberd-memory>`)
	blockID   = regexp.MustCompile(`\[[0-9a-f-]{8,}\]`)
	blockDay  = regexp.MustCompile(`\d{4}-\d\d-\d\d`)
	blockMark = regexp.MustCompile(`(BEGIN|END) DATA [0-9A-Z]+`)
)

// blocksOf returns the blocks of emberd in a request to a model, each after the role or the member that has it.
func blocksOf(t *testing.T, request string) string {
	t.Helper()
	// Gemini CLI escapes what hooks say.
	request = strings.NewReplacer("&lt;", "<", "&gt;", ">").Replace(request)
	var v any
	if err := json.Unmarshal([]byte(request), &v); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	writeBlocks(&b, v, "")
	return b.String()
}

// writeBlocks writes the blocks inside a value of a request; at is the role that is known so far.
func writeBlocks(b *strings.Builder, v any, at string) {
	switch v := v.(type) {
	case string:
		for _, block := range blockText.FindAllString(v, -1) {
			block = blockID.ReplaceAllString(block, "[ID]")
			block = blockDay.ReplaceAllString(block, "DAY")
			block = blockMark.ReplaceAllString(block, "$1 DATA MARK")
			fmt.Fprintf(b, "-- %s\n%s\n", at, block)
		}
	case []any:
		for _, inner := range v {
			writeBlocks(b, inner, at)
		}
	case map[string]any:
		if role, ok := v["role"].(string); ok {
			at = role
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if in := at; in == "" {
				writeBlocks(b, v[key], key)
			} else {
				writeBlocks(b, v[key], in)
			}
		}
	}
}
