package main

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/memory"
	"emberd/op"
)

// Two daemons on two homes, whose data folders a sync tool keeps alike. What is
// saved, edited and forgotten on one shows on the other while both run, and one
// that was killed has it all when it is back.
func TestTwoDevices(t *testing.T) {
	t.Parallel()
	dir := clitest.ShortDir(t)
	desk, lap := newMachine(t, filepath.Join(dir, "desk")), newMachine(t, filepath.Join(dir, "lap"))
	stop := syncFolders(t, desk.data(), lap.data())
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()

	first := desk.save(ctx, "the tide turns at nine")
	second := lap.save(ctx, "the ferry leaves at ten")
	desk.awaits(ctx, second, "the ferry leaves at ten")
	lap.awaits(ctx, first, "the tide turns at nine")

	changed := "the tide turns at noon"
	if _, err := op.Edit.Call(ctx, lap.client, &op.EditRequest{ID: string(first), Content: &changed}); err != nil {
		t.Fatal(err)
	}
	desk.awaits(ctx, first, changed)
	if _, err := op.Forget.Call(ctx, desk.client, &op.ForgetRequest{ID: string(second)}); err != nil {
		t.Fatal(err)
	}
	lap.awaits(ctx, second, "")

	_ = lap.daemon.stop(syscall.SIGKILL) // the error is that it was killed
	third := desk.save(ctx, "the harbour light is green")
	lap.start()
	lap.awaits(ctx, third, "the harbour light is green")
	lap.awaits(ctx, first, changed)
	if got, err := op.Keeper.Call(ctx, lap.client, &op.KeeperRequest{}); err != nil || got.Device == "" {
		t.Errorf("keeper %+v, %v", got, err)
	}

	for _, m := range []*machine{desk, lap} {
		res, err := op.Status.Call(ctx, m.client, &op.StatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if res.Health != "ok" || len(res.Devices) != 2 || res.Memories != 2 {
			t.Errorf("health %s, %d devices, %d memories, warnings %q", res.Health, len(res.Devices), res.Memories, res.Warnings)
		}
		if err := m.daemon.stop(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	}
	stop()
}

// machine is one home with its daemon.
type machine struct {
	*testing.T
	home   string
	daemon *daemonProcess
	client *api.Client
}

func newMachine(t *testing.T, home string) *machine {
	m := &machine{T: t, home: home}
	m.start()
	m.client = api.NewClient(filepath.Join(home, "emberd.sock"), nil)
	t.Cleanup(func() {
		m.client.Close()
		_ = m.daemon.cmd.Process.Kill()
	})
	return m
}

func (m *machine) data() string { return filepath.Join(m.home, "data") }

func (m *machine) start() {
	m.Helper()
	exe, err := os.Executable()
	if err != nil {
		m.Fatal(err)
	}
	if m.daemon, err = startDaemon(m.Context(), exe, m.home, m.home+".log", cli.ForeignFree(os.Environ())); err != nil {
		m.Fatal(err)
	}
}

func (m *machine) save(ctx context.Context, content string) memory.ID {
	m.Helper()
	res, err := op.Save.Call(ctx, m.client, &op.SaveRequest{Content: content})
	if err != nil {
		m.Fatal(err)
	}
	return res.Memory.ID
}

// awaits waits until a search finds the memory with the content; "" waits until
// it is gone.
func (m *machine) awaits(ctx context.Context, id memory.ID, content string) {
	m.Helper()
	for ; ; time.Sleep(10 * time.Millisecond) {
		res, err := op.Show.Call(ctx, m.client, &op.ShowRequest{ID: string(id)})
		switch {
		case err == nil && res.Memory.Content == content:
			return
		case memory.CodeOf(err) == memory.NotFound && content == "":
			return
		case ctx.Err() != nil:
			m.Fatalf("%q has not arrived: %v", content, err)
		}
	}
}

// syncFolders copies what changes in one folder to the other, both ways, until
// stop is called: now and then half a file first, under a hidden name, then
// renamed. A file belongs to the side that had it first.
func syncFolders(t *testing.T, a, b string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		owner, rng := map[string]string{}, rand.New(rand.NewPCG(1, 1))
		for ctx.Err() == nil {
			for _, way := range [][2]string{{a, b}, {b, a}} {
				if err := syncOnce(way[0], way[1], owner, rng); err != nil {
					done <- err
					return
				}
			}
			time.Sleep(5 * time.Millisecond)
		}
		done <- nil
	}()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func syncOnce(from, to string, owner map[string]string, rng *rand.Rand) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			return ignoreGone(err)
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if owner[rel] == "" {
			owner[rel] = from
		}
		if owner[rel] != from {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return ignoreGone(err)
		}
		target := filepath.Join(to, rel)
		if have, err := os.ReadFile(target); err == nil && string(have) == string(content) {
			return nil
		}
		if rng.IntN(4) == 0 {
			content = content[:len(content)/2]
		}
		return replace(target, content)
	})
}

func replace(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	temp := filepath.Join(filepath.Dir(name), ".syncthing."+filepath.Base(name)+".tmp")
	if err := os.WriteFile(temp, content, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, name)
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
