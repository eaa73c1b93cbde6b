// Package engine handles every operation of package op. It opens the log of package stm and
// the notes of packages vault, watcher and ltm. It builds the features, one package each (see
// [Features]), for each set of permissions, binds the operations to their handlers, and owns
// the goroutines of all features.
//
// Guarantees: when an operation that changes something returns, stm has the change on disk,
// and the next search finds it. A search changes access counts only, and restores archived
// memories that match. Every destructive operation has a preview and an undo. Errors are
// [*memory.Error], so that their code survives the socket; neither errors nor logs contain the
// text of a memory.
//
// Any number of goroutines may use an Engine. It does not change requests, and results belong
// to the caller. Outside [Engine.Run], the only goroutine is the writer of stm.
package engine

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"emberd/engine/admin"
	"emberd/engine/agents"
	"emberd/engine/cleanup"
	"emberd/engine/core"
	"emberd/engine/health"
	"emberd/engine/lifecycle"
	"emberd/engine/listnotes"
	"emberd/engine/merge"
	"emberd/engine/notelinks"
	"emberd/engine/notes"
	"emberd/engine/notesync"
	"emberd/engine/notewrite"
	"emberd/engine/review"
	"emberd/engine/search"
	"emberd/engine/semantic"
	"emberd/engine/sessions"
	"emberd/engine/transcripts"
	"emberd/internal/access"
	"emberd/internal/contain"
	"emberd/internal/durable"
	"emberd/internal/ledger"
	"emberd/internal/text/analysis"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Engine is an open store with its operations. It is an [op.Invoker].
type Engine struct {
	*core.View
	*Features
	state    *state
	handlers map[string]op.Handler
	views    scopedViews
}

// Open locks the state folder, recovers the log and returns an engine that is ready. Until
// [Engine.Run] has built the word index, searches scan the rows, and their answers have the
// state of loading. Open returns an error of code Unavailable if another daemon runs on the
// same folder.
func Open(opt core.Options) (*Engine, error) {
	opt, err := opt.Complete()
	if err != nil {
		return nil, err
	}
	lock, tokens, err := enter(&opt)
	if err != nil {
		return nil, err
	}
	analyzer := analysis.New()
	if err := durable.SweepTemps(opt.FS, core.BackupFolder(opt.State)); err != nil {
		opt.Logger.Warn("unfinished backups not removed", "err", err)
	}
	e := &Engine{View: &core.View{Kernel: &core.Kernel{
		Opt:       opt,
		Started:   opt.Now(),
		Lock:      lock,
		Tokens:    tokens,
		Text:      analyzer,
		EventLog:  core.NewEvents(),
		Closing:   make(chan struct{}),
		Dirty:     make(chan struct{}, 1),
		Shared:    make(chan struct{}, 1),
		Ledger:    openLedger(&opt),
		Uncounted: make(chan struct{}, 1),
		Vitals:    core.Counters{Log: opt.Logger},
	}}, state: newState(&opt, analyzer)}
	e.Features = wire(e.View, e.state)
	store, err := stm.Open(opt.Data, opt.State, e.storeOptions())
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	var long *notes.VaultNotes
	if len(opt.Vaults) > 0 {
		if long, err = notes.OpenNotes(&opt, analyzer); err != nil {
			return nil, errors.Join(err, store.Close(), lock.Close())
		}
	}
	e.Stm, e.Notes.Vault = store, long
	e.Ledger.Follow(admin.Journal{Log: store})
	if long != nil {
		e.Sync.Sync = notesync.NewNoteSync(e.Sync)
		e.Lists.Lists = listnotes.NewLists(&e.Opt, long.Dir)
		e.Links.Known = notelinks.NewKnown(&e.Opt, long.Dir)
		long.Follower = &noteFollower{e}
		long.Beside = func(id memory.ID) string {
			if row, live := store.Get(id); live {
				return stm.OtherText(row)
			}
			return ""
		}
		long.Vitals = &e.Vitals
	}
	e.Purge.LoadHeld()
	e.Storage.LoadBackups()
	e.Texts.Open()
	e.Promote.OpenNoteWriter(e.NoteWrite.Wrote)
	if e.Semantic.Meaning != nil {
		e.Semantic.Meaning.Digest, e.Semantic.Meaning.Vitals = e.Semantic.MemoryDigest, &e.Vitals
	}
	e.connect()
	e.handlers = e.table()
	e.Ledger.Judge(e.Admin.WasDiscarded)
	return e, nil
}

// connect sets the hooks and signals of the kernel.
func (e *Engine) connect() {
	e.Signals = []chan<- struct{}{e.Dirty, e.Shared, e.Lifecycle.Scheduler.Look, e.Agents.AgentScheduler.Look}
	e.Lifecycle.Scheduler.Duties = []lifecycle.Duty{{Name: "applying default decisions",
		Do: e.Review.DecideOverdue}}
	e.Hooks = core.Hooks{Embedded: e.Semantic.EmbeddedBy, Touched: e.touched, ForgetEchoes: e.forgetEchoes,
		NoteClaims: e.Review.FileNoteClaim, OtherTexts: e.Review.AddTexts,
		CopyTaken: func(path string, text []byte) error { return notewrite.ListCopy(e.NoteWrite.State, path, text) },
		Status:    func(g *access.Grant) *op.StatusResult { return e.newView(g).Admin.SeenStatus() }}
	if e.Lists.Lists != nil {
		e.Lists.Lists.Open = func() int { n, _ := e.Review.UndecidedItems(); return n }
		e.Lists.Lists.Waits = e.Admin.OtherWaits
		e.Lists.Lists.Writers = map[string]listnotes.ListWriter{listnotes.InboxKind: e.Review.WriteInbox}
	}
}

func openLedger(opt *core.Options) *ledger.Ledger {
	return ledger.Open(ledger.Options{
		FS: opt.FS, File: filepath.Join(opt.State, admin.LedgerFile), Now: opt.Now, Logger: opt.Logger,
		Below: opt.ThrottleBelow, Chain: filepath.Join(opt.State, core.ChainDir),
	})
}

// newState returns the parts of the features' state that do not need the store.
func newState(opt *core.Options, analyzer *analysis.Analyzer) *state {
	return &state{
		notes:     notes.State{Wishes: make(chan memory.ID, notes.MaxWishes)},
		semantic:  semantic.State{Meaning: semantic.NewEmbeddings(opt)},
		noteWrite: notewrite.NewState(opt),
		sessions:  sessions.NewState(opt),
		search:    search.State{LookedBack: make(chan struct{}, 1)},
		lifecycle: lifecycle.State{Author: lifecycle.NewAuthor(opt, analyzer), Scheduler: lifecycle.NewScheduler()},
		merge:     merge.State{Reported: merge.NewReportedClusters(opt)},
		review:    review.State{Mirror: review.NewBeadsMirror(opt)},
		health:    health.State{Reports: health.NewHealthReports(opt)},
		cleanup:   cleanup.State{Cleanups: cleanup.NewCleanups(opt)},
		agents:    agents.State{AgentScheduler: agents.NewAgentScheduler(opt)},
		admin:     admin.State{NewFiles: make(chan struct{}, 1)},

		transcripts: transcripts.NewState(opt),
	}
}

// acquire locks the state folder against a second daemon. The lock is always on the real disk,
// because the operating system keeps it.
func acquire(state string) (*durable.Lock, error) {
	if err := durable.MkdirAll(durable.OS{}, state); err != nil {
		return nil, memory.Errorf(memory.Unavailable, "cannot open the state folder: %w", err)
	}
	lock, err := durable.AcquireLock(filepath.Join(state, "daemon.lock"))
	switch {
	case errors.Is(err, durable.ErrLocked):
		return nil, memory.Errorf(memory.Unavailable,
			"another daemon uses this state folder: %w; stop that daemon, or use a different state folder", err)
	case err != nil:
		return nil, memory.Errorf(memory.Unavailable, "cannot open the state folder: %w", err)
	}
	return lock, nil
}

// table returns the handler of every operation by its name.
func (e *Engine) table() map[string]op.Handler {
	t := make(map[string]op.Handler)
	add := func(s *op.Spec, h op.Handler) { t[s.Name] = h }
	add(op.Save.Handle(e.Memories.Save))
	add(op.SaveBatch.Handle(e.Memories.SaveBatch))
	add(op.Search.Handle(e.Search.Search))
	add(op.WhyNot.Handle(e.Search.WhyNot))
	add(op.Show.Handle(e.Memories.Show))
	add(op.List.Handle(e.Memories.List))
	add(op.Edit.Handle(e.Memories.Edit))
	add(op.Forget.Handle(e.Memories.Forget))
	add(op.ForgetBatch.Handle(e.Memories.ForgetBatch))
	add(op.OpenMany.Handle(e.Memories.OpenMany))
	add(op.Relate.Handle(e.Memories.Relate))
	add(op.RelateBatch.Handle(e.Memories.RelateBatch))
	add(op.Unrelate.Handle(e.Memories.Unrelate))
	add(op.Graph.Handle(e.Memories.ReadGraph))
	add(op.Promote.Handle(e.Promote.Promote))
	add(op.Archive.Handle(e.Lifecycle.ArchiveAsked))
	add(op.Rekindle.Handle(e.Lifecycle.Rekindle))
	add(op.PromoteAuto.Handle(e.Lifecycle.PromoteAuto))
	add(op.Touch.Handle(e.Memories.Touch))
	add(op.Observe.Handle(e.Learn.Observe))
	add(op.AnalyzeMessage.Handle(e.Learn.AnalyzeMessage))
	add(op.AnalyzeRecall.Handle(e.Learn.AnalyzeRecall))
	add(op.GC.Handle(e.Lifecycle.Gc))
	add(op.Clusters.Handle(e.Merge.Clusters))
	add(op.Consolidate.Handle(e.Merge.Consolidate))
	e.addMaintenanceOps(add)
	add(op.LifecycleRun.Handle(e.Lifecycle.LifecycleRun))
	add(op.LifecycleStatus.Handle(e.Admin.LifecycleStatus))
	add(op.Purge.Handle(e.Purge.Purge))
	add(op.History.Handle(e.History.History))
	add(op.Journal.Handle(e.History.Journal))
	add(op.Audit.Handle(e.Admin.Audit))
	add(op.AuditForgive.Handle(e.Admin.AuditForgive))
	add(op.Why.Handle(e.Memories.Why))
	add(op.Timeline.Handle(e.History.Timeline))
	add(op.Undo.Handle(e.History.Undo))
	add(op.TrashList.Handle(e.History.TrashList))
	add(op.TrashRestore.Handle(e.History.TrashRestore))
	add(op.Export.Handle(e.Transfer.Export))
	add(op.Import.Handle(e.Transfer.Import))
	add(op.QuarantineList.Handle(e.History.QuarantineList))
	add(op.QuarantineShow.Handle(e.History.QuarantineShow))
	add(op.QuarantineAccept.Handle(e.History.QuarantineAccept))
	add(op.QuarantineDrop.Handle(e.History.QuarantineDrop))
	add(op.StaleList.Handle(e.Admin.StaleList))
	add(op.StaleDecide.Handle(e.Admin.StaleDecide))
	add(op.BackupCreate.Handle(e.Storage.BackupCreate))
	e.addVaultOps(add)
	add(op.Complete.Handle(e.Memories.Complete))
	add(op.Keeper.Handle(e.Admin.PrimaryDevice))
	add(op.KeeperHere.Handle(e.Admin.ClaimPrimary))
	add(op.Status.Handle(e.Admin.Status))
	add(op.Stats.Handle(e.Admin.Stats))
	add(op.Compact.Handle(e.Storage.Compact))
	add(op.Add.Handle(e.Learn.Add))
	add(op.Query.Handle(e.Learn.Query))
	add(op.Verify.Handle(e.Learn.Verify))
	add(op.Reinforce.Handle(e.Learn.Reinforce))
	add(op.Confirm.Handle(e.Memories.Confirm))
	add(op.EntityList.Handle(e.Graph.EntityList))
	add(op.Knowledge.Handle(e.Graph.Knowledge))
	add(op.EngineStatus.Handle(e.Semantic.EngineStatus))
	add(op.EnginePause.Handle(e.Semantic.EnginePause))
	add(op.EngineResume.Handle(e.Semantic.EngineResume))
	add(op.Embed.Handle(e.Semantic.EmbedTexts))
	e.Admin.AddTokens(add)
	add(op.Hook.Handle(e.Sessions.Hook))
	add(op.SessionList.Handle(e.Sessions.List))
	add(op.SessionForget.Handle(e.Sessions.Forget))
	add(op.Version.Handle(e.Admin.Version))
	return t
}

// addVaultOps adds the handlers of the vault and its notes.
func (e *Engine) addVaultOps(add func(*op.Spec, op.Handler)) {
	add(op.VaultCheck.Handle(e.Sync.VaultCheck))
	add(op.VaultConfirm.Handle(e.Sync.VaultConfirm))
	add(op.VaultLinks.Handle(e.Links.VaultLinks))
	add(op.VaultRelease.Handle(e.Sync.VaultRelease))
	add(op.VaultOpen.Handle(e.Sync.VaultOpen))
	add(op.Links.Handle(e.Sync.NoteLinks))
	add(op.Open.Handle(e.Sync.Open))
	add(op.NoteRead.Handle(e.Notes.NoteRead))
	add(op.NoteWrite.Handle(e.NoteWrite.Write))
	add(op.NoteAppend.Handle(e.NoteWrite.Append))
	add(op.NoteEdit.Handle(e.NoteWrite.Edit))
	add(op.NoteMove.Handle(e.NoteWrite.Move))
	add(op.NoteContext.Handle(e.NoteWrite.Context))
	add(op.RecentActivity.Handle(e.NoteWrite.Recent))
}

// addMaintenanceOps adds the handlers of review, agents, health and cleanup.
func (e *Engine) addMaintenanceOps(add func(*op.Spec, op.Handler)) {
	add(op.AgentsRun.Handle(e.Agents.AgentsRun))
	add(op.ReviewList.Handle(e.Review.ReviewList))
	add(op.ReviewShow.Handle(e.Review.ReviewShow))
	add(op.ReviewClaim.Handle(e.Review.ReviewClaim))
	add(op.ReviewClose.Handle(e.Review.ReviewClose))
	add(op.ReviewCreate.Handle(e.Review.ReviewCreate))
	add(op.Health.Handle(e.Health.Health))
	add(op.HealthStale.Handle(e.Health.HealthStale))
	add(op.HealthLowAccess.Handle(e.Health.HealthLowAccess))
	add(op.HealthDuplicates.Handle(e.Health.HealthDuplicates))
	add(op.HealthMerge.Handle(e.Health.HealthMerge))
	add(op.Migrate.Handle(e.Health.Migrate))
	add(op.Cleanup.Handle(e.Cleanup.Cleanup))
	add(op.CleanupReport.Handle(e.Cleanup.CleanupReport))
	add(op.CleanupRollback.Handle(e.Cleanup.CleanupRollback))
	add(op.CleanupHistory.Handle(e.Cleanup.CleanupHistory))
}

// Invoke runs one operation; req is a pointer to its request type. The journal records the
// caller in ctx ([op.WithCaller]). A caller with a grant in ctx ([op.WithGrant]) gets the view
// of that grant. After Close, the error has code Unavailable. If the operation panics, the error
// has code Internal and names the fault as the log does. A change that the operation had made
// before stays, whole and in the journal; locks of memories are released.
func (e *Engine) Invoke(ctx context.Context, s *op.Spec, req any) (any, error) {
	res, err := e.invoke(ctx, s, req)
	e.Admin.CountRefusals(ctx, s, res, err)
	return res, err
}

func (e *Engine) invoke(ctx context.Context, s *op.Spec, req any) (any, error) {
	e.Requests.RLock()
	defer e.Requests.RUnlock()
	if e.Closed {
		return nil, memory.Errorf(memory.Unavailable, "the daemon is stopping; try again later")
	}
	e, err := e.forOperation(ctx, s)
	if err != nil {
		return nil, err
	}
	handle, ok := e.handlers[s.Name]
	if !ok {
		return nil, memory.Errorf(memory.Incompatible,
			"this version of emberd does not support operation %q; upgrade emberd", s.Name)
	}
	purges := e.Purges.Load()
	begun := time.Now()
	var res any
	err = contain.Do(e.Opt.Logger, contain.Request, s.Name, func() (err error) {
		res, err = handle(ctx, req)
		return err
	})
	e.Vitals.CarriedOut(s, err, time.Since(begun))
	e.Admin.Account(ctx, s, req, res, err)
	if err != nil {
		return nil, core.Typed(s, err)
	}
	if search, ok := req.(*op.SearchRequest); !ok || !search.Trial {
		e.Recall.Remember(res)
	}
	if e.Purges.Load() != purges { // the answer may contain what was purged in the meantime
		e.forgetEchoes()
		if err := e.Admin.ForgetCounted(); err != nil {
			e.Opt.Logger.Warn("list of callers not cleaned; it might contain names of permanently deleted memories",
				"err", err)
		}
	}
	return res, nil
}

// Close waits for the running operations, ends Run and all event streams, flushes stm and
// releases the lock. Further calls do nothing.
func (e *Engine) Close() error { return e.Shutdown(context.Background(), func() {}) }

// Shutdown is Close, but writes the snapshot of the log only as long as ctx lasts. Without a new
// one nothing is lost, and the next start reads more of the log. It calls settled when all but
// the snapshot and the lock is closed without an error: the process may end from then on.
func (e *Engine) Shutdown(ctx context.Context, settled func()) error {
	if !e.shut() {
		return nil
	}
	close(e.Closing)
	e.Running.Lock() // waits for Run, and prevents another
	e.state.sessions.Close()
	var err error
	if e.Notes.Vault != nil {
		err = e.Notes.Vault.Close()
	}
	err = errors.Join(err, e.Transcripts.Close())
	_ = e.Ledger.Flush() // so that the end of the log has its line; CloseLedger tells of an error
	err = errors.Join(err, e.Stm.Shutdown(ctx, func(failed error) {
		e.Admin.CloseLedger() // after the last change
		e.EventLog.Close()    // after the last change
		if err == nil && failed == nil {
			settled()
		}
	}))
	return errors.Join(err, e.Lock.Close())
}

// shut refuses operations from now on and reports whether this call was the first.
func (e *Engine) shut() bool {
	e.Requests.Lock()
	defer e.Requests.Unlock()
	first := !e.Closed
	e.Closed = true
	return first
}
