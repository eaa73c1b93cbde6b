package main

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/op"
)

// promoter is a daemon with a vault, over several lives.
type promoter struct {
	*witness
	vault string
	ids   []string
}

func newPromoter(t *testing.T) *promoter {
	t.Helper()
	dir := clitest.ShortDir(t)
	p := &promoter{witness: newWitness(rand.Uint64(), filepath.Join(dir, "h")), vault: filepath.Join(dir, "Vault")}
	// The folder is not empty, so that no keeper runs: what is traced is the daemon itself.
	if err := os.MkdirAll(filepath.Join(p.vault, ".obsidian"), 0o700); err != nil {
		t.Fatal(err)
	}
	return p
}

// live starts the daemon and returns when it promotes.
func (p *promoter) live(t *testing.T) (*daemonProcess, *api.Client) {
	t.Helper()
	d, err := startDaemon(t.Context(), p.binary(t), p.home, p.home+".log", cli.ForeignFree(os.Environ()), "--vault", p.vault)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.cmd.Process.Kill() })
	client := api.NewClient(filepath.Join(p.home, "emberd.sock"), nil)
	t.Cleanup(client.Close)
	probe := p.save(t, client, 1)[0]
	for tick := time.NewTicker(10 * time.Millisecond); ; {
		res, err := op.Promote.Call(t.Context(), client, &op.PromoteRequest{ID: probe, DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		if res.Outcome != op.PromotionPending {
			return d, client
		}
		<-tick.C
	}
}

func (p *promoter) save(t *testing.T, client *api.Client, n int) []string {
	t.Helper()
	var ids []string
	for range n {
		res, err := op.Save.Call(t.Context(), client, &op.SaveRequest{Content: fmt.Sprintf("memory %d and what it says", len(p.ids)), Tags: []string{"tag"}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, string(res.Memory.ID))
		p.ids = append(p.ids, string(res.Memory.ID))
	}
	return ids
}

// check promotes everything, some of it again, and wants one whole note of each memory,
// the one that the log names, and nothing else in the vault.
func (p *promoter) check(t *testing.T, client *api.Client, acknowledged map[string]bool) {
	t.Helper()
	if left := p.files(t, func(name string) bool { return !strings.HasSuffix(name, ".md") }); len(left) > 0 {
		t.Errorf("left in the vault: %q", left)
	}
	for n, id := range p.ids {
		res, err := op.Promote.Call(t.Context(), client, &op.PromoteRequest{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		if acknowledged[id] && res.Outcome != op.PromotionAlready {
			t.Errorf("memory %d was promoted, and is %s", n, res.Outcome)
		}
		text, err := os.ReadFile(filepath.Join(p.vault, res.Path))
		want := fmt.Sprintf("---\nmemory-id: %q\ncreated: %s\ntags:\n  - \"tag\"\norigin: \"agent\"\n---\nmemory %d and what it says\n", id, res.Memory.CreatedAt.UTC().Format("2006-01-02T15:04:05"), n)
		if err != nil || string(text) != want || res.Memory.PromotedTo != res.Path {
			t.Errorf("memory %d, promoted to %q, has the note %q (%v)\n%s\nwant\n%s", n, res.Memory.PromotedTo, res.Path, err, text, want)
		}
	}
	if all := p.files(t, func(string) bool { return true }); len(all) != len(p.ids) {
		t.Errorf("%d notes of %d memories: %q", len(all), len(p.ids), all)
	}
}

func (p *promoter) files(t *testing.T, which func(string) bool) (all []string) {
	t.Helper()
	err := filepath.WalkDir(p.vault, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && which(name) {
			all = append(all, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Case 53: kill -9 at each system call of a promotion that changes the disk. There is
// one note, whole, and after a restart note and log agree.
func TestCase53KillsWithinAPromotion(t *testing.T) {
	t.Parallel()
	most, killed := roundsOf(t, faultRoundsVar, 1), 0
	for _, call := range []string{"fsync", "fdatasync", "openat", "renameat2", "unlinkat", "mkdirat"} {
		for nth := 1; nth <= most; nth++ {
			p := newPromoter(t)
			d, client := p.live(t)
			id := p.save(t, client, 1)[0]
			attach(t, d, "-e", "trace="+call, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, nth))
			_, err := op.Promote.Call(t.Context(), client, &op.PromoteRequest{ID: id})
			_ = d.stop(syscall.SIGKILL) // the error is that it was killed
			_, client = p.live(t)
			p.check(t, client, map[string]bool{id: err == nil})
			if t.Failed() {
				t.Fatalf("killed at %s %d", call, nth)
			}
			if err == nil {
				break
			}
			killed++
		}
	}
	if killed < 3 {
		t.Errorf("only %d promotions were killed, want one at most kinds of calls", killed)
	}
	t.Logf("%d promotions killed", killed)
}

// The same at any moment, with several clients.
func TestCase53KillNineWhilePromoting(t *testing.T) {
	t.Parallel()
	p := newPromoter(t)
	acknowledged := map[string]bool{}
	for range roundsOf(t, killRoundsVar, 2) {
		d, client := p.live(t)
		p.check(t, client, acknowledged)
		for _, id := range p.ids {
			acknowledged[id] = true
		}
		ids := p.save(t, client, 30)
		p.promoteUntil(t.Context(), client, ids, int64(1+p.rng.IntN(25)), acknowledged, func() { _ = d.stop(syscall.SIGKILL) })
	}
	_, client := p.live(t)
	p.check(t, client, acknowledged)
}

// promoteUntil lets three clients promote until so many answers have come.
func (p *promoter) promoteUntil(ctx context.Context, client *api.Client, ids []string, answers int64, acknowledged map[string]bool, end func()) {
	var mu sync.Mutex // guards acknowledged
	var count atomic.Int64
	var clients sync.WaitGroup
	for part := range slices.Chunk(ids, len(ids)/3) {
		clients.Go(func() {
			for _, id := range part {
				res, err := op.Promote.Call(ctx, client, &op.PromoteRequest{ID: id})
				if err != nil {
					return // the daemon is gone
				}
				mu.Lock()
				acknowledged[id] = res.Outcome != op.PromotionPending
				mu.Unlock()
				if count.Add(1) == answers {
					end()
				}
			}
		})
	}
	clients.Wait()
}
