package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
)

// left lists the places of a kind that a purge did not reach.
func left(res *op.PurgeResult, kind string) (places []string) {
	for _, l := range res.Left {
		if l.Kind == kind {
			places = append(places, l.Place)
		}
	}
	return places
}

// place writes a file below a folder.
func place(t *testing.T, dir, name, text string) string {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestAPurgeTellsWhatItDoesNotReach(t *testing.T) {
	t.Parallel()
	desk, lap := newHouse(t), newHouse(t)
	there, here := lap.open(t), desk.open(t)
	m := save(t, there, "quixotic zeppelin")
	device := status(t, there).Device
	if err := there.Close(); err != nil {
		t.Fatal(err)
	}
	carry(t, lap, desk, device)
	if _, err := here.Stm.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	git := filepath.Dir(place(t, desk.Data, ".git/HEAD", "ref"))
	versions := filepath.Dir(place(t, filepath.Dir(desk.Data), ".stversions/x", ""))
	broken := place(t, core.BackupFolder(desk.State), "broken.tar.gz", "no backup")
	whole := do(t, here, op.BackupCreate, &op.BackupCreateRequest{}).File

	for _, req := range []*op.PurgeRequest{{ID: m.ID.Short(), DryRun: true}, {ID: m.ID.Short()}} {
		res := do(t, here, op.Purge, req)
		for kind, want := range map[string][]string{
			"device":    {filepath.Join(desk.Data, "stm", device, "s-00000001.jsonl"), device},
			"git":       {git},
			"versions":  {versions},
			"backup":    {broken, whole},
			"elsewhere": {""},
			"note":      nil,
		} {
			if got := left(res, kind); !slices.Equal(got, want) {
				t.Errorf("dry run %v: of kind %s %q are left, want %q", req.DryRun, kind, got, want)
			}
		}
		if _, ok := here.Stm.Get(m.ID); ok != req.DryRun {
			t.Errorf("dry run %v: the memory is there: %v", req.DryRun, ok)
		}
	}
}

func TestAPurgeReachesBackups(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	m, other := save(t, e, "quixotic zeppelin"), save(t, e, "apple pie")
	file := do(t, e, op.BackupCreate, &op.BackupCreateRequest{}).File
	notes := filepath.Join(core.BackupFolder(h.State), "notes")
	note := func(id memory.ID) string {
		return "---\ntags: [a]\nmemory-id: \"" + string(id) + "\"\n---\ntext\n"
	}
	mine := place(t, notes, "20260301T120000.000Z-abc-Zeppelin.md", note(m.ID))
	unquoted := place(t, notes, "20260301T120001.000Z-abd-Zeppelin.md", "\ufeff"+strings.ReplaceAll(strings.ReplaceAll(note(m.ID), `"`, ""), "\n", "\r\n"))
	others := place(t, notes, "20260301T120000.000Z-abe-Pie.md", note(other.ID))
	mention := place(t, notes, "20260301T120000.000Z-abf-Talk.md", "memory-id: "+string(m.ID)+"\n---\n")
	foreign := place(t, notes, "Zeppelin.md", note(m.ID))

	want := []string{filepath.Base(file), "notes/" + filepath.Base(mine), "notes/" + filepath.Base(unquoted)}
	for _, req := range []*op.PurgeRequest{{ID: m.ID.Short(), DryRun: true, Backups: true}, {ID: m.ID.Short(), Backups: true}} {
		res := do(t, e, op.Purge, req)
		if !slices.Equal(res.Backups, want) || !slices.Equal(left(res, "backup"), []string{foreign}) {
			t.Errorf("dry run %v: removed %q, left %q", req.DryRun, res.Backups, left(res, "backup"))
		}
		for name, stays := range map[string]bool{file: req.DryRun, mine: req.DryRun, unquoted: req.DryRun, others: true, mention: true, foreign: true} {
			if _, err := os.Lstat(name); (err == nil) != stays {
				t.Errorf("dry run %v: %s stays: %v", req.DryRun, name, err == nil)
			}
		}
	}
}

// A backup made since the purge has the line that tells of it, and nothing of the memory.
func TestABackupMadeSinceThePurgeIsNotTold(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	m := save(t, e, "quixotic zeppelin")
	before := do(t, e, op.BackupCreate, &op.BackupCreateRequest{}).File
	do(t, e, op.Purge, &op.PurgeRequest{ID: m.ID.Short()})
	do(t, e, op.BackupCreate, &op.BackupCreateRequest{File: filepath.Join(filepath.Dir(before), "since.tar.gz")})
	res := do(t, e, op.Purge, &op.PurgeRequest{ID: string(m.ID)})
	if got := left(res, "backup"); !slices.Equal(got, []string{before}) {
		t.Errorf("told are %q, want %s alone", got, before)
	}
}

// What is no file among the earlier versions of notes is neither waited for nor told.
func TestAPurgePassesOverWhatIsNoFile(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	m := save(t, e, "quixotic zeppelin")
	notes := filepath.Join(core.BackupFolder(h.State), "notes")
	link, pipe := filepath.Join(notes, "20260301T120001.000Z-abd-Link.md"), filepath.Join(notes, "20260301T120002.000Z-abe-Pipe.md")
	file := place(t, notes, "20260301T120000.000Z-abc-Folder.md/Zeppelin.md", "---\nmemory-id: "+string(m.ID)+"\n---\n")
	if err := errors.Join(os.Symlink(file, link), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	res := do(t, e, op.Purge, &op.PurgeRequest{ID: m.ID.Short(), Backups: true})
	if len(res.Backups) > 0 || len(left(res, "backup")) > 0 {
		t.Errorf("removed %q, left %q, want neither", res.Backups, left(res, "backup"))
	}
	for _, name := range []string{file, link, pipe} {
		if _, err := os.Lstat(name); err != nil {
			t.Error(err)
		}
	}
}

func TestASaveThatWasPurgedIsNotRepeated(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	req := &op.SaveRequest{Content: "quixotic zeppelin", IdempotencyKey: "once"}
	m := do(t, e, op.Save, req).Memory
	do(t, e, op.Purge, &op.PurgeRequest{ID: m.ID.Short()})
	wantCode(t, refused(t, e, op.Save, req), memory.Conflict, "use a new key")
}
