package embedding

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"emberd/internal/durable"
)

// badPairs are the models that bring engines down, and those that engines refuse. The
// first are kept in a file, if one is named, for the next run is not to crash over them
// again; the others say so by themselves each time. It may be shared.
//
// The file may be another process's, too, as of a self-test beside the daemon: it is read
// before each decision and each change. Of two changes in the same moment one is lost,
// which is learnt again.
type badPairs struct {
	file   string
	logger *slog.Logger

	disk    sync.Mutex // held while the file is read and written, mu never
	apart   bool       // what is known is not what the file says, which cannot be written
	later   bool       // the file is of a later version, and left alone
	unknown bool       // the file cannot be read, which was told

	mu      sync.Mutex
	bad     []IncompatibleModel
	refused map[pair]string // why; an engine's without a model are of all of them
}

// pair is a model, by its SHA-256, and an engine, by the digest of its files.
type pair struct{ model, engine string }

// maxBadPairs are kept, the latest.
const maxBadPairs = 32

func newBadPairs(file string, logger *slog.Logger) *badPairs {
	return &badPairs{file: file, logger: logger, refused: make(map[pair]string)}
}

// why reports why a pair is not to be tried, "" if it is.
func (b *badPairs) why(p pair) string {
	b.refresh()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, each := range b.bad {
		if each.Model == p.model && each.Engine == p.engine {
			return each.Why
		}
	}
	if why := b.refused[pair{engine: p.engine}]; why != "" {
		return why
	}
	return b.refused[p]
}

// refuse remembers until Close that an engine does not take a model, or any.
func (b *badPairs) refuse(p pair, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refused[p] = why
}

// add remembers that a model brought an engine down.
func (b *badPairs) add(bad IncompatibleModel) {
	err := b.change(func(known []IncompatibleModel) []IncompatibleModel {
		known = append(slices.DeleteFunc(known,
			func(o IncompatibleModel) bool { return o.Model == bad.Model && o.Engine == bad.Engine }), bad)
		return latest(known)
	})
	if err != nil {
		b.logger.Warn("crash record of a model not saved", "err", err)
	}
}

// forget has all pairs tried again.
func (b *badPairs) forget() {
	err := b.change(func([]IncompatibleModel) []IncompatibleModel { return nil })
	if err != nil {
		b.logger.Warn("crash records of models not deleted", "err", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.refused)
}

// list is what is known. It waits for no disk.
func (b *badPairs) list() []IncompatibleModel {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.bad)
}

func latest(bad []IncompatibleModel) []IncompatibleModel { return bad[max(0, len(bad)-maxBadPairs):] }

func (b *badPairs) set(bad []IncompatibleModel) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bad = bad
}

// change makes another list of what is known, and keeps it.
func (b *badPairs) change(to func([]IncompatibleModel) []IncompatibleModel) error {
	b.disk.Lock()
	defer b.disk.Unlock()
	b.read()
	before := b.list()
	bad := to(slices.Clone(before))
	defer b.set(bad) // told once it is kept
	if b.file == "" || b.later || len(before)+len(bad) == 0 {
		return nil
	}
	data, err := json.MarshalIndent(badFile{badVersion, bad}, "", "  ")
	if err == nil {
		err = durable.ReplaceFile(durable.OS{}, b.file, append(data, '\n'))
	}
	b.apart = err != nil
	return err
}

// refresh takes in what the file says.
func (b *badPairs) refresh() {
	b.disk.Lock()
	defer b.disk.Unlock()
	b.read()
}

// read is called with disk held.
func (b *badPairs) read() {
	if b.file == "" || b.apart || b.later {
		return
	}
	data, err := durable.ReadAll(durable.OS{}, b.file)
	if errors.Is(err, fs.ErrNotExist) {
		b.set(nil)
		return
	}
	var kept badFile
	if err == nil {
		err = json.Unmarshal(data, &kept)
	}
	if kept.Version > badVersion { // whatever else of it is not understood
		b.later = true
		err = fmt.Errorf("the file has version %d; this version of emberd supports versions up to %d", kept.Version,
			badVersion)
	}
	if err == nil {
		b.unknown = false
		b.set(latest(kept.Bad))
		return
	}
	if !b.unknown {
		b.unknown = true
		b.logger.Warn("cannot read the list of models that crashed; emberd tries all models again",
			"file", b.file, "err", err)
	}
}

// badFile is the file's content. Of the version 0 were those that told none.
type badFile struct {
	Version int                 `json:"version"`
	Bad     []IncompatibleModel `json:"bad"`
}

const badVersion = 1

// engineKey is the digest of the names, sizes and times of a helper and of its libraries,
// so that others in their place are tried again.
func engineKey(helper, dir string) (string, error) {
	h := sha256.New()
	add := func(path string) error {
		info, err := os.Stat(path)
		if err == nil {
			_, err = fmt.Fprintf(h, "%q %d %d\n", path, info.Size(), info.ModTime().UnixNano())
		}
		return err
	}
	if err := add(helper); err != nil {
		return "", fmt.Errorf(
			"cannot read the helper of the native runtime: %w; install emberd and the helper from one package", err)
	}
	libraries := 0
	for _, within := range []string{".", "lib", "bin", "build/bin"} { // as the helper looks for them
		folder := filepath.Join(dir, within)
		entries, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("cannot read the folder of the native runtime: %w", err)
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), "libllama") && !strings.HasPrefix(e.Name(), "libggml") {
				continue
			}
			if err := add(filepath.Join(folder, e.Name())); err != nil {
				return "", fmt.Errorf("cannot read a library of the native runtime: %w", err)
			}
			libraries++
		}
	}
	if libraries == 0 {
		return "", fmt.Errorf(
			"the native runtime folder %s contains no llama.cpp libraries; run: emberd model runtime list", dir)
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}
