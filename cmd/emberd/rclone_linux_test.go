package main

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestRclone is TestSyncthing without a shared folder: each device now and then runs what
// packaging/rclone has a timer run, against a WebDAV server of rclone's own.
func TestRclone(t *testing.T) {
	took, program := syncTime(t, "rclone")
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	p := newPair(t)
	p.start(t)
	hub := newWebDAV(t, program, p.devices[0].home+"hub")
	hub.start(t)
	timers := [2]*timer{{d: p.devices[0], hub: hub}, {d: p.devices[1], hub: hub}}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for _, timer := range timers {
		all.Go(func() { timer.run(ctx) })
	}
	p.settled = func(context.Context) string { return p.unequalFolders(t, timers) }
	p.work(t, took, func(ctx context.Context) { p.rcloneTrouble(ctx, t, took, hub, timers) })
	p.finish(t)
	cancel()
	all.Wait()
	hub.stop(t)
	for _, timer := range timers {
		fmt.Printf("runs of emberd-rclone on %s, failed ones %19d, %d\n", timer.d.name, timer.runs, timer.failed)
	}
}

const rclonePackage = "../../packaging/rclone"

// systemd reads the units of emberd-rclone without a word about them.
func TestSystemdReadsTheUnitsOfRclone(t *testing.T) {
	t.Parallel()
	analyze := needs(t, "systemd-analyze")[0]
	dir := t.TempDir()
	var units []string
	for _, name := range []string{"emberd-rclone.service", "emberd-rclone.timer"} {
		text, err := os.ReadFile(filepath.Join(rclonePackage, name))
		if err != nil {
			t.Fatal(err)
		}
		unit := filepath.Join(dir, name)
		if err := os.WriteFile(unit, text, 0o600); err != nil {
			t.Fatal(err)
		}
		units = append(units, unit)
	}
	cmd := exec.Command(analyze, append([]string{"--user", "verify"}, units...)...)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "SYSTEMD_UNIT_PATH="+dir+":", "SYSTEMD_LOG_LEVEL=notice")
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), dir) {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

// A note that changed on two devices gets the lines of both, and each property once.
func TestRcloneMergesNotes(t *testing.T) {
	t.Parallel()
	needs(t, "git", "awk")
	note := func(updated, properties, text string) string {
		return "---\nmemory-id: \"1\"\nupdated: " + updated + "\n" + properties + "---\n" + text
	}
	base := note("2026-01-01T00:00:00", "", "The tide turns at six.\n")
	for name, c := range map[string]struct{ base, ours, theirs, want string }{
		"texts": {base, note("2026-01-02T00:00:00", "", "The tide turns at six.\n\nOurs.\n"),
			note("2026-01-03T00:00:00", "", "Theirs.\n\nThe tide turns at six.\n"),
			note("2026-01-03T00:00:00", "", "Theirs.\n\nThe tide turns at six.\n\nOurs.\n")},
		"the same line": {base, note("2026-01-02T00:00:00", "", "At seven.\n"),
			note("2026-01-03T00:00:00", "", "At eight.\n"),
			note("2026-01-03T00:00:00", "", "At seven.\nAt eight.\n")},
		"tags": {base, note("2026-01-02T00:00:00", "tags:\n  - a\n", "The tide turns at six.\n"),
			note("2026-01-02T00:00:00", "tags:\n  - b\n", "The tide turns at six.\n"),
			note("2026-01-02T00:00:00", "tags:\n  - a\n  - b\n", "The tide turns at six.\n")},
		"one property": {base, note("2026-01-02T00:00:00", "strength: 1\n", "The tide turns at six.\n"),
			note("2026-01-02T00:00:00", "strength: 2\n", "The tide turns at six.\n"),
			note("2026-01-02T00:00:00", "strength: 1\n", "The tide turns at six.\n")},
		"no properties": {"a\nb\nc\n", "a\nb\nc\nd\n", "0\na\nb\nc\n", "0\na\nb\nc\nd\n"},
		"two new notes": {"", "ours\n", "theirs\n", "ours\ntheirs\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			args := []string{"--merge"}
			for name, text := range map[string]string{"1": c.base, "2": c.ours, "3": c.theirs} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			args = append(args, filepath.Join(dir, "1"), filepath.Join(dir, "2"), filepath.Join(dir, "3"))
			cmd := exec.Command(filepath.Join(rclonePackage, "emberd-rclone"), args...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			got, err := os.ReadFile(filepath.Join(dir, "2"))
			if err != nil || string(got) != c.want {
				t.Errorf("%v, got:\n%s\nwant:\n%s", err, got, c.want)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 3 {
				t.Errorf("left over: %v, %v", left, err)
			}
		})
	}
}

// webDAV is rclone's server of a folder.
type webDAV struct {
	program, dir, address string
	cmd                   *exec.Cmd
}

func newWebDAV(t *testing.T, program, dir string) *webDAV {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return &webDAV{program: program, dir: dir, address: freeAddress(t)}
}

func (w *webDAV) start(t *testing.T) {
	t.Helper()
	w.cmd = exec.Command(w.program, "serve", "webdav", w.dir, "--addr", w.address)
	w.cmd.Env = append(os.Environ(), w.env()...)
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.cmd.Process.Kill() }) // it has ended, if all went well
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		resp, err := http.Get("http://" + w.address)
		if err == nil {
			resp.Body.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

func (w *webDAV) stop(t *testing.T) {
	t.Helper()
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	_ = w.cmd.Wait() // the error is the signal
}

// env is the remote "hub" as rclone takes it from variables, without a configuration file. WebDAV of this
// vendor keeps neither times nor checksums.
func (w *webDAV) env() []string {
	return []string{"RCLONE_CONFIG=" + w.dir + ".conf", "RCLONE_CONFIG_HUB_TYPE=webdav",
		"RCLONE_CONFIG_HUB_VENDOR=other", "RCLONE_CONFIG_HUB_URL=http://" + w.address, "RCLONE_LOG_LEVEL=ERROR",
		"RCLONE_RETRIES=1", "RCLONE_LOW_LEVEL_RETRIES=1"}
}

// timer runs emberd-rclone of one device.
type timer struct {
	d   *device
	hub *webDAV

	mu           sync.Mutex // guards what follows
	paused       bool
	cmd          *exec.Cmd
	runs, failed int
	last         string // what the last run said, "" if it ended well
}

// run runs it with a pause of a second, until the test ends.
func (r *timer) run(ctx context.Context) {
	script := filepath.Join(rclonePackage, "emberd-rclone")
	for ; ctx.Err() == nil; rest(ctx, time.Second) {
		var said strings.Builder
		cmd := exec.Command(script, "hub:", r.d.data(), filepath.Join(r.d.home, "state"), r.d.vault)
		cmd.Env, cmd.Stderr = append(os.Environ(), r.hub.env()...), &said
		r.mu.Lock()
		if r.paused {
			r.mu.Unlock()
			continue
		}
		err := cmd.Start()
		r.cmd = cmd
		r.mu.Unlock()
		if err == nil {
			err = cmd.Wait()
		}
		r.mu.Lock()
		r.last = ""
		if r.runs++; err != nil {
			r.failed++
			r.last = fmt.Sprintf("emberd-rclone on %s: %v\n%s", r.d.name, err, said.String())
		}
		r.mu.Unlock()
	}
}

// pause lets the device be without a connection, and resume ends that.
func (r *timer) pause()  { r.mu.Lock(); defer r.mu.Unlock(); r.paused = true }
func (r *timer) resume() { r.mu.Lock(); defer r.mu.Unlock(); r.paused = false }

// kill ends a run that is under way, if there is one.
func (r *timer) kill() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.cmd.Process.Kill() // it may have ended
	return nil
}

// rcloneTrouble is what goes wrong, in its order, and then nothing for the last sixth.
func (p *pair) rcloneTrouble(ctx context.Context, t *testing.T, took time.Duration, hub *webDAV, timers [2]*timer) {
	a, b := p.devices[0], p.devices[1]
	p.steps(ctx, t, took, []trouble{
		{12, "kill the daemon of a", func() error { a.restart(t, syscall.SIGKILL); return nil }},
		{20, "disconnect a", func() error { timers[0].pause(); return nil }},
		{28, "kill the daemon of b", func() error { b.restart(t, syscall.SIGKILL); return nil }},
		{36, "connect a", func() error { timers[0].resume(); return nil }},
		{40, "kill a run on b", timers[1].kill},
		{44, "stop the server", func() error { hub.stop(t); return nil }},
		{52, "start it", func() error { hub.start(t); return nil }},
		{58, "kill a run on a", timers[0].kill},
		{62, "delete a file of a's log on b", func() error { return deleteSegment(t, b, a) }},
		{67, "cut a file of b's log on a", func() error { return cutSegment(t, a, b) }},
		{72, "delete a file of b's log on a", func() error { return deleteSegment(t, a, b) }},
		{78, "kill the daemon of a", func() error { a.restart(t, syscall.SIGKILL); return nil }},
		{82, "nothing more", func() error { return nil }},
	})
}

// unequalFolders is what the last run said, or which files the devices do not have alike.
func (p *pair) unequalFolders(t *testing.T, timers [2]*timer) string {
	for _, r := range timers {
		r.mu.Lock()
		last := r.last
		r.mu.Unlock()
		if last != "" {
			return last
		}
	}
	a, b := p.devices[0].notes(t), p.devices[1].notes(t)
	if !maps.Equal(a, b) {
		return fmt.Sprintf("the vaults differ in %q", differing(a, b))
	}
	if a, b = p.devices[0].logFiles(t), p.devices[1].logFiles(t); !maps.Equal(a, b) {
		return fmt.Sprintf("the logs differ in %q", differing(a, b))
	}
	return ""
}

// logFiles are the sizes of all files of the log.
func (d *device) logFiles(t *testing.T) map[string]string {
	t.Helper()
	all, dir := map[string]string{}, filepath.Join(d.data(), "stm")
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			return unlessGone(err)
		}
		info, err := e.Info()
		if err != nil {
			return unlessGone(err)
		}
		rel, err := filepath.Rel(dir, path)
		all[rel] = fmt.Sprint(info.Size())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
