// Package obsidian knows where Obsidian keeps the list of its vaults, and reads it. It
// writes nothing, and looks into no vault but for the folder that makes it one.
//
// Obsidian keeps obsidian.json in its own settings folder, which its help calls the system
// folder (https://help.obsidian.md/data-storage): below $XDG_CONFIG_HOME or ~/.config on Linux,
// below ~/Library/Application Support on a Mac. A Flatpak and a Snap have a home of their own,
// and somebody who changed from one to the other has more than one list. Of the file this is
// read, and all else is passed over:
//
//	{"vaults": {"<id>": {"path": "/home/ada/Notes", "ts": 1718000000000, "open": true}}}
//
// ts is when the vault was opened last, in milliseconds since 1970.
package obsidian

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"emberd/internal/durable"
	"emberd/internal/text"
)

// A Machine is where to look.
type Machine struct {
	GOOS   string // as runtime.GOOS
	Home   string // the user's home directory
	Config string // $XDG_CONFIG_HOME, which counts if it is absolute
}

// A Vault is one that Obsidian has on its list.
type Vault struct {
	Path   string    // absolute
	Opened time.Time // last, zero if the list does not say
	Open   bool      // Obsidian shows it, or did when it ended
}

// maxList bounds what is read of a list; a vault takes about 100 bytes of it.
const maxList = 1 << 20

// Lists are the paths at which Obsidian may have a list, in the order they are read.
func Lists(m Machine) []string {
	const name = "obsidian.json"
	if m.GOOS == "darwin" {
		return []string{filepath.Join(m.Home, "Library", "Application Support", "obsidian", name)}
	}
	config := m.Config
	if !filepath.IsAbs(config) {
		config = filepath.Join(m.Home, ".config")
	}
	return []string{
		filepath.Join(config, "obsidian", name),
		filepath.Join(m.Home, ".var", "app", "md.obsidian.Obsidian", "config", "obsidian", name),
		filepath.Join(m.Home, "snap", "obsidian", "current", ".config", "obsidian", name),
	}
}

// Vaults are those of all lists whose folders are there, the one that was opened last first,
// each once. A list that cannot be read costs no other: it is an error beside what was found.
func Vaults(m Machine) ([]Vault, error) {
	var all []Vault
	var faults []error
	for _, list := range Lists(m) {
		found, err := read(list)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			faults = append(faults, fmt.Errorf("cannot read the vault list of Obsidian, %s: %w", list, err))
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b Vault) int {
		return cmp.Or(b.Opened.Compare(a.Opened), strings.Compare(a.Path, b.Path))
	})
	return there(all), errors.Join(faults...)
}

// IsVault tells whether Obsidian has opened a folder: it then keeps settings in it.
func IsVault(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, ".obsidian"))
	return err == nil && info.IsDir()
}

// there leaves out folders that are gone, and those that came before under another name.
func there(all []Vault) (out []Vault) {
	var known []fs.FileInfo
	for _, v := range all {
		info, err := os.Stat(v.Path)
		if err != nil || !info.IsDir() ||
			slices.ContainsFunc(known, func(k fs.FileInfo) bool { return os.SameFile(k, info) }) {
			continue
		}
		known, out = append(known, info), append(out, v)
	}
	return out
}

// read reads one list.
func read(name string) ([]Vault, error) {
	data, err := durable.ReadGiven(name, maxList)
	if err != nil {
		return nil, err
	}
	var list struct {
		Vaults map[string]struct {
			Path string
			TS   float64
			Open bool
		}
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, errors.New("the file does not contain a vault list in JSON")
	}
	var all []Vault
	for _, v := range list.Vaults {
		if !filepath.IsAbs(v.Path) || !text.IsPrintable(v.Path) {
			continue
		}
		vault := Vault{Path: filepath.Clean(v.Path), Open: v.Open}
		if v.TS > 0 && v.TS < 1e15 {
			vault.Opened = time.UnixMilli(int64(v.TS))
		}
		all = append(all, vault)
	}
	return all, nil
}
