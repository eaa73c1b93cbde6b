package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/internal/backup"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Backups are made while others save, over many segments and compacted files. Each holds all that was
// acknowledged before it was asked for, and its log is whole.
func TestBackupIsOneMoment(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.SegmentBytes = 4 << 10
	e := h.open(t)
	var savers sync.WaitGroup
	stop := make(chan struct{})
	for w := range 3 {
		savers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					save(t, e, fmt.Sprintf("memory %d of saver %d", i, w))
				}
			}
		})
	}
	for i := range 5 {
		if i%2 == 1 {
			do(t, e, op.Compact, &op.CompactRequest{})
		}
		saved := save(t, e, fmt.Sprintf("right before backup %d", i))
		made := do(t, e, op.BackupCreate, &op.BackupCreateRequest{File: filepath.Join(t.TempDir(), "one.tar.gz")})
		if made.FromMemory != 0 || made.Memories == 0 || len(made.Damaged) != 0 {
			t.Errorf("of a sound log it says %+v", made)
		}
		restored := reopenedFrom(t, made.File)
		if got := look(t, restored, saved.ID); got.Content != saved.Content {
			t.Errorf("the backup holds %q", got.Content)
		}
		if st := do(t, restored, op.Status, &op.StatusRequest{}); st.Log.Recovery.Gaps+st.Log.Recovery.TornTail+st.Log.Recovery.Quarantined != 0 {
			t.Errorf("the restored log: %+v", st.Log.Recovery)
		}
	}
	close(stop)
	savers.Wait()
}

// reopenedFrom restores a backup and opens an engine on it, after a look at its log.
func reopenedFrom(t *testing.T, file string) *engine.Engine {
	t.Helper()
	h := newHouse(t)
	if _, err := backup.Restore(t.Context(), durable.OS{}, file, h.Data, false, func(string, *backup.Manifest) error { return nil }); err != nil {
		t.Fatal(err)
	}
	c, err := stm.CheckLog(t.Context(), durable.OS{}, h.Data, h.clock.Now())
	if err != nil || c.Wrong() != 0 {
		t.Fatalf("the restored log has %d faults (%v): %+v", c.Wrong(), err, c)
	}
	return h.open(t)
}

func TestBackupNames(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	save(t, e, "one")
	first := do(t, e, op.BackupCreate, &op.BackupCreateRequest{})
	if filepath.Dir(first.File) != core.BackupFolder(h.State) || first.Files != 1 || first.Bytes == 0 || first.Content == 0 {
		t.Errorf("made %+v", first)
	}
	if info, err := os.Stat(first.File); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup has mode %v (%v)", info.Mode(), err)
	}
	for file, want := range map[string]string{
		"":                              "already exists; choose another name", // the clock stands still
		"relative.tar.gz":               "use an absolute path",
		filepath.Join(h.Data, "x"):      "is in the data folder",
		filepath.Join(h.State, "a/b/c"): "create the folder of the backup first",
	} {
		wantCode(t, refused(t, e, op.BackupCreate, &op.BackupCreateRequest{File: file}), memory.Invalid, want)
	}
}

func TestHistoryPages(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, "text 0")
	for i := range 4 {
		do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new(fmt.Sprintf("text %d", i+1))})
	}
	var actions []string
	req := &op.HistoryRequest{ID: m.ID.Short(), Limit: 2}
	for {
		page := do(t, e, op.History, req)
		if page.Total != 5 || page.ID != m.ID {
			t.Errorf("page of %s, %d in all", page.ID, page.Total)
		}
		for _, v := range page.Versions {
			actions = append(actions, v.Action)
		}
		if req.Cursor = page.NextCursor; req.Cursor == "" {
			break
		}
	}
	if got := strings.Join(actions, " "); got != "changed changed changed changed created" {
		t.Errorf("versions: %s", got)
	}
	wantCode(t, refused(t, e, op.History, &op.HistoryRequest{ID: string(m.ID), Limit: 101}), memory.Invalid, "limit")
	wantCode(t, refused(t, e, op.History, &op.HistoryRequest{ID: string(m.ID), Cursor: "x"}), memory.Invalid, "cursor")
}

func TestQuarantineOverOperations(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	m := save(t, e, "the harbor wall")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(h.Data, "stm", "*", "*.jsonl"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%v (%v)", names, err)
	}
	b, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(names[0], []byte(strings.ReplaceAll(string(b), "harbor", "harbour")), 0o600); err != nil {
		t.Fatal(err)
	}
	e = h.open(t)
	lines := do(t, e, op.QuarantineList, &op.QuarantineListRequest{}).Lines
	if len(lines) != 1 || !lines[0].Acceptable || lines[0].ID != m.ID {
		t.Fatalf("in the quarantine: %+v", lines)
	}
	shown := do(t, e, op.QuarantineShow, &op.QuarantineShowRequest{ID: lines[0].Name})
	if !strings.Contains(shown.Text, "harbour") || len(shown.Changes) == 0 {
		t.Errorf("shown %+v", shown)
	}
	got := do(t, e, op.QuarantineAccept, &op.QuarantineAcceptRequest{ID: lines[0].Name})
	if got.ID != m.ID || got.Tx == "" || look(t, e, m.ID).Content != "the harbour wall" {
		t.Errorf("accepted %+v", got)
	}
	wantCode(t, refused(t, e, op.QuarantineDrop, &op.QuarantineDropRequest{ID: lines[0].Name}), memory.NotFound, "damaged line "+lines[0].Name+" not found")
}
