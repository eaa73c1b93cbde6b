package device

import (
	"errors"
	"path/filepath"
	"time"

	"emberd/internal/durable"
	"emberd/stm/record"
)

// recovered is the identity that a state folder still tells of when device.json is damaged: of the device that
// state/written is of, with the highest segment that it wrote. If that is several, it has no name, and has
// taken the place of all.
func recovered(fsys durable.FS, state string) *Identity {
	d := &Identity{damaged: true, TakenOver: map[string]time.Time{}}
	dirs, err := fsys.ReadDir(filepath.Join(state, "written"))
	if err != nil {
		return d
	}
	for _, e := range dirs {
		files, err := fsys.ReadDir(filepath.Join(state, "written", e.Name()))
		if _, ok := record.ParseDevice(e.Name()); !ok || err != nil || len(files) == 0 {
			continue
		}
		d.ID, d.TakenOver[e.Name()] = e.Name(), time.Time{}
		for _, f := range files {
			d.Segment = max(d.Segment, record.ParseName(f.Name()+".jsonl").To)
		}
	}
	if len(d.TakenOver) > 1 {
		d.ID = ""
	} else {
		d.TakenOver = nil
	}
	return d
}

// Recovered reports whether device.json was damaged and said what the rest of the state folder still tells.
func (d *Identity) Recovered() bool { return d.damaged }

// settle keeps the damaged file and writes the recovered identity in its place. A segment that was begun and
// has no record is not in state/written.
func (d *Identity) settle(fsys durable.FS, data, state string, now *Identity) error {
	if err := KeepDamaged(fsys, state, now.path); err != nil {
		return err
	}
	if d.ID == "" {
		return nil // the new one is written
	}
	entries, _ := fsys.ReadDir(filepath.Join(data, "stm", d.ID))
	for _, e := range entries {
		if n := record.ParseName(e.Name()).To; n == d.Segment+1 && !d.isAnothers(fsys, data, e.Name()) {
			d.Segment = n
			break
		}
	}
	d.path, d.Machine, d.Data, d.State = now.path, now.Machine, now.Data, now.State
	return d.save(fsys)
}

// DamagedNow lists the files of this package that the next start finds damaged.
func DamagedNow(fsys durable.FS, data, state string) (names []string) {
	path := filepath.Join(state, "device.json")
	d, err := readDevice(fsys, path)
	if err != nil || d == nil {
		return nil
	}
	if d.damaged {
		names = append(names, path)
	}
	h := &Home{Data: data, FS: fsys}
	dev, ok := record.ParseDevice(d.ID)
	if _, err := (&TextKeys{Home: h}).secretOf(dev); ok && errors.Is(err, errNoKey) {
		names = append(names, (&TextKeys{Home: h}).KeyPath(dev))
	}
	return names
}
