package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"emberd/api"
	"emberd/internal/evalcmd"
	"emberd/internal/testutil/clitest"
	"emberd/internal/testutil/racescale"
	_ "emberd/internal/testutil/ramdisk"
	"emberd/internal/testutil/sqlitetest"
	"emberd/op"
)

// detector is the variable that the race detector takes its options from. A program with it
// sleeps for a second before it ends, for goroutines that may still race: thousands of
// programs of some milliseconds each would mostly sleep. Ours wait for theirs.
const detector = "GORACE"

// TestMain makes the test binary act as emberd when it is called by that name,
// so that every test below runs the real main in processes of its own. The tests wait
// for those most of the time, so more of them run at once than there are processors,
// unless -parallel says how many.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	if err := os.Setenv(detector, cmp.Or(os.Getenv(detector), "atexit_sleep_ms=10")); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){
		"emberd":      program,
		"emberd-eval": evalcmd.Main,
		"jsonshape":   jsonShape,
		"prisoner":    prisoner,
	})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	runScripts(t, "", nil)
}

// runScripts runs the scripts of a folder below testdata/script, with the variables of env
// besides those of every script.
func runScripts(t *testing.T, folder string, env map[string]string) {
	sets, err := filepath.Abs(filepath.Join("..", "..", "testdata", "eval"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "testdata", "script", folder),
		WorkdirRoot:         clitest.ShortDir(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *clitest.Update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("TZ", "UTC")
			e.Setenv(detector, os.Getenv(detector))
			e.Setenv("GOGC", "400") // few calls live for long
			e.Setenv("H", filepath.Join(e.WorkDir, "h"))
			e.Setenv("SETS", sets)
			for name, value := range env {
				e.Setenv(name, value)
			}
			e.Values[daemonKey{}] = new(*daemonProcess)
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "race" {
				return false, fmt.Errorf("unknown condition %s", name)
			}
			return racescale.Share > 1, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"daemon": cmdDaemon,
			"code":   cmdCode,
			"grab":   cmdGrab,
			"model":  cmdModel,
			"same":   cmdSame,
			"serve":  cmdServe,
			"sqlite": cmdSQLite,
			"zip":    cmdZip,
		},
	})
}

// daemonProcess is an emberd serve in the background.
type daemonProcess struct {
	cmd    *exec.Cmd
	exited chan error
}

type daemonKey struct{}

// startDaemon runs serve in home and waits until its socket answers. What the
// daemon says is appended to the file log.
func startDaemon(ctx context.Context, binary, home, log string, env []string, args ...string) (*daemonProcess, error) {
	return startDaemonAs(ctx, []string{binary}, home, log, env, args...)
}

// startDaemonAs is startDaemon with a command that ends in the binary and takes
// its arguments.
func startDaemonAs(ctx context.Context, command []string, home, log string, env []string, args ...string) (*daemonProcess, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	words := slices.Concat(command[1:], []string{"serve", "--home", home}, args)
	d := &daemonProcess{cmd: exec.Command(command[0], words...), exited: make(chan error, 1)}
	if d.cmd.Env, d.cmd.Stderr = env, out; len(command) == 1 {
		d.cmd.Args[0] = "emberd"
	}
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { d.exited <- d.cmd.Wait() }()
	client := api.NewClient(filepath.Join(home, "emberd.sock"), nil)
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		if _, err := op.Version.Call(ctx, client, &op.VersionRequest{}); err == nil {
			return d, nil
		}
		select {
		case err := <-d.exited:
			said, _ := os.ReadFile(log)
			return nil, fmt.Errorf("the daemon ended: %v\n%s", err, said)
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), d.stop(syscall.SIGKILL))
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// stop sends a signal and waits for the end.
func (d *daemonProcess) stop(sig syscall.Signal) error {
	if err := d.cmd.Process.Signal(sig); err != nil {
		return err
	}
	return <-d.exited
}

// cmdSQLite is "sqlite DATABASE STATEMENTS", which runs a file of SQL statements.
func cmdSQLite(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sqlite DATABASE STATEMENTS")
	}
	ts.Check(sqlitetest.Run(ts.MkAbs(args[0]), ts.ReadFile(args[1])))
}

// cmdDaemon is "daemon start [flags…]", "daemon stop" and "daemon kill9".
func cmdDaemon(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: daemon start|stop|kill9")
	}
	running := ts.Value(daemonKey{}).(**daemonProcess)
	switch args[0] {
	case "start":
		var env []string
		for _, name := range []string{"PATH", "HOME", "TZ", detector} {
			env = append(env, name+"="+ts.Getenv(name))
		}
		exe, err := exec.LookPath("emberd") // which may have its helper beside it
		ts.Check(err)
		d, err := startDaemon(context.Background(), exe, ts.Getenv("H"), ts.MkAbs("daemon.log"), env, args[1:]...)
		ts.Check(err)
		*running = d
		ts.Setenv("EMBERD_HOME", ts.Getenv("H"))
		ts.Setenv("PID", strconv.Itoa(d.cmd.Process.Pid))
		ts.Defer(func() {
			if *running != nil {
				_ = (*running).stop(syscall.SIGKILL)
			}
		})
	case "stop":
		err := (*running).stop(syscall.SIGTERM)
		*running = nil
		ts.Check(err)
	case "kill9":
		_ = (*running).stop(syscall.SIGKILL) // the error is that it was killed
		*running = nil
	}
}

// cmdCode is "code N command args…": the command must end with exit code N.
func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command args…")
	}
	got := 0
	err := ts.Exec(args[1], args[2:]...)
	if exited, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exited.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// cmdSame is "same N old name… = new name…": emberd ends with exit code N and prints the same by both
// names. A job in the background, which records a use for example, may change an answer between two
// calls. So if the answers differ, the old name has to print in a third call what the new one did; if it
// prints something else again, both start anew.
func cmdSame(ts *testscript.TestScript, neg bool, args []string) {
	between := slices.Index(args, "=")
	if neg || between < 2 || between == len(args)-1 {
		ts.Fatalf("usage: same N old name… = new name…")
	}
	answer := func(name []string) string {
		cmdCode(ts, false, slices.Concat([]string{args[0], "emberd"}, name))
		return ts.ReadFile("stdout")
	}
	first := answer(args[1:between])
	for range 10 {
		now := answer(args[between+1:])
		if now == first {
			return
		}
		again := answer(args[1:between])
		if again == now {
			return
		}
		if again == first {
			ts.Fatalf("%q prints\n%s\n%q prints\n%s", args[1:between], first, args[between+1:], now)
		}
		first = again
	}
	ts.Fatalf("%q never prints the same twice", args[1:between])
}

// cmdGrab is "grab NAME PATH": it sets a variable to what stdout, as JSON, has
// at a path of keys and indexes.
func cmdGrab(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: grab NAME PATH")
	}
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &v))
	for key := range strings.SplitSeq(args[1], ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[key]
		case []any:
			i, err := strconv.Atoi(key)
			ts.Check(err)
			v = at[i]
		}
	}
	ts.Setenv(args[0], fmt.Sprint(v))
}

// jsonShape prints every path of the JSON on stdin with its type, so that a
// golden file pins names and types and not times and ids. What a memory has once its vector
// is made is left out: an answer does not wait for that.
func jsonShape() {
	var v any
	if err := json.NewDecoder(os.Stdin).Decode(&v); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	paths := map[string]string{}
	shape(v, "", paths)
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		fmt.Println(cmp.Or(p, "."), paths[p])
	}
}

func shape(v any, at string, paths map[string]string) {
	kind := map[bool]string{true: "null", false: fmt.Sprintf("%T", v)}[v == nil]
	switch v := v.(type) {
	case map[string]any:
		kind = "object"
		for k, inner := range v {
			if k != "has_embedding" && k != "embedding_version" {
				shape(inner, at+"."+k, paths)
			}
		}
	case []any:
		kind = "array"
		for _, inner := range v {
			shape(inner, at+"[]", paths)
		}
	case float64:
		kind = "number"
	}
	paths[at] = kind
}
