// Package engine carries out every operation of package op. It is the one
// package that knows both tiers of memory, the log of package stm and the notes
// of packages vault, watcher and ltm, and holds what they have no opinion on:
// defaults and bounds of requests, the secret scan, decay and ranking over both
// tiers, paging, events and housekeeping.
//
// Guarantees: an operation that changes something is answered after stm has it
// on disk, and the next search sees it. Searching changes nothing but access
// counts, and cold memories that it means come back. Everything destructive can be previewed and undone. Errors are
// [*memory.Error], so that their code survives the socket; memory content
// appears neither in them nor in logs.
//
// An Engine may be used by any number of goroutines. Requests are only read,
// and results belong to the caller. No goroutine runs outside [Engine.Run]
// except the one stm writes with.
package engine

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"emberd/internal/access"
	"emberd/internal/durable"
	"emberd/internal/echo"
	"emberd/internal/ledger"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Engine is an open store with the operations on it. It is an [op.Invoker]. What is not
// in core depends on who looks, see [Engine.seenBy].
type Engine struct {
	*core
	grant    *access.Grant // nil for everything
	stm      *stm.Store
	notes    *notes // nil without a vault
	names    *knownNames
	echoes   *echo.Recent // what answers gave out
	entities *entityGraph
	counted  lastCount
	averaged lastAverage
	handlers map[string]op.Handler
}

// core is what an engine has, whoever asks it.
type core struct {
	opt      Options
	started  time.Time
	lock     *durable.Lock
	seers    seers
	truth    *truth         // nil without a vault
	writing  *writing       // nil without one, too
	pending  *pendingWrites // of notes
	lists    *lists         // of memories, in notes; nil without a vault
	text     *text.Analyzer // the one both tiers search with
	author   *author        // of what is left of a text that is archived
	adding   adding
	purges   atomic.Int64
	meaning  *meaning // nil without vectors
	events   *events
	chores   chores
	foreign  foreignSecrets
	held     heldBackups
	racks    openRacks
	vitals   vitals
	aging    *aging
	caring   *caring // of the agents
	listed   *listed // clusters that somebody may name
	cleanups *cleanups
	reports  *healthReports
	owners   itemOwners
	tokens   *access.Store
	mirror   *mirror // nil unless review items are mirrored
	ledger   *ledger.Ledger
	revision atomic.Uint64 // counts what changes memories, their use included
	indexed  atomic.Bool   // the word index is built, and every save keeps it so
	// compacted is the last compaction of this run.
	compacted atomic.Pointer[op.Compaction]

	// requests is held for reading by every operation and for writing by Close,
	// which so waits for those under way. It guards closed.
	requests sync.RWMutex
	closed   bool

	running sync.Mutex    // held by Run, and for good once closed
	closing chan struct{} // closed by Close
	dirty   chan struct{} // holds a token when something changed since Run looked
	shared  chan struct{} // the same, for what other devices are told
	// lookedBack holds a token when somebody asked about an earlier moment.
	lookedBack chan struct{}
	wishes     chan wish // cold memories that searches mean
	// uncounted holds a token when the ledger has something that its file has not.
	uncounted chan struct{}
}

// Open takes the state folder's lock and recovers the log. The engine is
// ready when it returns; until [Engine.Run] has built the word index, searches
// scan and say so. A second daemon on the same folder gets code Unavailable.
func Open(opt Options) (*Engine, error) {
	opt, err := opt.complete()
	if err != nil {
		return nil, err
	}
	lock, tokens, err := opt.enter()
	if err != nil {
		return nil, err
	}
	analyzer := text.New()
	if err := durable.SweepTemps(opt.FS, BackupFolder(opt.State)); err != nil {
		opt.Logger.Warn("unfinished backups not removed", "err", err)
	}
	e := &Engine{names: new(knownNames), echoes: echo.New(opt.EchoWindow), entities: newEntityGraph()}
	e.core = &core{
		opt:        opt,
		started:    opt.Now(),
		lock:       lock,
		tokens:     tokens,
		text:       analyzer,
		author:     newAuthor(&opt, analyzer),
		events:     newEvents(),
		aging:      newAging(),
		cleanups:   newCleanups(&opt),
		reports:    newHealthReports(&opt),
		caring:     newCaring(&opt),
		listed:     newListed(&opt),
		closing:    make(chan struct{}),
		dirty:      make(chan struct{}, 1),
		shared:     make(chan struct{}, 1),
		wishes:     make(chan wish, mostWishes),
		lookedBack: make(chan struct{}, 1),
		meaning:    newMeaning(&opt),
		mirror:     newMirror(&opt),
		ledger:     ledger.Open(ledger.Options{FS: opt.FS, File: filepath.Join(opt.State, ledgerFile), Now: opt.Now, Logger: opt.Logger, Below: opt.ThrottleBelow}),
		uncounted:  make(chan struct{}, 1),
	}
	store, err := stm.Open(opt.Data, opt.State, opt.store(analyzer, e))
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	var long *notes
	if len(opt.Vaults) > 0 {
		if long, err = openNotes(&opt, analyzer); err != nil {
			return nil, errors.Join(err, store.Close(), lock.Close())
		}
	}
	e.stm, e.notes = store, long
	if long != nil {
		e.truth = newTruth(e)
		e.lists = newLists(&e.opt, long.dir)
		long.truth, long.names, long.entities, long.lists, long.meaning = e.truth, e.names, e.entities, e.lists, e.meaning
		long.vitals = &e.vitals
	}
	e.loadHeld()
	e.openWriting()
	if e.meaning != nil {
		e.meaning.digest, e.meaning.vitals = e.memoryDigest, &e.vitals
	}
	e.handlers = e.table()
	e.ledger.Judge(e.cameToNothing)
	return e, nil
}

// acquire takes the lock that keeps a second daemon out. It is always on the
// real disk, since it is the kernel that has to know of it.
func acquire(state string) (*durable.Lock, error) {
	if err := durable.MkdirAll(durable.OS{}, state); err != nil {
		return nil, memory.Errorf(memory.Unavailable, "open the state folder: %w", err)
	}
	lock, err := durable.AcquireLock(filepath.Join(state, "daemon.lock"))
	switch {
	case errors.Is(err, durable.ErrLocked):
		return nil, memory.Errorf(memory.Unavailable,
			"another emberd runs on this state folder: %w; stop it first, or give this one a state folder of its own", err)
	case err != nil:
		return nil, memory.Errorf(memory.Unavailable, "open the state folder: %w", err)
	}
	return lock, nil
}

// table pairs every operation with its method.
func (e *Engine) table() map[string]op.Handler {
	t := make(map[string]op.Handler)
	add := func(s *op.Spec, h op.Handler) { t[s.Name] = h }
	add(op.Save.Handle(e.save))
	add(op.SaveBatch.Handle(e.saveBatch))
	add(op.Search.Handle(e.search))
	add(op.WhyNot.Handle(e.whyNot))
	add(op.Show.Handle(e.show))
	add(op.List.Handle(e.list))
	add(op.Edit.Handle(e.edit))
	add(op.Forget.Handle(e.forget))
	add(op.ForgetBatch.Handle(e.forgetBatch))
	add(op.OpenMany.Handle(e.openMany))
	add(op.Relate.Handle(e.relate))
	add(op.RelateBatch.Handle(e.relateBatch))
	add(op.Unrelate.Handle(e.unrelate))
	add(op.Graph.Handle(e.graph))
	add(op.Promote.Handle(e.promote))
	add(op.Archive.Handle(e.archiveAsked))
	add(op.Rekindle.Handle(e.rekindle))
	add(op.PromoteAuto.Handle(e.promoteAuto))
	add(op.Touch.Handle(e.touch))
	add(op.Observe.Handle(e.observe))
	add(op.AnalyzeMessage.Handle(e.analyzeMessage))
	add(op.AnalyzeRecall.Handle(e.analyzeRecall))
	add(op.GC.Handle(e.gc))
	add(op.Clusters.Handle(e.clusters))
	add(op.Consolidate.Handle(e.consolidate))
	e.addCare(add)
	add(op.LifecycleRun.Handle(e.lifecycleRun))
	add(op.LifecycleStatus.Handle(e.lifecycleStatus))
	add(op.Purge.Handle(e.purge))
	add(op.History.Handle(e.history))
	add(op.Journal.Handle(e.journal))
	add(op.Audit.Handle(e.audit))
	add(op.AuditForgive.Handle(e.auditForgive))
	add(op.Why.Handle(e.why))
	add(op.Timeline.Handle(e.timeline))
	add(op.Undo.Handle(e.undo))
	add(op.TrashList.Handle(e.trashList))
	add(op.TrashRestore.Handle(e.trashRestore))
	add(op.Export.Handle(e.export))
	add(op.Import.Handle(e.importRecords))
	add(op.QuarantineList.Handle(e.quarantineList))
	add(op.QuarantineShow.Handle(e.quarantineShow))
	add(op.QuarantineAccept.Handle(e.quarantineAccept))
	add(op.QuarantineDrop.Handle(e.quarantineDrop))
	add(op.StaleList.Handle(e.staleList))
	add(op.StaleDecide.Handle(e.staleDecide))
	add(op.BackupCreate.Handle(e.backupCreate))
	add(op.VaultCheck.Handle(e.vaultCheck))
	add(op.VaultConfirm.Handle(e.vaultConfirm))
	add(op.Links.Handle(e.noteLinks))
	add(op.Open.Handle(e.open))
	add(op.NoteRead.Handle(e.noteRead))
	add(op.Complete.Handle(e.complete))
	add(op.Keeper.Handle(e.keeper))
	add(op.KeeperHere.Handle(e.keeperHere))
	add(op.Status.Handle(e.status))
	add(op.Stats.Handle(e.stats))
	add(op.Compact.Handle(e.compact))
	add(op.Add.Handle(e.add))
	add(op.Query.Handle(e.query))
	add(op.Verify.Handle(e.verify))
	add(op.Reinforce.Handle(e.reinforce))
	add(op.Confirm.Handle(e.confirm))
	add(op.EntityList.Handle(e.entityList))
	add(op.Knowledge.Handle(e.knowledge))
	add(op.EngineStatus.Handle(e.engineStatus))
	add(op.EnginePause.Handle(e.enginePause))
	add(op.EngineResume.Handle(e.engineResume))
	add(op.Embed.Handle(e.embedTexts))
	e.addTokens(add)
	add(op.Version.Handle(e.version))
	return t
}

// addCare pairs the operations that look after memories.
func (e *Engine) addCare(add func(*op.Spec, op.Handler)) {
	add(op.AgentsRun.Handle(e.agentsRun))
	add(op.ReviewList.Handle(e.reviewList))
	add(op.ReviewShow.Handle(e.reviewShow))
	add(op.ReviewClaim.Handle(e.reviewClaim))
	add(op.ReviewClose.Handle(e.reviewClose))
	add(op.ReviewCreate.Handle(e.reviewCreate))
	add(op.Health.Handle(e.health))
	add(op.HealthStale.Handle(e.healthStale))
	add(op.HealthLowAccess.Handle(e.healthLowAccess))
	add(op.HealthDuplicates.Handle(e.healthDuplicates))
	add(op.HealthMerge.Handle(e.healthMerge))
	add(op.Migrate.Handle(e.migrate))
	add(op.Cleanup.Handle(e.cleanup))
	add(op.CleanupReport.Handle(e.cleanupReport))
	add(op.CleanupRollback.Handle(e.cleanupRollback))
	add(op.CleanupHistory.Handle(e.cleanupHistory))
}

// Invoke carries out one operation; req is a pointer to its request type. The
// caller in ctx ([op.WithCaller]) is written to the journal, and what is beyond the grant
// in ctx ([op.WithGrant]) is not there for it. After Close the error is of code Unavailable.
func (e *Engine) Invoke(ctx context.Context, s *op.Spec, req any) (any, error) {
	e.requests.RLock()
	defer e.requests.RUnlock()
	if e.closed {
		return nil, memory.Errorf(memory.Unavailable, "emberd is stopping; try again when it runs")
	}
	e, err := e.reached(ctx, s)
	if err != nil {
		return nil, err
	}
	handle, ok := e.handlers[s.Name]
	if !ok {
		return nil, memory.Errorf(memory.Incompatible, "this emberd does not know the operation %q; update it", s.Name)
	}
	purges := e.purges.Load()
	begun := time.Now()
	res, err := handle(ctx, req)
	e.vitals.carriedOut(s, err, time.Since(begun))
	e.account(ctx, s, req, res, err)
	if err != nil {
		return nil, typed(s, err)
	}
	if search, ok := req.(*op.SearchRequest); !ok || !search.Trial {
		e.gave(res)
	}
	if e.purges.Load() != purges { // the answer may have what was purged meanwhile
		e.forgetEchoes()
		if err := e.forgetCounted(); err != nil {
			e.opt.Logger.Warn("the ledger may name what was purged", "err", err)
		}
	}
	return res, nil
}

// typed gives an error without a code a code and a place: Unavailable if the caller gave up,
// which is no fault of emberd, and else Internal.
func typed(s *op.Spec, err error) error {
	if e, ok := errors.AsType[*memory.Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return memory.Errorf(memory.Unavailable, "%s was given up before it was done (%w); ask again", s.Name, err)
	}
	return memory.Errorf(memory.Internal, "%s: %w", s.Name, err)
}

// Close waits for the operations under way, ends Run and all event streams,
// writes what stm still holds back and gives the lock away. Further calls do
// nothing.
func (e *Engine) Close() error {
	if !e.shut() {
		return nil
	}
	close(e.closing)
	e.running.Lock() // waits for Run, and lets none begin
	var err error
	if e.notes != nil {
		err = e.notes.close()
	}
	e.closeLedger()
	err = errors.Join(err, e.stm.Close())
	e.events.close() // after the last change
	return errors.Join(err, e.lock.Close())
}

// shut keeps new operations out and reports whether this call was the first to.
func (e *Engine) shut() bool {
	e.requests.Lock()
	defer e.requests.Unlock()
	first := !e.closed
	e.closed = true
	return first
}

// missing is the error for an id that names no live memory.
func (e *Engine) missing(id memory.ID) error {
	if e.stm.Trashed(id) {
		return memory.Errorf(memory.NotFound, "memory %s is in the trash; bring it back with emberd trash restore %s", id, id.Short()).At("id")
	}
	return memory.Errorf(memory.NotFound, "there is no memory %s; emberd list shows those there are", id).At("id")
}

// find returns the live memory that a full or shortened id names.
func (e *Engine) find(short string) (*stm.Row, error) {
	id, err := e.stm.Resolve(short)
	if err != nil {
		return nil, err
	}
	row, ok := e.stm.Get(id)
	if !ok {
		return nil, e.missing(id)
	}
	return row, nil
}
