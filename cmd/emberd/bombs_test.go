package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/op"
)

// noteBombs are notes that parsers of Markdown or YAML take very long over, by name.
func noteBombs() map[string]string {
	x := strings.Repeat
	var keys, laughs strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&keys, "k%d: v\n", i)
	}
	for i := range 40 {
		fmt.Fprintf(&laughs, "l%d: &l%d [%s ha]\n", i+1, i+1, x(fmt.Sprintf("*l%d, ", i), min(i, 1)*9))
	}
	return map[string]string{
		"emphasis": x("*a_ ", 20_000), "links": x("[a](b", 20_000), "empty links": x("[](", 20_000),
		"table": x("|a", 2000) + "|\n" + x("|-", 2000) + "|\n" + x("|\n", 2000), "lists": x("- ", 5_000) + "x\n",
		"brackets": x("[", 1<<20), "quotes": x(">", 100_000) + "x\n",
		"keys": "---\n" + keys.String() + "---\n", "aliases": "---\n" + laughs.String() + "---\n",
		"yaml brackets": "---\na: " + x("[", 1<<20) + "\n---\n", "tags": x("<a ", 100_000), "pictures": x("![a", 10_000) + x("](x)", 10_000),
	}
}

// plant writes the bombs into a vault so many times over, each with a word to find it by.
func plant(t testing.TB, vault string, times int) (notes int) {
	t.Helper()
	for i := range times {
		for name, text := range noteBombs() {
			file := filepath.Join(vault, fmt.Sprintf("Bomb %s %d.md", name, i))
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			notes++
		}
	}
	return notes
}

// searcher asks one search after the other until ctx is done, and returns how long each took.
func searcher(ctx context.Context, t testing.TB, client *api.Client) (took []time.Duration) {
	t.Helper()
	for ctx.Err() == nil {
		start := time.Now()
		res, err := op.Search.Call(context.WithoutCancel(ctx), client, &op.SearchRequest{Query: "lamp whale oil"})
		if err != nil || len(res.Hits) == 0 {
			t.Errorf("a search beside the bombs: %v", err)
			return took
		}
		took = append(took, time.Since(start))
	}
	return took
}

// defused waits until a daemon has looked at all notes of its vault.
func defused(t testing.TB, client *api.Client, notes int) (seen int) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		res, err := op.Status.Call(t.Context(), client, &op.StatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if v := res.Vaults[0]; v.Notes+v.Skipped >= notes && v.Waiting == 0 {
			return v.Notes + v.Skipped
		}
		if time.Now().After(end) {
			t.Fatalf("after two minutes the daemon has not looked at all notes: %+v", res.Vaults[0])
		}
	}
}

// TestCase62TheDaemonOutlivesBombs is case 62: notes that parsers take very long over, or
// more memory than there is, are indexed or skipped, and meanwhile searches are answered.
func TestCase62TheDaemonOutlivesBombs(t *testing.T) {
	t.Parallel()
	client, vault := besideBombs(t)
	ctx, stop := context.WithCancel(t.Context())
	var searching sync.WaitGroup
	var took []time.Duration
	searching.Go(func() { took = searcher(ctx, t, client) })
	notes := plant(t, vault, 1)
	seen := defused(t, client, notes+1)
	stop()
	searching.Wait()
	if seen != notes+1 || len(took) == 0 {
		t.Errorf("%d of %d notes are indexed or skipped, beside %d searches", seen, notes+1, len(took))
	}
}

// besideBombs starts a daemon with a vault of one harmless note that is found.
func besideBombs(t testing.TB) (client *api.Client, vault string) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "em")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	home, vault := filepath.Join(dir, "h"), filepath.Join(dir, "Notes")
	if err := os.Mkdir(vault, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(vault, "Lamp.md"), []byte("The lamp burns whale oil.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d, err := startDaemon(t.Context(), self, home, home+".log", cli.ForeignFree(os.Environ()), "--vault", vault)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.cmd.Process.Kill(); <-d.exited })
	client = api.NewClient(filepath.Join(home, "emberd.sock"), nil)
	t.Cleanup(func() { client.Close() })
	for defused(t, client, 1); ; time.Sleep(10 * time.Millisecond) {
		if res, err := op.Search.Call(t.Context(), client, &op.SearchRequest{Query: "lamp whale oil"}); err == nil && len(res.Hits) > 0 {
			return client, vault
		}
	}
}

// BenchmarkSearchBesideBombs times searches for two seconds with nothing else to do, and
// while 60 bombs are indexed.
func BenchmarkSearchBesideBombs(b *testing.B) {
	for b.Loop() {
		client, vault := besideBombs(b)
		idle, stop := context.WithTimeout(b.Context(), 2*time.Second)
		quiet := searcher(idle, b, client)
		stop()
		ctx, stop := context.WithCancel(b.Context())
		var beside []time.Duration
		var searching sync.WaitGroup
		searching.Go(func() { beside = searcher(ctx, b, client) })
		defused(b, client, plant(b, vault, 5)+1)
		stop()
		searching.Wait()
		b.ReportMetric(percentile(quiet, 0.99), "idle-p99-ms")
		b.ReportMetric(percentile(beside, 0.99), "bombs-p99-ms")
		b.ReportMetric(float64(len(beside)), "searches")
	}
}

// percentile is in milliseconds.
func percentile(took []time.Duration, part float64) float64 {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return float64(took[int(part*float64(len(took)-1))].Microseconds()) / 1000
}
