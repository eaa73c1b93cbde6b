package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/durable"
	"emberd/internal/testutil/clitest"
	"emberd/memory"
	"emberd/op"
	stmdevice "emberd/stm/device"
)

// purgedWord is in a memory that was purged, so in no file any more.
const purgedWord = "Zwiebelturm"

// prepareDamage makes a home with two compacted generations, several segments, a snapshot, an index of words and
// notes, an audit trail, tokens, a backup, and memories of every kind.
func prepareDamage(t *testing.T) *damageSuite {
	s := &damageSuite{dir: clitest.ShortDir(t), want: map[memory.ID]string{}, outcomes: map[string]map[string]int{}}
	if err := os.Mkdir(filepath.Join(s.dir, "vault"), 0o700); err != nil {
		t.Fatal(err)
	}
	d := &device{name: "home", home: filepath.Join(s.dir, "home"), vault: filepath.Join(s.dir, "vault")}
	d.connect(t)
	d.run(t, func() {
		d.fill(t, "first")
		call(t, op.Compact, d, &op.CompactRequest{})
		d.fill(t, "second")
	})
	copyFolder(t, d.home, filepath.Join(s.dir, "older"))
	d.run(t, func() {
		d.fill(t, "third")
		call(t, op.Compact, d, &op.CompactRequest{})
		d.fill(t, "fourth")
		d.fill(t, "fifth")
		if said, code := d.emberd(t, "token", "create", "bot", "--read", "tag:work"); code != 0 {
			t.Fatal(said)
		}
		call(t, op.BackupCreate, d, &op.BackupCreateRequest{})
		s.want = d.records(t)
	})
	found, err := filepath.Glob(filepath.Join(d.home, "state", "backups", "*.gz"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no backup: %v", err)
	}
	s.backup = found[0]
	s.files = filesOf(t, d.home)
	t.Logf("%d memories, %d files: %q", len(s.want), len(s.files), s.files)
	return s
}

// fill saves memories and does something with some of them, one of which is purged.
func (d *device) fill(t *testing.T, word string) {
	t.Helper()
	var ids []string
	for i := range 12 {
		text := fmt.Sprintf("%s memory %d: %s", word, i, strings.Repeat(fmt.Sprintf("plank %d of the pier, ", i), 90))
		ids = append(ids, string(call(t, op.Save, d, &op.SaveRequest{Content: text, Tags: []string{word}}).Memory.ID))
	}
	secret := call(t, op.Save, d, &op.SaveRequest{Content: "the key hangs in the " + purgedWord + " of " + word}).Memory.ID
	edit := word + " memory was edited"
	call(t, op.Edit, d, &op.EditRequest{ID: ids[0], Content: &edit})
	call(t, op.Relate, d, &op.RelateRequest{From: ids[1], To: ids[2], Type: "related"})
	call(t, op.Touch, d, &op.TouchRequest{ID: ids[3]})
	call(t, op.Forget, d, &op.ForgetRequest{ID: ids[4]})
	call(t, op.Promote, d, &op.PromoteRequest{ID: ids[5], Force: true})
	call(t, op.Archive, d, &op.ArchiveRequest{ID: ids[6]})
	call(t, op.Purge, d, &op.PurgeRequest{ID: string(secret)})
}

// call calls an operation of a device's daemon, which must not fail.
func call[Req, Res any](t *testing.T, o op.Op[Req, Res], d *device, req *Req) *Res {
	t.Helper()
	res, err := o.Call(t.Context(), d.client, req)
	if err != nil {
		t.Fatalf("%T: %v", req, err)
	}
	return res
}

// newDevice is a device with an empty home.
func newDevice(t *testing.T, name, vault string) *device {
	t.Helper()
	d := &device{name: name, home: filepath.Join(clitest.ShortDir(t), name), vault: vault}
	d.connect(t)
	return d
}

func (d *device) connect(t *testing.T) {
	d.client = api.NewClient(filepath.Join(d.home, "emberd.sock"), &api.ClientOptions{Name: "agent"})
	t.Cleanup(d.client.Close)
}

// run has a daemon while fn runs.
func (d *device) run(t *testing.T, fn func()) {
	t.Helper()
	if err := d.start(t); err != nil {
		t.Fatal(err)
	}
	fn()
	d.stop(t)
}

// stop ends the daemon in order.
func (d *device) stop(t *testing.T) {
	t.Helper()
	if err := d.daemon.stop(syscall.SIGTERM); err != nil {
		t.Errorf("the daemon did not stop well: %v", err)
	}
}

// health is the health of the daemon once it has loaded all. That many daemons watch one vault is no fault.
func (d *device) health(t *testing.T) string {
	t.Helper()
	for {
		res := call(t, op.Status, d, &op.StatusRequest{})
		watches := func(w string) bool { return strings.Contains(w, "inotify") }
		switch {
		case res.Health == "loading":
			time.Sleep(5 * time.Millisecond)
		case len(slices.DeleteFunc(res.Warnings, watches)) == 0:
			return "ok"
		default:
			return res.Health
		}
	}
}

// emberd runs a command on the home.
func (d *device) emberd(t *testing.T, args ...string) (said string, code int) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, append(args, "--home", d.home)...)
	cmd.Args[0], cmd.Env = "emberd", cli.ForeignFree(os.Environ())
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// filesOf are the regular files below data and state, by their slash-separated paths, but for backups.
func filesOf(t *testing.T, home string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(home, path)
		rel = filepath.ToSlash(rel)
		if strings.HasPrefix(rel, "data/") || strings.HasPrefix(rel, "state/") && filepath.Ext(rel) != ".gz" {
			files = append(files, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// keepIdentity lets a copy of a home be the device that the home was, as if its folder had not been copied.
func keepIdentity(t *testing.T, home string) {
	t.Helper()
	name, was := filepath.Join(home, "state", "device.json"), map[string]any{}
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, &was)
	}
	if err != nil {
		t.Fatal(err)
	}
	was["data_inode"] = stmdevice.Inode(durable.OS{}, filepath.Join(home, "data"))
	if text, err = json.Marshal(was); err == nil {
		err = os.WriteFile(name, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// ownFolder is the folder below data/stm in which a home's own device writes.
func ownFolder(t *testing.T, home string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(home, "state", "written", "*"))
	if err != nil || len(names) != 1 {
		t.Fatalf("the devices of %s are %q (%v)", home, names, err)
	}
	return filepath.Base(names[0])
}

// copyFolder copies the regular files of a folder into one that may be there.
func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		name := filepath.Join(to, rel)
		if e.IsDir() {
			return os.MkdirAll(name, 0o700)
		}
		if !e.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(name, text, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}
