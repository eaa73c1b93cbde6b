package engine_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/internal/backup"
	"emberd/internal/durable"
	"emberd/op"
)

// The names that a device had before a restore are no other devices: none of them is the keeper or waited for,
// and damaged lines in their files go to the quarantine.
func TestTheNameBeforeARestoreIsOurs(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	kept := save(t, e, "the harbor wall")
	ok(t, e.Stm.ClaimPrimary())
	var former []string
	for range 3 {
		former = append(former, status(t, e).Device)
		file := filepath.Join(t.TempDir(), "kept.tar.gz")
		do(t, e, op.BackupCreate, &op.BackupCreateRequest{File: file})
		save(t, e, "after the backup")
		ok(t, e.Close())
		_, err := backup.Restore(t.Context(), durable.OS{}, file, h.Data, true,
			func(fresh string, m *backup.Manifest) error { return h.settled(t.Context(), fresh, m) })
		ok(t, err)
		e = h.open(t)
	}
	st := status(t, e)
	if len(st.Devices) != 1 || !st.Devices[0].Keeper || st.Devices[0].Missing != 0 {
		t.Errorf("after restores the devices are %+v", st.Devices)
	}
	ok(t, e.Close())

	name := filepath.Join(h.Data, "stm", former[0], "s-00000001.jsonl")
	b, err := os.ReadFile(name)
	ok(t, err)
	ok(t, os.WriteFile(name, bytes.ReplaceAll(b, []byte("harbor"), []byte("harbour")), 0o600))
	ok(t, os.Remove(filepath.Join(h.State, "index", "stm.snap")))
	e = h.open(t)
	lines := do(t, e, op.QuarantineList, &op.QuarantineListRequest{}).Lines
	if len(lines) != 1 || lines[0].Name[:8] != former[0] || !lines[0].Acceptable {
		t.Fatalf("in the quarantine: %+v", lines)
	}
	do(t, e, op.QuarantineAccept, &op.QuarantineAcceptRequest{ID: lines[0].Name})
	if got := look(t, e, kept.ID).Content; got != "the harbour wall" {
		t.Errorf("accepted it is %q", got)
	}
	ok(t, e.Close())
}

// A home that goes on for a device that is not there any more is no second device: after a restore into another
// home, and after a log that is gone was begun anew. A device that is heard of again is one.
func TestADeviceThatAnotherTookThePlaceOf(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"restored elsewhere", "log gone", "folder moved"} {
		first := newHouse(t)
		e := first.open(t)
		save(t, e, "the harbor wall")
		ok(t, e.Stm.ClaimPrimary())
		file := filepath.Join(t.TempDir(), "kept.tar.gz")
		do(t, e, op.BackupCreate, &op.BackupCreateRequest{File: file})
		next := *first
		next.clock.advance(time.Minute)
		if how != "restored elsewhere" {
			ok(t, e.Close())
		}
		switch how {
		case "restored elsewhere":
			other := newHouse(t)
			next.Data, next.State = other.Data, other.State
			_, err := backup.Restore(t.Context(), durable.OS{}, file, next.Data, false,
				func(fresh string, m *backup.Manifest) error { return next.settled(t.Context(), fresh, m) })
			ok(t, err)
		case "log gone":
			ok(t, os.RemoveAll(filepath.Join(first.Data, "stm")))
			next.AcceptEmpty = true
		case "folder moved":
			next.Data = filepath.Join(t.TempDir(), "elsewhere")
			ok(t, os.CopyFS(next.Data, os.DirFS(first.Data)))
		}
		there := next.open(t)
		if st := status(t, there); len(st.Devices) != 1 || !st.Devices[0].Keeper {
			t.Errorf("%s: the devices are %+v", how, st.Devices)
		}
		if how == "restored elsewhere" {
			next.clock.advance(time.Minute)
			save(t, e, "written by the first one since")
			carry(t, first, &next, status(t, e).Device)
			there.Admin.Refresh(t.Context())
			if st := status(t, there); len(st.Devices) != 2 || st.Memories != 2 {
				t.Errorf("the first one lives on: %+v", st.Devices)
			}
			ok(t, e.Close())
		}
		ok(t, there.Close())
	}
}

// A purge takes a memory out of the log of a name that the device had before a restore, or before its data folder was
// moved, and tells of the folder that the restore moved aside. Another home may write under the name that a copied
// one had: there the files stay as they are, and are told with what to do.
func TestAPurgeAndTheFormerNames(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"restored", "data folder moved", "home copied"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			e := h.open(t)
			m := save(t, e, "the vyxilothuk wall")
			do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("the vyxilothuk harbor wall")})
			kept := save(t, e, "apple pie")
			former := status(t, e).Device
			file := filepath.Join(t.TempDir(), "kept.tar.gz")
			do(t, e, op.BackupCreate, &op.BackupCreateRequest{File: file})
			ok(t, e.Close())
			restore := func(file string) {
				_, err := backup.Restore(t.Context(), durable.OS{}, file, h.Data, true,
					func(fresh string, m *backup.Manifest) error { return h.settled(t.Context(), fresh, m) })
				ok(t, err)
			}
			switch moved := t.TempDir(); how {
			case "restored":
				restore(file)
			case "home copied":
				ok(t, os.CopyFS(filepath.Join(moved, "state"), os.DirFS(h.State)))
				h.State = filepath.Join(moved, "state")
				fallthrough
			default:
				ok(t, os.CopyFS(filepath.Join(moved, "data"), os.DirFS(h.Data)))
				h.Data = filepath.Join(moved, "data")
			}
			e = h.open(t)
			save(t, e, "written since")
			dry := do(t, e, op.Purge, &op.PurgeRequest{ID: string(m.ID), DryRun: true})
			res := do(t, e, op.Purge, &op.PurgeRequest{ID: string(m.ID)})
			told := map[string]bool{}
			for _, left := range res.Left {
				told["log"] = told["log"] || strings.Contains(left.Place, former) && strings.Contains(left.Advice, "earlier device ID")
				told["folder"] = told["folder"] || strings.Contains(left.Place, ".before-restore-")
			}
			if told["log"] != (how == "home copied") || told["folder"] != (how == "restored") {
				t.Errorf("left are %+v", res.Left)
			}
			if how != "home copied" && !slices.Contains(dry.Rewritten, filepath.Join(former, "s-00000001.jsonl")) {
				t.Errorf("it would rewrite %v", dry.Rewritten)
			}
			if how == "home copied" { // which is to be told how
				file = do(t, e, op.BackupCreate, &op.BackupCreateRequest{}).File
				ok(t, e.Close())
				restore(file)
				ok(t, os.RemoveAll(backup.Replaced(durable.OS{}, h.Data)[0]))
				e = h.open(t)
				do(t, e, op.Purge, &op.PurgeRequest{ID: string(m.ID), Backups: true})
			}
			if how == "restored" {
				wantAside(t, e, backup.Replaced(durable.OS{}, h.Data)[0])
			}
			for range 3 {
				if found := filesWith(t, []string{"vyxilothuk", "vyxilothuk"}, h.Data, h.State); len(found) > 0 {
					t.Errorf("the word is in %v", found)
				}
				if got := look(t, e, kept.ID).Content; got != "apple pie" || status(t, e).Memories != 2 {
					t.Errorf("the other memory is %q, of %d", got, status(t, e).Memories)
				}
				if w := status(t, e).Warnings; len(w) > 1 { // than that these tests sync nothing
					t.Errorf("warnings: %q", w)
				}
				e.Admin.Refresh(t.Context())
				if got := do(t, e, op.Audit, &op.AuditRequest{Check: true}).Check.Problems; how != "home copied" && len(got) > 0 {
					t.Errorf("the audit finds %q", got)
				}
				ok(t, e.Close())
				ok(t, os.RemoveAll(filepath.Join(h.State, "index")))
				e = h.open(t)
			}
			ok(t, e.Close())
		})
	}
}

// wantAside removes the folder that a restore renamed, of which status must warn.
func wantAside(t *testing.T, e *engine.Engine, dir string) {
	t.Helper()
	ok(t, os.Chtimes(dir, time.Unix(0, 0), time.Unix(0, 0))) // the clock of tests is earlier
	w := status(t, e).Warnings
	if !slices.ContainsFunc(w, func(w string) bool { return strings.Contains(w, "run: rm -r -- '"+dir+"'") }) {
		t.Errorf("warnings: %q", w)
	}
	ok(t, os.RemoveAll(dir))
}
