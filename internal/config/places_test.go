package config

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestDirectories(t *testing.T) {
	type where struct{ file, data, state, socket string }
	tests := []struct {
		name string
		s    setup
		want where
	}{
		{"linux without XDG variables", setup{}, where{
			"/home/ada/.config/emberd/config.yaml",
			"/home/ada/.local/share/emberd",
			"/home/ada/.local/state/emberd",
			"/home/ada/.local/state/emberd/run/emberd.sock"}},
		{"XDG variables", setup{env: []string{"XDG_CONFIG_HOME=/c", "XDG_DATA_HOME=/d", "XDG_STATE_HOME=/s", "XDG_RUNTIME_DIR=/run/user/7"}}, where{
			"/c/emberd/config.yaml", "/d/emberd", "/s/emberd", "/run/user/7/emberd/emberd.sock"}},
		{"relative XDG variables are ignored", setup{env: []string{"XDG_CONFIG_HOME=c", "XDG_DATA_HOME=./d", "XDG_STATE_HOME=~/s", "XDG_RUNTIME_DIR=run"}}, where{
			"/home/ada/.config/emberd/config.yaml",
			"/home/ada/.local/share/emberd",
			"/home/ada/.local/state/emberd",
			"/home/ada/.local/state/emberd/run/emberd.sock"}},
		{"macOS, where XDG variables do not count", setup{goos: "darwin", env: []string{"XDG_DATA_HOME=/d", "XDG_RUNTIME_DIR=/r"}}, where{
			"/home/ada/Library/Application Support/emberd/config.yaml",
			"/home/ada/Library/Application Support/emberd",
			"/home/ada/Library/Application Support/emberd-state",
			"/home/ada/Library/Application Support/emberd-state/run/emberd.sock"}},
		{"one home", setup{home: "/srv/e", env: []string{"XDG_DATA_HOME=/d", "XDG_RUNTIME_DIR=/r"}}, where{
			"/srv/e/config.yaml", "/srv/e/data", "/srv/e/state", "/srv/e/emberd.sock"}},
		{"home from the environment", setup{goos: "darwin", env: []string{"EMBERD_HOME=~/e"}}, where{
			"/home/ada/e/config.yaml", "/home/ada/e/data", "/home/ada/e/state", "/home/ada/e/emberd.sock"}},
		{"the flag wins over the variable", setup{home: "/flag", env: []string{"EMBERD_HOME=/env"}}, where{
			"/flag/config.yaml", "/flag/data", "/flag/state", "/flag/emberd.sock"}},
		{"a home moves defaults only", setup{home: "/srv/e", env: []string{"EMBERD_DATA=/big", "EMBERD_SOCKET=auto"}}, where{
			"/srv/e/config.yaml", "/big", "/srv/e/state", "/srv/e/emberd.sock"}},
		{"the socket follows the state", setup{flags: []string{"state=/s"}}, where{
			"/home/ada/.config/emberd/config.yaml", "/home/ada/.local/share/emberd", "/s", "/s/run/emberd.sock"}},
	}
	for _, tt := range tests {
		c := tt.s.load(t)
		if got := (where{c.File, c.Data, c.State, c.Socket}); got != tt.want {
			t.Errorf("%s:\n got  %+v\n want %+v", tt.name, got, tt.want)
		}
	}
}

func TestHomeIsMadeAbsoluteAndNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	c, err := Load(Source{Home: ".run", GOOS: "linux"}) // a service without HOME
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(wd, ".run", "data"); c.Data != want {
		t.Errorf("data: got %s, want %s", c.Data, want)
	}
	if s := explain(t, c, "state"); s.Origin != FromDefault || s.From != "--home" {
		t.Errorf("state: got %s from %s, want a default from --home", s.Origin, s.From)
	}
	if s := explain(t, c, "log.level"); s.From != "default" {
		t.Errorf("log.level: got %s, want default", s.From)
	}
}

func TestNoHomeDirectory(t *testing.T) {
	_, err := Load(Source{GOOS: "linux", UserHome: "relative"})
	if err == nil || !strings.Contains(err.Error(), "set HOME, or set EMBERD_HOME") {
		t.Errorf("got %v, want advice to set HOME or EMBERD_HOME", err)
	}
	_, err = Load(Source{GOOS: "linux", Home: "~/e"})
	if err == nil || !strings.HasPrefix(err.Error(), "--home: ~/e: the home directory is unknown") {
		t.Errorf("got %v, want an error about --home", err)
	}
}

func TestRelativePathsStartFromWhereTheyAreWritten(t *testing.T) {
	s := setup{file: "vaults: [../work]\ndata: sub/dir\n"}
	c := s.load(t)
	dir := filepath.Dir(c.File)
	if want := filepath.Join(dir, "sub", "dir"); c.Data != want {
		t.Errorf("data: got %s, want %s", c.Data, want)
	}
	if want := filepath.Join(dir, "..", "work"); len(c.Vaults) != 1 || c.Vaults[0] != want {
		t.Errorf("vaults: got %q, want %s", c.Vaults, want)
	}
	t.Chdir(dir)
	c = setup{flags: []string{"data=x"}}.load(t)
	if want := filepath.Join(dir, "x"); c.Data != want {
		t.Errorf("--set data=x: got %s, want %s", c.Data, want)
	}
}

func TestPathsAreExpanded(t *testing.T) {
	pl := &places{userHome: "/home/a$b", env: map[string]string{"DISK": "/mnt", "SUB": "x y"}}
	tests := []struct{ text, want, fault string }{
		{text: "~", want: "/home/a$b"},
		{text: "~/n", want: "/home/a$b/n"},
		{text: "$DISK/${SUB}/z", want: "/mnt/x y/z"},
		{text: "~/$SUB", want: "/home/a$b/x y"},
		{text: "/a/../b//c/", want: "/b/c"},
		{text: "/cost/$$5", want: "/cost/$5"},
		{text: "rel", want: "/base/rel"},
		{text: "./~", want: "/base/~"},
		{text: "~bob/n", fault: "another user"},
		{text: "$LOST/n", fault: "variable LOST is not set"},
		{text: "/a/${DISK", fault: "requires a variable name and a closing }"},
		{text: "/a/${}", fault: "requires a variable name and a closing }"},
		{text: "", fault: "empty"},
		{text: "/a\x00b", fault: "control characters"},
	}
	for _, tt := range tests {
		got, err := pl.expand(tt.text, "/base")
		switch {
		case tt.fault == "" && (err != nil || got != tt.want):
			t.Errorf("expand(%q): got %q, %v; want %q", tt.text, got, err, tt.want)
		case tt.fault != "" && (err == nil || !strings.Contains(err.Error(), tt.fault)):
			t.Errorf("expand(%q): got %q, %v; want an error with %q", tt.text, got, err, tt.fault)
		}
	}
}

func TestSocketPathLength(t *testing.T) {
	socketOf := func(n int) []string { return []string{"EMBERD_SOCKET=/" + strings.Repeat("s", n-1)} }
	for goos, most := range map[string]int{"linux": 107, "darwin": 103, "freebsd": 103} {
		setup{goos: goos, env: socketOf(most)}.load(t)
		got := setup{goos: goos, env: socketOf(most + 1)}.faults(t)[0]
		for _, part := range []string{goos, "108 bytes", "allows only 107", "set socket or EMBERD_SOCKET to a shorter path"} {
			if goos != "linux" {
				part = strings.NewReplacer("107", "103", "108", "104").Replace(part)
			}
			if !strings.Contains(got, part) {
				t.Errorf("%s: %q does not say %q", goos, got, part)
			}
		}
	}
}

func TestDataAndStateAreApart(t *testing.T) {
	for _, flags := range [][]string{
		{"data=/e", "state=/e/state"},
		{"state=/e", "data=/e/data"},
		{"state=/e", "data=/e"},
	} {
		got := setup{flags: flags}.faults(t)
		if len(got) != 1 || !strings.Contains(got[0], "must not contain each other; set them to separate directories") {
			t.Errorf("%q: got %q, want a refusal", flags, got)
		}
	}
	setup{flags: []string{"data=/e", "state=/e-state"}}.load(t)
}

func TestTheVaultIsOneFolder(t *testing.T) {
	tests := []struct {
		name string
		s    setup
		want string
	}{
		{"variable", setup{env: []string{"EMBERD_VAULTS=~/My: vault, 2"}}, "/home/ada/My: vault, 2"},
		{"flag", setup{flags: []string{"vaults=/a:b"}}, "/a:b"},
		{"flag that empties", setup{flags: []string{"vaults="}, env: []string{"LTM_VAULT_PATH=/v"}}, ""},
		{"file, one", setup{file: "vaults: /a:b\n"}, "/a:b"},
		{"file, list of one", setup{file: "vaults:\n  - '~/My: vault, 2'\n"}, "/home/ada/My: vault, 2"},
		{"file, empty list", setup{file: "vaults: []\n"}, ""},
		{"foreign variable", setup{env: []string{"LTM_VAULT_PATH=/v"}, file: "vaults: [/a]\n"}, "/v"},
	}
	for _, tt := range tests {
		if got := strings.Join(tt.s.load(t).Vaults, "\n"); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	for _, two := range []setup{
		{file: "vaults: [/a, /b]\n"}, {file: "vaults: /a:/b\n"}, {env: []string{"EMBERD_VAULTS=/a:~/b"}},
		{flags: []string{"vaults=/a:$HOME/b"}}, {env: []string{"LTM_VAULT_PATH=/a:/b"}},
	} {
		if got := two.faults(t)[0]; !strings.Contains(got, "must be one folder, not 2; for each other vault, run ") {
			t.Errorf("%+v: got %q, want a refusal", two, got)
		}
	}
}

func TestConfigFileThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		src  Source
		want string
	}{
		{"missing, named by flag", Source{ConfigFile: dir + "/none.yaml"}, "none.yaml not found; create it, or omit --config"},
		{"missing, named by variable", Source{Env: []string{"EMBERD_CONFIG=" + dir + "/none.yaml"}}, "omit EMBERD_CONFIG"},
		{"a directory", Source{ConfigFile: dir}, "not a regular file; use a readable file"},
		{"a pipe", Source{ConfigFile: pipe}, "not a regular file; use a readable file"},
	}
	for _, tt := range tests {
		tt.src.UserHome, tt.src.GOOS = "/home/ada", "linux"
		if _, err := Load(tt.src); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}
