package vault

import (
	"context"
	"errors"
	"io"
	"time"

	"emberd/internal/durable"
)

// The tests are in package vault_test. Here is what they need of the inside: reading bytes
// without a file, and a writer on a disk that the test controls.

const (
	MaxIndexed = maxIndexed
	MaxWritten = maxWritten
	TempPrefix = tempPrefix
)

var (
	IsGitBusy = isGitBusy

	Parse  = parse
	IsText = isText
	Torn   = torn
)

// NoteDisk is the disk below the vault's root.
type NoteDisk = noteDisk

// DiskOf returns the disk that a writer of the vault has.
func DiskOf(v *Vault) NoteDisk { return rootDisk{durable.NewRoot(v.root), v.root} }

// PlainDisk is a disk without owners, attributes and an exchange of names.
type PlainDisk struct{ durable.FS }

func (PlainDisk) Exchange(a, b string) error          { return errors.ErrUnsupported }
func (PlainDisk) Link(from, to string) error          { return errors.ErrUnsupported }
func (PlainDisk) SyncFile(name string) error          { return nil }
func (s PlainDisk) Export(name, outside string) error { return s.Rename(name, outside) }
func (s PlainDisk) Import(outside, name string) error { return s.Rename(outside, name) }
func (PlainDisk) dress(name, like string) error       { return nil }
func (PlainDisk) share(name, like string) error       { return nil }

// OpenWriterOn is OpenWriter on two disks and with a clock that the test controls.
func OpenWriterOn(v *Vault, notes NoteDisk, disk durable.FS, state string, now func() time.Time) (*Writer, error) {
	w := newWriter(v, notes, disk, state)
	w.now = now
	return w, w.recover()
}

// Unfinished returns how many writes are not over.
func (w *Writer) Unfinished() int { return len(w.open) }

// FellBack reports whether names cannot be exchanged. It takes no lock, so that a disk can call
// it in the middle of a write.
func (w *Writer) FellBack() bool { return w.fallback }

// ReadFrom reads a file as Read does and returns how much of it was read.
func ReadFrom(ctx context.Context, r io.Reader) (int64, error) {
	var c content
	if _, err := c.begin(r); err != nil {
		return 0, err
	}
	return c.sum(ctx, r)
}
