package stm

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/maphash"
	"path/filepath"
	"slices"

	"emberd/internal/durable"
	"emberd/memory"
)

const (
	compactPrefix = ".c."
	compactSuffix = ".tmp"
	// spare is what a compaction leaves free on the disk.
	spare = 16 << 20
)

// write is K2 and K3.
func (r *rewrite) write() error {
	free, err := r.s.fs.Free(r.s.ownDir())
	if need := r.got.After + r.got.HistoryBytes + spare; err == nil && free < uint64(need) {
		return memory.Errorf(memory.DiskFull, "compaction needs %d bytes for a moment and %d are free; free some space and try again", need, free)
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
	hotHead, _ := r.frame(measured.hot, Compacted)
	coldHead, _ := r.frame(measured.cold, History)
	r.emitter = r.newEmitter(hot, cold)
	if err := r.begin(hotHead, coldHead, measured); err != nil {
		return err
	}
	if err := r.emit(func(*change, Stamp, maphash.Seed) {}); err != nil {
		return err
	}
	_, hotEnd := r.frame(r.emitter.hot, Compacted)
	_, coldEnd := r.frame(r.emitter.cold, History)
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

func (r *rewrite) begin(hotHead, coldHead []byte, measured *emitter) error {
	if err := r.emitter.hot.write(bytesOf(hotHead)); err != nil || measured.cold.lines == 0 {
		return err
	}
	return r.emitter.cold.write(bytesOf(coldHead))
}

// bytesOf is a line without its LF.
func bytesOf(line []byte) []byte { return line[:len(line)-1] }

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

func (r *rewrite) create() (*tempFile, error) {
	name := filepath.Join(r.s.ownDir(), compactPrefix+rand.Text()+compactSuffix)
	f, err := r.s.fs.CreateAppend(name)
	if err != nil {
		return nil, fmt.Errorf("create the compacted file: %w", err)
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
		return fmt.Errorf("write the compacted file: %w", err)
	}
	return nil
}

// close releases a file that was not finished. Closing twice does no harm.
func (t *tempFile) close() { _ = t.f.Close() }

// publish is K5 and K6. The history has its name for good before the compacted
// file that counts on it.
func (r *rewrite) publish() error {
	names := []string{r.name.String()}
	if len(r.temps) == 2 {
		names = append(names, r.name.companion().String())
	}
	for i, base := range slices.Backward(names) {
		err := r.s.fs.RenameNoReplace(r.temps[i], filepath.Join(r.s.ownDir(), base))
		if err == nil {
			err = r.s.fs.SyncDir(r.s.ownDir())
		}
		if err != nil {
			return fmt.Errorf("name the compacted file: %w", err)
		}
	}
	return nil
}
