package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/internal/backup"
	"emberd/internal/durable"
	"emberd/op"
	"emberd/stm"
	"emberd/stm/content"
)

// records are all memories of a store with their revisions and uses, the trash too, as JSON by ID.
func records(t testing.TB, e *engine.Engine) map[string]string {
	t.Helper()
	out := map[string]string{}
	req := &op.ExportRequest{}
	for {
		page := do(t, e, op.Export, req)
		for _, r := range page.Records {
			text, err := json.Marshal(r)
			ok(t, err)
			out[string(r.ID)] = string(text)
		}
		if req.Cursor = page.NextCursor; req.Cursor == "" {
			return out
		}
	}
}

// aged is a house whose log has two segments and a bit of everything: edits, relations, uses and deletes. It returns the
// first segment, and the engine on the log.
func aged(t *testing.T) (h *house, e *engine.Engine, segment string) {
	t.Helper()
	h = newHouse(t)
	e = h.open(t)
	var made []op.Memory
	for i := range 8 {
		made = append(made, save(t, e, fmt.Sprintf("the harbor wall of pier %d", i), "pier"))
	}
	do(t, e, op.Edit, &op.EditRequest{ID: string(made[1].ID), Content: new("the harbor wall was rebuilt")})
	do(t, e, op.Relate, &op.RelateRequest{From: string(made[2].ID), To: string(made[3].ID), Type: "related"})
	do(t, e, op.Touch, &op.TouchRequest{ID: string(made[4].ID)})
	ok(t, e.Close())
	names, err := filepath.Glob(filepath.Join(h.Data, "stm", "*", "s-00000001.jsonl"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%v (%v)", names, err)
	}
	e = h.open(t)
	do(t, e, op.Edit, &op.EditRequest{ID: string(made[5].ID), Tags: &[]string{"mole"}})
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(made[6].ID)})
	save(t, e, "the lighthouse")
	return h, e, names[0]
}

// Whatever became of a file of the log, a backup holds what the daemon knows, says what is damaged,
// and gives all of it back.
func TestABackupHoldsWhatTheLogLost(t *testing.T) {
	t.Parallel()
	lines := func(b []byte) [][]byte { return bytes.SplitAfter(b, []byte("\n")) }
	for how, damage := range map[string]func(t *testing.T, name string, b []byte){
		"nothing": func(*testing.T, string, []byte) {},
		"deleted": func(t *testing.T, name string, _ []byte) { ok(t, os.Remove(name)) },
		"emptied": func(t *testing.T, name string, _ []byte) { ok(t, os.Truncate(name, 0)) },
		"cut at a line": func(t *testing.T, name string, b []byte) {
			ok(t, os.Truncate(name, int64(len(bytes.Join(lines(b)[:4], nil)))))
		},
		"cut inside a line": func(t *testing.T, name string, b []byte) { ok(t, os.Truncate(name, int64(len(b)/2))) },
		"one bit": func(t *testing.T, name string, b []byte) {
			b[bytes.Index(b, []byte("harbor"))] ^= 1
			ok(t, os.WriteFile(name, b, 0o600))
		},
		"lines twice": func(t *testing.T, name string, b []byte) {
			ok(t, os.WriteFile(name, slices.Concat(b, b), 0o600))
		},
		"an older file": func(t *testing.T, name string, b []byte) {
			ok(t, os.WriteFile(name, bytes.Join(lines(b)[:2], nil), 0o600))
		},
		"garbage": func(t *testing.T, name string, b []byte) {
			ok(t, os.WriteFile(name, bytes.Repeat([]byte{0xff, 0}, len(b)), 0o600))
		},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			h, e, segment := aged(t)
			want := records(t, e)
			b, err := os.ReadFile(segment)
			ok(t, err)
			damage(t, segment, b)
			made := do(t, e, op.BackupCreate, &op.BackupCreateRequest{File: filepath.Join(t.TempDir(), "one.tar.gz")})
			harmless := how == "nothing" || how == "lines twice"
			if (made.FromMemory == 0) != harmless || !harmless && len(made.Damaged) == 0 || made.Memories != 8 {
				t.Errorf("it says %d memories, %d of them from memory, and damage %q", made.Memories, made.FromMemory,
					made.Damaged)
			}
			for _, text := range made.Damaged {
				if !strings.HasPrefix(text, "stm/") {
					t.Errorf("the damage %q names no file", text)
				}
			}
			there := restoredFrom(t, h, made.File)
			got := records(t, there)
			for id, record := range want {
				if got[id] != record {
					t.Errorf("restored\n %s\nwas\n %s", got[id], record)
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d memories came back, %d were there", len(got), len(want))
			}
			if made.Healed == harmless {
				t.Errorf("it says %v of whether the log is healed", made.Healed)
			}
			again := do(t, e, op.BackupCreate, &op.BackupCreateRequest{File: filepath.Join(t.TempDir(), "two.tar.gz")})
			if again.FromMemory != 0 || again.Memories != 8 {
				t.Errorf("the next backup says %d memories, %d of them from memory", again.Memories, again.FromMemory)
			}
			ok(t, e.Close())
			ok(t, os.RemoveAll(filepath.Join(h.State, "index")))
			after := h.open(t)
			got = records(t, after)
			for id, record := range want {
				if got[id] != record {
					t.Errorf("read from the healed log\n %s\nwas\n %s", got[id], record)
				}
			}
			if st := status(t, after); st.Log.Recovery.Gaps != 0 {
				t.Errorf("%d records are missing in the healed log", st.Log.Recovery.Gaps)
			}
		})
	}
}

// restoredFrom is an engine on what a backup holds, compared as the command does.
func restoredFrom(t *testing.T, from *house, file string) *engine.Engine {
	t.Helper()
	h := newHouse(t)
	h.Options.Now = from.Options.Now
	_, err := backup.Restore(t.Context(), durable.OS{}, file, h.Data, false,
		func(fresh string, m *backup.Manifest) error {
			_, err := m.Settle(t.Context(), durable.OS{}, fresh, nil, h.Options.Now())
			return err
		})
	ok(t, err)
	return h.open(t)
}

// A memory of the trash that no file and no table holds any more is counted as lost.
func TestABackupTellsOfALostTrash(t *testing.T) {
	t.Parallel()
	h, e, first := aged(t)
	second := strings.Replace(first, "s-00000001", "s-00000002", 1)
	ok(t, os.Remove(first))
	ok(t, os.Remove(second))
	made := do(t, e, op.BackupCreate, &op.BackupCreateRequest{File: filepath.Join(t.TempDir(), "one.tar.gz")})
	if made.LostTrash != 1 || made.Memories != 8 || made.FromMemory != 8 {
		t.Errorf("it says %+v", made)
	}
	if got := status(t, restoredFrom(t, h, made.File)).Memories; got != 8 {
		t.Errorf("%d memories came back", got)
	}
}

// A restored log that is not what the manifest says is refused, and the former folder stays. A backup of an
// earlier version cannot be compared, and is restored.
func TestARestoreComparesWhatItHolds(t *testing.T) {
	t.Parallel()
	h, e, _ := aged(t)
	m := backup.Manifest{Created: h.Options.Now(), Device: status(t, e).Device}
	pack := func(file string, holds content.Summary) string {
		file = filepath.Join(t.TempDir(), file)
		_, err := backup.Create(t.Context(), durable.OS{}, h.Data, file, m,
			func(_ string, size int64) (int64, bool) { return size, true },
			func(_ context.Context, m *backup.Manifest) error { m.Holds = holds; return nil })
		ok(t, err)
		return file
	}
	target := filepath.Join(t.TempDir(), "data")
	ok(t, os.Mkdir(target, 0o700))
	place(t, target, "mine", "was here")
	restore := func(file string) error {
		_, err := backup.Restore(t.Context(), durable.OS{}, file, target, true,
			func(fresh string, m *backup.Manifest) error {
				_, err := m.Settle(t.Context(), durable.OS{}, fresh, nil, h.Options.Now())
				return err
			})
		return err
	}
	err := restore(pack("wrong.tar.gz", content.Summary{"active": {Memories: 9, Digest: "x"}}))
	if !errors.Is(err, backup.ErrDiffers) || !strings.Contains(err.Error(), "8 instead of 9 memories (active)") {
		t.Errorf("a log that lacks a memory: %v", err)
	}
	if b, err := os.ReadFile(filepath.Join(target, "mine")); err != nil || string(b) != "was here" {
		t.Errorf("the former folder is not as it was: %q (%v)", b, err)
	}
	if left, err := os.ReadDir(filepath.Dir(target)); err != nil || len(left) != 1 {
		t.Errorf("beside the folder are %v (%v)", left, err)
	}
	ok(t, restore(pack("early.tar.gz", nil)))
	if c, err := stm.CheckLog(t.Context(), durable.OS{}, target, h.Options.Now()); err != nil || c.Wrong() != 0 {
		t.Errorf("the restored log: %+v (%v)", c, err)
	}
}

// restored puts a backup that was kept elsewhere in the place of the data folder, as the command does, and
// starts again.
func (d *desk) restored(kept []byte) {
	d.t.Helper()
	ok(d.t, d.Engine.Close())
	file := filepath.Join(d.t.TempDir(), "kept.tar.gz")
	ok(d.t, os.WriteFile(file, kept, 0o600))
	_, err := backup.Restore(d.t.Context(), durable.OS{}, file, d.Data, true,
		func(fresh string, m *backup.Manifest) error { return d.house.settled(d.t.Context(), fresh, m) })
	ok(d.t, err)
	d.start()
}

// settled is what emberd backup restore does with the unpacked log.
func (h *house) settled(ctx context.Context, fresh string, m *backup.Manifest) error {
	purges, err := content.ReadPurges(ctx, durable.OS{}, h.Data)
	if err == nil {
		err = core.AddPurged(durable.OS{}, h.State, purges)
	}
	if err == nil {
		_, err = m.Settle(ctx, durable.OS{}, fresh, purges, h.Options.Now())
	}
	if err == nil {
		err = stm.ForgetDevice(durable.OS{}, h.State, m.Device)
	}
	return err
}

// A restore of an earlier backup brings nothing back that was purged since, whether the log still knows
// of the purge or only the state folder does. What else the backup holds comes back.
func TestARestoreBringsNothingPurgedBack(t *testing.T) {
	t.Parallel()
	for _, damage := range []string{"none", "deleted", "garbage"} {
		h := newHouse(t)
		e := h.open(t)
		gone, kin, deleted := save(t, e, "quixotic zeppelin"), save(t, e, "apple pie"), save(t, e, "quixotic kite")
		do(t, e, op.Relate, &op.RelateRequest{From: string(kin.ID), To: string(gone.ID), Type: "related",
			Kind: "quixotic kinship"})
		do(t, e, op.Forget, &op.ForgetRequest{ID: string(deleted.ID)})
		file := filepath.Join(t.TempDir(), "kept.tar.gz")
		do(t, e, op.BackupCreate, &op.BackupCreateRequest{File: file})
		do(t, e, op.Purge, &op.PurgeRequest{ID: string(gone.ID)})
		do(t, e, op.Purge, &op.PurgeRequest{ID: string(deleted.ID)})
		ok(t, e.Close())
		if damage != "none" {
			ok(t, os.RemoveAll(filepath.Join(h.Data, "stm")))
		}
		if damage == "garbage" {
			place(t, filepath.Join(h.Data, "stm", "k7q2mzxa"), "s-00000001.jsonl", strings.Repeat("x", 5<<20))
		}
		_, err := backup.Restore(t.Context(), durable.OS{}, file, h.Data, true,
			func(fresh string, m *backup.Manifest) error { return h.settled(t.Context(), fresh, m) })
		ok(t, err)
		if found := filesWith(t, []string{"quixoticxx"}, filepath.Dir(h.Data)); len(found) > 0 {
			t.Errorf("log %s: before the start the word is in %v", damage, found)
		}
		if c, err := stm.CheckLog(t.Context(), durable.OS{}, h.Data, h.Options.Now()); err != nil || c.Wrong() != 0 {
			t.Errorf("log %s: the restored log: %+v (%v)", damage, c, err)
		}
		e = h.open(t)
		if st := status(t, e); st.Memories != 1 || st.Trash != 0 || look(t, e, kin.ID).Content != "apple pie" {
			t.Errorf("log %s: %d memories and %d in the trash came back", damage, st.Memories, st.Trash)
		}
		ok(t, e.Close())
		if found := filesWith(t, []string{"quixoticxx"}, filepath.Dir(h.Data)); len(found) > 0 {
			t.Errorf("log %s: the word is in %v", damage, found)
		}
	}
}

// What another device wrote and a sync tool deleted since is in the backup, too, from what the daemon read.
// A purge after that, and a restore of the backup, reach it there.
func TestABackupHoldsWhatOtherDevicesLost(t *testing.T) {
	t.Parallel()
	lap, h := newHouse(t), newHouse(t)
	there, here := lap.open(t), h.open(t)
	far, gone := save(t, there, "the far lighthouse"), save(t, there, "quixotic zeppelin")
	save(t, here, "the harbor wall")
	device := status(t, there).Device
	ok(t, there.Close())
	carry(t, lap, h, device)
	if _, err := here.Stm.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := records(t, here)
	ok(t, os.RemoveAll(filepath.Join(h.Data, "stm", device)))
	file := filepath.Join(t.TempDir(), "kept.tar.gz")
	made := do(t, here, op.BackupCreate, &op.BackupCreateRequest{File: file})
	if made.FromMemory != 2 || made.Memories != 3 {
		t.Errorf("it says %+v", made)
	}
	if got := records(t, restoredFrom(t, h, file)); !maps.Equal(got, want) {
		t.Errorf("restored\n %v\nwas\n %v", got, want)
	}
	do(t, here, op.Purge, &op.PurgeRequest{ID: string(gone.ID)})
	ok(t, here.Close())
	_, err := backup.Restore(t.Context(), durable.OS{}, file, h.Data, true,
		func(fresh string, m *backup.Manifest) error { return h.settled(t.Context(), fresh, m) })
	ok(t, err)
	here = h.open(t)
	if st := status(t, here); st.Memories != 2 || st.Log.Recovery.BadSeals != 0 ||
		look(t, here, far.ID).Content != far.Content {
		t.Errorf("came back: %+v", st)
	}
	ok(t, here.Close())
	if found := filesWith(t, []string{"quixoticxx"}, filepath.Dir(h.Data)); len(found) > 0 {
		t.Errorf("the word is in %v", found)
	}
}
