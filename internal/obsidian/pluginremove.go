package obsidian

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"emberd/memory"
)

// recordName is the file that says what emberd installed, so that it removes nothing else. It is written
// before the files that it lists.
const recordName = "installed-by-emberd.json"

// record is its content.
type record struct {
	Version string            `json:"version"`
	Files   map[string]string `json:"files"` // SHA-256 in hex by name
}

func (p *Plugin) record() []byte {
	r := record{Version: p.Version, Files: map[string]string{}}
	for name, text := range p.files {
		r.Files[name] = digest(text)
	}
	out, _ := json.MarshalIndent(&r, "", "  ") // of texts, which never fails
	return append(out, '\n')
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Remove deletes the files that emberd installed, and the folder if nothing else is in it. A file that was
// changed since stays; kept names what is left in the folder.
func (f *PluginFolder) Remove() (kept []string, err error) {
	text, err := f.read(recordName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, memory.Errorf(memory.NotFound, "plugin installed by emberd not found in %s", f.Path)
	}
	var r record
	if err != nil || json.Unmarshal(text, &r) != nil || len(r.Files) == 0 {
		return nil, memory.Errorf(memory.Invalid, "cannot read %s in %s; delete the plugin folder manually", recordName,
			f.Path)
	}
	for _, name := range append([]string{recordName}, pluginFiles()...) {
		if err := f.removeFile(name, r.Files[name]); err != nil {
			return nil, memory.Errorf(memory.Invalid, "cannot remove the plugin: %w", err)
		}
	}
	return f.left(), nil
}

// removeFile deletes a file with the given digest. The record has none and is deleted as it is.
func (f *PluginFolder) removeFile(name, want string) error {
	text, err := f.read(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && name != recordName && digest(text) != want {
		return nil
	}
	if err != nil {
		return err
	}
	return f.root.Remove(filepath.Join(f.dir, name))
}

// left deletes the folder, and that of all plugins, if they are empty, and returns what is in it otherwise.
func (f *PluginFolder) left() []string {
	if f.root.Remove(f.dir) == nil {
		f.root.Remove(filepath.Dir(f.dir)) // which fails while another plugin is in it
		return nil
	}
	var names []string
	entries, _ := f.disk.ReadDir(f.dir) // which removed files from it just now
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	slices.Sort(names)
	return names
}
