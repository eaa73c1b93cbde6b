package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/internal/tinybert"
	"emberd/op"
)

// victim is a user with a daemon's home, a vault and servers, and a library that is after them.
type victim struct {
	emberd, home, user, vault, library string
	reached                            *atomic.Int64 // connections and packets that the servers received
}

func newVictim(t *testing.T) *victim {
	t.Helper()
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("needs a C compiler, to build the library")
	}
	dir := clitest.ShortDir(t)
	v := &victim{emberd: withHelper(t), home: filepath.Join(dir, "h"), user: filepath.Join(dir, "user"),
		vault: filepath.Join(dir, "vault"), library: filepath.Join(dir, "engine"), reached: new(atomic.Int64)}
	for name, text := range map[string]string{
		"h/config.yaml": "vaults: [" + v.vault + "]\n", "h/data/seg": "a memory", "h/state/key": "a secret",
		"vault/Note.md": "a note", "user/file": "", "engine/places.h": "",
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	places := t.TempDir()
	header := fmt.Sprintf("static const char note[] = %q, data[] = %q, config[] = %q, keys[] = %q, home[] = %q, "+
		"sock[] = %q;\nenum { tcp = %d, udp = %d };\n", filepath.Join(v.vault, "Note.md"), filepath.Join(v.home, "data/seg"),
		filepath.Join(v.home, "config.yaml"), filepath.Join(v.home, "state/key"), v.user, filepath.Join(dir, "sock"),
		v.server(t, "tcp", "127.0.0.1:0"), v.packets(t))
	v.server(t, "unix", filepath.Join(dir, "sock"))
	if err := os.WriteFile(filepath.Join(places, "places.h"), []byte(header), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command(compiler, "-shared", "-fPIC", "-O1", "-pthread", "-I", places, "-o",
		filepath.Join(v.library, "libllama.so"), "testdata/hostile/hostile.c")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the library: %v\n%s", err, out)
	}
	return v
}

// server counts connections and returns its port, if it has one.
func (v *victim) server(t *testing.T, network, address string) int {
	t.Helper()
	ln, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() { // until the listener is closed
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			v.reached.Add(1)
			conn.Close()
		}
	}()
	if at, ok := ln.Addr().(*net.TCPAddr); ok {
		return at.Port
	}
	return 0
}

// packets counts those of UDP and returns the port.
func (v *victim) packets(t *testing.T) int {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() { // until the socket is closed
		for buf := make([]byte, 64); ; {
			if _, _, err := conn.ReadFrom(buf); err != nil {
				return
			}
			v.reached.Add(1)
		}
	}()
	return conn.LocalAddr().(*net.UDPAddr).Port
}

// run runs a command without a terminal, its input at its end.
func (v *victim) run(args ...string) (output string, code int) {
	cmd := exec.Command(v.emberd, append([]string{"--home", v.home}, args...)...)
	cmd.Args[0], cmd.Env = "emberd", append(cli.ForeignFree(os.Environ()), "HOME="+v.user)
	out, _ := cmd.CombinedOutput() // the code says it
	return strings.Join(strings.Fields(string(out)), " "), cmd.ProcessState.ExitCode()
}

// report is what the library says: how much it tried in its constructor and in its functions, and
// what it could do.
var report = regexp.MustCompile(`ASSERT tried (\d+) and (\d+), done:([^.]*)`)

// refusesAll fails the test unless the library tried everything and could do nothing.
func (v *victim) refusesAll(t *testing.T, output string) {
	t.Helper()
	said := report.FindStringSubmatch(output)
	if said == nil {
		t.Fatalf("the library said nothing: %s", output)
	}
	if said[1] != said[2] || len(said[1]) < 3 || said[3] != "" {
		t.Errorf("of %s and %s attempts it could do:%s", said[1], said[2], said[3])
	}
	v.untouched(t)
}

// untouched fails the test if anything of the user's is not as it was.
func (v *victim) untouched(t *testing.T) {
	t.Helper()
	if n := v.reached.Load(); n > 0 {
		t.Errorf("it reached servers %d times", n)
	}
	for name, want := range map[string]string{"h/data/seg": "a memory", "h/state/key": "a secret", "vault/Note.md": "a note"} {
		if got, err := os.ReadFile(filepath.Join(filepath.Dir(v.home), name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	if names, err := os.ReadDir(v.user); err != nil || len(names) != 1 {
		t.Errorf("the home of the user has %v, %v", names, err)
	}
	for _, pattern := range []string{v.home + "/*/*.hostile*", v.vault + "/*.hostile*", v.home + "/*.hostile"} {
		if found, err := filepath.Glob(pattern); err != nil || len(found) > 0 {
			t.Errorf("it made %v, %v", found, err)
		}
	}
}

// Attack 5: a hostile library reads and changes no file of the user's, opens no connection and starts
// no process, whether the installer, the selftest or the daemon has it loaded.
func TestHostileLibrary(t *testing.T) {
	t.Run("install without consent", func(t *testing.T) {
		v := newVictim(t)
		out, code := v.run("engine", "install", v.library)
		if code != int(cli.ExitInput) || !strings.Contains(out, "--yes") || report.MatchString(out) {
			t.Errorf("exit code %d: %s; want that the library is not loaded without --yes", code, out)
		}
		v.untouched(t)
	})
	t.Run("install", func(t *testing.T) {
		v := newVictim(t)
		out, _ := v.run("engine", "install", v.library, "--yes")
		v.refusesAll(t, out)
		out, _ = v.run("engine", "install", v.library, "--link", "--yes")
		v.refusesAll(t, out)
	})
	t.Run("selftest", func(t *testing.T) {
		v := newVictim(t)
		out, _ := v.run("engine", "selftest", "--set", "embedding.engine="+v.library)
		v.refusesAll(t, out)
	})
	t.Run("daemon", func(t *testing.T) {
		v := newVictim(t)
		v.refusesAll(t, v.underDaemon(t))
	})
	// Or it would prove nothing that nothing could be done.
	t.Run("without the sandbox", func(t *testing.T) {
		v := newVictim(t)
		t.Cleanup(func() { _ = os.Remove("/dev/shm/emberd-hostile") }) // where there is such a folder
		out, _ := v.run("engine", "install", v.library, "--yes", "--set", "sandbox=off")
		for _, crime := range []string{" read-note", " write-data", " make-beside-config", " read-keys"} {
			if !strings.Contains(out, crime) {
				t.Errorf("even without a sandbox it cannot%s: %s", crime, out)
			}
		}
		if names, err := os.ReadDir(v.user); v.reached.Load() == 0 || err != nil || len(names) < 2 {
			t.Errorf("even without a sandbox it reached %d servers and made %v, %v", v.reached.Load(), names, err)
		}
	})
}

// underDaemon has a daemon load the library, and returns what the daemon knows of it afterwards.
func (v *victim) underDaemon(t *testing.T) string {
	t.Helper()
	model := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := tinybert.New(tinybert.Tiny()).WriteFile(model); err != nil {
		t.Fatal(err)
	}
	d, err := startDaemon(t.Context(), v.emberd, v.home, v.home+".log", cli.ForeignFree(os.Environ()),
		"--set", "embedding.engine="+v.library, "--set", "embedding.model="+model, "--set", "search.meaning=0.5")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.stop(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	})
	client := api.NewClient(filepath.Join(v.home, "emberd.sock"), nil)
	defer client.Close()
	answerOf(t, client, op.Embed, &op.EmbedRequest{Texts: []string{"lighthouse"}}) // which another engine makes in the end
	n := answerOf(t, client, op.EngineStatus, &op.EngineStatusRequest{}).Native
	if n == nil {
		t.Fatal("the status tells of no native engine")
	}
	return n.Output
}
