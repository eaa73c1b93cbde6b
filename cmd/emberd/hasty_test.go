package main

import (
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/internal/cli"
	"emberd/internal/cli/root"
	"emberd/internal/hookrun"
	"emberd/internal/power"
	"emberd/stm"
)

// hastyVar makes the clock of the program run from the moment that it says, in milliseconds since
// 1970, as many times faster as hasteFactor.
const hastyVar = "HASTY_SINCE"

// hasteFactor lets a day pass in four seconds, so that what is kept for a month is gone after two
// minutes.
const hasteFactor = 24 * 60 * 60 / 4

// program is main, but for the clock.
func program() {
	if hookrun.Meant(os.Args[1:]) {
		hookrun.Main(os.Args[2:])
		os.Exit(0)
	}
	s := cli.New()
	if ms, err := strconv.ParseInt(os.Getenv(hastyVar), 10, 64); err == nil {
		s.Now = hasty(time.UnixMilli(ms))
	}
	adjust := adjustments()[os.Getenv(adjustVar)]
	s.Adjust = func(o *engine.Options) {
		o.Power = power.Machine{} // tests run on battery, too
		if adjust != nil {
			adjust(o)
		}
	}
	os.Exit(root.Execute(s))
}

// hasty is the same clock in every process.
func hasty(since time.Time) func() time.Time {
	return func() time.Time { return since.Add(time.Since(since) * hasteFactor) }
}

// adjustVar chooses options of a daemon that have no setting.
const adjustVar = "EMBERD_TEST_OPTIONS"

// panicWhenAsked panics at a SIGUSR1, in a goroutine where nothing catches that.
func panicWhenAsked() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	<-asked
	panic("a panic that nothing catches")
}

func adjustments() map[string]func(*engine.Options) {
	return map[string]func(*engine.Options){
		"unsynced": func(o *engine.Options) { o.Durability = stm.None },
		"small":    func(o *engine.Options) { o.SegmentBytes = 64 << 10 },
		"devices": func(o *engine.Options) {
			o.SegmentBytes = 32 << 10
			o.Pace = core.SyncDelays{Settle: 5 * time.Second, Others: 8 * time.Second, Mirror: time.Minute}
		},
		"panics": func(*engine.Options) { go panicWhenAsked() },
		"soak": func(o *engine.Options) {
			o.SegmentBytes, o.EchoWindow = 64<<10, time.Minute
			o.Lifecycle.Share = 1
		},
	}
}
