package stm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"emberd/internal/backup"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm"
	"emberd/stm/device"
	"emberd/stm/record"
)

// The folder of the other device, as this one sees it.
const theirs = "/data/stm/otherdev"

// delivery is a file of another device that a sync tool brings.
type delivery struct {
	name  string
	first uint64 // sequence number of the first line
	lines []effect
	grows bool // it is written in place, and looked at when half of it is there
	late  bool // nobody looks before the next start
}

// when is the stamp of a line: ahead of the clock here, so that it comes after
// all there is, and what is written here once it was seen comes after it.
func (d *delivery) when(i int) time.Time {
	return time.Date(2026, 1, 1, 1, int(d.first)+i, 0, 0, time.UTC)
}

func (d *delivery) content() []byte {
	dev, _ := record.ParseDevice(filepath.Base(theirs))
	number := record.ParseName(d.name).To
	b := record.MetaLine(record.OpSegment, record.Stamp{T: uint64(d.when(0).UnixMilli()) << 16, Dev: dev},
		record.Header{Dev: dev.String(), Segment: number, First: d.first, Format: record.FormatVersion})
	for i, f := range d.lines {
		set := map[string]json.RawMessage{}
		for key, text := range f.set {
			set[key] = record.Encode(text)
		}
		b = append(b, lineOf(d.first+uint64(i), d.when(i), f.op, f.id, string(record.Encode(set)))...)
	}
	return b
}

// arrives is the file coming, and being noticed unless it comes late.
func (d delivery) arrives() step {
	return step{name: d.name + " of another device", on: func(m *machine) error {
		err := d.carry(m)
		landed := err == nil
		if landed && !d.late {
			err = d.noticed(m.Store)
		}
		for i, f := range d.lines {
			e := event{name: fmt.Sprint(d.name, " line ", i), effects: []effect{f}, foreign: true, landed: landed, sure: err == nil && !d.late}
			if landed {
				dev, _ := record.ParseDevice(filepath.Base(theirs))
				e.entry = record.Stamp{T: uint64(d.when(i).UnixMilli())<<16 | d.first + uint64(i), Dev: dev}.String()
			}
			m.world.note(e)
		}
		return away(err)
	}}
}

// away is an error of somebody else's, for whom no code is wanted.
func away(err error) error {
	if err == nil {
		return nil
	}
	return memory.Errorf(memory.Unavailable, "not now: %w", err)
}

// carry is what the sync tool does. It tries again what it tried before.
func (d *delivery) carry(m *machine) error {
	if err := durable.MkdirAll(m.disk, theirs); err != nil {
		return err
	}
	name := filepath.Join(theirs, d.name)
	at := filepath.Join(theirs, ".syncthing."+d.name+".tmp")
	if d.grows {
		at = name
	}
	if err := m.disk.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := m.disk.CreateAppend(at)
	if err != nil {
		return err
	}
	b := d.content()
	_, err = f.Write(b[:2*len(b)/3])
	if err == nil && d.grows {
		_, err = m.Refresh(context.Background())
	}
	if err == nil {
		_, err = f.Write(b[2*len(b)/3:])
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil && !d.grows {
		err = m.disk.Rename(at, name)
	}
	if err == nil {
		err = m.disk.SyncDir(theirs)
	}
	return err
}

// noticed is one look at what came.
func (d *delivery) noticed(s *stm.Store) error {
	if _, err := s.Wal().Refresh(context.Background()); err != nil {
		return err
	}
	dev, _ := record.ParseDevice(filepath.Base(theirs))
	if last := d.first + uint64(len(d.lines)) - 1; s.Wal().Snapshot.Seen.Contiguous()[dev] < last {
		return errors.New("the file was not read")
	}
	return nil
}

// obeys carries out what another device purged.
func obeys() step {
	return step{name: "carry out purges", do: func(s *stm.Store) (string, error) {
		_, err := s.CarryOutPurges(context.Background())
		return "", err
	}}
}

// aSharedDay is a life into which another device's files come: under their
// names at once, growing, with a purge, and one that only a start finds.
func aSharedDay() []step {
	purge := effect{id: idOf(2), op: record.OpPurge}
	return []step{
		delivery{name: "s-00000001.jsonl", first: 1, lines: []effect{saved(21, "quince jelly"), set(1, "content", "apple strudel")}}.arrives(),
		request("edit", set(1, "source", "garden")),
		delivery{name: "s-00000002.jsonl", first: 3, grows: true, lines: []effect{set(21, "content", "quince cheese"), saved(22, "rose hip")}}.arrives(),
		request("save", saved(5, "elder flower")), snapshots(),
		delivery{name: "s-00000003.jsonl", first: 5, lines: []effect{purge, set(22, "content", "rose water")}}.arrives(), obeys(),
		delivery{name: "s-00000004.jsonl", first: 7, late: true, lines: []effect{saved(23, "sloe gin")}}.arrives(),
	}
}

// lookAround is what a daemon does now and then, where there are other devices.
// The one that wrote before a restore is one.
func (m *machine) lookAround() error {
	if !m.world.moved && !slices.ContainsFunc(m.world.events, func(e event) bool { return e.foreign }) {
		return nil
	}
	_, err := m.Refresh(context.Background())
	return err
}

// oneDevice sees that no new identity was minted, but by a restore.
func (m *machine) oneDevice() error {
	entries, err := m.disk.ReadDir("/data/stm")
	own := 0
	for _, e := range entries {
		if e.Name() != filepath.Base(theirs) {
			own++
		}
	}
	if err == nil && own != 1 && !m.world.moved {
		err = fmt.Errorf("%d devices, want the one there was", own)
	}
	return err
}

const backupFile = "/backup.tar.gz"

func backsUp() step {
	return step{name: "back up", on: func(m *machine) error {
		moment, known, err := m.Moment(context.Background())
		if err != nil {
			return err
		}
		m.world.saved = len(m.world.events)
		if err := m.disk.Remove(backupFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return away(err)
		}
		_, err = backup.Create(context.Background(), m.disk, "/data", backupFile, backup.Manifest{Device: moment.Device},
			moment.Of, (&backup.Log{FS: m.disk, Data: "/data", Known: known}).Fill)
		return away(err)
	}}
}

// restoresBackup is what emberd backup restore does, and the start after it.
func restoresBackup() step {
	return step{name: "restore a backup", on: func(m *machine) error {
		m.Close() // what it says was tried elsewhere
		m.world.moved = true
		_, err := backup.Restore(context.Background(), m.disk, backupFile, "/data", true, func(fresh string, man *backup.Manifest) error {
			if _, err := man.Settle(context.Background(), m.disk, fresh, nil, man.Created); err != nil {
				return err
			}
			return device.ForgetDevice(m.disk, "/state", man.Device)
		})
		m.world.note(event{name: "restore a backup", back: m.world.saved, sure: err == nil})
		if err == nil {
			err = m.start()
		}
		return away(err)
	}}
}

// putBack is what a human does who is told that the log is gone: a restore that
// ended between two renames leaves it beside its place.
func (m *machine) putBack() error {
	entries, err := m.disk.ReadDir("/")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "data.before-restore-") {
			return errors.Join(m.disk.Rename("/"+e.Name(), "/data"), m.disk.SyncDir("/"))
		}
	}
	return device.ErrLogGone
}
