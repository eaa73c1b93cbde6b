package crashdisk

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"syscall"
)

// handle is an open file of either kind.
type handle struct {
	disk   *Disk
	node   *node
	name   string
	closed bool // guarded by disk.mu
}

// begin is Disk.begin for an open file.
func (h *handle) begin(op Op) (short int, err error) {
	if h.closed {
		return 0, fs.ErrClosed
	}
	return h.disk.begin(op, h.name)
}

func (h *handle) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: h.name, Err: err}
}

// Close closes even when a fault makes it return an error, as close(2) does.
func (h *handle) Close() error {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	_, err := h.begin(OpClose)
	h.closed = true
	return h.wrap("close", err)
}

// appendFile implements durable.File.
type appendFile struct{ handle }

func (f *appendFile) Name() string { return f.name }

func (f *appendFile) Write(p []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	short, err := f.begin(OpWrite)
	switch {
	case err == nil:
	case short == 0 || short > len(p):
		p = nil
	default:
		p = p[:len(p)-short]
	}
	if free := f.disk.free(); err == nil && uint64(len(p)) > free {
		p, err = p[:free], syscall.ENOSPC
	}
	if len(p) > 0 {
		f.resize(func() { f.node.write(p) })
	}
	return len(p), f.wrap("write", err)
}

func (f *appendFile) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	_, err := f.begin(OpSync)
	switch {
	case err == nil:
		f.node.sync()
	case !errors.Is(err, ErrPowerOff) && !errors.Is(err, fs.ErrClosed):
		f.node.failSync()
	}
	return f.wrap("sync", err)
}

func (f *appendFile) Truncate(size int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	_, err := f.begin(OpTruncate)
	grow := max(size-int64(len(f.node.now.data)), 0)
	switch {
	case err != nil:
	case size < 0:
		err = syscall.EINVAL
	case uint64(grow) > f.disk.free():
		err = syscall.ENOSPC
	default:
		f.resize(func() { f.node.truncate(int(size)) })
	}
	return f.wrap("truncate", err)
}

// resize applies a change of content and keeps the account of used space.
func (f *appendFile) resize(change func()) {
	d, n := f.disk, f.node
	before := len(n.now.data)
	change()
	n.modified = d.time()
	if n.links > 0 {
		d.used += uint64(len(n.now.data)) - uint64(before)
	}
}

// readFile implements durable.ReadFile.
type readFile struct {
	handle
	offset int64 // guarded by disk.mu
}

func (f *readFile) Stat() (fs.FileInfo, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if _, err := f.begin(OpRead); err != nil {
		return nil, f.wrap("stat", err)
	}
	return describe(filepath.Base(f.name), f.node), nil
}

func (f *readFile) Read(p []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	n, err := f.read(p, f.offset)
	f.offset += int64(n)
	if n > 0 || len(p) == 0 {
		err = f.exceptEOF(err)
	}
	return n, err
}

func (f *readFile) ReadAt(p []byte, offset int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if offset < 0 {
		return 0, f.wrap("readat", syscall.EINVAL)
	}
	return f.read(p, offset)
}

// read returns io.EOF whenever it could not fill p.
func (f *readFile) read(p []byte, offset int64) (int, error) {
	if _, err := f.begin(OpRead); err != nil {
		return 0, f.wrap("read", err)
	}
	data := f.node.now.data
	n := copy(p, data[min(offset, int64(len(data))):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// exceptEOF leaves the end of the file for the next Read to report.
func (f *readFile) exceptEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}
