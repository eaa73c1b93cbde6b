package obsidian

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// place is a home folder that is filled by words.
type place struct {
	t    *testing.T
	home string
}

func newPlace(t *testing.T) place { return place{t, t.TempDir()} }

func (p place) folder(name string) string {
	p.t.Helper()
	dir := filepath.Join(p.home, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		p.t.Fatal(err)
	}
	return dir
}

func (p place) list(name, text string) {
	p.t.Helper()
	p.folder(filepath.Dir(name))
	if err := os.WriteFile(filepath.Join(p.home, name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p place) wants(goos, config string, names ...string) {
	p.t.Helper()
	found, err := Vaults(Machine{GOOS: goos, Home: p.home, Config: config})
	if err != nil {
		p.t.Error(err)
	}
	var got []string
	for _, v := range found {
		got = append(got, strings.TrimPrefix(v.Path, p.home+"/"))
	}
	if !slices.Equal(got, names) {
		p.t.Errorf("%s: found %q, want %q", goos, got, names)
	}
}

func entry(path string, ts int64) string { return fmt.Sprintf(`{"path":%q,"ts":%d}`, path, ts) }

func TestVaultsOfEveryPackaging(t *testing.T) {
	t.Parallel()
	for list, where := range map[string]Machine{
		".config/obsidian/obsidian.json":                              {GOOS: "linux"},
		".var/app/md.obsidian.Obsidian/config/obsidian/obsidian.json": {GOOS: "linux"},
		"snap/obsidian/current/.config/obsidian/obsidian.json":        {GOOS: "linux"},
		"elsewhere/obsidian/obsidian.json":                            {GOOS: "linux", Config: "elsewhere"},
		"Library/Application Support/obsidian/obsidian.json":          {GOOS: "darwin"},
	} {
		p := newPlace(t)
		p.list(list, `{"vaults":{"a":`+entry(p.folder("Notes"), 1)+`},"updateDisabled":true}`)
		config := ""
		if where.Config != "" {
			config = filepath.Join(p.home, where.Config)
		}
		p.wants(where.GOOS, config, "Notes")
	}
}

func TestVaultsNewestFirstAndEachOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	notes, work, old := p.folder("Notes"), p.folder("Work"), p.folder("Old")
	if err := os.Symlink(work, filepath.Join(p.home, "Same")); err != nil {
		t.Fatal(err)
	}
	p.list(".config/obsidian/obsidian.json", `{"vaults":{
		"a":`+entry(notes, 200)+`,
		"b":`+entry(work, 300)+`,
		"c":`+entry(filepath.Join(p.home, "Gone"), 900)+`,
		"d":{"path":"relative/folder","ts":901},
		"e":`+entry(filepath.Join(p.home, "Same"), 100)+`}}`)
	p.list(".var/app/md.obsidian.Obsidian/config/obsidian/obsidian.json", `{"vaults":{"x":`+entry(notes, 50)+`,"y":{"path":"`+old+`"}}}`)
	p.wants("linux", "", "Work", "Notes", "Old")
}

func TestAListThatIsNoneCostsNoOther(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{"torn": `{"vaults":{"a":`, "another shape": `{"vaults":["a"]}`, "too large": strings.Repeat(" ", maxList+1)} {
		p := newPlace(t)
		p.list(".config/obsidian/obsidian.json", text)
		p.list("snap/obsidian/current/.config/obsidian/obsidian.json", `{"vaults":{"a":`+entry(p.folder("Notes"), 1)+`}}`)
		found, err := Vaults(Machine{GOOS: "linux", Home: p.home})
		if len(found) != 1 || err == nil || !strings.Contains(err.Error(), "cannot read the vault list of Obsidian") {
			t.Errorf("%s: found %v, %v", what, found, err)
		}
	}
	p := newPlace(t)
	p.wants("linux", "")
}

func TestIsVault(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.folder("Notes/.obsidian")
	p.list("Work/.obsidian", "a file")
	for name, want := range map[string]bool{"Notes": true, "Work": false, "Gone": false} {
		if got := IsVault(filepath.Join(p.home, name)); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
}
