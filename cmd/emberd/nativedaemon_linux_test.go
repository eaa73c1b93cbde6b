package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"emberd/api"
	"emberd/embedding"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/internal/testutil/llamatest"
	"emberd/internal/tinybert"
	"emberd/op"
)

// startNative runs a daemon whose vectors are made by llama.cpp, of a tiny model.
func startNative(t *testing.T) (*daemonProcess, *api.Client) {
	t.Helper()
	library := llamatest.Libraries(t)[0]
	home := filepath.Join(clitest.ShortDir(t), "h")
	model := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := tinybert.New(tinybert.Tiny()).WriteFile(model); err != nil {
		t.Fatal(err)
	}
	d, err := startDaemon(t.Context(), withHelper(t), home, home+".log", cli.ForeignFree(os.Environ()),
		"--set", "embedding.engine="+library, "--set", "embedding.model="+model, "--set", "search.meaning=0.5")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.cmd.Process.Kill() })
	client := api.NewClient(filepath.Join(home, "emberd.sock"), nil)
	t.Cleanup(func() { client.Close() })
	return d, client
}

// answerOf is an answer of the daemon, which must come.
func answerOf[Req, Res any](t *testing.T, c *api.Client, o op.Op[Req, Res], req *Req) *Res {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	res, err := o.Call(ctx, c, req)
	if err != nil {
		t.Errorf("%s: %v", o.Name, err)
		return new(Res)
	}
	return res
}

// However often the native engine is killed, whoever saves and searches is answered, and
// the status tells of it. Given up it is replaced, and resumed it is used again.
func TestDaemonWhoseEngineIsKilled(t *testing.T) {
	d, client := startNative(t)
	ctx, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for i := range 4 {
		clients.Go(func() {
			for k := 0; ctx.Err() == nil; k++ {
				answerOf(t, client, op.Save, &op.SaveRequest{Content: fmt.Sprintf("lighthouse %d has the lamp %d", i, k)})
				answerOf(t, client, op.Search, &op.SearchRequest{Query: fmt.Sprintf("lamp %d", k)})
			}
		})
	}
	const kills = 7
	givenUp := 0
	for killed := 0; killed < kills && t.Context().Err() == nil && !t.Failed(); {
		n := answerOf(t, client, op.EngineStatus, &op.EngineStatusRequest{}).Native
		switch {
		case n == nil:
			t.Fatal("the status tells of no native engine")
		case len(n.Bad) > 0:
			givenUp++
			s := answerOf(t, client, op.Status, &op.StatusRequest{})
			if !slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, "the native runtime crashed 3 times") }) {
				t.Errorf("given up, status warns of %q", s.Warnings)
			}
			answerOf(t, client, op.EngineResume, &op.EngineResumeRequest{})
		case n.PID != 0:
			if syscall.Kill(n.PID, syscall.SIGKILL) == nil {
				killed++
				llamatest.Gone(t, n.PID)
			}
		}
	}
	stop()
	clients.Wait()
	made := answerOf(t, client, op.Embed, &op.EmbedRequest{Texts: []string{"lighthouse"}})
	if n := answerOf(t, client, op.EngineStatus, &op.EngineStatusRequest{}).Native; !strings.Contains(n.LastExit, "SIGKILL") || n.Restarts < 1 || givenUp < 1 {
		t.Errorf("given up %d times, the status tells of %+v", givenUp, n)
	}
	answerOf(t, client, op.EngineResume, &op.EngineResumeRequest{})
	again := answerOf(t, client, op.Embed, &op.EmbedRequest{Texts: []string{"lighthouse"}})
	if len(made.Vectors) != 1 || len(again.Vectors) != 1 || again.Provider != embedding.Llama {
		t.Errorf("resumed, vectors are made by %s", again.Provider)
	}
	if err := d.stop(syscall.SIGTERM); err != nil {
		t.Errorf("stop: %v", err)
	}
}

func TestEngineEndsWithItsDaemon(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		d, client := startNative(t)
		answerOf(t, client, op.Embed, &op.EmbedRequest{Texts: []string{"lighthouse"}})
		n := answerOf(t, client, op.EngineStatus, &op.EngineStatusRequest{}).Native
		if n == nil || n.PID == 0 {
			t.Fatalf("the status tells of %+v, want a process", n)
		}
		_ = d.stop(signal) // the error is that it was killed
		llamatest.Gone(t, n.PID)
	}
}
