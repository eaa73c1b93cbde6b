package crashdisk_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
)

// promise is what the disk owes for one file, kept beside it by the rules of the package
// documentation in their simplest form.
type promise struct {
	file     durable.File // nil once its process was killed
	text     string
	safe     int             // bytes that a crash must not change
	distrust bool            // a sync failed, so no further byte is promised
	named    bool            // the name is synced
	removed  bool            // perhaps unsynced
	written  []map[byte]bool // every byte ever written, by position, and NUL
}

func (p *promise) write(text string) {
	for _, b := range []byte(text) {
		for len(p.written) <= len(p.text) {
			p.written = append(p.written, map[byte]bool{0: true})
		}
		p.written[len(p.text)][b] = true
		p.text += string(b)
	}
}

func (p *promise) truncate(size int) {
	p.text = p.text[:size]
	p.safe = min(p.safe, size)
}

func (p *promise) sync(err error) {
	if err != nil {
		p.distrust = true
	}
	if !p.distrust {
		p.safe = len(p.text)
	}
}

// check compares the file after a crash with what was promised.
func (p *promise) check(t *rapid.T, disk *crashdisk.Disk, name string) {
	if _, err := disk.Lstat(name); err != nil {
		if p.named && !p.removed {
			t.Fatalf("%s: %v, although its name was synced", name, err)
		}
		return
	}
	got := contentOf(t, disk, name)
	if !strings.HasPrefix(got, p.text[:p.safe]) {
		t.Fatalf("%s: synced %q, found %q", name, p.text[:p.safe], got)
	}
	for i, b := range []byte(got) {
		if i >= len(p.written) || !p.written[i][b] {
			t.Fatalf("%s: found %q, whose byte %d nobody wrote", name, got, i)
		}
	}
}

func contentOf(t *rapid.T, disk *crashdisk.Disk, name string) string {
	f, err := disk.OpenRead(name)
	if err != nil {
		t.Fatal(err)
	}
	var buf [1000]byte
	n, err := f.ReadAt(buf[:], 0)
	if n == len(buf) {
		t.Fatalf("%s is longer than anything written: %v", name, err)
	}
	return string(buf[:n])
}

// history is a disk and what it owes.
type history struct {
	disk  *crashdisk.Disk
	files map[string]*promise
}

func (h *history) create(t *rapid.T) {
	name := fmt.Sprintf("/%d", len(h.files))
	f, err := h.disk.CreateAppend(name)
	if err != nil {
		t.Fatal(err)
	}
	h.files[name] = &promise{file: f}
}

func (h *history) syncDir(t *rapid.T) {
	if err := h.disk.SyncDir("/"); err != nil {
		t.Fatal(err)
	}
	for _, p := range h.files {
		p.named = !p.removed
	}
}

func (h *history) kill(*rapid.T) {
	h.disk = h.disk.Kill()
	for _, p := range h.files {
		p.file = nil
	}
}

// step does one thing to one file.
func (h *history) step(t *rapid.T) {
	if len(h.files) == 0 {
		t.Skip("no file yet")
	}
	name := fmt.Sprintf("/%d", rapid.IntRange(0, len(h.files)-1).Draw(t, "file"))
	p := h.files[name]
	if p.file == nil || p.removed {
		t.Skip("its process is dead, or it is removed")
	}
	switch rapid.SampledFrom([]string{"write", "write", "sync", "fail", "truncate", "remove"}).Draw(t, "step") {
	case "write":
		text := rapid.StringMatching(`[a-z]{0,9}`).Draw(t, "text")
		if _, err := p.file.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		p.write(text)
	case "sync":
		p.sync(p.file.Sync())
	case "fail":
		h.disk.Fail(crashdisk.Fault{Op: crashdisk.OpSync})
		p.sync(p.file.Sync())
	case "truncate":
		size := rapid.IntRange(0, len(p.text)).Draw(t, "size")
		if err := p.file.Truncate(int64(size)); err != nil {
			t.Fatal(err)
		}
		p.truncate(size)
	case "remove":
		if err := h.disk.Remove(name); err != nil {
			t.Fatal(err)
		}
		p.removed = true
	}
}

// crashes ends the history, and checks several disks that the power loss may leave.
func (h *history) crashes(t *rapid.T) {
	for seed := range uint64(8) {
		after := h.disk.Crash(rand.New(rand.NewPCG(seed, uint64(h.disk.Ops()))))
		for name, p := range h.files {
			p.check(t, after, name)
		}
	}
}

func TestSyncedSurvivesAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &history{disk: crashdisk.New(), files: map[string]*promise{}}
		t.Repeat(map[string]func(*rapid.T){
			"create":  h.create,
			"syncdir": h.syncDir,
			"kill":    h.kill,
			"step":    h.step,
			"again":   h.step,
			"more":    h.step,
		})
		h.crashes(t)
	})
}
