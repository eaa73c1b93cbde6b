package engine

import (
	"emberd/engine/admin"
	"emberd/engine/core"
	"emberd/stm"
)

// Options are the settings of an Engine. Start from [DefaultOptions].
type Options = core.Options

// DefaultOptions returns the default of every setting but the folders.
func DefaultOptions() Options { return core.DefaultOptions() }

// storeOptions returns the options of the store. The features must be wired, because the store
// calls them back.
// knownPurges reads which memories the state folder says were purged.
func (e *Engine) knownPurges() stm.Purges {
	known := stm.Purges{}
	for _, name := range core.DamagedNow(e.Opt.FS, e.Opt.State) {
		e.Opt.Logger.Warn(
			"list of permanently deleted memories is damaged; rebuilt from the log and the readable part of the list",
			"file", name)
	}
	if err := core.AddPurged(e.Opt.FS, e.Opt.State, known); err != nil {
		e.Opt.Logger.Warn("list of permanently deleted memories not read; emberd uses only the log", "err", err)
	}
	return known
}

func (e *Engine) storeOptions() *stm.Options {
	o := &e.Opt
	return &stm.Options{
		Logger:       o.Logger,
		FS:           o.FS,
		Now:          o.Now,
		Durability:   o.Durability,
		AcceptEmpty:  o.AcceptEmpty,
		Repair:       o.Repair,
		KnownPurges:  e.knownPurges(),
		SegmentBytes: o.SegmentBytes,
		SegmentAge:   o.SegmentAge,
		TrashKeep:    o.TrashKeep,
		HistoryKeep:  o.HistoryKeep,
		Analyzer:     e.Text,
		Committed:    e.committed,
		Complete:     e.Notes.CheckReturned,
		Vet:          e.Vet,
		Damaged:      func() { core.Nudge(e.Admin.NewFiles) },
		Beginning:    func(l *stm.Log) { e.Ledger.Begin(admin.Journal{Log: stm.AuditLog{Of: l}}) },
		Sign:         e.Admin.SignChange,
		Purging:      e.Ledger.Purged,
		Purged:       e.Purge.Apply,
		Elsewhere:    o.Elsewhere(),
	}
}
