package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"emberd/internal/cli"
	"emberd/internal/service"
	"emberd/internal/testutil/clitest"
)

const insideVariable = "EMBERD_TEST_INSIDE"

// namespaces runs what follows with process ids, mounts and control groups of its own,
// where /run/systemd says that systemd is at work and nothing of the machine's is reached.
const namespaces = `set -e
mount -t tmpfs none /run/systemd && mkdir -p /run/systemd/system
for group in /sys/fs/cgroup/systemd /sys/fs/cgroup/unified /sys/fs/cgroup; do
	[ -e $group/cgroup.procs ] || continue
	mkdir $group/$GROUP && echo $$ >$group/$GROUP/cgroup.procs
done
exec unshare --cgroup "$@"`

// A user manager of systemd that really runs is had to keep a daemon running: the one of
// the system, in namespaces of its own, which only root may make.
func TestServiceUnderAUserManager(t *testing.T) {
	if dir := os.Getenv(insideVariable); dir != "" {
		insideUserManager(t, dir)
		return
	}
	t.Parallel()
	unshare := needs(t, "unshare", "systemctl", "systemd-analyze")[0]
	if _, err := os.Stat(userManager); err != nil {
		t.Skipf("%s is missing: install systemd", userManager)
	}
	if os.Getuid() != 0 {
		t.Skip("only root may make the namespaces for a user manager")
	}
	dir := clitest.DiskDir(t)
	group := "emberd-test-" + strconv.Itoa(os.Getpid())
	t.Cleanup(func() {
		for _, parent := range []string{"systemd", "unified", "."} { // not there where it could not be made
			_ = os.Remove(filepath.Join("/sys/fs/cgroup", parent, group))
		}
	})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := []string{"--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", namespaces, "sh",
		self, "-test.run", "^TestServiceUnderAUserManager$", "-test.v"}
	cmd := exec.Command(unshare, script...)
	cmd.Env = append(cli.ForeignFree(os.Environ()), insideVariable+"="+dir, "GROUP="+group,
		"HOME="+filepath.Join(dir, "home"), "XDG_RUNTIME_DIR="+filepath.Join(dir, "run"))
	out, err := cmd.CombinedOutput()
	switch {
	case strings.Contains(string(out), "mkdir: ") || strings.Contains(string(out), "mount: ") || strings.Contains(string(out), "unshare: "):
		t.Skipf("this machine lets no user manager be started: %s", out)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	case !strings.Contains(string(out), "--- PASS: TestServiceUnderAUserManager"):
		t.Errorf("the test inside did not run:\n%s", out)
	default:
		t.Logf("%s", out)
	}
}

const userManager = "/usr/lib/systemd/systemd"

// insideUserManager starts the manager and takes the daemon through its life under it.
func insideUserManager(t *testing.T, dir string) {
	home := os.Getenv("HOME")
	notes := filepath.Join(home, "My Notes 100%")
	for _, d := range []string{home, notes, os.Getenv("XDG_RUNTIME_DIR")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	manager := exec.Command(userManager, "--user", "--log-target=null")
	if err := manager.Start(); err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); exec.Command("systemctl", "--user", "show", "--property=Version").Run() != nil; {
		if time.Since(start) > time.Minute {
			t.Fatal("the user manager does not answer")
		}
		time.Sleep(20 * time.Millisecond)
	}
	ctl := inside{t}

	ctl.emberd("config", "set", "vaults", notes)
	ctl.emberd("service", "install").says("written "+home+"/.config/systemd/user/emberd.service", "active (running)")
	ctl.emberd("service", "install").says("nothing to change")
	ctl.emberd("service", "status").says("at login   starts", "active (running): serves "+home)
	ctl.writes(home, notes)

	// Killed, it comes back, and who asks meanwhile waits at the socket.
	before := ctl.pid()
	ctl.run("kill", "-9", before)
	ctl.emberd("search", "tea").says("keeper likes tea")
	if now := ctl.pid(); now == before {
		t.Errorf("process %s still runs, though it was killed", now)
	}
	ctl.panics(home)
	before = ctl.pid()
	ctl.emberd("service", "restart")
	if now := ctl.pid(); now == before {
		t.Errorf("process %s still runs after a restart", now)
	}

	// One that answers no more is ended, and comes back.
	dropIn := filepath.Join(home, ".config/systemd/user/emberd.service.d")
	ctl.run("mkdir", dropIn)
	if err := os.WriteFile(filepath.Join(dropIn, "watchdog.conf"), []byte("[Service]\nWatchdogSec=6s\nTimeoutAbortSec=100ms\nRestartSec=100ms\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctl.run("systemctl", "--user", "daemon-reload")
	ctl.emberd("service", "restart")
	before = ctl.pid()
	ctl.run("kill", "-STOP", before)
	ctl.emberd("search", "tea").says("keeper likes tea")
	if now := ctl.pid(); now == before {
		t.Errorf("process %s still runs, though it did not answer", now)
	}
	ctl.run("rm", "-r", dropIn)
	ctl.run("systemctl", "--user", "daemon-reload")
	ctl.emberd("service", "restart")

	// Settings move on, and the service with them.
	ctl.emberd("config", "set", "embedding.url", "http://127.0.0.1:7391").says("the service does not match the settings")
	ctl.run("systemctl", "--user", "reload", service.UnitName)
	ctl.reloaded("restart required").says("restart required for embedding.url", "the service does not match the settings")
	ctl.emberd("service", "install")
	ctl.run("systemctl", "--user", "show", "--property=RestrictAddressFamilies", service.UnitName).says("AF_INET ")

	ctl.emberd("service", "stop")
	if out, err := exec.Command("emberd", "search", "tea").CombinedOutput(); err == nil {
		t.Errorf("stopped, it answers: %s", out)
	}
	ctl.emberd("service", "start").says("active (running)")
	ctl.emberd("service", "uninstall").says("removed ")
	ctl.emberd("service", "uninstall").says("no service installed")
	if left, _ := filepath.Glob(filepath.Join(home, ".config/systemd/user/*.wants/*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// panics has the daemon panic where nothing catches that, twice, and wants it back each time.
// One whose settings are wrong stays down.
func (i inside) panics(home string) {
	i.Helper()
	dropIn := filepath.Join(home, ".config/systemd/user/emberd.service.d")
	i.run("mkdir", dropIn)
	text := "[Service]\nEnvironment=" + adjustVar + "=panics\nRestartSec=100ms\n"
	if err := os.WriteFile(filepath.Join(dropIn, "panics.conf"), []byte(text), 0o600); err != nil {
		i.Fatal(err)
	}
	i.run("systemctl", "--user", "daemon-reload")
	i.emberd("service", "restart")
	for range 2 {
		before := i.pid()
		i.run("kill", "-USR1", before)
		for start := time.Now(); i.pid() == before || i.pid() == "0"; time.Sleep(20 * time.Millisecond) {
			if time.Since(start) > time.Minute {
				i.Fatal("a minute after a panic the daemon is not back")
			}
		}
		i.emberd("search", "tea").says("keeper likes tea")
	}
	i.run("rm", "-r", dropIn)
	i.run("systemctl", "--user", "daemon-reload")
}

// inside runs programs that must succeed.
type inside struct{ *testing.T }

type saying struct {
	*testing.T
	line, text string
}

func (i inside) run(name string, args ...string) saying {
	i.Helper()
	start := time.Now()
	out, err := exec.Command(name, args...).CombinedOutput()
	i.Logf("%s %q took %v", name, args, time.Since(start))
	if err != nil {
		status, _ := exec.Command("systemctl", "--user", "status", "--no-pager", service.UnitName).CombinedOutput()
		i.Fatalf("%s %q: %v\n%s\n%s", name, args, err, out, status)
	}
	return saying{i.T, name + " " + strings.Join(args, " "), string(out)}
}

func (i inside) emberd(args ...string) saying { i.Helper(); return i.run("emberd", args...) }

// pid is the daemon's, which runs.
func (i inside) pid() string {
	i.Helper()
	return strings.TrimSpace(i.run("systemctl", "--user", "show", "--property=MainPID", "--value", service.UnitName).text)
}

// says wants all texts in the output, its lines taken as one, since they are broken anywhere.
func (s saying) says(texts ...string) {
	s.Helper()
	for _, want := range texts {
		if !strings.Contains(strings.ReplaceAll(s.text, "\n", " "), want) {
			s.Errorf("%s does not say %q but\n%s", s.line, want, s.text)
		}
	}
}

// reloaded is the status of the service once it says a text: a reload signals the daemon and does not wait until the
// daemon has read the settings.
func (i inside) reloaded(text string) saying {
	i.Helper()
	status := i.emberd("service", "status")
	for range 100 {
		if strings.Contains(status.text, text) {
			break
		}
		time.Sleep(100 * time.Millisecond)
		status = i.emberd("service", "status")
	}
	return status
}

// writes has the daemon write everything that it writes, and looks from its place in the
// mounts at what it could not.
func (i inside) writes(home, notes string) {
	i.Helper()
	saved := i.emberd("save", "The lighthouse keeper likes tea, and has done so for years").text
	id := strings.Fields(saved)[1]
	i.emberd("promote", id)
	i.emberd("backup", "create")
	i.emberd("archive", id)
	i.emberd("rekindle", id)
	found, err := filepath.Glob(filepath.Join(notes, "Memories", "*.md"))
	if err != nil || len(found) == 0 {
		i.Errorf("no note was written (%v)", err)
	}
	in := func(script string) *exec.Cmd {
		return exec.Command("nsenter", "--target", i.pid(), "--mount", "sh", "-c", script)
	}
	if out, err := in(`touch "` + notes + `/new" "$HOME/.local/state/emberd/new" && rm "` + notes + `/new" "$HOME/.local/state/emberd/new"`).CombinedOutput(); err != nil {
		i.Errorf("a folder of the daemon's cannot be written: %s", out)
	}
	for _, path := range []string{home + "/.ssh-key", "/usr/new", "/tmp/new", "/etc/new"} {
		if out, err := in("touch " + path).CombinedOutput(); err == nil || !strings.Contains(string(out), "Read-only") {
			i.Errorf("%s can be written: %s", path, out)
		}
	}
	status, err := os.ReadFile("/proc/" + i.pid() + "/status")
	if err != nil {
		i.Fatal(err)
	}
	for _, want := range []string{"NoNewPrivs:\t1", "Seccomp:\t2", "Umask:\t0077"} {
		if !strings.Contains(string(status), want) {
			i.Errorf("the process has not %q", want)
		}
	}
	if limits, err := os.ReadFile("/proc/" + i.pid() + "/limits"); err != nil || !strings.Contains(string(limits), "Max core file size        0                    0") {
		i.Errorf("core dumps are not off (%v)\n%s", err, limits)
	}
}
