package device

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"emberd/internal/durable"
)

// DamagedDir is where copies of damaged files lie that emberd makes anew.
func DamagedDir(state string) string { return filepath.Join(state, "damaged") }

// maxDamaged bounds how many copies of a name are kept.
const maxDamaged = 99

// KeepDamaged copies a damaged file to [DamagedDir], unless the same is there already, so that another can take
// its place.
func KeepDamaged(fsys durable.FS, state, name string) error {
	b, err := durable.ReadAll(fsys, name)
	if err == nil {
		err = durable.MkdirAll(fsys, DamagedDir(state))
	}
	for n := 1; err == nil; n++ {
		to := filepath.Join(DamagedDir(state), fmt.Sprintf("%s-%d", filepath.Base(name), n))
		there, failed := durable.ReadAll(fsys, to)
		switch {
		case failed == nil && bytes.Equal(there, b):
			return nil
		case errors.Is(failed, fs.ErrNotExist), n == maxDamaged:
			return durable.ReplaceFile(fsys, to, b)
		}
	}
	return fmt.Errorf("cannot copy the damaged file %s: %w", name, err)
}

// damages says by the beginnings and ends of names what follows if a file was damaged.
var damages = []struct{ begin, end, follows string }{
	{"purged.json", "", "emberd rebuilt the list of permanently deleted memories from the log and the readable part " +
		"of the file; if only this file recorded a deletion, delete that memory permanently again"},
	{"device.json", "", "this device uses its last ID again; if the last ID was uncertain, this device uses a new ID"},
	{"", ".key", "clients can save texts again that were deleted on this device; to prevent this, stop emberd and " +
		"restore the file from a backup or another device"},
	{"s-", "", writtenDamage},
	{"c-", "", writtenDamage},
}

const writtenDamage = "emberd used the current size of the log file as the write position, so emberd cannot detect " +
	"an earlier loss at the end of the file; to verify the rest of the log, run: emberd doctor log check"

// Damaged says of each file in [DamagedDir] what followed from its damage.
func Damaged(fsys durable.FS, state string) (out []string) {
	entries, err := fsys.ReadDir(DamagedDir(state))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		base := e.Name()
		if i := strings.LastIndexByte(base, '-'); i > 0 && !strings.HasPrefix(base, ".") {
			out = append(out, fmt.Sprintf("%s was damaged: %s; to end this warning, delete the copy %s", base[:i],
				follows(base[:i]), filepath.Join(DamagedDir(state), base)))
		}
	}
	return out
}

func follows(base string) string {
	for _, d := range damages {
		if strings.HasPrefix(base, d.begin) && strings.HasSuffix(base, d.end) {
			return d.follows
		}
	}
	return "emberd created the file again"
}
