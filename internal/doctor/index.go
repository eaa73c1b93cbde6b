package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"emberd/internal/durable"
	"emberd/internal/text"
	"emberd/ltm"
	"emberd/stm"
)

// Index checks the files that searches read. The daemon can build all of them again from the
// log and the notes, and does so at its start with those that are damaged. running says that a
// daemon uses them, and restart is the command that restarts it.
func Index(p *Places, running bool, restart string) []Finding {
	var all []Finding
	damaged := func(path, why string, still func() bool) {
		f := Finding{Area: "index", Code: "index-damaged", Severity: Warning,
			Text: why + "; emberd can rebuild the index from the log and the " +
				"notes", Next: "rm -r " + text.ShellWord(path),
			Fix: func(context.Context) (string, error) { return removeIndex(p, path, still) }}
		if running {
			f.Next, f.Fix = restart, nil
		}
		all = append(all, f)
	}
	if err := stm.CheckSnapshot(durable.OS{}, p.State); err != nil && !running { // a daemon writes it again
		damaged(filepath.Join(p.State, "index", "stm.snap"), err.Error(),
			func() bool { return stm.CheckSnapshot(durable.OS{}, p.State) != nil })
	}
	dirs, err := os.ReadDir(filepath.Join(p.State, "index"))
	if err != nil {
		return all // there is none yet
	}
	for _, d := range dirs {
		path := filepath.Join(p.State, "index", d.Name())
		if why := ltm.Damaged(path); d.IsDir() && why != "" {
			damaged(path, fmt.Sprintf("note index %s is damaged (%s)", path, why),
				func() bool { return ltm.Damaged(path) != "" })
		}
	}
	return all
}

// removeIndex removes a part of the index while no daemon can use it, if it is still damaged:
// a command that opens the log without a daemon also writes a new snapshot.
func removeIndex(p *Places, path string, still func() bool) (string, error) {
	lock, err := durable.AcquireLock(filepath.Join(p.State, lockFile))
	if err != nil {
		return "", err
	}
	if !still() {
		return path + " was rebuilt", lock.Close()
	}
	if err := errors.Join(os.RemoveAll(path), lock.Close()); err != nil {
		return "", err
	}
	return "removed " + path + "; the daemon rebuilds the index at the next start", nil
}
