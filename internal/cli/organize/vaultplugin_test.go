package organize

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"emberd/internal/cli"
)

// builtPlugin writes a plugin of a version and returns its folder.
func builtPlugin(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.js": "module.exports = 1", "styles.css": ".emberd {}",
		"manifest.json": `{"id":"emberd","version":"` + version + `","minAppVersion":"1.12.2","isDesktopOnly":true}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// runPlugin returns what emberd vault plugin prints, without a terminal.
func runPlugin(t *testing.T, args ...string) (string, error) {
	t.Helper()
	none, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer none.Close()
	var out strings.Builder
	s := cli.New()
	s.Stdout, s.Stderr, s.Stdin = bufio.NewWriter(&out), io.Discard, none
	cmd := vaultPluginCommand(s)
	cmd.SetArgs(args)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err = cmd.ExecuteContext(t.Context())
	s.Stdout.Flush()
	return out.String(), err
}

// The plugin is installed only if the user agrees, and an older one, or over a foreign one, only by force.
func TestVaultPlugin(t *testing.T) {
	t.Parallel()
	vault, first, second := t.TempDir(), builtPlugin(t, "0.1.0"), builtPlugin(t, "0.2.0")
	folder := filepath.Join(vault, ".obsidian", "plugins", "emberd")
	for _, step := range []struct {
		args []string
		want string // in the output or, after "!", in the error
	}{
		{[]string{"install", vault}, "!missing --from"},
		{[]string{"install", "--from", first, vault, "--yes"}, "!folder .obsidian not found"},
		{[]string{"remove", vault, "--config-folder", "../x", "--yes"}, "!invalid settings folder"},
		{nil, ""},
		{[]string{"install", "--from", first, vault}, "!use --yes"},
		{[]string{"install", "--from", second, vault, "--yes"}, "installed plugin version 0.2.0 in " + folder},
		{[]string{"install", "--from", first, vault, "--yes"}, "!0.1.0 is older"},
		{[]string{"install", "--from", first, vault, "--yes", "--force"}, "installed plugin version 0.1.0"},
		{[]string{"remove", vault}, "!use --yes"},
		{[]string{"remove", vault, "--yes"}, "removed the plugin from " + folder},
		{[]string{"remove", vault, "--yes"}, "!plugin installed by emberd not found"},
	} {
		if step.args == nil {
			if err := os.Mkdir(filepath.Join(vault, ".obsidian"), 0o700); err != nil {
				t.Fatal(err)
			}
			continue
		}
		out, err := runPlugin(t, step.args...)
		want, fails := strings.CutPrefix(step.want, "!")
		if err != nil {
			out = err.Error()
		}
		if fails != (err != nil) || !strings.Contains(out, want) {
			t.Errorf("%q: %q, want %q", step.args, out, step.want)
		}
	}
	foreign := filepath.Join(folder, "manifest.json")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(foreign, []byte(`{"version":"0.0.1"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := runPlugin(t, "install", "--from", first, vault, "--yes"); err == nil ||
		!strings.Contains(err.Error(), "this command did not install plugin version 0.0.1") {
		t.Errorf("over a foreign plugin: %v", err)
	}
}

// What the user changed or put there is replaced only by force, also after a removal that left it.
func TestVaultPluginAsksBeforeItReplaces(t *testing.T) {
	t.Parallel()
	vault, built := t.TempDir(), builtPlugin(t, "0.1.0")
	style := filepath.Join(vault, ".obsidian", "plugins", "emberd", "styles.css")
	if err := os.MkdirAll(filepath.Dir(style), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ args, want string }{
		{"install", "were changed: styles.css"}, {"install --force", ""}, {"install", ""}, {"", ""},
		{"install", "were changed: styles.css"}, {"remove", ""}, {"install", "were changed: styles.css"},
		{"install --force", ""}, {"remove", ""},
	} {
		if _, err := os.Stat(style); step.args == "" || err != nil {
			if err := os.WriteFile(style, []byte(".mine {}"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if step.args == "" {
			continue
		}
		args := append(strings.Fields(step.args), vault, "--yes")
		if args[0] == "install" {
			args = append(args, "--from", built)
		}
		if _, err := runPlugin(t, args...); (err != nil) != (step.want != "") || err != nil && !strings.Contains(err.Error(), step.want) {
			t.Errorf("%q: %v, want %q", args, err, step.want)
		}
	}
}
