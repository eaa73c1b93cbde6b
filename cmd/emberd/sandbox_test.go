package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"emberd/engine/core"
	"emberd/internal/cli"
	"emberd/internal/cli/daemon"
	"emberd/internal/testutil/clitest"
)

// attempt is something that a process may or may not be able to do.
type attempt struct {
	name string
	try  func() error
}

// prison is what the process prisoner is told: the home of a daemon and its vault, and what
// lies outside of them.
type prison struct {
	Home, Vault string
	Set         []string // settings
	Outside     string   // a folder with the file canary
	Port        string   // of this machine, where somebody answers
	Abstract    string   // name of a unix socket without a file, where somebody answers
	Parent      int      // process of the same user that is not confined
}

// outcome is what came of the attempts, by name: "" is that it could be done.
type outcome struct {
	On       bool
	ABI      int
	Attempts map[string]string
}

// prisoner is the test binary as a process under the rules of a daemon with these settings,
// once it has its folders open. It does what a daemon would be made to do, each thing in
// several threads, and tells how that went.
func prisoner() {
	var p prison
	if err := json.Unmarshal([]byte(os.Args[1]), &p); err != nil {
		panic(err)
	}
	for range 8 { // threads that are there before the rules are
		go func() { runtime.LockOSThread(); time.Sleep(time.Minute) }()
	}
	s := cli.New()
	s.Home, s.Set = p.Home, append(p.Set, "vaults="+p.Vault)
	c, err := s.Load()
	if err != nil {
		panic(err)
	}
	var told core.Sandbox
	if err := daemon.Confine(c, &told, slog.New(slog.DiscardHandler)); err != nil {
		panic(err)
	}
	v := outcome{On: told.Status.On, ABI: told.Status.ABI, Attempts: make(map[string]string)}
	for _, a := range append(p.crimes(), p.duties()...) {
		if err := inThreads(4, a.try); err != nil {
			v.Attempts[a.name] = err.Error()
		} else {
			v.Attempts[a.name] = ""
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(v); err != nil {
		panic(err)
	}
}

// inThreads tries the same in threads of their own, one after the other, and returns the
// error of all of them, or nil if one of them could.
func inThreads(n int, try func() error) error {
	var mu sync.Mutex
	var all sync.WaitGroup
	var last error
	could := false
	for range n {
		all.Go(func() {
			runtime.LockOSThread() // and so the thread ends with the goroutine
			mu.Lock()
			defer mu.Unlock()
			if err := try(); err == nil {
				could = true
			} else {
				last = err
			}
		})
	}
	all.Wait()
	if could {
		return nil
	}
	return last
}

// crimes is what nothing in a daemon has a use for.
func (p *prison) crimes() []attempt {
	canary := filepath.Join(p.Outside, "canary")
	link := filepath.Join(p.Vault, "link")
	return []attempt{
		{"read a file", func() error { return read(canary) }},
		{"read a file by a link in the vault", func() error { return read(filepath.Join(link, "canary")) }},
		{"list a folder", func() error { _, err := os.ReadDir(p.Outside); return err }},
		{"write a file", func() error { return os.WriteFile(canary, []byte("changed"), 0o600) }},
		{"make a file", func() error { return os.WriteFile(filepath.Join(p.Outside, "new"), nil, 0o600) }},
		{"remove a file", func() error { return os.Remove(canary) }},
		{"cut a file", func() error { return os.Truncate(canary, 0) }},
		{"move a file out", func() error {
			return os.Rename(filepath.Join(p.Vault, "Note.md"), filepath.Join(p.Outside, "Note.md"))
		}},
		{"give a file a second name outside", func() error {
			return os.Link(filepath.Join(p.Vault, "Other.md"), filepath.Join(p.Outside, "second"))
		}},
		{"run a shell", func() error { return exec.Command("/bin/sh", "-c", "true").Run() }},
		{"run what lies in its own folder", func() error { return exec.Command(filepath.Join(p.Home, "state", "program")).Run() }},
		{"change its configuration", func() error { return os.WriteFile(p.config(), []byte("sandbox: off\n"), 0o600) }},
		{"make a configuration beside it", func() error { return os.WriteFile(p.config()+".new", nil, 0o600) }},
		{"put another file in the place of its configuration", func() error {
			other := filepath.Join(p.Home, "state", "config.yaml")
			return errors.Join(os.WriteFile(other, []byte("sandbox: off\n"), 0o600), os.Rename(other, p.config()))
		}},
		{"remove its configuration", func() error { return os.Remove(p.config()) }},
		{"connect by TCP", func() error { return dial("tcp", p.Port) }},
		{"listen by TCP", func() error { return listenTCP("127.0.0.1:0") }},
		{"connect to a socket without a file", func() error { return dial("unix", p.Abstract) }},
		{"read another process's memory", func() error { return read(fmt.Sprintf("/proc/%d/environ", p.Parent)) }},
	}
}

func (p *prison) config() string { return filepath.Join(p.Home, "config.yaml") }

// duties is what a daemon has to be able to do.
func (p *prison) duties() []attempt {
	at := func(names ...string) string { return filepath.Join(append([]string{p.Home}, names...)...) }
	return []attempt{
		{"write to the log", func() error { return os.WriteFile(at("data", "log"), []byte("x"), 0o600) }},
		{"read the log", func() error { return read(at("data", "log")) }},
		{"make folders", func() error { return os.MkdirAll(at("state", "a", "b"), 0o700) }},
		{"read a note", func() error { return read(filepath.Join(p.Vault, "Note.md")) }},
		{"move a note to the state and back", func() error {
			note, there := filepath.Join(p.Vault, "Note.md"), at("state", "Note.md")
			return errors.Join(os.Rename(note, there), os.Rename(there, note))
		}},
		{"throw away what is written", func() error { return os.WriteFile(os.DevNull, []byte("x"), 0) }},
	}
}

func read(name string) error {
	_, err := os.ReadFile(name)
	return err
}

func dial(network, address string) error {
	conn, err := net.DialTimeout(network, address, 5*time.Second)
	if err != nil {
		return err
	}
	return conn.Close()
}

// listenTCP takes no Multipath TCP, which Landlock leaves alone.
func listenTCP(address string) error {
	config := &net.ListenConfig{}
	config.SetMultipathTCP(false)
	ln, err := config.Listen(context.Background(), "tcp", address)
	if err != nil {
		return err
	}
	return ln.Close()
}

// Under the daemon's own rules whatever lies outside of its folders can neither be read nor
// changed, nothing is run and nobody is reached, in no thread; its own work goes on.
func TestTheSandboxHolds(t *testing.T) {
	p := newPrison(t)
	v := p.lock(t)
	if !v.On {
		t.Skip("this kernel has no Landlock that could hold anybody")
	}
	for _, a := range p.crimes() {
		switch said, ok := v.Attempts[a.name]; {
		case !ok || said == "":
			t.Errorf("it can %s", a.name)
		case !refused(said):
			t.Errorf("it cannot %s, but for another reason: %s", a.name, said)
		}
	}
	for _, a := range p.duties() {
		if said := v.Attempts[a.name]; said != "" {
			t.Errorf("it cannot %s: %s", a.name, said)
		}
	}
	if data, err := os.ReadFile(filepath.Join(p.Outside, "canary")); err != nil || string(data) != "canary" {
		t.Errorf("the file outside has become %q (%v)", data, err)
	}
	if names, err := os.ReadDir(p.Outside); err != nil || len(names) != 1 {
		t.Errorf("the folder outside holds %v (%v)", names, err)
	}
}

// Without the sandbox each of the crimes can be committed here, or it proves nothing that
// they cannot be within.
func TestTheSandboxIsWhatHolds(t *testing.T) {
	p := newPrison(t)
	p.Set = []string{"sandbox=off"}
	v := p.lock(t)
	for _, a := range p.crimes() {
		switch said := v.Attempts[a.name]; {
		case said == "":
		case a.name == "cut a file": // it has been removed by then
		case a.name == "read another process's memory": // the system may have rules of its own
		default:
			t.Errorf("even without a sandbox it cannot %s: %s", a.name, said)
		}
	}
}

// refused reports whether an error is what Landlock refuses with: EACCES, EPERM for
// sockets without a file, EXDEV for what it takes for another file system.
func refused(said string) bool {
	for _, err := range []error{syscall.EACCES, syscall.EPERM, syscall.EXDEV, fs.ErrPermission} {
		if len(said) >= len(err.Error()) && said[len(said)-len(err.Error()):] == err.Error() {
			return true
		}
	}
	return false
}

func newPrison(t *testing.T) *prison {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux, whose sandbox it is about")
	}
	dir := clitest.ShortDir(t)
	p := &prison{Home: filepath.Join(dir, "h"), Vault: filepath.Join(dir, "Vault"), Outside: t.TempDir(),
		Abstract: "@" + filepath.Base(dir), Parent: os.Getpid()}
	for _, d := range []string{filepath.Join(p.Home, "data"), filepath.Join(p.Home, "state"), p.Vault} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	program, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Skip("needs the program /bin/true, as a thing to run")
	}
	if err := errors.Join(os.WriteFile(filepath.Join(p.Home, "state", "program"), program, 0o700),
		os.WriteFile(p.config(), []byte("sandbox: on\n"), 0o600),
		os.WriteFile(filepath.Join(p.Outside, "canary"), []byte("canary"), 0o600),
		os.WriteFile(filepath.Join(p.Vault, "Note.md"), []byte("note"), 0o600),
		os.WriteFile(filepath.Join(p.Vault, "Other.md"), []byte("note"), 0o600),
		os.Symlink(p.Outside, filepath.Join(p.Vault, "link"))); err != nil {
		t.Fatal(err)
	}
	port := answerer(t, "tcp", "127.0.0.1:0")
	answerer(t, "unix", p.Abstract)
	p.Port = port
	return p
}

// answerer accepts connections until the test ends.
func answerer(t *testing.T, network, address string) string {
	t.Helper()
	ln, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	return ln.Addr().String()
}

// lock runs the prisoner.
func (p *prison) lock(t *testing.T) *outcome {
	t.Helper()
	told, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("prisoner", string(told))
	cmd.Env, cmd.Stderr = cli.ForeignFree(os.Environ()), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var v outcome
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return &v
}
