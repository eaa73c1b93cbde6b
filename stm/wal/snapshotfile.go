package wal

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"emberd/internal/durable"
	"emberd/stm/record"
)

func readSnapshot(fsys durable.FS, name string) ([]byte, error) {
	f, err := fsys.OpenRead(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := looksSealed(f, info.Size()); err != nil {
		return nil, err
	}
	b := make([]byte, info.Size())
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, err
	}
	return b, nil
}

// looksSealed refuses, before any memory is taken, what is too long for a snapshot, does not begin
// like one, or ends with zeros, as a file with a hole does. A checksum of zero is one in four billion,
// and costs one reading of the log.
func looksSealed(f io.ReaderAt, size int64) error {
	if size > math.MaxInt32*4 || size < int64(len(SnapshotMagic))+4 {
		return fmt.Errorf("it has %d bytes", size)
	}
	magic, sum := make([]byte, len(SnapshotMagic)), make([]byte, 4)
	if _, err := f.ReadAt(magic, 0); err != nil {
		return err
	}
	if _, err := f.ReadAt(sum, size-4); err != nil {
		return err
	}
	if string(magic) != SnapshotMagic || string(sum) == "\x00\x00\x00\x00" {
		return errors.New("not a snapshot")
	}
	return nil
}

// sealed is a snapshot without its checksum, if that is right.
func sealed(b []byte) ([]byte, error) {
	n := len(b) - 4
	if n < len(SnapshotMagic) || string(b[:len(SnapshotMagic)]) != SnapshotMagic {
		return nil, errors.New("not a snapshot")
	}
	if d := (&record.Decoder{B: b[n:]}); d.Uint32() != crc32.Checksum(b[:n], record.Castagnoli) {
		return nil, record.ErrChecksum
	}
	return b[:n:n], nil
}
