package wal

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"emberd/stm/record"
)

// AuditLog is a log as an audit reads it.
type AuditLog struct{ Of *Log }

// End returns the number and the stamp of the last line of this device, and whether it is certain
// that no later one is on the disk. It takes no lock.
func (a AuditLog) End() (seq uint64, newest record.Stamp, certain bool) {
	s := a.Of
	return s.LastSeq.Load(), record.Stamp{T: s.newest.Load(), Dev: s.Device}, !s.inDoubt.Load()
}

// Settle waits until all that is on the disk is in what End returns.
func (a AuditLog) Settle(ctx context.Context) error { return a.Of.OnWriter(ctx, func() {}) }

// Changes calls fn for the lines of all files that change memories, histories too, as they are on
// the disk now. A line can come more than once: whole, and cut by compaction. The error is
// [fs.ErrNotExist] if compaction removed a file in the meantime. Files of other devices that cannot
// be read are left out.
func (a AuditLog) Changes(fn func(*record.LogLine)) error {
	s := a.Of
	names, err := record.LogFiles(s.FS, s.Data)
	if err != nil {
		return err
	}
	kinds := []string{record.OpPut, record.OpSet, record.OpDelete, record.OpPurge, record.OpAll}
	for _, name := range names {
		for l, err := range record.ReadLog(s.FS, name) {
			switch {
			case err != nil && s.OwnOrGone(name, err):
				return err
			case err == nil && l.State == record.LineGood && slices.Contains(kinds, l.Op):
				fn(&l)
			}
		}
	}
	return nil
}

// Closed returns the end of a device's last segment that was closed in order and has a seal of the
// audit, nil if there is none. Compaction removes such ends.
func (a AuditLog) Closed(device record.Device) *record.LogLine {
	names, _ := record.LogFiles(a.Of.FS, filepath.Join(a.Of.Data, "stm", device.String()))
	for _, name := range slices.Backward(names) {
		if record.ParseName(filepath.Base(name)).Kind != record.Raw {
			continue
		}
		for l, err := range record.ReadLogContaining(a.Of.FS, name, []byte(`"op":"`+record.OpSeal+`"`)) {
			var end record.Seal
			if err == nil && l.State == record.LineGood && l.Op == record.OpSeal &&
				json.Unmarshal(l.Data, &end) == nil && end.Audit != "" {
				return &record.LogLine{Seq: end.Last, Stamp: l.Stamp, Tx: l.Stamp, Verb: l.Op, Audit: end.Audit}
			}
		}
	}
	return nil
}
