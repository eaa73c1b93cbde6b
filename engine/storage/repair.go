package storage

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"emberd/engine/core"
	"emberd/internal/backup"
	"emberd/memory"
	"emberd/stm"
)

// Repaired is what a repair of the log did.
type Repaired struct {
	From    []RepairedFrom `json:"from"`    // the copies that something came back from
	Missing int            `json:"missing"` // records of this device that are in no copy
	Short   []string       `json:"short"`   // log files that hold less than was written to them
	// BareTrash are memories of the trash of which no copy has the text.
	BareTrash int `json:"bare_trash,omitempty"`
	// Damaged are lines of this device's log that are passed over, and that no copy was found to make good.
	Damaged int `json:"damaged,omitempty"`
	// NotRead are backups that could not be read, each with the reason.
	NotRead []string `json:"not_read,omitempty"`
	// Anew is set if a new log was begun, which knows nothing of the numbers of the old one.
	Anew bool `json:"anew,omitempty"`
	// Given up are records that are not missed any more, since the caller accepted the loss.
	GivenUp int `json:"given_up,omitempty"`
	// GivenUpTexts are memories of the trash whose texts are not missed any more.
	GivenUpTexts int `json:"given_up_texts,omitempty"`
}

// RepairedFrom is what came back from one copy.
type RepairedFrom struct {
	Copy     string `json:"copy"`
	Memories int    `json:"memories"`
	Lines    int    `json:"lines"`
	Records  int    `json:"records"` // of this device, that are not missed any more
	// Histories are files of superseded lines that were copied whole.
	Histories int `json:"histories,omitempty"`
	// Made is when the backup was made.
	Made time.Time `json:"made,omitzero"`
}

// RepairOptions say where to look.
type RepairOptions struct {
	Backups []string // files to look into whether or not something is missed
	Accept  bool     // give up what is in no copy
	// Gone is what a log that is gone misses. Every backup in their folder is looked into then.
	Gone *stm.Loss
}

// Repair writes again what memory, histories or backups hold and the log does not. What the snapshot
// held was written when the log was opened. It needs the store for itself.
func (e *Storage) Repair(ctx context.Context, opt RepairOptions) (*Repaired, error) {
	out := &Repaired{From: []RepairedFrom{}, Anew: opt.Gone != nil}
	start := e.Stm.Status()
	out.add("snapshot", start.Recovered)
	if err := e.repairFrom(ctx, "memory", nil, out); err != nil {
		return nil, err
	}
	if e.Misses() {
		history, err := stm.FoldHistories(ctx, e.Opt.FS, e.Opt.Data, e.Opt.Logger)
		if err != nil {
			return nil, fmt.Errorf("cannot read the history segments: %w", err)
		}
		if err := e.repairFrom(ctx, "histories", history, out); err != nil {
			return nil, err
		}
	}
	for _, name := range stm.KeptSnapshots(e.Opt.FS, e.Opt.State) {
		if err := e.repairFromSnapshot(ctx, name, out); err != nil {
			e.Opt.Logger.Warn("snapshot of an earlier log not used", "file", name, "error", err)
		}
	}
	for _, name := range opt.Backups {
		if err := e.repairFromBackup(ctx, name, opt.Gone, out); err != nil {
			return nil, err
		}
	}
	for _, name := range e.backupsNewestFirst() {
		if !e.Misses() && opt.Gone == nil {
			break
		}
		if err := e.repairFromBackup(ctx, name, opt.Gone, out); err != nil {
			out.NotRead = append(out.NotRead, err.Error())
		}
	}
	return out, e.endRepair(ctx, opt, out)
}

func (e *Storage) endRepair(ctx context.Context, opt RepairOptions, out *Repaired) error {
	if opt.Accept {
		bare := e.Stm.Status().BareTrash
		lost, err := e.Stm.AcceptLoss(ctx)
		if err != nil {
			return err
		}
		out.GivenUp, out.GivenUpTexts = lost.Records-lost.Covered, bare-e.Stm.Status().BareTrash
	}
	st := e.Stm.Status()
	damaged, err := e.Stm.Quarantine()
	if err != nil {
		return err
	}
	out.Missing, out.Short, out.BareTrash, out.Damaged = st.Recovery.Gaps, st.Short, st.BareTrash, len(damaged)
	if opt.Gone != nil && !opt.Accept { // which the new log counts, too, if state/written tells of it
		out.Missing = max(out.Missing, opt.Gone.Gone.Count())
	}
	return nil
}

// Misses reports whether something that was written is in no file, or may be in a damaged line alone.
func (e *Storage) Misses() bool {
	st := e.Stm.Status()
	return st.Recovery.Gaps > 0 || len(st.Short) > 0 || st.BareTrash > 0 || st.Recovery.Quarantined > 0 ||
		e.Stm.CameBackInPart()
}

func (r *Repaired) add(name string, got stm.Healed) {
	if got.Lines+got.Covered > 0 {
		r.From = append(r.From,
			RepairedFrom{Copy: name, Memories: got.Memories, Lines: got.Lines, Records: got.Covered})
	}
}

func (e *Storage) repairFrom(ctx context.Context, name string, held *stm.Folded, out *Repaired) error {
	got, err := e.Stm.Heal(ctx, held, false)
	if err != nil {
		return err
	}
	out.add(name, got)
	return nil
}

// repairFromSnapshot takes what the snapshot of an earlier log holds into the log, and removes it then.
func (e *Storage) repairFromSnapshot(ctx context.Context, name string, out *Repaired) error {
	held, err := stm.FoldSnapshot(e.Opt.FS, name)
	if err == nil {
		err = e.repairFrom(ctx, "snapshot "+name, held, out)
	}
	if err != nil {
		return err
	}
	return e.Opt.FS.Remove(name)
}

// repairFromBackup unpacks a backup beside the state of the daemon and compares.
func (e *Storage) repairFromBackup(ctx context.Context, name string, gone *stm.Loss, out *Repaired) (err error) {
	dir := filepath.Join(e.Opt.State, ".repair-"+rand.Text())
	asItIs := func(string, *backup.Manifest) error { return nil }
	unpacked, err := backup.Restore(ctx, e.Opt.FS, name, dir, false, asItIs)
	if err != nil {
		return memory.Errorf(memory.Invalid, "cannot read the backup %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := e.isOfThisStore(name, &unpacked.Manifest); err != nil {
		return err
	}
	held, err := stm.Fold(ctx, e.Opt.FS, dir, e.Opt.Logger)
	if err != nil {
		return err
	}
	if gone != nil {
		gone.Explain(held)
	}
	before := len(out.From)
	if err := e.repairFrom(ctx, "backup "+name, held, out); err != nil {
		return err
	}
	n, err := e.Stm.ReturnHistories(dir)
	if n > 0 {
		out.From = append(out.From, RepairedFrom{Copy: "backup " + name, Histories: n})
	}
	for i := before; i < len(out.From); i++ {
		out.From[i].Made = unpacked.Created
	}
	return err
}

// isOfThisStore refuses a backup that has no device in common with this store. A store that has written nothing takes
// any.
func (e *Storage) isOfThisStore(name string, m *backup.Manifest) error {
	here, there := e.Stm.Devices(), m.Devices()
	shared := slices.ContainsFunc(there, func(dev string) bool { return slices.Contains(here, dev) })
	if shared || len(there) == 0 || len(here) == 1 && e.Stm.Status().Bytes == 0 {
		return nil
	}
	return memory.Errorf(memory.Invalid, "the backup %s is from another data folder: the backup is from device %s, "+
		"and this data folder from device %s; to import the memories, run emberd --home DIR backup "+
		"restore, emberd --home DIR serve and emberd --home DIR export; then run here: emberd import export", name,
		strings.Join(there, ", "), strings.Join(here, ", "))
}

// backupsNewestFirst lists the backups in their folder. Their names begin with the time.
func (e *Storage) backupsNewestFirst() (names []string) {
	dir := core.BackupFolder(e.Opt.State)
	entries, err := e.Opt.FS.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, entry := range slices.Backward(entries) {
		if filepath.Ext(entry.Name()) == ".gz" {
			names = append(names, filepath.Join(dir, entry.Name()))
		}
	}
	return names
}
