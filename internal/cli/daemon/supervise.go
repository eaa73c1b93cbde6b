package daemon

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/config"
	"emberd/internal/notify"
	"emberd/memory"
	"emberd/op"
)

// supervisor looks after a daemon that serves: it tells a service manager how it is, and
// has settings read again. It owns its goroutines until close.
type supervisor struct {
	state   *cli.App
	manager *notify.Manager
	log     *slog.Logger
	level   *slog.LevelVar
	hangups chan os.Signal
	stop    context.CancelFunc // of what serves
	all     sync.WaitGroup
	tty     *os.File // nil without a terminal

	started *config.Config
	inForce map[string]string // settings that were taken over later
	again   atomic.Bool       // the keeper is to start the daemon again
}

// supervise begins to look after a daemon, which is to serve until the context that it
// returns ends.
func supervise(ctx context.Context, s *cli.App, c *config.Config) (context.Context, *supervisor, error) {
	m, err := notify.Take()
	if err != nil {
		return nil, nil, err
	}
	sup := &supervisor{state: s, manager: m, level: new(slog.LevelVar), started: c, inForce: map[string]string{}}
	sup.level.Set(LevelOf(c.LogLevel))
	sup.log = Logger(s, sup.level)
	ctx, sup.stop = context.WithCancel(ctx)
	if tty, err := os.Open("/dev/tty"); err == nil {
		sup.tty = tty
	}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		sup.hangups = make(chan os.Signal, 1)
		signal.Notify(sup.hangups, syscall.SIGHUP)
	}
	return ctx, sup, nil
}

// openSocket opens the daemon's socket, or takes over the one that the manager opened.
func openSocket(path string, m *notify.Manager) (net.Listener, error) {
	files := m.Sockets()
	if len(files) == 1 {
		return api.Inherit(files[0], path)
	}
	errs := []error{}
	for _, f := range files {
		errs = append(errs, f.Close())
	}
	if len(files) > 1 {
		errs = append(errs, memory.Errorf(memory.Invalid,
			"the daemon received %d sockets instead of 1; run: emberd service install", len(files)))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return api.Listen(path)
}

// attend is called when the socket is open.
func (sup *supervisor) attend(ctx context.Context, c *config.Config) {
	sup.heed(sup.manager.Ready("serves " + c.Data))
	context.AfterFunc(ctx, func() { sup.heed(sup.manager.Stopping()) })
	sup.all.Go(func() { sup.watch(ctx, c.Socket) })
	sup.all.Go(func() {
		for {
			select {
			case <-sup.hangups:
				sup.hungUp()
			case <-ctx.Done():
				return
			}
		}
	})
}

// close ends what attend began.
func (sup *supervisor) close() {
	sup.stop()
	if sup.hangups != nil {
		signal.Stop(sup.hangups)
	}
	sup.all.Wait()
	if sup.tty != nil {
		sup.heed(sup.tty.Close())
	}
	sup.heed(sup.manager.Close())
}

// heed reports what does not keep a daemon from serving.
func (sup *supervisor) heed(err error) {
	if err != nil {
		sup.log.Warn("service manager not notified", "err", err)
	}
}

// watch asks the daemon something by its own socket, as any client would, for as long as
// the manager wants to know that it answers.
func (sup *supervisor) watch(ctx context.Context, socket string) {
	sup.manager.Watch(ctx, func(ctx context.Context) error {
		// A connection that is kept would not tell whether new ones are let in.
		client := api.NewClient(socket, &api.ClientOptions{Name: "watchdog", Version: cli.BuildVersion()})
		defer client.Close()
		_, err := op.Version.Call(ctx, client, &op.VersionRequest{})
		return err
	}, func(err error) { sup.log.Warn("self-check failed", "err", err) })
}

// outsidePoll is how often a daemon below a keeper looks whether its vault is outside of the sandbox.
const outsidePoll = 2 * time.Second

// watchVault ends a daemon below a keeper, to be started again, when outside reports that its vault is there and
// outside of the sandbox. It returns when ctx ends.
func (sup *supervisor) watchVault(ctx context.Context, outside func() bool) {
	if !sup.manager.Kept() {
		return
	}
	tick := time.NewTicker(outsidePoll)
	defer tick.Stop()
	for !outside() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
	sup.log.Info("vault found outside the sandbox, restarting")
	sup.again.Store(true)
	sup.stop()
}

// hungUp is a SIGHUP: somebody's wish that settings be read again, or the end of the
// terminal that the daemon runs in, after which nobody could stop it there.
func (sup *supervisor) hungUp() {
	if sup.tty != nil && !term.IsTerminal(int(sup.tty.Fd())) {
		sup.log.Info("terminal closed, stopping")
		sup.stop()
		return
	}
	sup.heed(sup.manager.Reloading())
	sup.heed(sup.manager.Ready(sup.reload()))
}

// reload reads the settings again, takes over what a daemon that runs can, and says so.
// Settings that are wrong change nothing.
func (sup *supervisor) reload() (status string) {
	again := *sup.state
	again.Config = nil
	c, err := again.Load()
	if err != nil {
		wrong := "invalid settings"
		if errors.Is(err, fs.ErrPermission) { // of the sandbox, which allows a folder that was there at the start
			wrong = "settings not reloaded, restart required"
		}
		sup.log.Error(wrong+", earlier settings kept", "err", err)
		return "serves " + sup.started.Data + "; " + wrong + ": " + err.Error()
	}
	var taken, waiting []string
	now := c.Effective()
	for i, was := range sup.started.Effective() {
		before := was.Value
		if later, ok := sup.inForce[was.Key]; ok {
			before = later
		}
		switch {
		case now[i].Value == before:
		case was.Live:
			taken = append(taken, was.Key)
			sup.inForce[was.Key] = now[i].Value
		default:
			waiting = append(waiting, was.Key)
		}
	}
	sup.level.Set(LevelOf(c.LogLevel))
	status = "serves " + sup.started.Data
	if len(waiting) > 0 {
		status += "; restart required for " + strings.Join(waiting, ", ")
		sup.log.Warn("settings reloaded, some require a restart", "taken", taken, "restart_for", waiting)
		return status
	}
	sup.log.Info("settings reloaded", "taken", taken)
	return status
}
