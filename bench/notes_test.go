package bench

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/op"
)

// BenchmarkNotes follows vaults of generated notes with the daemon, sets SQLite's
// full-text search and recoll beside it where they are installed, and prints one
// table of everything at the end. Files are in the page cache.
func BenchmarkNotes(b *testing.B) {
	p, shown := newProgram(b), new(table)
	shown.remark("load average before: " + loadAverage())
	defer func() {
		shown.remark("load average after: " + loadAverage())
		shown.print(os.Stdout)
	}()
	for _, n := range []int{1_000, 10_000, 50_000, 100_000} {
		b.Run(fmt.Sprintf("notes=%d", n), func(b *testing.B) {
			f := newFollowed(b, p, shown, n)
			b.Run("FirstIndex", f.firstIndex)
			b.Run("Restart", f.restart)
			b.Run("Search", f.search)
			b.Run("Edit", f.edit)
		})
	}
}

// loadAverage is how busy the machine is, the benchmark included.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "not told by this system"
	}
	return fmt.Sprintf("%s of %d processors", strings.Join(strings.Fields(string(text))[:3], " "), runtime.NumCPU())
}

// followed is a vault that the program follows.
type followed struct {
	*program
	vault *notesVault
	peers peers
	shown *table
}

func newFollowed(b *testing.B, p *program, shown *table, n int) *followed {
	b.Helper()
	v := newNotesVault(b, n)
	f := &followed{program: p, vault: v, peers: findPeers(b, v), shown: shown}
	for _, missing := range f.peers.missing {
		shown.remark(missing)
	}
	f.forget(b)
	return f
}

// forget removes everything the program has made, and names the vault anew.
func (f *followed) forget(b *testing.B) {
	b.Helper()
	if err := os.RemoveAll(f.home); err != nil {
		b.Fatal(err)
	}
	if err := os.MkdirAll(f.home, 0o700); err != nil {
		b.Fatal(err)
	}
	config := fmt.Sprintf("vaults: [%q]\n", f.vault.dir)
	if err := os.WriteFile(filepath.Join(f.home, "config.yaml"), []byte(config), 0o600); err != nil {
		b.Fatal(err)
	}
}

// follow starts the daemon and waits until all notes can be found. It tells how
// long after exec that was, and when the first note could be.
func (f *followed) follow(b *testing.B, every time.Duration) (d *daemon, first, all time.Duration) {
	b.Helper()
	d = f.start(b)
	for before := -1; all == 0; {
		// The wait of a daemon is bounded, so each step begins another one.
		d.wait(b, every, func() bool {
			st := d.status(b).Vaults[0]
			done := st.Notes == len(f.vault.paths) && st.Waiting == 0
			if done || first == 0 && st.Notes > 0 {
				res := call(b, d, op.Search, &op.SearchRequest{Query: syllables(0), Scope: "notes", Limit: 1})
				if first == 0 && len(res.Hits) > 0 {
					first = time.Since(d.began)
				}
				if done && res.Indexing == nil {
					all = time.Since(d.began)
				}
			}
			moved := st.Notes != before
			before = st.Notes
			return all > 0 || moved
		})
	}
	return d, first, all
}

// settle waits until the index has not changed for longer than merges wait for more.
func (d *daemon) settle(b *testing.B) {
	b.Helper()
	size, since := int64(0), time.Now()
	d.wait(b, 100*time.Millisecond, func() bool {
		if now := d.status(b).Vaults[0].Bytes; now != size {
			size, since = now, time.Now()
		}
		return time.Since(since) > 5*time.Second
	})
}

// firstIndex has the vault read and indexed by everyone in turns. The processor
// time is of the whole life of the process, its end included. Memory and index are
// measured when the index has settled.
func (f *followed) firstIndex(b *testing.B) {
	var got figures
	for b.Loop() {
		f.forget(b)
		d, first, all := f.follow(b, 10*time.Millisecond)
		d.settle(b)
		peak, anonymous := d.memoryMB(b, "VmHWM"), d.memoryMB(b, "RssAnon")
		d.stop(b, syscall.SIGTERM)
		index := f.indexMB(b)
		got.add("text-MB", f.vault.megabytes())
		got.add("wall-s", all.Seconds())
		got.add("CPU-s", processorTime(d.cmd).Seconds())
		got.add("first-note-ms", millis(first))
		got.add("peak-MB", peak)
		got.add("not-mapped-MB", anonymous)
		got.add("index-MB", index)
		got.add("index/text", index/f.vault.megabytes())
		raw := f.vault.read(b)
		got.add("raw-read-s", raw.Seconds())
		got.add("wall/raw", all.Seconds()/raw.Seconds())
		f.peers.index(b, all, &got)
	}
	f.shown.report(b, &got)
}

// restart starts the daemon over an index of everything.
func (f *followed) restart(b *testing.B) {
	var got figures
	d, _, _ := f.follow(b, 10*time.Millisecond)
	d.stop(b, syscall.SIGTERM)
	for b.Loop() {
		d, first, all := f.follow(b, 2*time.Millisecond)
		peak := d.memoryMB(b, "VmHWM")
		d.stop(b, syscall.SIGTERM)
		got.add("answers-ms", millis(d.answered))
		got.add("finds-ms", millis(first))
		got.add("caught-up-ms", millis(all))
		got.add("CPU-ms", millis(processorTime(d.cmd)))
		got.add("peak-MB", peak)
	}
	got.add("restarts", float64(b.N))
	f.shown.report(b, &got)
}

// indexMB is what the daemon keeps of the notes on disk.
func (f *followed) indexMB(b *testing.B) float64 {
	return folderMB(b, filepath.Join(f.home, "state", "index"))
}

func (v *notesVault) megabytes() float64 { return float64(v.bytes) / 1e6 }

// read reads every note one after the other, and does nothing else.
func (v *notesVault) read(b *testing.B) time.Duration {
	b.Helper()
	begun, size := time.Now(), int64(0)
	err := filepath.WalkDir(v.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		size += int64(len(text))
		return err
	})
	took := time.Since(begun)
	if err != nil || size != v.bytes {
		b.Fatalf("read %d bytes of %d: %v", size, v.bytes, err)
	}
	return took
}

// memoryMB is physical memory of the daemon: VmHWM is the most that it has held so
// far, RssAnon what it holds now without the pages of mapped files.
func (d *daemon) memoryMB(tb testing.TB, field string) float64 {
	tb.Helper()
	return float64(procField(tb, fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid), field)) * 1024 / 1e6
}

// processorTime is what a process that has ended took of all processors.
func processorTime(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// folderMB adds up the files in a folder, in millions of bytes.
func folderMB(tb testing.TB, dir string) float64 {
	tb.Helper()
	sum, err := folderBytes(dir)
	if err != nil {
		tb.Fatal(err)
	}
	return sum / 1e6
}

// folderBytes adds up the files in a folder.
func folderBytes(dir string) (sum float64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			sum += float64(info.Size())
		}
		return err
	})
	return sum, err
}
