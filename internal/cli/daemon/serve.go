// Package daemon runs the daemon: it turns settings into the options of the engine, opens the
// socket, restricts the process to the folders and ports that the settings name, and reads
// the settings again when asked to. It also has the commands that let the system run the daemon
// as a service.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"emberd/decay"
	"emberd/engine"
	"emberd/engine/core"
	"emberd/internal/beads"
	"emberd/internal/cli"
	"emberd/internal/config"
	"emberd/internal/durable"
	"emberd/internal/freemem"
	"emberd/internal/metrics"
	"emberd/internal/notify"
	"emberd/internal/power"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
)

func ServeCommand(s *cli.App) *cobra.Command {
	var vault string
	var flags serveFlags
	cmd := cli.Command("serve", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("vault") {
			if vault == "" {
				return memory.Errorf(memory.Invalid, "missing folder for --vault; pass the folder that Obsidian opens")
			}
			s.Set = append(s.Set, "vaults="+strings.ReplaceAll(vault, "$", "$$"))
		}
		return startError(serve(cmd.Context(), s, flags))
	})
	cli.VaultFlag(cmd, &vault)
	cmd.Flags().BoolVar(&flags.profile, "pprof", false, "")
	cmd.Flags().BoolVar(&flags.acceptEmpty, "accept-empty-data", false, "")
	return cmd
}

// gcPercent is by how much the heap grows, in percent of what is in use, until the next collection. The default of 100
// takes twice the memory of a large store, and a collection is short beside the work between two.
const gcPercent = 50

// serveFlags are the flags of serve that are no settings.
type serveFlags struct{ acceptEmpty, profile bool }

func serve(ctx context.Context, s *cli.App, flags serveFlags) (err error) {
	c, err := s.Load()
	if err != nil {
		return err
	}
	// A panic that nothing caught would exit with 2, as a wrong setting does, and no service
	// manager would start the daemon again. So it aborts.
	debug.SetTraceback("crash")
	debug.SetGCPercent(gcPercent)
	if c.MemoryLimitMiB > 0 {
		debug.SetMemoryLimit(int64(c.MemoryLimitMiB) << 20)
	}
	// A core dump would hold memories in plain text, outside of every folder of ours.
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("cannot disable core dumps: %w", err)
	}
	if err := ownFolders(c); err != nil {
		return err
	}
	if !notify.IsKept() {
		afterKeeper(ctx, c.State)
		if keeps(c) {
			return keep(ctx, c)
		}
	}
	ctx, sup, err := supervise(ctx, s, c)
	if err != nil {
		return err
	}
	defer func() {
		sup.close()
		if err == nil && sup.again.Load() {
			err = &cli.Exit{Code: exitOutside}
		}
	}()
	log := sup.log
	for _, text := range c.Warnings {
		log.Warn("setting ignored", "why", text)
	}
	opt, err := optionsOf(s, c, flags, log)
	if err != nil {
		return err
	}
	closeModel, err := useModel(c, &opt)
	if err != nil {
		return err
	}
	defer closeModel()
	if opt.Meaning, err = meaning(ctx, c, log); err != nil {
		return err
	}
	if vectors := opt.Meaning.Embedder; vectors != nil {
		defer func() { err = errors.Join(err, vectors.Close()) }() // after the engine
	}
	opt.Sandbox = new(core.Sandbox)
	e, err := openUnless(after(ctx, startStopTime), func() (*engine.Engine, error) { return engine.Open(opt) })
	if errors.Is(err, errStoppedAtStart) {
		log.Warn("daemon stopped during startup", "err", err)
		return nil
	}
	if err != nil {
		return err
	}
	overdue := after(ctx, stopTime)
	saving := until(ctx, saveTime)
	defer func() {
		err = errors.Join(err, closeUnless(overdue, func(settled func()) error { return e.Shutdown(saving, settled) }))
	}()
	sup.warnOfSharers(ctx)
	process := metrics.OpenProcess() // before the sandbox, which leaves nothing of /proc
	defer func() { err = errors.Join(err, process.Close()) }()
	socket, err := openSocket(c.Socket, sup.manager) // before the sandbox, which may not permit it
	if err != nil {
		return err
	}
	if err := Confine(c, opt.Sandbox, log); err != nil {
		return errors.Join(err, socket.Close())
	}
	return open(ctx, s, c, sup, e, opt, socket, insight{process, flags.profile})
}

// optionsOf are the options of the daemon's engine but for what is opened for it.
func optionsOf(s *cli.App, c *config.Config, flags serveFlags, log *slog.Logger) (opt core.Options, err error) {
	opt = EngineOptions(c, log)
	opt.AcceptEmpty, opt.Now = flags.acceptEmpty, s.Now
	if s.Adjust != nil {
		s.Adjust(&opt)
	}
	opt.Phrases, err = phrases(c.Phrases)
	return opt, err
}

// open serves with an engine at a socket until ctx ends.
func open(ctx context.Context, s *cli.App, c *config.Config, sup *supervisor, e *engine.Engine, opt engine.Options,
	socket net.Listener, in insight) error {
	if text := Abroad(&op.AuthorStatus{Endpoint: opt.Author.Endpoint, Remote: opt.Author.Remote,
		Cleanup: opt.Cleanup.Ask != nil, Sessions: opt.Hooks.Ask != nil}); text != "" {
		sup.log.Warn(text)
	}
	if err := announce(s, c); err != nil {
		return errors.Join(err, socket.Close())
	}
	sup.attend(ctx, c)
	if v := e.Notes.Vault; v != nil {
		sup.all.Go(func() { sup.watchVault(ctx, v.Outside) })
	}
	return runDaemon(ctx, e, func() error { return listen(ctx, s, e, socket, in, sup.log) })
}

// stopTime is how long a stop may take. Requests under way have drainTime of it;
// the rest is for closing the log. A snapshot is written until saveTime, which leaves time to end it.
// startStopTime is how long a stop during the start may take.
const (
	stopTime      = 4800 * time.Millisecond
	saveTime      = 4200 * time.Millisecond
	DrainTime     = 4 * time.Second
	startStopTime = time.Second
)

// after returns a channel that is closed some time after ctx ends.
func after(ctx context.Context, rest time.Duration) <-chan struct{} { return until(ctx, rest).Done() }

// until returns a context that ends some time after ctx.
func until(ctx context.Context, rest time.Duration) context.Context {
	later, end := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(rest, end) })
	return later
}

var errStoppedAtStart = errors.New("the daemon stopped before it read all files; it acknowledged no change")

// openUnless opens the engine, unless the files or the disk make that take too long after a stop. The
// end of the process then ends the opening, as a kill does, which a start survives at any point.
func openUnless(overdue <-chan struct{}, open func() (*engine.Engine, error)) (*engine.Engine, error) {
	var e *engine.Engine
	opened := make(chan error, 1)
	go func() {
		var err error
		e, err = open()
		opened <- err
	}()
	select {
	case err := <-opened:
		return e, err
	case <-overdue:
		return nil, errStoppedAtStart
	}
}

// closeUnless shuts the engine, unless a disk that does not answer makes that take too long. One
// that takes too long for a snapshot alone does no harm: the end of the process is as a kill while
// it is written, and the next start removes what there is of it.
func closeUnless(overdue <-chan struct{}, shut func(settled func()) error) error {
	closed, settled := make(chan error, 1), make(chan struct{})
	go func() { closed <- shut(func() { close(settled) }) }()
	select {
	case err := <-closed:
		return err
	case <-overdue:
	}
	select {
	case <-settled: // only a snapshot is missing, and the one before it counts
		return nil
	default:
		return memory.Errorf(memory.Unavailable,
			"the daemon did not close the log in time; all acknowledged changes are on disk")
	}
}

// startError chooses the exit code of a daemon that did not start: what a
// client takes for a daemon's answer is here about the folders.
func startError(err error) error {
	switch code := memory.CodeOf(err); {
	case errors.Is(err, durable.ErrLocked) || code == memory.Busy:
		return &cli.Exit{Code: cli.ExitLocked, Err: err}
	case cli.IsPathError(err) && (code == memory.Internal || code == memory.Invalid):
		return &cli.Exit{Code: cli.ExitDisk, Err: fmt.Errorf(
			"%w; fix the problem, or choose another folder with --home", err)}
	case code == memory.Unavailable || code == memory.Forbidden || cli.IsPathError(err):
		return &cli.Exit{Code: cli.ExitDisk, Err: err}
	}
	return err
}

// runDaemon serves until that ends, and waits for the housekeeping to end.
func runDaemon(ctx context.Context, e *engine.Engine, serve func() error) error {
	chores, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	var runErr error
	wg.Go(func() { runErr = e.Run(chores) })
	wg.Go(func() { freemem.WhenQuiet(chores, e.Text.Forget) })
	err := serve()
	stop()
	wg.Wait()
	return errors.Join(err, runErr)
}

func Logger(s *cli.App, level slog.Leveler) *slog.Logger {
	return slog.New(slog.NewTextHandler(s.Stderr, &slog.HandlerOptions{Level: level}))
}

func LevelOf(name string) slog.Level {
	return map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	}[name]
}

// announce says where the daemon can be reached, and what a second terminal
// has to be told so that it reaches this one.
func announce(s *cli.App, c *config.Config) error {
	if s.JSON {
		if err := s.PrintJSON(map[string]any{"socket": c.Socket, "data": c.Data, "state": c.State,
			"pid": os.Getpid()}); err != nil {
			return err
		}
		return s.Stdout.Flush()
	}
	s.Note("emberd %s serving %s on %s", cli.BuildVersion(), c.Data, c.Socket)
	for _, v := range c.Vaults {
		s.Note("watching vault %s", v)
	}
	if s.Home != "" {
		home, err := filepath.Abs(s.Home)
		if err != nil {
			return fmt.Errorf("cannot find the home folder: %w", err)
		}
		s.Note("export EMBERD_HOME=%s", text.ShellQuote(home))
	}
	if s.Socket != "" {
		s.Note("export EMBERD_SOCKET=%s", text.ShellQuote(c.Socket))
	}
	return nil
}

// OpenOffline opens the engine without its vaults, for a command that runs without a daemon.
func OpenOffline(c *config.Config) (cli.Offline, error) {
	opt := EngineOptions(c, slog.New(slog.DiscardHandler))
	opt.Vaults = nil
	e, err := engine.Open(opt)
	if err != nil {
		return nil, startError(err)
	}
	return e, nil
}

// EngineOptions turns settings into what the engine takes.
func EngineOptions(c *config.Config, log *slog.Logger) engine.Options {
	o := engine.DefaultOptions()
	o.Data, o.State, o.Socket = c.Data, c.State, c.Socket
	o.Version, o.Logger, o.Power = cli.BuildVersion(), log, power.This()
	o.TrashKeep, o.HistoryKeep = c.TrashKeep, c.HistoryKeep
	o.Backup = core.Backup{Daily: c.Backup.Daily, Weekly: c.Backup.Weekly, MaxBytes: int64(c.Backup.MaxMiB) << 20}
	o.Decay.Model, o.Decay.HalfLife = decay.Model(c.Decay.Model), c.Decay.HalfLife
	o.Decay.Lambda, o.Decay.Beta = c.Decay.Lambda, c.Decay.Beta
	o.LTMWeight, o.AgeExponent = c.Search.LTMWeight, c.Search.AgeExponent
	o.Vaults, o.VaultIgnore, o.VaultArchive = c.Vaults, c.Vault.Ignore, c.Vault.ArchiveFolder
	o.VaultPromoted, o.VaultAgents = c.Vault.PromotedFolder, c.Vault.AgentFolders
	o.VaultIndex, o.VaultCore = c.Vault.IndexNote, c.Vault.CoreNote
	if c.Vault.ProjectHubs {
		o.VaultProjects = path.Join(c.Vault.PromotedFolder, "Projects")
	}
	o.LinkEntities, o.LinkRelations = core.EntityLinks(c.Vault.LinkEntities), c.Vault.LinkRelations
	o.ReviewInbox = c.Review.Inbox
	o.Hooks = core.SessionHooks{Recall: c.Hooks.Recall, Capture: c.Hooks.Capture, Off: c.Hooks.Off,
		StartTokens: c.Hooks.StartTokens, PromptTokens: c.Hooks.PromptTokens}
	if c.Review.Beads {
		o.Beads = &beads.Tracker{Dir: c.Review.BeadsDir}
	}
	o.DetectSecrets = c.SecretsDetect == "block"
	o.Reinforce, o.ForgetBelow = c.AutoReinforce, c.ForgetThreshold
	o.Promotion.Threshold, o.Promotion.UseCount = c.Promote.Threshold, c.Promote.UseCount
	o.Promotion.MinAge, o.Promotion.MinUses = c.Promote.MinAge, c.Promote.MinUses
	o.AutoPromote, o.LifecyclePeriod = c.Promote.Auto, c.Consolidation.Interval
	o.Agents = agentSettings(c)
	o.Lifecycle = lifecyclePolicy(&c.Lifecycle)
	if len(c.Vaults) == 0 {
		o.Lifecycle.Coldest = memory.Demoted
	}
	o.Review, o.ReviewRatio = decay.Zone{Min: c.Review.DangerMin, Max: c.Review.DangerMax}, c.Review.BlendRatio
	o.Known, o.Duplicate = core.Known(c.Known), c.Duplicate
	o.Rekindle = core.RekindleMode(c.RekindleMode)
	o.ThrottleBelow = c.ThrottleBelow
	return o
}

// agentSettings turns settings into what the agents take.
func agentSettings(c *config.Config) core.Agents {
	a, set := core.DefaultAgents(), &c.Consolidation
	a.Interval, a.AutoMerge, a.Rate = set.Interval, set.AutoMerge, set.Rate
	a.Ladder.AutoMerge, a.Ladder.Review = set.AutoMergeAt, set.ReviewAt
	a.Relations.MinShared, a.Relations.MinConfidence = set.MinShared, set.MinConfidence
	a.Threshold, a.MinSize = c.Cluster.Threshold, c.Cluster.MinSize
	a.MaxSize = max(a.MaxSize, a.MinSize)
	return a
}

// lifecyclePolicy turns settings into what package rekindle takes.
func lifecyclePolicy(l *config.Lifecycle) rekindle.Policy {
	p := rekindle.DefaultPolicy()
	p.Ages = rekindle.Ages{Demote: l.DemoteAfter, Archive: l.ArchiveAfter, Rehydrate: l.RehydratableAfter}
	for _, text := range l.Categories {
		if category, after, err := config.ParseAges(text); err == nil { // config refuses others
			if p.Categories == nil {
				p.Categories = make(map[string]rekindle.Ages)
			}
			p.Categories[category] = rekindle.Ages{Demote: after[0], Archive: after[1], Rehydrate: after[2]}
		}
	}
	return p
}
