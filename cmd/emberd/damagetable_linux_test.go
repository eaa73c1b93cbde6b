package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/stm/record"
)

// damageVar lets TestDamageTable run: make damage.
const damageVar = "EMBERD_TEST_DAMAGE"

// TestDamageTable damages each file of a home in eight ways, and then starts a daemon, makes a backup, restores
// one, lets another device meet the damaged file, or kills the daemon that ran when it was damaged. Each memory must be there in the end, with emberd log
// repair if the daemon says that something is missing, and the purged word must be nowhere. If a damaged file
// of the log is the only copy, the daemon must say that something is missing.
func TestDamageTable(t *testing.T) {
	if os.Getenv(damageVar) == "" {
		t.Skip("takes minutes: make damage")
	}
	s := prepareDamage(t)
	t.Cleanup(s.print)
	for name, do := range damageOperations() {
		for _, file := range s.files {
			if (name == "sync" || name == "no copy" || name == "running") && !strings.HasPrefix(file, "data/stm/") {
				continue
			}
			for kind, damage := range damageKinds() {
				t.Run(name+"/"+file+"/"+kind, func(t *testing.T) {
					t.Parallel()
					s.try(t, &damageCase{operation: name, file: file, kind: kind, damage: damage}, do)
				})
			}
		}
	}
}

func damageOperations() map[string]func(c *damageCase, t *testing.T) {
	return map[string]func(c *damageCase, t *testing.T){"start": (*damageCase).start, "backup": (*damageCase).backUp,
		"restore": (*damageCase).restore, "sync": (*damageCase).sync, "no copy": (*damageCase).alone,
		"running": (*damageCase).running}
}

// damageKinds turn the bytes of a file into others, nil for no file. The second argument is the file as it was
// earlier, the third another file of its folder, both nil where there is none.
func damageKinds() map[string]func(b, older, other []byte) []byte {
	return map[string]func(b, older, other []byte) []byte{
		"deleted": func(_, _, _ []byte) []byte { return nil },
		"emptied": func(_, _, _ []byte) []byte { return []byte{} },
		"cut at a line": func(b, _, _ []byte) []byte {
			return b[:bytes.LastIndexByte(b[:len(b)/2], '\n')+1]
		},
		"cut inside a line": func(b, _, _ []byte) []byte { return b[:len(b)*2/3] },
		"one bit": func(b, _, _ []byte) []byte {
			b = bytes.Clone(b)
			if len(b) > 0 {
				b[len(b)/2] ^= 4
			}
			return b
		},
		"duplicated":   func(b, _, _ []byte) []byte { return slices.Concat(b, b) },
		"older":        func(_, older, _ []byte) []byte { return older },
		"another file": func(_, _, other []byte) []byte { return other },
	}
}

// damageSuite is a home with all kinds of files, and what became of damaged copies of it.
type damageSuite struct {
	dir    string // with the folders home, older and vault
	backup string // of the home as it is
	files  []string
	want   map[memory.ID]string // records as JSON

	mu       sync.Mutex
	outcomes map[string]map[string]int // how often each, by operation and damage
}

// damageCase is a copy of the home of which a file is damaged.
type damageCase struct {
	*damageSuite
	*device
	operation, file, kind string
	damage                func(b, older, other []byte) []byte
	outcome               string
	repair                []string // more arguments for a repair
	told                  bool     // that the backup lacks something
}

// try damages a file of a copy of the home, if that changes it.
func (s *damageSuite) try(t *testing.T, c *damageCase, do func(*damageCase, *testing.T)) {
	c.damageSuite, c.device = s, newDevice(t, "home", filepath.Join(s.dir, "vault"))
	copyFolder(t, filepath.Join(s.dir, "home"), c.home)
	keepIdentity(t, c.home)
	if do(c, t); c.outcome == "" {
		t.Skip("the damage changes nothing")
	}
	wantNoPurged(t, c.home)
	s.mu.Lock()
	defer s.mu.Unlock()
	row := c.operation + " " + c.kind
	if s.outcomes[row] == nil {
		s.outcomes[row] = map[string]int{}
	}
	s.outcomes[row][c.outcome]++
}

// hurt damages the file, and reports whether it is another by that.
func (c *damageCase) hurt(t *testing.T) bool {
	t.Helper()
	name := filepath.Join(c.home, filepath.FromSlash(c.file))
	was, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false // the daemon has removed it, for example the file of its lock
	}
	if err != nil {
		t.Fatal(err)
	}
	older, _ := os.ReadFile(filepath.Join(c.dir, "older", filepath.FromSlash(c.file)))
	now := c.damage(was, older, c.otherFile(t))
	switch {
	case now == nil && c.kind != "deleted" || bytes.Equal(now, was) && now != nil:
		return false
	case now == nil:
		err = os.Remove(name)
	default:
		err = os.WriteFile(name, now, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return true
}

// otherFile is the next file of the same folder and kind.
func (c *damageCase) otherFile(t *testing.T) []byte {
	t.Helper()
	same, err := filepath.Glob(filepath.Join(c.dir, "home", filepath.Dir(c.file), "*"+filepath.Ext(c.file)))
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(same, filepath.Join(c.dir, "home", c.file))
	other, _ := os.ReadFile(same[(at+1)%len(same)])
	return other
}

// start has a daemon meet the damage.
func (c *damageCase) start(t *testing.T) {
	if c.hurt(t) {
		c.begin(t)
	}
}

// running has a daemon meet the damage while it runs. It writes again what only its memory has, and is killed.
func (c *damageCase) running(t *testing.T) {
	if err := c.device.start(t); err != nil {
		t.Fatal(err)
	}
	if !c.hurt(t) {
		c.stop(t)
		return
	}
	for end := time.Now().Add(20 * time.Second); c.isBeingRepaired(t); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("after twenty seconds the log is not written again")
		}
	}
	_ = c.daemon.stop(syscall.SIGKILL) // which is told as an error
	c.dropSnapshot(t)
	c.begin(t)
}

func (c *damageCase) isBeingRepaired(t *testing.T) bool {
	t.Helper()
	return slices.ContainsFunc(call(t, op.Status, c.device, &op.StatusRequest{}).Warnings, func(w string) bool {
		return strings.Contains(w, "emberd is about to write the missing records again")
	})
}

// backUp makes a backup while a daemon runs on the file that was damaged since, and restores it elsewhere.
func (c *damageCase) backUp(t *testing.T) {
	if err := c.device.start(t); err != nil {
		t.Fatal(err)
	}
	if !c.hurt(t) {
		c.stop(t)
		return
	}
	name := filepath.Join(c.dir, filepath.Base(filepath.Dir(c.home))+".tar.gz")
	said, code := c.emberd(t, "backup", "create", name)
	c.stop(t)
	if code != 0 && code != 1 {
		t.Fatalf("backup create ends with %d: %s", code, said)
	}
	c.told = strings.Contains(said, "the trash lost") // with its number
	c.repair = []string{"--from", c.backup}
	c.device = newDevice(t, "restored", filepath.Join(c.dir, "vault"))
	c.restoreFrom(t, name, "restore")
}

// restore puts a backup into the place of damaged files.
func (c *damageCase) restore(t *testing.T) {
	if c.hurt(t) {
		c.restoreFrom(t, c.backup, "restore", "--replace")
	}
}

func (c *damageCase) restoreFrom(t *testing.T, name string, args ...string) {
	t.Helper()
	if said, code := c.emberd(t, append([]string{"backup"}, append(args, name)...)...); code != 0 {
		t.Fatalf("backup restore ends with %d: %s", code, said)
	}
	c.begin(t)
}

// sync has another device meet the damaged file when it starts, and this device what the other then wrote.
func (c *damageCase) sync(t *testing.T) {
	other := newDevice(t, "other", filepath.Join(c.dir, "vault"))
	copyFolder(t, c.data(), other.data())
	if err := other.start(t); err != nil {
		t.Fatal(err)
	}
	if got := differ(c.want, other.records(t)); got != "" {
		t.Fatalf("the other device has not all: %s", got)
	}
	other.stop(t)
	if !c.hurt(t) {
		return
	}
	if err := os.RemoveAll(filepath.Join(other.data(), "stm", ownFolder(t, c.home))); err != nil {
		t.Fatal(err)
	}
	copyFolder(t, c.data(), other.data())
	if err := other.start(t); err != nil {
		t.Fatal(err)
	}
	if got := differ(live(c.want), live(other.records(t))); got != "" {
		t.Errorf("the other device lost %s", got)
	}
	other.waitWritten(t, len(live(c.want)))
	other.stop(t)
	copyFolder(t, other.data(), c.data())
	c.dropSnapshot(t)
	if err := c.device.start(t); err != nil {
		t.Fatal(err)
	}
	if got := differ(live(c.want), live(c.records(t))); got != "" {
		t.Errorf("what the other device wrote again lacks something: %s", got)
	}
	c.stop(t)
	c.begin(t) // the texts of the trash, which only files have, come back from a backup
}

// live are the records that are not in the trash.
func live(records map[memory.ID]string) map[memory.ID]string {
	records = maps.Clone(records)
	maps.DeleteFunc(records, func(_ memory.ID, record string) bool {
		return !strings.HasPrefix(record, fmt.Sprint(time.Time{}.UnixMilli()))
	})
	return records
}

// waitWritten waits until the files of a log hold so many live memories. A device writes again what the files of
// another have lost when they have been short for two minutes, since a sync tool may be at work.
func (d *device) waitWritten(t *testing.T, n int) {
	t.Helper()
	for end := time.Now().Add(4 * time.Minute); ; {
		held, err := stm.Fold(t.Context(), durable.OS{}, d.data(), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		there := 0
		for _, c := range held.Table.Every() {
			if c.Row.Load().Live() {
				there++
			}
		}
		if there >= n {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("after four minutes the files hold %d of %d memories", there, n)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (c *damageCase) dropSnapshot(t *testing.T) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(c.home, "state", "index")); err != nil {
		t.Fatal(err)
	}
}

// alone has a daemon meet the damage without any copy.
func (c *damageCase) alone(t *testing.T) {
	if !c.hurt(t) {
		return
	}
	c.dropSnapshot(t)
	if err := os.RemoveAll(filepath.Join(c.home, "state", "backups")); err != nil {
		t.Fatal(err)
	}
	if err := c.device.start(t); err != nil {
		if !strings.Contains(err.Error(), "emberd doctor log repair") {
			t.Fatal(err)
		}
		c.outcome = "refused, to be repaired"
		return
	}
	got, health := differ(c.want, c.records(t)), c.health(t)
	c.stop(t)
	said, code := c.emberd(t, "log", "repair")
	switch {
	case got == "":
		c.outcome = "all there, health " + health
	case health == "ok" || code != 1 && differ(c.want, c.after(t)) != "":
		t.Errorf("health is %s, log repair ends with %d: %s, and %s", health, code, said, got)
	case code == 1:
		c.outcome = "lost memories are counted"
	default:
		c.outcome = "all there after log repair"
	}
}

// after is what a start finds.
func (c *damageCase) after(t *testing.T) map[memory.ID]string {
	t.Helper()
	if err := c.device.start(t); err != nil {
		t.Fatal(err)
	}
	defer c.stop(t)
	return c.records(t)
}

// begin starts a daemon on what there is, and repairs the log if the daemon says that this is needed.
func (c *damageCase) begin(t *testing.T) {
	t.Helper()
	refused := c.device.start(t)
	if refused != nil && !strings.Contains(refused.Error(), "emberd doctor log repair") {
		t.Fatalf("the daemon does not start: %v", refused)
	}
	if refused == nil {
		got, health := differ(c.want, c.records(t)), c.health(t)
		c.stop(t)
		if got == "" {
			c.outcome = "all there, health " + health
			return
		}
		if health == "ok" && !c.told {
			t.Errorf("health is ok, and %s", got)
		}
	}
	said, code := c.emberd(t, append([]string{"log", "repair"}, c.repair...)...)
	if err := c.device.start(t); err != nil {
		t.Fatalf("the daemon does not start after a repair: %v", err)
	}
	if got := differ(c.want, c.records(t)); got != "" {
		t.Errorf("after a repair (%d: %s) %s", code, said, got)
	}
	c.stop(t)
	c.outcome = "all there after log repair"
}

// print prints a line for each operation and damage.
func (s *damageSuite) print() {
	for _, row := range slices.Sorted(maps.Keys(s.outcomes)) {
		var all []string
		for _, outcome := range slices.Sorted(maps.Keys(s.outcomes[row])) {
			all = append(all, fmt.Sprintf("%d %s", s.outcomes[row][outcome], outcome))
		}
		fmt.Printf("%-28s %s\n", row, strings.Join(all, "; "))
	}
}

// differ says what records lack of others, "" for nothing.
func differ(want, got map[memory.ID]string) string {
	lost, changed := 0, 0
	for id := range want {
		if r, ok := got[id]; !ok {
			lost++
		} else if r != want[id] {
			changed++
		}
	}
	if lost == 0 && changed == 0 && len(got) == len(want) {
		return ""
	}
	return fmt.Sprintf("%d of %d memories are gone, %d are others, %d are there", lost, len(want), changed, len(got))
}

// records are all memories of a device as JSON, without their uses, which a crash may lose, and without the
// questions that its agents ask about them.
func (d *device) records(t *testing.T) map[memory.ID]string {
	t.Helper()
	all := map[memory.ID]string{}
	for id, r := range d.export(t) {
		maps.DeleteFunc(r.Fields, func(key string, _ json.RawMessage) bool { return record.IsReviewKey(key) })
		text, err := json.Marshal(r.Fields)
		if err != nil {
			t.Fatal(err)
		}
		all[id] = fmt.Sprint(r.Forgotten.UnixMilli(), string(text))
	}
	return all
}

// wantNoPurged looks for the purged word in each file.
func wantNoPurged(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(purgedWord)) {
			t.Errorf("%s has a word that was purged", path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
