package repair

import (
	"path/filepath"

	"emberd/internal/durable"
	"emberd/stm/device"
	"emberd/stm/snapshot"
	"emberd/stm/table"
)

// Gone is [device.Gone], and the same error if no file is left of the log that the snapshot is of while that holds
// memories: device.json does not tell if it is lost, too, or if a repair of a log that is gone was interrupted.
func Gone(fsys durable.FS, data, state string) error {
	if err := device.Gone(fsys, data, state); err != nil {
		return err
	}
	dev, known := snapshotDevice(fsys, state)
	folder := filepath.Join(data, "stm", dev)
	if !known || device.IsForgotten(fsys, state) || device.HasLog(fsys, folder) {
		return nil
	}
	held, err := snapshot.Witness(fsys, device.SnapshotIn(state))
	if err != nil {
		return nil // which the start tells
	}
	holds := false
	held.Table.Each(func(*table.Cell, *table.Row) bool {
		holds = true
		return false
	})
	if !holds {
		return nil
	}
	return device.GoneFrom(folder)
}

// snapshotDevice returns the device whose log the snapshot is of, false if there is none that says so, or it had
// written nothing.
func snapshotDevice(fsys durable.FS, state string) (string, bool) {
	f, in, err := snapshot.Open(fsys, device.SnapshotIn(state))
	if err != nil {
		return "", false
	}
	defer in.Close()
	m, err := f.Meta()
	if err != nil || m.Seq == 0 {
		return "", false
	}
	return m.Device.String(), true
}
