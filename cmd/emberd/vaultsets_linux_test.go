package main

import (
	"context"
	"encoding/json"
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
	"emberd/internal/testutil/clitest"
	"emberd/internal/testutil/dirsnap"
	"emberd/ltm"
	"emberd/op"
	"emberd/vault"
)

// setsVar names the folder of test data that is too large for the repository.
const setsVar = "EMBERD_SETS"

// Every vault of the sets goes through the real daemon: all its notes are indexed
// or reported with a reason, what lies outside is not found, and nothing changes.
func TestVaultsThroughTheDaemon(t *testing.T) {
	t.Parallel()
	sets := os.Getenv(setsVar)
	if sets == "" {
		t.Skip(setsVar + " names no test data")
	}
	dirs, err := filepath.Glob(filepath.Join(sets, "vaults", "*", "vault"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no vaults found: %v", err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(filepath.Dir(dir)), func(t *testing.T) { served(t, dir).check(t) })
	}
	t.Run("odd", func(t *testing.T) {
		dir := t.TempDir()
		args := []string{filepath.Join(sets, "gen_oddvault.py"), dir}
		if os.Getenv("EMBERD_BIG") != "" {
			args = append(args, "--big")
		}
		if out, err := exec.CommandContext(t.Context(), "python3", args...).CombinedOutput(); err != nil {
			t.Fatalf("generator: %v\n%s", err, out)
		}
		s := served(t, filepath.Join(dir, "vault"))
		s.checkExpected(t, filepath.Join(dir, "expected.json"))
		s.check(t)
	})
}

// serving is a daemon that has read a vault.
type serving struct {
	*api.Client
	daemon *daemonProcess
	vault  string
	before dirsnap.Picture
	report *op.VaultCheckResult
}

func served(t *testing.T, dir string) *serving {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(clitest.ShortDir(t), "h")
	s := &serving{vault: dir, before: dirsnap.Take(t, filepath.Dir(dir)), Client: api.NewClient(filepath.Join(home, "emberd.sock"), nil)}
	t.Cleanup(s.Close)
	begun := time.Now()
	if s.daemon, err = startDaemon(t.Context(), exe, home, home+".log", cli.ForeignFree(os.Environ()), "--vault", dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.daemon.cmd.Process.Kill() })
	s.wait(t, 5*time.Minute)
	took := time.Since(begun)
	if s.report, err = op.VaultCheck.Call(t.Context(), s, &op.VaultCheckRequest{Limit: 10_000}); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d notes after %v, %d skipped, %d findings, %d of %d links lead nowhere", s.status(t).Notes, took.Round(time.Millisecond),
		s.report.Skipped, s.report.Total, s.report.Broken, s.report.Links)
	return s
}

// wait waits until the vault has been read.
func (s *serving) wait(t *testing.T, limit time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	for {
		res, err := op.Search.Call(ctx, s, &op.SearchRequest{Query: "x", Scope: "notes"})
		if err != nil {
			t.Fatal(err)
		}
		if res.Indexing == nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (s *serving) status(t *testing.T) op.VaultStatus {
	t.Helper()
	res, err := op.Status.Call(t.Context(), s, &op.StatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Vaults[0]
}

// skipped are the notes that are reported as not read, with the reason.
func (s *serving) skipped() map[string]string {
	out := map[string]string{}
	for _, f := range s.report.Findings {
		if f.Kind == "skipped" {
			out[f.Path] = f.Text
		}
	}
	return out
}

// check compares with what is on the disk, which must not have changed.
func (s *serving) check(t *testing.T) {
	t.Helper()
	skipped, notes := s.skipped(), 0
	err := filepath.WalkDir(s.vault, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == s.vault {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(s.vault, path)
		if _, reported := skipped[strings.ToValidUTF8(rel, "\uFFFD")]; !reported && d.Type().IsRegular() && strings.EqualFold(filepath.Ext(path), ".md") {
			notes++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.status(t); got.Notes != notes || s.report.Notes != notes || got.Waiting != 0 {
		t.Errorf("%d indexed, %d checked, %d waiting; want all %d that are not reported", got.Notes, s.report.Notes, got.Waiting, notes)
	}
	for _, canary := range []string{"outside vault indexed shown written", "hidden settings", "deleted trash"} {
		res, err := op.Search.Call(t.Context(), s, &op.SearchRequest{Query: canary, Scope: "notes", Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range res.Hits {
			for _, text := range []string{"outside the vault", "hidden #settings", "deleted #trash"} {
				if strings.Contains(h.Snippet.Text, text) {
					t.Errorf("%s shows %q", h.Note.Path, text)
				}
			}
		}
	}
	if err := s.daemon.stop(syscall.SIGTERM); err != nil {
		t.Errorf("the daemon: %v", err)
	}
	s.before.Compare(t)
}

// checkExpected looks at what the generator of the odd vault says of its notes.
func (s *serving) checkExpected(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var expected []struct {
		Path, Symlink string
		Queries       []string
	}
	if err := json.Unmarshal(data, &expected); err != nil {
		t.Fatal(err)
	}
	skipped := s.skipped()
	for path, reason := range skipped {
		t.Logf("%q: %s", path, reason)
	}
	for _, e := range expected {
		if _, reported := skipped[e.Path]; e.Symlink != "" && !reported {
			t.Errorf("the symbolic link %s is not reported", e.Path)
		}
		for _, q := range e.Queries {
			res, err := op.Search.Call(t.Context(), s, &op.SearchRequest{Query: q, Scope: "notes", Limit: 5})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(res.Hits, func(h op.Hit) bool { return h.Note.Path == e.Path }) {
				t.Errorf("%q does not find %s among the first five", q, e.Path)
			}
		}
	}
}

// A daemon that is killed while it reads a vault for the first time goes on where
// it was: what the index holds by then is not read again, and in the end it holds
// every note as it is.
func TestKillNineWhileIndexing(t *testing.T) {
	t.Parallel()
	notes, kills := 2_000, 2
	if os.Getenv("EMBERD_PROOF") != "" {
		notes, kills = 20_000, 8
	}
	dir, home := filepath.Join(t.TempDir(), "Notes"), filepath.Join(clitest.ShortDir(t), "h")
	line := strings.Repeat("Some words to index, of which there are many in a note. ", 8)
	for i := range notes {
		name := filepath.Join(dir, fmt.Sprint(i%50), fmt.Sprintf("%d.md", i))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, fmt.Appendf(nil, "# Note %d\n\n%s\n\nmarker%d\n", i, line, i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &serving{Client: api.NewClient(filepath.Join(home, "emberd.sock"), nil)}
	defer s.Close()
	start := func() {
		t.Helper()
		if s.daemon, err = startDaemon(t.Context(), exe, home, home+".log", cli.ForeignFree(os.Environ()), "--vault", dir); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.daemon.cmd.Process.Kill() })
	}
	for range kills {
		start()
		first := s.status(t).Notes
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			if n := s.status(t).Notes; n >= first+notes/(kills+2) || n == notes || time.Now().After(deadline) {
				t.Logf("killed with %d of %d notes indexed, began with %d", n, notes, first)
				break
			}
		}
		_ = s.daemon.stop(syscall.SIGKILL) // the error is that it was killed
	}
	start()
	s.wait(t, 2*time.Minute)
	if got := s.status(t); got.Notes != notes || got.Problem != "" {
		t.Errorf("%d of %d notes in the end, problem %q", got.Notes, notes, got.Problem)
	}
	res, err := op.Search.Call(t.Context(), s, &op.SearchRequest{Query: fmt.Sprintf("\"marker%d\"", notes-1)})
	if err != nil || len(res.Hits) != 1 {
		t.Errorf("the last note is found %d times: %v", len(res.Hits), err)
	}
	if err := s.daemon.stop(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	equalToAWalk(t, filepath.Join(home, "state", "index"), dir)
}

// equalToAWalk compares an index on the disk with the notes of a vault.
func equalToAWalk(t *testing.T, indexes, dir string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(indexes, "notes-????????"))
	if err != nil || len(found) != 1 {
		t.Fatalf("indexes %q: %v", found, err)
	}
	index, err := ltm.Open(found[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	if reason := index.Status().Reason; reason != "" {
		t.Errorf("the index began anew: %s", reason)
	}
	known := map[string][32]byte{}
	for path, cursor := range index.Known() {
		known[path] = cursor.Digest
	}
	v, err := vault.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	for path, err := range v.Walk(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		note, err := v.Read(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if known[path] != note.Digest {
			t.Errorf("%s is not in the index as it is", path)
		}
		delete(known, path)
	}
	if len(known) > 0 {
		t.Errorf("%d notes in the index are not there", len(known))
	}
}
