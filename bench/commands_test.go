package bench

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"emberd/op"
)

// What BenchmarkCommands asks about: a large vault of one person, and some memories.
const (
	commandNotes    = 6500
	commandMemories = 500
	commandRounds   = 3
)

// readCommands are the commands that a person types and that change nothing.
func readCommands() []string {
	return []string{
		"status", "status --full", "status --counts", "doctor", "doctor log check", "search WORDS", "search WORDS --notes",
		"search --check WORDS", "list", "list --entities", "list --trash", "show ID", "history", "history ID", "timeline ID",
		"review list", "graph", "graph ID", "vault check", "vault backlinks NOTE", "lifecycle status",
		"lifecycle run --dry-run", "health", "health duplicates", "health stale", "health cleanup -c all", "health consolidate --dry-run",
		"audit", "model status", "config", "backup list", "backup create", "export FILE", "agent list", "page --export FILE",
	}
}

// BenchmarkCommands prints what each command takes with 6,500 notes and 500 memories: the least and the middle of the
// rounds by the clock, and the processor time of the command and of the daemon in its best round, in milliseconds.
// Processor time hardly depends on what else the machine does.
func BenchmarkCommands(b *testing.B) {
	p := newProgram(b)
	f := &followed{program: p, vault: newNotesVault(b, commandNotes)}
	f.forget(b)
	d := p.start(b)
	d.waitNotes(b, commandNotes)
	texts := newProse(commandMemories)
	var id string
	for range commandMemories {
		id = string(call(b, d, op.Save, &op.SaveRequest{Content: texts.text(typicalText)}).Memory.ID)
	}
	d.settle(b)
	d.wait(b, time.Second, func() bool { return !call(b, d, op.EntityList, &op.EntityListRequest{Limit: 1}).Partial })
	for b.Loop() {
		fmt.Println("command | least ms | middle ms | processor: command ms | daemon ms")
		for _, line := range readCommands() {
			c := &timedCommand{program: p, daemon: d, file: filepath.Join(b.TempDir(), "file")}
			c.args = strings.Fields(strings.NewReplacer("WORDS", strings.Join(f.vault.samples[7].words[:3], ","), "ID", id,
				"NOTE", strings.ReplaceAll(f.vault.paths[7], " ", "\x00"), "FILE", c.file).Replace(line))
			c.rounds(b)
			fmt.Printf("%s | %.0f | %.0f | %.0f | %.0f\n", line, millis(quantile(c.took, 0)), millis(quantile(c.took, 0.5)),
				millis(c.own), millis(c.daemons))
		}
	}
}

// timedCommand is one command and what its rounds took.
type timedCommand struct {
	program *program
	daemon  *daemon
	args    []string
	file    string // that it writes
	took    []time.Duration
	own     time.Duration // processor time of the command, the least of the rounds
	daemons time.Duration // and of the daemon
}

// rounds runs the command a few times. It must answer, be it that something was found or not.
func (c *timedCommand) rounds(b *testing.B) {
	b.Helper()
	for i, arg := range c.args {
		c.args[i] = strings.NewReplacer("\x00", " ", ",", " ").Replace(arg)
	}
	for range commandRounds {
		_ = os.Remove(c.file) // of the round before
		before, begun := c.daemon.processor(b), time.Now()
		cmd := c.program.command(b.Context(), c.args...)
		out, err := cmd.CombinedOutput()
		took := time.Since(begun)
		if code, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || code.ExitCode() != 1 && code.ExitCode() != 5) {
			b.Fatalf("%v: %v\n%s", c.args, err, out)
		}
		own, daemons := cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), c.daemon.processor(b)-before
		if len(c.took) == 0 || own < c.own {
			c.own = own
		}
		if len(c.took) == 0 || daemons < c.daemons {
			c.daemons = daemons
		}
		c.took = append(c.took, took)
	}
}

// processor returns the processor time that the daemon has taken, in units of 10 milliseconds.
func (d *daemon) processor(tb testing.TB) time.Duration {
	tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", d.cmd.Process.Pid))
	if err != nil {
		tb.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	var ticks int
	for _, field := range fields[11:13] { // utime and stime (proc_pid_stat(5))
		n, err := strconv.Atoi(field)
		if err != nil {
			tb.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
