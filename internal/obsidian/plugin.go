package obsidian

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"unicode/utf8"

	"emberd/internal/durable"
	"emberd/internal/text"
	"emberd/memory"
)

// The plugin's ID is the name of its folder in a vault, too.
const pluginID = "emberd"

// maxPluginFile bounds each file of the plugin, in bytes; main.js has about 60,000.
const maxPluginFile = 4 << 20

// pluginFiles are the files that Obsidian loads a plugin from. The manifest is written last, so that
// Obsidian does not load a plugin that is there in part.
func pluginFiles() []string { return []string{"main.js", "styles.css", manifestName} }

const manifestName = "manifest.json"

// A Plugin is emberd's plugin for Obsidian, built.
type Plugin struct {
	Version string
	files   map[string][]byte
}

// manifest is the part of manifest.json that is checked.
type manifest struct {
	ID      string `json:"id"`
	Version string `json:"version"`
	Minimum string `json:"minAppVersion"`
	Desktop bool   `json:"isDesktopOnly"`
}

// ReadPlugin reads the three files of the built plugin in a folder. It refuses files that are missing,
// too large or not text, and the plugin of another program.
func ReadPlugin(dir string) (*Plugin, error) {
	p := &Plugin{files: map[string][]byte{}}
	for _, name := range pluginFiles() {
		text, err := durable.ReadAtMost(durable.OS{}, filepath.Join(dir, name), maxPluginFile)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, memory.Errorf(memory.NotFound, "%s not found in %s; build the plugin with: make plugin", name,
				dir)
		case err != nil:
			return nil, memory.Errorf(memory.Invalid, "cannot read the plugin: %w", err)
		case len(text) == 0 || !utf8.Valid(text):
			return nil, memory.Errorf(memory.Invalid, "%s in %s is not text; build the plugin again", name, dir)
		}
		p.files[name] = text
	}
	m, err := readManifest(p.files[manifestName])
	if err != nil {
		return nil, memory.Errorf(memory.Invalid, "invalid %s in %s: %w", manifestName, dir, err)
	}
	p.Version = m.Version
	return p, nil
}

func readManifest(text []byte) (*manifest, error) {
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, err
	}
	if m.ID != pluginID {
		return nil, fmt.Errorf("the plugin ID is %q instead of %s", m.ID, pluginID)
	}
	if _, ok := parseVersion(m.Version); !ok {
		return nil, fmt.Errorf("invalid version %q; use a version such as 1.2.3", m.Version)
	}
	if _, ok := parseVersion(m.Minimum); !ok || !m.Desktop {
		return nil, errors.New("minAppVersion is not a version such as 1.2.3, or isDesktopOnly is not true")
	}
	return &m, nil
}

var versionForm = text.Pattern(`^(\d{1,6})\.(\d{1,6})\.(\d{1,6})$`)

// parseVersion returns the three numbers of a version of a plugin, which Obsidian wants in this form.
func parseVersion(text string) (v [3]int, ok bool) {
	parts := versionForm().FindStringSubmatch(text)
	if parts == nil {
		return v, false
	}
	for i := range v {
		v[i], _ = strconv.Atoi(parts[i+1]) // six digits at most
	}
	return v, true
}

// Older reports whether version a of the plugin is older than b. A version of another form is older.
func Older(a, b string) bool {
	x, _ := parseVersion(a)
	y, _ := parseVersion(b)
	for i := range x {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return false
}

// A PluginFolder is the folder of the plugin in one vault.
type PluginFolder struct {
	Path string // in full
	dir  string // from the vault's root
	root *os.Root
	disk durable.FS
}

// OpenPluginFolder returns the folder that the plugin has, or would have, in a vault whose settings are in
// the folder config, such as ".obsidian". No symbolic link leads out of the vault. The caller closes it.
func OpenPluginFolder(vault, config string) (*PluginFolder, error) {
	if config != filepath.Base(config) || !filepath.IsLocal(config) || config == "." {
		return nil, memory.Errorf(memory.Invalid, "invalid settings folder %q; use a name such as .obsidian", config)
	}
	root, err := os.OpenRoot(vault)
	if err != nil {
		return nil, memory.Errorf(memory.NotFound, "cannot open the vault: %w", err)
	}
	info, err := root.Stat(config)
	if err != nil || !info.IsDir() {
		root.Close()
		return nil, memory.Errorf(memory.NotFound,
			"folder %s not found in %s; open the vault in Obsidian once, or use --config-folder", config, vault)
	}
	dir := filepath.Join(config, "plugins", pluginID)
	return &PluginFolder{Path: filepath.Join(vault, dir), dir: dir, root: root, disk: durable.NewRoot(root)}, nil
}

// Close releases the vault.
func (f *PluginFolder) Close() error { return f.root.Close() }

// Installed returns the version of the plugin that is there, "" for none, and whether emberd installed it.
func (f *PluginFolder) Installed() (version string, ours bool, err error) {
	text, err := f.read(manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, memory.Errorf(memory.Invalid, "cannot read the installed plugin: %w", err)
	}
	var m manifest
	if json.Unmarshal(text, &m) != nil || m.Version == "" {
		m.Version = "unknown"
	}
	_, err = f.read(recordName)
	return m.Version, err == nil, nil
}

// Changed returns the files that an installation of the plugin would replace and that emberd did not write, or that
// were changed since.
func (f *PluginFolder) Changed(p *Plugin) (names []string, err error) {
	var r record
	if text, err := f.read(recordName); err == nil && json.Unmarshal(text, &r) != nil {
		r.Files = nil
	}
	for _, name := range pluginFiles() {
		text, err := f.read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, memory.Errorf(memory.Invalid, "cannot read the installed plugin: %w", err)
		}
		if sum := digest(text); sum != r.Files[name] && sum != digest(p.files[name]) {
			names = append(names, name)
		}
	}
	return names, nil
}

func (f *PluginFolder) read(name string) ([]byte, error) {
	return durable.ReadAtMost(f.disk, filepath.Join(f.dir, name), maxPluginFile)
}

// Install puts the plugin there. It replaces files of the same names and leaves all others alone.
func (f *PluginFolder) Install(p *Plugin) error {
	if err := f.root.MkdirAll(f.dir, 0o700); err != nil {
		return memory.Errorf(memory.Invalid, "cannot create the plugin's folder: %w", err)
	}
	err := durable.ReplaceFile(f.disk, filepath.Join(f.dir, recordName), p.record())
	for _, name := range pluginFiles() {
		if err == nil {
			err = durable.ReplaceFile(f.disk, filepath.Join(f.dir, name), p.files[name])
		}
	}
	if err != nil {
		return memory.Errorf(memory.Invalid, "cannot write the plugin: %w", err)
	}
	return nil
}
