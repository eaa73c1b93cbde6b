package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"emberd/api"
	"emberd/op"
)

// textOf is what the promoter's nth memory says.
func textOf(n int) string { return fmt.Sprintf("memory %d and what it says", n) }

// wantTexts archives and brings back everything, some of it again, and wants each text
// as it was and one note of each memory.
func (p *promoter) wantTexts(t *testing.T, client *api.Client) {
	t.Helper()
	if left := p.files(t, func(name string) bool { return !strings.HasSuffix(name, ".md") }); len(left) > 0 {
		t.Errorf("left in the vault: %q", left)
	}
	for n, id := range p.ids {
		if _, err := op.Archive.Call(t.Context(), client, &op.ArchiveRequest{ID: id}); err != nil {
			t.Fatal(err)
		}
		res, err := op.Rekindle.Call(t.Context(), client, &op.RekindleRequest{Query: id})
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Results[0]; got.Memory.Content != textOf(n) || got.Verdict == "gone" {
			t.Errorf("memory %d is %s: %+v", n, got.Verdict, got.Memory)
		}
		carry := p.files(t, func(name string) bool {
			text, err := os.ReadFile(name)
			return err == nil && strings.Contains(string(text), id)
		})
		if len(carry) != 1 {
			t.Errorf("memory %d has the notes %q", n, carry)
		}
	}
}

// Kill -9 at each system call of archiving, bringing back and promoting that changes the
// disk: the text comes back, and there is one note of each memory. go test tries half of the calls in each step, and
// make torture-real all of them.
func TestKillsWhileMemoriesFadeAndComeBack(t *testing.T) {
	t.Parallel()
	steps := map[string]func(*api.Client, string) error{
		"archive": func(c *api.Client, id string) error {
			_, err := op.Archive.Call(t.Context(), c, &op.ArchiveRequest{ID: id})
			return err
		},
		"rekindle": func(c *api.Client, id string) error {
			_, err := op.Rekindle.Call(t.Context(), c, &op.RekindleRequest{Query: id})
			return err
		},
		"promote": func(c *api.Client, id string) error {
			_, err := op.Promote.Call(t.Context(), c, &op.PromoteRequest{ID: id})
			return err
		},
	}
	most, killed, half := roundsOf(t, faultRoundsVar, 1), 0, os.Getenv(faultRoundsVar) == ""
	for i, name := range slices.Sorted(maps.Keys(steps)) {
		step := steps[name]
		for j, call := range []string{"fsync", "openat", "fdatasync", "mkdirat", "renameat2", "unlinkat"} {
			if half && (i+j)%2 == 1 {
				continue
			}
			for nth := 1; nth <= most; nth++ {
				p := newPromoter(t)
				d, client := p.live(t)
				id := p.save(t, client, 1)[0]
				if name != "archive" {
					if err := steps["archive"](client, id); err != nil {
						t.Fatal(err)
					}
				}
				attach(t, d, "-e", "trace="+call, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, nth))
				err := step(client, id)
				_ = d.stop(syscall.SIGKILL) // the error is that it was killed
				_, client = p.live(t)
				p.wantTexts(t, client)
				if t.Failed() {
					t.Fatalf("%s, killed at %s %d", name, call, nth)
				}
				if err == nil {
					break
				}
				killed++
			}
		}
	}
	if killed < 5 {
		t.Errorf("only %d steps were killed", killed)
	}
	t.Logf("%d steps killed", killed)
}
