package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"emberd/engine/core"
	"emberd/internal/backup"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
)

const (
	backupJob = "backup"
	// logJob is under which status says that the log on the disk lacks memories.
	logJob = "check of the log on disk"
	// BackupDelay is how long after a start, or a change, an automatic backup waits.
	BackupDelay = 15 * time.Minute
	backupRetry = time.Hour
	day         = 24 * time.Hour
	// backupSpare is what an automatic backup leaves free on the disk.
	backupSpare = 64 << 20
)

// Backups is what is known of the backups in the state folder.
type Backups struct {
	mu   sync.Mutex // guards what follows
	last *backup.Manifest
	file string // of last, without its folder
	next time.Time
}

// due takes note of when the next automatic backup is made, zero if none is due.
func (b *Backups) due(at time.Time) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next = at
	return at
}

func (b *Backups) nextDue() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.next
}

func (b *Backups) made(m *backup.Manifest, file string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last == nil || !m.Created.Before(b.last.Created) {
		b.last, b.file = m, file
	}
}

// newestBackup is the newest that there still is: a purge or a user can remove one.
func (e *Storage) newestBackup() (*backup.Manifest, string) {
	dir := core.BackupFolder(e.Opt.State)
	b := &e.Backups
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last == nil {
		return nil, ""
	}
	if _, err := e.Opt.FS.Lstat(filepath.Join(dir, b.file)); errors.Is(err, fs.ErrNotExist) {
		b.last, b.file, _ = backup.Newest(e.Opt.FS, dir) // an error means that none is known
	}
	return b.last, b.file
}

// LoadBackups finds the newest backup. Each was verified when it was made.
func (e *Storage) LoadBackups() {
	m, file, err := backup.Newest(e.Opt.FS, core.BackupFolder(e.Opt.State))
	if err != nil {
		e.Opt.Logger.Warn("backups not listed", "err", err)
	}
	e.Backups.mu.Lock()
	defer e.Backups.mu.Unlock()
	e.Backups.last, e.Backups.file = m, file
}

// BackupStatus reports the newest backup in the state folder.
func (e *Storage) BackupStatus() *op.BackupStatus {
	m, file := e.newestBackup()
	s := &op.BackupStatus{Daily: e.Opt.Backup.Daily, Weekly: e.Opt.Backup.Weekly, Problem: e.Chores.Problem(backupJob),
		Folder: core.BackupFolder(e.Opt.State), Next: core.StampTime(e.Backups.nextDue())}
	if m != nil {
		s.File, s.Created, s.Memories = filepath.Join(core.BackupFolder(e.Opt.State), file), m.Created, m.Memories
	}
	return s
}

// backupTask makes a backup every day on which something changed. Without a change it has no timer.
func (e *Storage) backupTask(wake <-chan struct{}) *core.Task {
	due := func(set time.Time) time.Time {
		if !set.IsZero() || e.backupEvery() == 0 {
			return set
		}
		return e.Backups.due(e.nextBackup())
	}
	first := time.Time{}
	if e.Stm.Len() > 0 {
		first = due(first)
	}
	return &core.Task{Name: backupJob, First: first, Wake: wake, Woken: due, Do: e.backUp}
}

// backupEvery is how often a backup is made, 0 for never.
func (e *Storage) backupEvery() time.Duration {
	switch {
	case e.Opt.Backup.Daily > 0:
		return day
	case e.Opt.Backup.Weekly > 0:
		return 7 * day
	}
	return 0
}

func (e *Storage) nextBackup() time.Time {
	next := e.Opt.Now().Add(BackupDelay)
	if m, _ := e.newestBackup(); m != nil && m.Created.Before(e.Opt.Now()) {
		if at := m.Created.Add(e.backupEvery()); at.After(next) {
			return at
		}
	}
	return next
}

// backUp makes one backup, if anything changed since the newest, and removes those that are no longer
// to be kept. A failure is in status and is tried again; it stops nothing else.
func (e *Storage) backUp(ctx context.Context) time.Time {
	err := e.autoBackup(ctx)
	if ctx.Err() != nil {
		return time.Time{}
	}
	e.Chores.Settle(backupJob, err)
	if err != nil {
		e.Opt.Logger.Error("automatic backup failed", "err", err)
		return e.Backups.due(e.Opt.Now().Add(backupRetry))
	}
	return e.Backups.due(time.Time{})
}

func (e *Storage) autoBackup(ctx context.Context) error {
	same, err := e.unchanged(ctx)
	if err != nil || same {
		return err
	}
	created := core.StampTime(e.Opt.Now())
	file := e.backupName("auto-", created)
	if err := durable.MkdirAll(e.Opt.FS, filepath.Dir(file)); err != nil {
		return BackupFault(file, err)
	}
	need := uint64(e.Stm.Status().Bytes) + backupSpare
	if free, err := e.Opt.FS.Free(filepath.Dir(file)); err == nil && free < need {
		return memory.Errorf(memory.DiskFull,
			"%s has %d MiB free, but a backup needs up to %d MiB; free some space, then run: emberd backup create",
			filepath.Dir(file), free>>20, need>>20)
	}
	m, err := e.writeBackup(ctx, file, created, true)
	if err != nil {
		return BackupFault(file, err)
	}
	e.Backups.made(m, filepath.Base(file))
	if e.healLog(ctx, m) {
		e.Chores.Settle(logJob, nil)
	} else {
		e.Chores.Settle(logJob, lacking(m))
	}
	e.Opt.Logger.Info("automatic backup created", "file", file, "memories", m.Memories)
	e.EventLog.Publish(e.Notice(fmt.Sprintf("created backup %s with %s", filepath.Base(file),
		core.NumberOf(m.Memories, "memory", "memories"))))
	return e.rotate()
}

// lacking is an error for a log on the disk that lacked memories.
func lacking(m *backup.Manifest) error {
	if m.FromMemory+m.LostTrash == 0 {
		return nil
	}
	return fmt.Errorf("the log on disk did not contain %s, so the daemon wrote the "+
		"missing memories from RAM to the backup (%s); run: emberd status",
		core.NumberOf(m.FromMemory, "memory", "memories"), strings.Join(m.Damaged, "; "))
}

// unchanged reports whether the newest backup holds what the store knows.
func (e *Storage) unchanged(ctx context.Context) (bool, error) {
	last, _ := e.newestBackup()
	if last == nil || last.Holds == nil {
		return false, nil
	}
	_, known, err := e.Stm.Moment(ctx)
	if err != nil {
		return false, err
	}
	return len(known.Summary(last.TrashSince).Differences(last.Holds)) == 0, nil
}

// autoFile is an automatic backup.
type autoFile struct {
	name string
	made time.Time
	size int64
}

// rotate removes automatic backups beyond those to keep.
func (e *Storage) rotate() error {
	dir := core.BackupFolder(e.Opt.State)
	entries, err := e.Opt.FS.ReadDir(dir)
	if err != nil {
		return err
	}
	var files []autoFile
	for _, entry := range entries {
		made, auto := core.AutoBackup(entry.Name())
		if info, failed := entry.Info(); auto && failed == nil && info.Mode().IsRegular() {
			files = append(files, autoFile{entry.Name(), made, info.Size()})
		}
	}
	for _, f := range expired(e.Opt.Backup, files) {
		if failed := e.Opt.FS.Remove(filepath.Join(dir, f.name)); !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return errors.Join(err, e.Opt.FS.SyncDir(dir))
}

// expired lists the backups that go: those that are not the newest of one of the last days or weeks
// that have one, and the oldest of the others while all together exceed the bound. The newest stays.
func expired(o core.Backup, files []autoFile) (gone []autoFile) {
	slices.SortFunc(files, func(a, b autoFile) int { return cmp.Compare(b.name, a.name) })
	days, weeks := map[string]bool{}, map[string]bool{}
	first := func(seen map[string]bool, name string, most int) bool {
		if seen[name] || len(seen) >= most {
			return false
		}
		seen[name] = true
		return true
	}
	total := int64(0)
	for i, f := range files {
		year, week := f.made.ISOWeek()
		daily := first(days, f.made.Format(time.DateOnly), o.Daily)
		weekly := first(weeks, fmt.Sprint(year, week), o.Weekly)
		if total += f.size; i > 0 && (!daily && !weekly || total > o.MaxBytes) {
			gone = append(gone, f)
			total -= f.size
		}
	}
	return gone
}
