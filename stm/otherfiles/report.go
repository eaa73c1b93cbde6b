package otherfiles

import (
	"fmt"
	"path/filepath"
	"strings"

	"emberd/stm/device"
	"emberd/stm/record"
)

// Report sums up the lines that are passed over in the files, counts those that cannot be read, and says in
// sentences what others are flagged for.
func (o *Files) Report(h *device.Home, peers *device.Peers) (sum record.Recovery, failed int, warnings []string) {
	names, files := o.all()
	for _, name := range names {
		f := files[name]
		sum = sum.Plus(f.Count)
		if f.Problem == Unreadable {
			failed++
		}
		warnings = append(warnings, f.warnings(h, name, deviceOf(peers, name))...)
	}
	return sum, failed, warnings
}

// deviceOf names the device in whose folder a file is, with its host if known.
func deviceOf(peers *device.Peers, name string) string {
	dir := filepath.Base(filepath.Dir(name))
	if dir == "stm" {
		dir = filepath.Base(name)
	}
	if dev, ok := record.ParseDevice(dir); ok {
		if known := peers.Get(dev).Name; known != "" {
			return fmt.Sprintf("%s (%s)", dir, known)
		}
	}
	return dir
}

func (f *File) warnings(h *device.Home, name, dev string) (out []string) {
	base := filepath.Base(name)
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	switch {
	case f.HasLost() && f.Count.Quarantined == 0, f.Problem == Vanished:
		say("log file %s of device %s %s; memories that emberd already read from it stay on "+
			"this device; let the sync tool finish, or restore the file on the other device", base, dev, f.Problem)
	case f.Problem == Garbled:
		say("emberd does not read log file %s of device %s after byte %d, because too many lines are invalid; "+
			"if this persists after the sync tool has finished, remove the file, or restore it on that device", base,
			dev, f.Upto)
	}
	switch {
	case f.Count.Quarantined > 0 && h.IsFormer(filepath.Dir(name)):
		say("log file %s, which this device wrote with the ID %s before you restored a backup, has "+
			"%d damaged lines that emberd skips; to review them, run: emberd doctor quarantine list", base,
			filepath.Base(filepath.Dir(name)), f.Count.Quarantined)
	case f.Count.Quarantined > 0:
		say("log file %s of device %s has %d damaged lines that emberd skips; if this "+
			"persists after the sync tool has finished, restore the file on that device", base, dev,
			f.Count.Quarantined)
	}
	if record.IsCopy(name) && !record.IsSaved(name) && strings.HasSuffix(base, ".jsonl") && f.Problem == Sound {
		say("%s in the folder of device %s is a harmless copy that a sync tool made of a log file; "+
			"to remove the copy, run emberd doctor log compact on that device, then delete the copy", base, dev)
	}
	return out
}
