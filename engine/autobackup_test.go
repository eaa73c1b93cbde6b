package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"emberd/engine/core"
	"emberd/internal/backup"
	"emberd/internal/durable"
	"emberd/internal/testutil/bubble"
	"emberd/op"
)

// backups are the names in the folder of backups.
func backups(t testing.TB, h *house) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(core.BackupFolder(h.State))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// A backup is made some time after a change, one a day, and none on a day without a change. Of the older ones the newest of
// each week stays, and what a user made stays always.
func TestBackupsAreMadeDaily(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.FS = unwatched{}
		h.unasked()
		h.Options.Now = time.Now
		h.Options.Backup = core.Backup{Daily: 2, Weekly: 3, MaxBytes: 1 << 30}
		mine := place(t, core.BackupFolder(h.State), "mine.tar.gz", "made by a user")
		e := h.open(t)
		stop := inTheBackground(t, e)
		rest := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
		first := save(t, e, "the first day")
		rest(10 * time.Minute)
		if got := backups(t, h); len(got) != 1 {
			t.Errorf("right after a start there are %v", got)
		}
		rest(time.Hour)
		if got := backups(t, h); len(got) != 2 || status(t, e).Backup.Memories != 1 {
			t.Errorf("after a change there are %v, and status says %+v", got, status(t, e).Backup)
		}
		made := status(t, e).Backup.File
		m, err := backup.Verify(t.Context(), durable.OS{}, made)
		if err != nil || !m.Automatic || m.Holds.Live() != 1 {
			t.Errorf("made %+v (%v)", m, err)
		}
		rest(72 * time.Hour)
		if got := backups(t, h); len(got) != 2 {
			t.Errorf("after days without a change there are %v", got)
		}
		for range 30 {
			do(t, e, op.Edit, &op.EditRequest{ID: string(first.ID), Content: new("it is " + time.Now().String())})
			rest(24 * time.Hour)
		}
		got := backups(t, h)
		if len(got) < 4 || len(got) > 6 || got[len(got)-1] != filepath.Base(mine) {
			t.Errorf("after a month there are %v", got)
		}
		if newest := status(t, e).Backup.Created; time.Since(newest) > 25*time.Hour {
			t.Errorf("the newest is of %s, and it is %s", newest, time.Now())
		}
		stop()
		ok(t, e.Close())
	})
}

// fullFolder is a disk on which the folder of backups is full.
type fullFolder struct{ unwatched }

func (d fullFolder) CreateAppend(name string) (durable.File, error) {
	if filepath.Base(filepath.Dir(name)) == "backups" {
		return nil, &os.PathError{Op: "open", Path: name, Err: syscall.ENOSPC}
	}
	return d.unwatched.CreateAppend(name)
}

// A backup that fails stops nothing: status says why and what to do, and the next try clears it.
func TestAFailedBackupIsTold(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.FS = fullFolder{}
		h.unasked()
		h.Options.Now = time.Now
		e := h.open(t)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = e.Run(ctx) }()
		save(t, e, "one")
		time.Sleep(time.Hour)
		synctest.Wait()
		st := status(t, e)
		if !strings.Contains(st.Backup.Problem, "too little free space for the backup") || st.Health != "degraded" {
			t.Errorf("health %s, backups %+v", st.Health, st.Backup)
		}
		save(t, e, "saving goes on")
		cancel()
		<-done
		ok(t, e.Close())
	})
}

// A purge removes automatic backups that hold the memory without being asked, and names those of a user.
func TestAPurgeRemovesAutomaticBackups(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	gone := save(t, e, "quixotic zeppelin")
	mine := do(t, e, op.BackupCreate, &op.BackupCreateRequest{}).File
	kept, err := os.ReadFile(mine)
	ok(t, err)
	auto := place(t, filepath.Dir(mine), "auto-20260301T120000.000Z-k7q2mzxa.tar.gz", string(kept))
	alike := place(t, filepath.Dir(mine), "auto-mine.tar.gz", string(kept))
	res := do(t, e, op.Purge, &op.PurgeRequest{ID: string(gone.ID)})
	if len(res.Backups) != 1 || res.Backups[0] != filepath.Base(auto) || len(left(res, "backup")) != 2 {
		t.Errorf("removed %q, left %q", res.Backups, left(res, "backup"))
	}
	if got := strings.Join(backups(t, h), " "); got != filepath.Base(alike)+" "+filepath.Base(mine) {
		t.Errorf("there are %s", got)
	}
}
