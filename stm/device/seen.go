package device

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"emberd/internal/durable"
	"emberd/stm/record"
)

// seenIn is where a state folder keeps how far the logs of other devices were read: one line of JSON with the checksum
// that lines of a log have.
func seenIn(state string) string { return filepath.Join(state, "seen.json") }

type seenFile struct {
	Seen map[string]uint64 `json:"seen"` // by device, the highest number up to which every record was there
}

// HadSeen returns how far the logs of other devices were read once. Where the state folder does not say so any more,
// what the device dev last told the others counts.
func HadSeen(fsys durable.FS, data, state string, dev record.Device) map[record.Device]uint64 {
	var f seenFile
	text, err := durable.ReadAtMost(fsys, seenIn(state), maxPeerFile)
	if err == nil {
		text, err = record.Trim(text)
	}
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		f.Seen = readTold(fsys, data, dev).Seen
	}
	out := map[record.Device]uint64{}
	for name, n := range f.Seen {
		if other, ok := record.ParseDevice(name); ok && other != dev {
			out[other] = n
		}
	}
	return out
}

// NoteSeen keeps how far the logs of other devices were read.
func NoteSeen(fsys durable.FS, state string, seen map[record.Device]uint64) error {
	named := make(map[string]uint64, len(seen))
	for dev, n := range seen {
		named[dev.String()] = n
	}
	line := record.SealLine(bytes.TrimSuffix(record.Encode(seenFile{named}), []byte("}")), 0)
	if err := durable.ReplaceFile(fsys, seenIn(state), line); err != nil {
		return fmt.Errorf("cannot store the read positions in the logs of other devices: %w", err)
	}
	return nil
}

// forgetSeen is for a log that takes the place of another on purpose.
func forgetSeen(fsys durable.FS, state string) error {
	if err := fsys.Remove(seenIn(state)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Told is the highest number of a record of a device that data/devices tells of: in what it last told the others, and
// in what they had read of it by then. It is 0 if no file is left.
func Told(fsys durable.FS, data string, dev record.Device) (last uint64) {
	dir := (&Home{Data: data}).PeersDir()
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		of, valid := record.ParseDevice(name)
		if !ok || !valid || !e.Type().IsRegular() {
			continue
		}
		p := readTold(fsys, data, of)
		if last = max(last, p.Seen[dev.String()]); of == dev {
			last = max(last, p.Last)
		}
	}
	return last
}

// readTold reads the devices file of a device, the zero value if there is none that can be read.
func readTold(fsys durable.FS, data string, dev record.Device) Peer {
	peers := Peers{Home: &Home{Data: data, FS: fsys}}
	p, err := peers.readPeer(filepath.Join(peers.PeersDir(), dev.String()+".json"))
	if err != nil || p.Device != dev.String() {
		return Peer{}
	}
	return p
}
