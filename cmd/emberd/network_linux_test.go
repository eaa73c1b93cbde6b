package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/op"
)

// builtVar is the emberd that make built, for the trace of its whole demonstration.
const builtVar = "EMBERD_TEST_BUILT"

// tracer is a command that writes every call of the network into the file that it
// returns too, of all processes that it starts.
func tracer(t *testing.T, more ...string) (command []string, trace string) {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is missing; install the package of that name")
	}
	trace = filepath.Join(t.TempDir(), "trace")
	command = append([]string{strace, "-f", "-qq", "-o", trace}, more...)
	if out, err := exec.Command(command[0], append(slices.Clone(command[1:]), "true")...).CombinedOutput(); err != nil {
		t.Skipf("tracing is not allowed here: %s", out)
	}
	return command, trace
}

var family = regexp.MustCompile(`\b(AF_[A-Z0-9]+|PF_[A-Z0-9]+)`)

// families are the kinds of sockets that a trace names, with how often.
func families(t *testing.T, trace string) map[string]int {
	t.Helper()
	data, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]int)
	for _, name := range family.FindAllString(string(data), -1) {
		found[name]++
	}
	return found
}

func onlyUnix(t *testing.T, trace string) {
	t.Helper()
	found := families(t, trace)
	if found["AF_UNIX"] == 0 || len(found) != 1 {
		t.Errorf("sockets of these families were used: %v; want AF_UNIX alone", found)
	}
}

// A daemon, those who save and search, and an agent at its standard input use unix sockets
// and no others, not even to ask for a name.
func TestNoNetwork(t *testing.T) {
	t.Parallel()
	command, trace := tracer(t, "-e", "trace=network")
	exe := namedEmberd(t)
	home := filepath.Join(clitest.ShortDir(t), "h")
	d, err := startDaemonAs(t.Context(), append(command, exe), home, home+".log", cli.ForeignFree(os.Environ()))
	if err != nil {
		t.Fatal(err)
	}
	ended := false
	t.Cleanup(func() {
		if !ended {
			_ = d.cmd.Process.Kill()
		}
	})
	used := []string{trace}
	for _, c := range []struct{ in, words string }{
		{"", "save the lighthouse keeps its lamp in the tower"},
		{"", "search lighthouse"},
		{"", "status"},
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search_memory","arguments":{"query":"lamp"}}}
`, "mcp --tools all"},
	} {
		command, trace := tracer(t, "-e", "trace=network")
		cmd := exec.Command(command[0], slices.Concat(command[1:], []string{exe}, strings.Fields(c.words), []string{"--home", home})...)
		cmd.Env, cmd.Stdin = cli.ForeignFree(os.Environ()), strings.NewReader(c.in)
		out, err := cmd.CombinedOutput()
		if err != nil || c.in != "" && !strings.Contains(string(out), "lighthouse") {
			t.Errorf("emberd %s: %v\n%s", c.words, err, out)
		}
		used = append(used, trace)
	}
	client := api.NewClient(filepath.Join(home, "emberd.sock"), nil)
	defer client.Close()
	v, err := op.Version.Call(t.Context(), client, &op.VersionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	ended = true
	if err := syscall.Kill(v.PID, syscall.SIGTERM); err != nil { // the tracer would not hand it on
		t.Fatal(err)
	}
	if err := <-d.exited; err != nil {
		t.Errorf("the daemon ended with %v", err)
	}
	for _, trace := range used {
		onlyUnix(t, trace)
	}
}

// The whole demonstration by the program as make builds it; make network runs this.
func TestNoNetworkInTheDemo(t *testing.T) {
	built := os.Getenv(builtVar)
	if built == "" {
		t.Skipf("takes a dozen seconds: run make network, or name the program in %s", builtVar)
	}
	command, trace := tracer(t, "-e", "trace=network")
	cmd := exec.Command(command[0], append(command[1:], built, "demo")...)
	cmd.Env = cli.ForeignFree(os.Environ())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("emberd tour: %v\n%s", err, out)
	}
	onlyUnix(t, trace)
	t.Logf("families: %v", families(t, trace))
}

// namedEmberd is the test binary under the name by which it is emberd, since a tracer
// gives a program no other one.
func namedEmberd(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(t.TempDir(), "emberd")
	if err := os.Symlink(self, exe); err != nil {
		t.Fatal(err)
	}
	return exe
}

// daemonStatus is what a daemon says of itself.
func daemonStatus(t *testing.T, home string) *op.StatusResult {
	t.Helper()
	client := api.NewClient(filepath.Join(home, "emberd.sock"), nil)
	defer client.Close()
	res, err := op.Status.Call(t.Context(), client, &op.StatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// On a kernel without Landlock the daemon runs without, and says so, unless the setting
// demands it.
func TestKernelWithoutLandlock(t *testing.T) {
	t.Parallel()
	for _, errno := range []string{"ENOSYS", "EOPNOTSUPP"} {
		command, _ := tracer(t, "-e", "trace=landlock_create_ruleset", "-e", "inject=landlock_create_ruleset:error="+errno)
		exe := namedEmberd(t)
		home := filepath.Join(clitest.ShortDir(t), "h")
		_, err := startDaemonAs(t.Context(), append(command, exe), home, home+".log", cli.ForeignFree(os.Environ()), "--set", "sandbox=on")
		if err == nil || !strings.Contains(err.Error(), "cannot start the sandbox, which the setting sandbox=on requires") || !strings.Contains(err.Error(), fmt.Sprintf("exit status %d", cli.ExitDisk)) {
			t.Errorf("%s: sandbox on starts, or is refused with: %v", errno, err)
		}
		d, err := startDaemonAs(t.Context(), append(command, exe), home, home+".log", cli.ForeignFree(os.Environ()))
		if err != nil {
			t.Fatal(err)
		}
		res := daemonStatus(t, home)
		if b := res.Sandbox; b == nil || b.On || !strings.Contains(b.Why, "Landlock") {
			t.Errorf("%s: status tells of the sandbox %+v", errno, b)
		}
		if err := syscall.Kill(res.Version.PID, syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := <-d.exited; err != nil {
			t.Errorf("%s: the daemon ended with %v", errno, err)
		}
	}
}
