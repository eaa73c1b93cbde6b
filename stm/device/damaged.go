package device

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"emberd/internal/durable"
)

// DamagedDir is where the damaged files of a state folder lie that emberd made anew.
func DamagedDir(state string) string { return filepath.Join(state, "damaged") }

// maxDamaged bounds how many files of a name are kept.
const maxDamaged = 99

// SetAside moves a damaged file to [DamagedDir], beside those that lie there.
func SetAside(fsys durable.FS, state, name string) error {
	dir := DamagedDir(state)
	if err := durable.MkdirAll(fsys, dir); err != nil {
		return err
	}
	for n := 1; ; n++ {
		to := filepath.Join(dir, fmt.Sprintf("%s-%d", filepath.Base(name), n))
		err := fsys.RenameNoReplace(name, to)
		if errors.Is(err, fs.ErrExist) && n < maxDamaged {
			continue
		}
		if err != nil {
			return fmt.Errorf("move the damaged file %s to %s: %w", name, dir, err)
		}
		return errors.Join(fsys.SyncDir(dir), fsys.SyncDir(filepath.Dir(name)))
	}
}

// damages says by the names of files what follows if one was damaged.
var damages = []struct{ prefix, suffix, follows string }{
	{"purged.json", "", "the list of purged memories was made again from the log and from what could be read of it; " +
		"a purge that only this file recorded has to be asked for again"},
}

// Damaged says of each file in [DamagedDir] what followed from its damage.
func Damaged(fsys durable.FS, state string) (out []string) {
	entries, err := fsys.ReadDir(DamagedDir(state))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		i := strings.LastIndexByte(e.Name(), '-')
		if i < 0 || !e.Type().IsRegular() {
			continue
		}
		for _, d := range damages {
			if base := e.Name()[:i]; strings.HasPrefix(base, d.prefix) && strings.HasSuffix(base, d.suffix) {
				out = append(out, fmt.Sprintf("%s was damaged: %s; delete %s, where it lies, to end this warning",
					base, d.follows, filepath.Join(DamagedDir(state), e.Name())))
				break
			}
		}
	}
	return out
}
