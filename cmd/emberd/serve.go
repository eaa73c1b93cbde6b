package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"emberd/decay"
	"emberd/engine"
	"emberd/internal/beads"
	"emberd/internal/config"
	"emberd/internal/durable"
	"emberd/internal/llm"
	"emberd/internal/metrics"
	"emberd/memory"
	"emberd/rekindle"
	"emberd/stm"
)

func (s *state) serveCommand() *cobra.Command {
	var vault string
	var flags serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon in the foreground",
		Long: `Run the daemon in the foreground until it is interrupted or terminated. It then
finishes what is under way, for at most five seconds; a second signal ends it at
once. What was acknowledged is on disk either way. On SIGHUP it reads its
settings again, takes over those that it can, and says which need a restart; if
it lost its terminal, it ends. "emberd service" has the system run it.

With --vault the notes of an Obsidian vault are searched beside the memories.
Notes are only read, but for those that emberd promote made.

A data folder from which the log of this device is gone is refused: its disk may
only not be mounted. If you deleted it on purpose, start once with
--accept-empty-data.

With --pprof whoever may do everything can have the runtime's profiles of this
process: docs/metrics.md has how. They show what emberd does at the moment, and
so something of what is in it; leave it out unless you look for a fault.

With --home a second terminal needs the line that is printed here, beginning
with "export".`,
		Example: `  emberd serve
  emberd serve --vault ~/Notes
  emberd serve --home ./play --set log.level=debug`,
		Annotations: exits(endings{exitDone: "stopped by a signal", exitLocked: "", exitDisk: "a folder or the socket cannot be used"}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("vault") {
				if err := checkVaultFlag(vault); err != nil {
					return err
				}
				s.set = append(s.set, "vaults="+vault)
			}
			return startError(s.serve(cmd.Context(), flags))
		},
	}
	cmd.Flags().StringVar(&vault, "vault", "", "search the notes of the Obsidian vault in `DIR` too")
	cmd.Flags().BoolVar(&flags.profile, "pprof", false, "serve profiles of the daemon at /debug/pprof of its socket")
	cmd.Flags().BoolVar(&flags.acceptEmpty, "accept-empty-data", false, "begin a new log where the earlier one was deleted")
	return cmd
}

// checkVaultFlag refuses what the setting would not take for one folder.
func checkVaultFlag(dir string) error {
	switch {
	case dir == "":
		return memory.Errorf(memory.Invalid, "--vault is empty; name the folder that Obsidian opens")
	case strings.ContainsRune(dir, filepath.ListSeparator):
		return memory.Errorf(memory.Invalid, "--vault takes no folder with %q in its name; put it into the config file as an entry of vaults", filepath.ListSeparator)
	}
	return nil
}

// serveFlags are what of a daemon is no setting.
type serveFlags struct{ acceptEmpty, profile bool }

func (s *state) serve(ctx context.Context, flags serveFlags) (err error) {
	c, err := s.load()
	if err != nil {
		return err
	}
	// A core dump would hold memories in plain text, outside of every folder of ours.
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("switch core dumps off: %w", err)
	}
	if err := ownFolders(c); err != nil {
		return err
	}
	ctx, sup, err := s.supervise(ctx, c)
	if err != nil {
		return err
	}
	defer sup.close()
	log := sup.log
	opt := engineOptions(c, log)
	opt.AcceptEmpty, opt.Now = flags.acceptEmpty, s.now
	if opt.Phrases, err = phrases(c.Phrases); err != nil {
		return err
	}
	var endpoint *llm.Client
	if opt.Author, endpoint, err = author(&c.LLM); err != nil {
		return err
	}
	if endpoint != nil {
		defer endpoint.Close()
	}
	if opt.Cleanup, err = cleanupOptions(c, endpoint); err != nil {
		return err
	}
	if opt.Meaning, err = meaning(c, log); err != nil {
		return err
	}
	if vectors := opt.Meaning.Embedder; vectors != nil {
		defer func() { err = errors.Join(err, vectors.Close()) }() // after the engine
	}
	opt.Sandbox = new(engine.Sandbox)
	e, err := engine.Open(opt)
	if err != nil {
		return err
	}
	overdue := make(chan struct{})
	context.AfterFunc(ctx, func() { time.AfterFunc(stopTime, func() { close(overdue) }) })
	defer func() { err = errors.Join(err, closeUnless(overdue, e)) }()
	process := metrics.OpenProcess() // before the sandbox, which leaves nothing of /proc
	defer func() { err = errors.Join(err, process.Close()) }()
	if err := confine(c, opt.Sandbox, log); err != nil {
		return err
	}
	return s.open(ctx, c, sup, e, opt, insight{process, flags.profile})
}

// open serves with an engine until ctx ends.
func (s *state) open(ctx context.Context, c *config.Config, sup *supervisor, e *engine.Engine, opt engine.Options, in insight) error {
	l, err := openListeners(ctx, c, sup.manager)
	if err != nil {
		return err
	}
	if text := abroad(opt.Author.Endpoint, opt.Author.Remote, opt.Cleanup.Ask != nil); text != "" {
		sup.log.Warn(text)
	}
	if err := s.announce(c); err != nil {
		return errors.Join(err, l.Close())
	}
	sup.attend(ctx, c)
	return runDaemon(ctx, e, func() error { return s.answer(ctx, e, l, in, sup.log) })
}

// stopTime is how long a stop may take. Requests under way have drainTime of it;
// the rest is for closing the log.
const (
	stopTime  = 4800 * time.Millisecond
	drainTime = 4 * time.Second
)

// closeUnless closes the engine, unless a disk that does not answer makes that
// take too long.
func closeUnless(overdue <-chan struct{}, e *engine.Engine) error {
	closed := make(chan error, 1)
	go func() { closed <- e.Close() }()
	select {
	case err := <-closed:
		return err
	case <-overdue:
		return memory.Errorf(memory.Unavailable, "the disk did not let the log be closed in time; what was acknowledged is on it")
	}
}

// startError chooses the exit code of a daemon that did not start: what a
// client takes for a daemon's answer is here about the folders.
func startError(err error) error {
	switch code := memory.CodeOf(err); {
	case errors.Is(err, durable.ErrLocked) || code == memory.Busy:
		return &exit{code: exitLocked, err: err}
	case isPathError(err) && (code == memory.Internal || code == memory.Invalid):
		return &exit{code: exitDisk, err: fmt.Errorf("%w; mend that, or choose another folder with --home", err)}
	case code == memory.Unavailable || code == memory.Forbidden || isPathError(err):
		return &exit{code: exitDisk, err: err}
	}
	return err
}

func isPathError(err error) bool {
	_, ok := errors.AsType[*fs.PathError](err)
	return ok
}

// runDaemon serves until that ends, and waits for the housekeeping to end.
func runDaemon(ctx context.Context, e *engine.Engine, serve func() error) error {
	chores, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	var runErr error
	wg.Go(func() { runErr = e.Run(chores) })
	err := serve()
	stop()
	wg.Wait()
	return errors.Join(err, runErr)
}

func (s *state) logger(c config.Log) *slog.Logger {
	return s.loggerAt(c.Format, levelOf(c.Level))
}

func (s *state) loggerAt(format string, level slog.Leveler) *slog.Logger {
	opt := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(s.stderr, opt))
	}
	return slog.New(slog.NewTextHandler(s.stderr, opt))
}

func levelOf(name string) slog.Level {
	return map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	}[name]
}

// announce says where the daemon can be reached, and what a second terminal
// has to be told so that it reaches this one.
func (s *state) announce(c *config.Config) error {
	if s.json {
		if err := s.printJSON(map[string]any{"socket": c.Socket, "data": c.Data, "state": c.State, "pid": os.Getpid()}); err != nil {
			return err
		}
		return s.stdout.Flush()
	}
	s.note("emberd %s serves %s at %s", buildVersion(), c.Data, c.Socket)
	if at := portStatus(c); at != nil {
		s.note("and agents at %s, with the token in %s", at.URL, at.TokenFile)
	}
	for _, v := range c.Vaults {
		s.note("and reads the notes in %s", v)
	}
	if s.home != "" {
		home, err := filepath.Abs(s.home)
		if err != nil {
			return fmt.Errorf("find the home folder: %w", err)
		}
		s.note("export EMBERD_HOME=%s", quoted(home))
	}
	if s.socket != "" {
		s.note("export EMBERD_SOCKET=%s", quoted(c.Socket))
	}
	return nil
}

// quoted is text as one word of a shell.
func quoted(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// engineOptions turns settings into what the engine takes.
func engineOptions(c *config.Config, log *slog.Logger) engine.Options {
	o := engine.DefaultOptions()
	o.Data, o.State, o.Socket = c.Data, c.State, c.Socket
	o.Version, o.Logger, o.MCP = buildVersion(), log, portStatus(c)
	o.Durability = stm.Durability(c.STM.Durability)
	o.SegmentBytes, o.SegmentAge, o.TrashKeep = c.STM.SegmentBytes, c.STM.SegmentAge, c.TrashKeep
	o.HistoryKeep = c.HistoryKeep
	o.Decay = decay.Params{
		Model: decay.Model(c.Decay.Model), Beta: c.Decay.Beta, HalfLife: c.Decay.HalfLife,
		Alpha: c.Decay.Alpha, Lambda: c.Decay.Lambda,
		FastLambda: c.Decay.TCLambdaFast, SlowLambda: c.Decay.TCLambdaSlow, FastWeight: c.Decay.TCWeight,
	}
	o.DecayFloor, o.STMWeight = c.Search.DecayFloor, c.Search.STMWeight
	o.StageFactor = engine.StageFactors(c.StageWeight)
	o.SearchLimit, o.PreviewLength, o.TrackAccess = c.Search.Limit, c.Search.PreviewLength, c.Search.TrackAccess
	o.LTMWeight = c.Search.LTMWeight
	o.Vaults, o.VaultIgnore, o.VaultArchive = c.Vaults, c.Vault.Ignore, c.Vault.ArchiveFolder
	o.VaultPromoted = c.Vault.PromotedFolder
	o.VaultIndex, o.VaultCore = c.Vault.IndexNote, c.Vault.CoreNote
	o.ReviewInbox, o.DecideAfter = c.Review.Inbox, c.Review.DecideAfter
	if c.Review.Beads {
		o.Beads = &beads.Tracker{Dir: c.Review.BeadsDir}
	}
	o.DetectSecrets = c.SecretsDetect == "block"
	o.Enrich, o.Reinforce = c.Enrich, c.AutoReinforce
	o.IndexArchive, o.ForgetBelow = c.IndexArchive, c.ForgetThreshold
	o.Promotion = decay.Promotion{Threshold: c.Promote.Threshold, UseCount: c.Promote.UseCount, Window: c.Promote.Window,
		MinAge: c.Promote.MinAge, MinUses: c.Promote.MinUses}
	o.AutoPromote, o.LifecyclePeriod = c.Promote.Auto, c.Consolidation.Interval
	o.Agents = agentSettings(c)
	o.Lifecycle = lifecyclePolicy(&c.Lifecycle)
	if len(c.Vaults) == 0 {
		o.Lifecycle.Coldest = memory.Demoted
	}
	o.Review, o.ReviewRatio = decay.Zone{Min: c.Review.DangerMin, Max: c.Review.DangerMax}, c.Review.BlendRatio
	o.Known, o.Duplicate = engine.Known(c.Known), c.Similarity.Duplicate
	o.Rekindle, o.EchoWindow = engine.RekindleMode(c.RekindleMode), c.EchoWindow
	o.ThrottleBelow = c.ThrottleBelow
	return o
}

// agentSettings turns settings into what the agents take.
func agentSettings(c *config.Config) engine.Agents {
	a, set := engine.DefaultAgents(), &c.Consolidation
	a.Interval, a.AutoMerge, a.Rate = set.Interval, set.AutoMerge, set.Rate
	if !set.Agents {
		a.Interval = 0
	}
	a.Ladder.AutoMerge, a.Ladder.Review = set.AutoMergeAt, set.ReviewAt
	a.Relations.MinShared, a.Relations.MinConfidence = set.MinShared, set.MinConfidence
	a.Threshold, a.MinSize, a.MaxSize = c.Cluster.Threshold, c.Cluster.MinSize, c.Cluster.MaxSize
	return a
}

// lifecyclePolicy turns settings into what package rekindle takes.
func lifecyclePolicy(l *config.Lifecycle) rekindle.Policy {
	p := rekindle.DefaultPolicy()
	p.Ages = rekindle.Ages{Demote: l.DemoteAfter, Archive: l.ArchiveAfter, Rehydrate: l.RehydratableAfter}
	p.Most, p.Share, p.ReportShare = l.Most, l.MaxShare, l.ReportShare
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
