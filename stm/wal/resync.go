package wal

import (
	"fmt"
	"path/filepath"
)

// keep puts on the disk for good what was just read of an own file. A process
// that was killed between write and sync leaves a line that can be read and
// that a power cut may still take: shown to a client, or answered for when a
// request is repeated with its key, it would be an acknowledgement that does
// not hold.
func (r *recovery) keep(name string, end int64) error {
	own := filepath.Base(filepath.Dir(name)) == r.s.Device.String()
	covered, known := r.start[name]
	if !own || known && end == covered.Size || r.s.Durability == None {
		return nil
	}
	if err := r.s.FS.SyncFile(name); err != nil {
		return fmt.Errorf("sync segment: %w", err)
	}
	r.kept = true
	return nil
}
