package compaction

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm/record"
)

const (
	CompactPrefix = ".c."
	CompactSuffix = ".tmp"
	// spare is what a compaction leaves free on the disk.
	spare = 16 << 20
)

// writeFiles is K2 and K3.
func (r *compactionRun) writeFiles() error {
	free, err := r.FS.Free(r.Dir)
	if need := r.got.After + r.got.HistoryBytes + spare; err == nil && free < uint64(need) {
		return memory.Errorf(memory.DiskFull,
			"compaction temporarily needs %d bytes, but only %d are free; free some disk space and try again", need,
			free)
	}
	measured := r.emitter
	hot, err := r.create()
	if err != nil {
		return err
	}
	defer hot.close()
	cold := hot
	if measured.cold.lines > 0 {
		if cold, err = r.create(); err != nil {
			return err
		}
		defer cold.close()
	}
	// The headers tell what the measuring run found.
	hotHead, _ := r.frame(measured.hot, record.Compacted)
	coldHead, _ := r.frame(measured.cold, record.History)
	r.emitter = r.newEmitter(hot, cold)
	if err := r.begin(hotHead, coldHead, measured); err != nil {
		return err
	}
	if err := r.emit(func(*record.Change, record.Stamp, maphash.Seed) {}); err != nil {
		return err
	}
	_, hotEnd := r.frame(r.emitter.hot, record.Compacted)
	_, coldEnd := r.frame(r.emitter.cold, record.History)
	r.got.After = r.emitter.hot.size + int64(len(hotEnd))
	if err := hot.finish(hotEnd); err != nil {
		return err
	}
	if cold != hot {
		r.got.HistoryBytes = r.emitter.cold.size + int64(len(coldEnd))
		return cold.finish(coldEnd)
	}
	return nil
}

func (r *compactionRun) begin(hotHead, coldHead []byte, measured *recordFilter) error {
	if err := r.emitter.hot.write(withoutLF(hotHead)); err != nil || measured.cold.lines == 0 {
		return err
	}
	return r.emitter.cold.write(withoutLF(coldHead))
}

// withoutLF is a line without its LF.
func withoutLF(line []byte) []byte { return line[:len(line)-1] }

// tempFile is an output on its way to its name. It is synced in small parts, as
// the sync of a save waits for what else the disk has to write.
type tempFile struct {
	*bufio.Writer
	f durable.File
}

// parts is a file that is synced after every partBytes.
type parts struct {
	durable.File
	unsynced int
}

const partBytes = 1 << 20

func (p *parts) Write(b []byte) (int, error) {
	n, err := p.File.Write(b)
	if p.unsynced += n; err != nil || p.unsynced < partBytes {
		return n, err
	}
	p.unsynced = 0
	return n, p.Sync()
}

func (r *compactionRun) create() (*tempFile, error) {
	name := filepath.Join(r.Dir, CompactPrefix+rand.Text()+CompactSuffix)
	f, err := r.FS.CreateAppend(name)
	if err != nil {
		return nil, fmt.Errorf("cannot create the compacted file: %w", err)
	}
	r.temps = append(r.temps, name)
	return &tempFile{bufio.NewWriterSize(&parts{File: f}, 1<<18), f}, nil
}

func (t *tempFile) finish(end []byte) error {
	_, err := t.Write(end)
	err = errors.Join(err, t.Flush())
	if err == nil {
		err = t.f.Sync()
	}
	if err == nil {
		err = t.f.Close()
	}
	if err != nil {
		return fmt.Errorf("cannot write the compacted file: %w", err)
	}
	return nil
}

// close releases a file that was not finished. Closing twice does no harm.
func (t *tempFile) close() { _ = t.f.Close() }

// publish is K5 and K6. The history has its name for good before the compacted
// file that counts on it.
func (r *compactionRun) publish() error {
	names := []string{r.name.String()}
	if len(r.temps) == 2 {
		names = append(names, r.name.Companion().String())
	}
	for i, base := range slices.Backward(names) {
		err := r.FS.RenameNoReplace(r.temps[i], filepath.Join(r.Dir, base))
		if err == nil {
			err = r.FS.SyncDir(r.Dir)
		}
		if err != nil {
			return fmt.Errorf("cannot rename the compacted file: %w", err)
		}
	}
	return nil
}

// SweepTemps removes what a crash left of a compaction in a folder.
func SweepTemps(fsys durable.FS, dir string, log *slog.Logger) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return // reading the log tells
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, CompactPrefix) || !strings.HasSuffix(name, CompactSuffix) || !e.Type().IsRegular() {
			continue
		}
		if err := fsys.Remove(filepath.Join(dir, name)); err != nil {
			log.Warn("temporary file of a compaction not removed", "file", name, "error", err)
		}
	}
}
