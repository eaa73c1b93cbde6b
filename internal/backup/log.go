package backup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"emberd/internal/durable"
	"emberd/stm/content"
	"emberd/stm/record"
)

// Log is what a backup of a log is compared with.
type Log struct {
	FS    durable.FS
	Data  string
	Known *content.Known // at the moment of the backup
	// Damage says what is wrong with the files of the log. It is called when they lack something.
	Damage func(context.Context) ([]string, error)
}

// Fill compares the files with what the store knows, and adds what they lack. It is the [Fill]
// of a backup of a log.
func (l *Log) Fill(ctx context.Context, m *Manifest) error {
	c, err := m.folder(l.FS, l.Data).Compare(ctx, l.Known)
	if err != nil {
		return err
	}
	m.Holds, m.Memories, m.FromMemory, m.LostTrash = c.Summary, c.Summary.Live(), c.Memories, c.LostTrash
	for _, s := range c.Saved {
		m.Add(s.Name, s.Data)
	}
	if m.FromMemory+m.LostTrash > 0 {
		m.Damaged, err = l.Damage(ctx)
	}
	return err
}

// folder is the log in a folder with the files of the manifest.
func (m *Manifest) folder(fsys durable.FS, root string) *content.Folder {
	dev, _ := record.ParseDevice(m.Device)
	out := &content.Folder{FS: fsys, Root: root, Device: dev, Seq: m.Seq, Now: m.Created,
		Since: m.TrashSince, Size: m.Memories}
	for _, f := range m.Files {
		out.Files = append(out.Files, content.File{Name: f.Name, Size: f.Size, SHA256: f.SHA256})
	}
	return out
}

// ErrDiffers is the cause in the error for an unpacked log that does not hold what the manifest
// says.
var ErrDiffers = errors.New("the log in the backup differs from its manifest")

// Settle compares an unpacked log with the manifest, and takes out of it the memories that were
// purged since. It returns how many live memories that were. The cause of the error is
// [ErrDiffers] where they are not the same; a backup of an earlier version has nothing to compare
// with.
func (m *Manifest) Settle(ctx context.Context, fsys durable.FS, root string, purged content.Purges,
	now time.Time) (gone int, err error) {
	log := m.folder(fsys, root)
	held, err := log.Sum(ctx)
	if err != nil {
		return 0, err
	}
	if wrong := m.Holds.Differences(held); m.Holds != nil && len(wrong) > 0 {
		return 0, fmt.Errorf("%w: the log contains %s; check these files: %s", ErrDiffers, strings.Join(wrong, ", "),
			strings.Join(m.names(), ", "))
	}
	if len(purged) == 0 {
		return 0, nil
	}
	want, err := log.SumWithout(ctx, purged)
	if err != nil {
		return 0, err
	}
	files, err := log.Remove(ctx, purged, now)
	if err != nil {
		return 0, fmt.Errorf("cannot remove the memories that were deleted permanently after the backup: %w", err)
	}
	log.Files = files
	got, err := log.Sum(ctx)
	if err == nil && len(want.Differences(got)) > 0 {
		err = fmt.Errorf("%w: without the permanently deleted memories, the log contains %s", ErrDiffers,
			strings.Join(want.Differences(got), ", "))
	}
	return held.Live() - want.Live(), err
}

// names lists the files of the log, the first few.
func (m *Manifest) names() (out []string) {
	const most = 8
	for _, f := range m.Files {
		if strings.HasSuffix(f.Name, ".jsonl") {
			out = append(out, filepath.ToSlash(f.Name))
		}
	}
	if len(out) > most {
		out = append(out[:most], fmt.Sprintf("and %d more", len(out)-most))
	}
	return out
}
