package config

import (
	"fmt"
	"path/filepath"
	"testing"
)

func TestModelIsAFileOrInstalled(t *testing.T) {
	t.Chdir(t.TempDir())
	wd, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	const folder = "/home/ada/.local/share/emberd-models"
	for text, want := range map[string]string{
		"none":            "",
		"minilm":          folder + "/minilm.gguf",
		"bge-small.Q8_0":  folder + "/bge-small.Q8_0.gguf",
		"minilm.gguf":     wd + "/minilm.gguf",
		"MINILM.GGUF":     wd + "/MINILM.GGUF",
		"./minilm":        wd + "/minilm",
		"~/minilm":        "/home/ada/minilm",
		"/m/bge small":    "/m/bge small",
		"$HOME/x.y.gguf":  "/home/ada/x.y.gguf",
		"models/e5.q8_0":  wd + "/models/e5.q8_0",
		"../elsewhere/e5": filepath.Dir(wd) + "/elsewhere/e5",
	} {
		s := setup{env: []string{"HOME=/home/ada"}, flags: []string{"embedding.model=" + text}}
		if got := s.load(t).Embedding.Model; got != want {
			t.Errorf("embedding.model=%s: %q, want %q", text, got, want)
		}
	}
	elsewhere := setup{flags: []string{"embedding.model=e5", "embedding.folder=/big"}}
	if got := elsewhere.load(t).Embedding.Model; got != "/big/e5.gguf" {
		t.Errorf("a name is looked up as %q, want it in embedding.folder", got)
	}
	for _, bad := range []string{".hidden", "-e5", "e5 small", "né", "a:b"} {
		setup{flags: []string{"embedding.model=" + bad}}.wantFaults(t,
			fmt.Sprintf("--set embedding.model: must be a path, the name of an installed model, or none, not %q", bad))
	}
}

func TestEngineIsInstalledOrADirectory(t *testing.T) {
	for text, want := range map[string]string{
		"auto": "auto", "none": "none", "v0.5.0": "v0.5.0", "homebrew": "homebrew",
		"/opt/llama/lib": "/opt/llama/lib", "~/llama": "/home/ada/llama",
	} {
		if got := (setup{flags: []string{"embedding.engine=" + text}}).load(t).Embedding.Engine; got != want {
			t.Errorf("embedding.engine=%s: %q, want %q", text, got, want)
		}
	}
	for _, bad := range []string{"..", "two words"} {
		setup{flags: []string{"embedding.engine=" + bad}}.wantFaults(t,
			fmt.Sprintf("--set embedding.engine: must be auto, none, the name of an installed runtime, or a path that contains /, not %q", bad))
	}
}

func TestFolderOfModels(t *testing.T) {
	for _, tt := range []struct {
		s    setup
		want string
	}{
		{setup{}, "/home/ada/.local/share/emberd-models"},
		{setup{env: []string{"XDG_DATA_HOME=/d"}}, "/d/emberd-models"},
		{setup{goos: "darwin", env: []string{"XDG_DATA_HOME=/d"}}, "/home/ada/Library/Application Support/emberd-models"},
		{setup{home: "/srv/e"}, "/srv/e/models"},
		{setup{home: "/srv/e", flags: []string{"embedding.folder=~/m"}}, "/home/ada/m"},
	} {
		if got := tt.s.load(t).Embedding.Folder; got != tt.want {
			t.Errorf("%+v: models are in %q, want %q", tt.s, got, tt.want)
		}
	}
}
