package bench

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// localPeer is an engine in Go, in a process of its own: bench/peers.
type localPeer struct {
	set     *itemSet
	dir     string
	cmd     *exec.Cmd
	in      *json.Encoder
	out     *json.Decoder
	version string
}

// buildPeers builds bench/peers, a module of its own.
func buildPeers(b *testing.B) (binary string, err error) {
	b.Helper()
	binary = filepath.Join(b.TempDir(), "peers")
	build := exec.CommandContext(b.Context(), "go", "build", "-buildvcs=false", "-o", binary, ".")
	build.Dir, build.Env = "peers", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build bench/peers: %w\n%s", err, out)
	}
	return binary, nil
}

func startLocal(b *testing.B, binary, engine string, set *itemSet) (*localPeer, error) {
	b.Helper()
	p := &localPeer{set: set, dir: b.TempDir()}
	p.cmd = exec.CommandContext(b.Context(), binary, engine, p.dir)
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	b.Cleanup(func() { _, _ = in.Close(), p.cmd.Wait() }) // the benchmark's context may have ended it already
	p.in, p.out = json.NewEncoder(in), json.NewDecoder(bufio.NewReader(out))
	_, _, err = p.do(object{"do": "settle"})
	return p, err
}

// do has the engine carry out a request.
func (p *localPeer) do(request object) (ids []string, took time.Duration, err error) {
	if err := p.in.Encode(request); err != nil {
		return nil, 0, err
	}
	var a struct {
		Nanos          time.Duration
		IDs            []string
		Version, Error string
	}
	if err := p.out.Decode(&a); err != nil {
		return nil, 0, err
	}
	if a.Error != "" {
		return nil, 0, errors.New(a.Error)
	}
	p.version = a.Version
	return a.IDs, a.Nanos, nil
}

// load leaves the texts of notes in their files.
func (p *localPeer) load(set *itemSet, _ time.Time) (int, error) {
	file := filepath.Join(p.dir, "items")
	if err := writeItems(file, set); err != nil {
		return 0, err
	}
	if _, _, err := p.do(object{"do": "load", "file": file, "dir": set.dir}); err != nil {
		return 0, err
	}
	return len(set.items), os.Remove(file)
}

func writeItems(file string, set *itemSet) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	lines := json.NewEncoder(w)
	for _, it := range set.items {
		if set.dir != "" {
			it.Text = ""
		}
		if err := lines.Encode(it); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return errors.Join(w.Flush(), f.Close())
}

func (p *localPeer) search(words []string, _ string) (string, time.Duration, error) {
	ids, took, err := p.do(object{"do": "search", "words": words})
	return strings.Join(ids, "\n"), took, err
}

func (p *localPeer) save(it item) (time.Duration, error) {
	_, took, err := p.do(object{"do": "save", "item": it})
	return took, err
}

func (p *localPeer) known(i int) string { return p.set.items[i].ID }

func (p *localPeer) footprint() (diskMB, peakMB float64, err error) {
	if _, _, err := p.do(object{"do": "settle"}); err != nil {
		return 0, 0, err
	}
	return sized(p.dir, p.cmd.Process.Pid)
}

// sized is what a folder has, and the most memory that a process had.
func sized(dir string, pid int) (diskMB, peakMB float64, err error) {
	if diskMB, err = folderBytes(dir); err != nil {
		return 0, 0, err
	}
	kilobytes, err := readProcField(fmt.Sprintf("/proc/%d/status", pid), "VmHWM")
	return diskMB / 1e6, float64(kilobytes) * 1024 / 1e6, err
}

// peakOf is the most memory in kilobytes that a process had, 0 if that is not known: Linux tells no less than the
// process that started it had.
func peakOf(ended *os.ProcessState) int64 {
	if ended == nil {
		return 0
	}
	usage, ok := ended.SysUsage().(*syscall.Rusage)
	own, err := readProcField("/proc/self/status", "VmHWM")
	if !ok || err != nil || usage.Maxrss <= int64(own) {
		return 0
	}
	return usage.Maxrss
}
