package obsidian

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// built writes a built plugin of a version and returns its folder.
func built(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "main.js", "module.exports = "+version)
	write(t, dir, "styles.css", ".emberd {}")
	write(t, dir, manifestName, `{"id":"emberd","version":"`+version+`","minAppVersion":"1.12.2","isDesktopOnly":true}`)
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func folder(t *testing.T, vault string) *PluginFolder {
	t.Helper()
	f, err := OpenPluginFolder(vault, ".obsidian")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func install(t *testing.T, f *PluginFolder, version string) {
	t.Helper()
	p, err := ReadPlugin(built(t, version))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Install(p); err != nil {
		t.Fatal(err)
	}
}

// An installed plugin is there whole, a newer one replaces it, and removing it leaves what was there before.
func TestPluginComesAndGoes(t *testing.T) {
	t.Parallel()
	vault := t.TempDir()
	write(t, vault, ".obsidian/community-plugins.json", `["other"]`)
	f := folder(t, vault)
	if version, _, err := f.Installed(); version != "" || err != nil {
		t.Fatalf("installed %q, %v", version, err)
	}
	install(t, f, "0.1.0")
	install(t, f, "0.2.0")
	if version, ours, err := f.Installed(); version != "0.2.0" || !ours || err != nil {
		t.Fatalf("installed %q, ours %t, %v", version, ours, err)
	}
	if text, err := os.ReadFile(filepath.Join(f.Path, "main.js")); string(text) != "module.exports = 0.2.0" {
		t.Fatalf("main.js is %q, %v", text, err)
	}
	kept, err := f.Remove()
	if len(kept) > 0 || err != nil {
		t.Fatalf("kept %v, %v", kept, err)
	}
	if _, err := os.Stat(filepath.Dir(f.Path)); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(vault, ".obsidian/community-plugins.json")); string(text) != `["other"]` {
		t.Errorf("community-plugins.json is %q, %v", text, err)
	}
}

// Removing leaves a file that was changed, and the settings that Obsidian wrote.
func TestRemoveKeepsWhatEmberdDidNotWrite(t *testing.T) {
	t.Parallel()
	f := folder(t, vaultWithSettings(t))
	install(t, f, "0.1.0")
	write(t, f.Path, "styles.css", ".mine {}")
	write(t, f.Path, "data.json", "{}")
	kept, err := f.Remove()
	if want := []string{"data.json", "styles.css"}; !slices.Equal(kept, want) || err != nil {
		t.Errorf("kept %v, %v, want %v", kept, err, want)
	}
	if _, err := f.Remove(); err == nil {
		t.Error("a plugin that emberd did not install was removed")
	}
}

// A record of what was installed that holds nothing removes nothing, and says so.
func TestRemoveNeedsARecord(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"null", "{}", "", "[]"} {
		f := folder(t, vaultWithSettings(t))
		install(t, f, "0.1.0")
		write(t, f.Path, "installed-by-emberd.json", text)
		if kept, err := f.Remove(); err == nil {
			t.Errorf("with the record %q the plugin counts as removed, and %v stays", text, kept)
		}
	}
}

func vaultWithSettings(t *testing.T) string {
	t.Helper()
	vault := t.TempDir()
	write(t, vault, ".obsidian/app.json", "{}")
	return vault
}

// What is not the built plugin of emberd is refused.
func TestReadPluginRefuses(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string]func(dir string){
		"main.js not found":       func(dir string) { os.Remove(filepath.Join(dir, "main.js")) },
		"is not text":             func(dir string) { write(t, dir, "styles.css", "\xff") },
		"instead of emberd":       func(dir string) { write(t, dir, manifestName, `{"id":"other","version":"1.0.0"}`) },
		"a version such as 1.2.3": func(dir string) { write(t, dir, manifestName, `{"id":"emberd","version":"v1"}`) },
		"isDesktopOnly":           func(dir string) { write(t, dir, manifestName, `{"id":"emberd","version":"1.0.0"}`) },
		"invalid character":       func(dir string) { write(t, dir, manifestName, `no`) },
		"file is too large":       func(dir string) { write(t, dir, "main.js", strings.Repeat("x", maxPluginFile+1)) },
		"not a regular file": func(dir string) {
			os.Remove(filepath.Join(dir, "main.js"))
			os.Mkdir(filepath.Join(dir, "main.js"), 0o700)
		},
	} {
		dir := built(t, "0.1.0")
		breaks(dir)
		if _, err := ReadPlugin(dir); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A link out of the vault is not followed, and a folder that is not a vault is refused.
func TestPluginStaysInTheVault(t *testing.T) {
	t.Parallel()
	outside, vault := t.TempDir(), vaultWithSettings(t)
	if err := os.Symlink(outside, filepath.Join(vault, ".obsidian", "plugins")); err != nil {
		t.Fatal(err)
	}
	p, err := ReadPlugin(built(t, "0.1.0"))
	if err != nil {
		t.Fatal(err)
	}
	if err := folder(t, vault).Install(p); err == nil {
		t.Error("the plugin was written through a link")
	}
	if entries, err := os.ReadDir(outside); len(entries) > 0 || err != nil {
		t.Errorf("outside: %v, %v", entries, err)
	}
	for _, config := range []string{"..", "a/b", "", ".", ".none"} {
		if _, err := OpenPluginFolder(vault, config); err == nil {
			t.Errorf("the settings folder %q was taken", config)
		}
	}
}

func TestOlder(t *testing.T) {
	t.Parallel()
	for pair, want := range map[[2]string]bool{
		{"0.1.0", "0.1.1"}: true, {"0.9.0", "0.10.0"}: true, {"1.0.0", "0.9.9"}: false, {"1.0.0", "1.0.0"}: false,
		{"unknown", "0.1.0"}: true,
	} {
		if got := Older(pair[0], pair[1]); got != want {
			t.Errorf("%s older than %s: %t", pair[0], pair[1], got)
		}
	}
}
