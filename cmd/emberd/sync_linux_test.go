package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/memory"
	"emberd/op"
)

// syncVar is how long the tests of sync tools work two daemons: make syncthing SYNC=2m.
const syncVar = "EMBERD_TEST_SYNC"

// TestSyncthing has two daemons on two homes share data and vault by two Syncthings. Agents and
// people work on both, while the connection is cut, Syncthing is stopped, daemons are killed, and
// files of the log are deleted and cut. In the end both devices have the same memories and
// notes, with everything in them that was acknowledged or that a person wrote.
func TestSyncthing(t *testing.T) {
	took, program := syncTime(t, "syncthing")
	p := newPair(t)
	tools := p.syncthings(t, program)
	for _, tool := range tools {
		tool.start(t)
	}
	p.start(t)
	p.settled = func(ctx context.Context) string {
		for _, tool := range tools {
			if why := tool.behind(ctx); why != "" {
				return why
			}
		}
		return ""
	}
	p.work(t, took, func(ctx context.Context) { p.syncthingTrouble(ctx, t, took, tools) })
	p.finish(t)
	for _, tool := range tools {
		tool.stop(t)
	}
}

// syncTime is how long a test of a sync tool works, and its program. The test is skipped without.
func syncTime(t *testing.T, tool string) (took time.Duration, program string) {
	t.Helper()
	if os.Getenv(syncVar) == "" {
		t.Skipf("takes minutes: %s=2m, or make %s", syncVar, tool)
	}
	program, err := exec.LookPath(tool)
	if err != nil {
		t.Skipf("%s is not installed", tool)
	}
	took, err = time.ParseDuration(os.Getenv(syncVar))
	if err != nil || took < 20*time.Second {
		t.Fatalf("%s=%s is no time of 20s or more", syncVar, os.Getenv(syncVar))
	}
	return took, program
}

// device is a daemon with its folders.
type device struct {
	name, home, vault string
	client            *api.Client

	mu     sync.Mutex // held while the daemon ends and starts
	daemon *daemonProcess
}

func (d *device) data() string { return filepath.Join(d.home, "data") }

// pair is two devices that a sync tool keeps alike, and what is known of them.
type pair struct {
	devices [2]*device
	settled func(ctx context.Context) string // what the sync tool still has to do, "" for nothing

	mu      sync.Mutex // guards what follows
	saved   map[memory.ID]*savedText
	order   []memory.ID
	edits   map[string]ackedEdit // by a word of each
	lines   map[string]string    // lines that people wrote, and into which note
	calls   map[string]int
	refused map[string]int
	quiet   []time.Time // when troubles began and ended
	table   [][2]string
	faults  map[string]int // by kind
	told    []string       // the first faults of each kind

	internal []string // errors of requests that say that emberd has a fault
}

// savedText is an acknowledged save.
type savedText struct {
	text     string
	by       int // device
	at, seen time.Time
	changed  bool // by an edit, a person or an archive
}

// ackedEdit is an acknowledged edit of a memory's text.
type ackedEdit struct {
	id memory.ID
	at time.Time
}

func newPair(t *testing.T) *pair {
	t.Helper()
	dir := clitest.ShortDir(t)
	p := &pair{saved: map[memory.ID]*savedText{}, edits: map[string]ackedEdit{}, lines: map[string]string{},
		calls: map[string]int{}, refused: map[string]int{}, faults: map[string]int{}}
	for i, name := range []string{"a", "b"} {
		d := &device{name: name, home: filepath.Join(dir, name), vault: filepath.Join(dir, name+"v")}
		d.client = api.NewClient(filepath.Join(d.home, "emberd.sock"), &api.ClientOptions{Name: "agent"})
		t.Cleanup(d.client.Close)
		for _, folder := range []string{d.data(), d.vault} {
			if err := os.MkdirAll(folder, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		p.devices[i] = d
	}
	return p
}

// syncthings are two Syncthings that keep the folders of both devices alike.
func (p *pair) syncthings(t *testing.T, program string) (tools [2]*syncthing) {
	for i, d := range p.devices {
		tools[i] = newSyncthing(t, program, d.home+"s", map[string]string{"data": d.data(), "vault": d.vault})
	}
	tools[0].pair(t, tools[1])
	tools[1].pair(t, tools[0])
	return tools
}

func (p *pair) start(t *testing.T) {
	t.Helper()
	for _, d := range p.devices {
		if err := d.start(t); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.daemon.cmd.Process.Kill() }) // it has ended, if all went well
	}
}

// start runs a daemon that waits for people only seconds, and begins a file of its log often.
func (d *device) start(t *testing.T) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	env := append(cli.ForeignFree(os.Environ()), adjustVar+"=devices")
	d.daemon, err = startDaemon(t.Context(), exe, d.home, d.home+".log", env, "--vault", d.vault)
	return err
}

// restart ends a daemon by a signal and starts it, without the files of its state that match.
func (d *device) restart(t *testing.T, sig syscall.Signal, without ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.daemon.stop(sig); err != nil && sig == syscall.SIGTERM {
		t.Errorf("the daemon of %s did not stop well: %v", d.name, err)
	}
	for _, pattern := range without {
		names, _ := filepath.Glob(filepath.Join(d.home, "state", pattern)) // the pattern is a good one
		for _, name := range names {
			if err := os.RemoveAll(name); err != nil {
				t.Error(err)
			}
		}
	}
	if err := d.start(t); err != nil {
		t.Errorf("the daemon of %s does not start: %v", d.name, err)
	}
}

// work lets all work on both devices, with trouble, until the time is over.
func (p *pair) work(t *testing.T, took time.Duration, trouble func(ctx context.Context)) {
	ctx, cancel := context.WithTimeout(t.Context(), took)
	defer cancel()
	var all sync.WaitGroup
	for i := range p.devices {
		for _, worker := range []func(context.Context, int){
			p.saving, p.watching, p.editing, p.promoting, p.archiving, p.forgetting, p.person,
		} {
			all.Go(func() { worker(ctx, i) })
		}
	}
	trouble(ctx)
	all.Wait()
}

// trouble is something that goes wrong, at a percentage of the time.
type trouble struct {
	at   int
	what string
	do   func() error
}

// steps lets things go wrong, one after the other.
func (p *pair) steps(ctx context.Context, t *testing.T, took time.Duration, all []trouble) {
	began := time.Now()
	for _, next := range all {
		select {
		case <-time.After(time.Until(began.Add(took * time.Duration(next.at) / 100))):
		case <-ctx.Done():
			return
		}
		t.Logf("%3d %%: %s", next.at, next.what)
		p.note()
		if err := next.do(); err != nil {
			t.Errorf("%s: %v", next.what, err)
		}
	}
}

// syncthingTrouble is what goes wrong, in its order, and then nothing for the last sixth.
func (p *pair) syncthingTrouble(ctx context.Context, t *testing.T, took time.Duration, tools [2]*syncthing) {
	a, b := p.devices[0], p.devices[1]
	p.steps(ctx, t, took, []trouble{
		{12, "kill the daemon of a", func() error { a.restart(t, syscall.SIGKILL); return nil }},
		{20, "cut the connection", func() error { return tools[0].pause(ctx) }},
		{28, "kill the daemon of b", func() error { b.restart(t, syscall.SIGKILL); return nil }},
		{36, "connect", func() error { return tools[0].resume(ctx) }},
		{44, "stop the Syncthing of b", func() error { tools[1].stop(t); return nil }},
		{52, "start it", func() error { tools[1].start(t); return nil }},
		{56, "kill both daemons", func() error {
			a.restart(t, syscall.SIGKILL)
			b.restart(t, syscall.SIGKILL)
			return nil
		}},
		{62, "delete a file of a's log on b", func() error { return deleteSegment(t, b, a) }},
		{67, "cut a file of b's log on a", func() error { return cutSegment(t, a, b) }},
		{72, "delete a file of b's log on a", func() error { return deleteSegment(t, a, b) }},
		{78, "kill the daemon of a", func() error { a.restart(t, syscall.SIGKILL); return nil }},
		{82, "nothing more", func() error { return nil }},
	})
}

// note marks a moment at which saves may take longer to arrive.
func (p *pair) note() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.quiet = append(p.quiet, time.Now())
}

// closedSegment is a file of another device's log, as on has it, that is written no more.
func closedSegment(on, of *device) (string, error) {
	id, err := deviceID(of)
	if err != nil {
		return "", err
	}
	names, err := filepath.Glob(filepath.Join(on.data(), "stm", id, "s-*.jsonl"))
	if err != nil || len(names) < 2 {
		return "", fmt.Errorf("%s has no closed file of %s: %q, %w", on.name, of.name, names, err)
	}
	slices.Sort(names)
	return names[len(names)-2], nil
}

// deviceID is the name of the folder in which a device writes.
func deviceID(d *device) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	res, err := op.Status.Call(ctx, d.client, &op.StatusRequest{})
	if err != nil {
		return "", err
	}
	return res.Device, nil
}

func deleteSegment(t *testing.T, on, of *device) error {
	name, err := closedSegment(on, of)
	if err != nil {
		return err
	}
	t.Logf("delete %s", name)
	return os.Remove(name)
}

// cutSegment cuts a file inside a line, at half its size.
func cutSegment(t *testing.T, on, of *device) error {
	name, err := closedSegment(on, of)
	if err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	t.Logf("cut %s at %d of %d", name, info.Size()/2, info.Size())
	return os.Truncate(name, info.Size()/2)
}

func (p *pair) row(what, format string, args ...any) {
	p.table = append(p.table, [2]string{what, fmt.Sprintf(format, args...)})
}

// fault fails the test, and tells of each kind of fault the first few.
func (p *pair) fault(t *testing.T, kind, format string, args ...any) {
	t.Helper()
	if p.faults[kind]++; p.faults[kind] <= 5 {
		t.Errorf(kind+": "+format, args...)
		p.told = append(p.told, fmt.Sprintf("%.600s", fmt.Sprintf(kind+": "+format, args...)))
	}
	t.Fail()
}

// print prints the table, and after it the faults again, since of a long output often only the end is kept.
func (p *pair) print() {
	for _, row := range p.table {
		fmt.Printf("%-52s %s\n", row[0], strings.TrimSpace(row[1]))
	}
	for _, fault := range p.told {
		fmt.Println("FAULT", fault)
	}
}
