package vault

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"os"
	"syscall"
	"time"
	"unicode/utf8"
)

const (
	// maxIndexed is how many bytes of a note are indexed. The digest is of all.
	maxIndexed = 1 << 20
	// MaxText is how many bytes of a note [Vault.Text] returns at most.
	MaxText = maxIndexed
	// MaxSize is the size in bytes of the largest file that is read as a note. A larger one is not
	// opened, whatever of it is on the disk. Reading one that grows meanwhile ends here too.
	MaxSize = 16 << 20
)

// An editor that truncates and writes shows an empty or half-written note for a
// moment. What looks like one and is younger than fresh is read again.
const (
	fresh      = 2 * time.Second
	attempts   = 5
	firstPause = 50 * time.Millisecond // doubles with each attempt: 0.75 s in all
)

// content is the result of reading a file once.
type content struct {
	file   File
	data   []byte // the first maxIndexed bytes
	digest [sha256.Size]byte
	steady bool // the file was the same before and after
}

// Read reads a note. What is not read is a [*Skipped]; a note that is gone is
// [fs.ErrNotExist]. A note that changes meanwhile is read again, for up to a
// second or until ctx ends.
func (v *Vault) Read(ctx context.Context, path string) (*Note, error) {
	if err := v.checkName(path); err != nil {
		return nil, err
	}
	pause := firstPause
	for attempt := 1; ; attempt++ {
		c, err := v.load(ctx, path, true)
		if err != nil {
			return nil, err
		}
		last := attempt == attempts
		switch {
		case c.steady && (last || !c.halfWritten()):
			return v.note(c)
		case last:
			return nil, &Skipped{Path: path, Reason: Unsettled}
		}
		if err := wait(ctx, pause); err != nil {
			return nil, fmt.Errorf("cannot read note %q: %w", path, err)
		}
		pause *= 2
	}
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// halfWritten reports whether an editor may be in the middle of saving the note.
func (c *content) halfWritten() bool {
	age := time.Since(c.file.ModTime)
	return age < fresh && (len(c.data) == 0 || !utf8.Valid(c.data))
}

// open does not wait for the writer of a pipe that has taken the name in the meantime, hence
// O_NONBLOCK.
func (v *Vault) open(path string) (*os.File, error) {
	return v.root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
}

// load reads the file once, its beginning only or all of it for the digest.
func (v *Vault) load(ctx context.Context, path string, digest bool) (*content, error) {
	if _, err := v.findFile(path); err != nil {
		return nil, err
	}
	f, err := v.open(path)
	if err != nil {
		return nil, v.explainError(path, err)
	}
	defer f.Close()
	before, err := v.stat(f, path) // it may have grown since
	if err != nil {
		return nil, err
	}
	c := &content{file: before}
	size, err := c.begin(f)
	if err == nil && digest && isText(c.data) { // the digest of a file that is not text has no use
		size, err = c.sum(ctx, f)
	}
	if err != nil {
		return nil, v.explainError(path, err)
	}
	after, err := v.stat(f, path)
	c.steady = before == after && (size == before.Size || size == maxIndexed && (!digest || !isText(c.data)))
	return c, err
}

func (v *Vault) stat(f *os.File, path string) (File, error) {
	info, err := f.Stat()
	if err != nil {
		return File{}, v.explainError(path, err)
	}
	return v.checkFile(path, info)
}

// begin reads the beginning and returns its size.
func (c *content) begin(r io.Reader) (int64, error) {
	var data bytes.Buffer
	data.Grow(int(min(c.file.Size, maxIndexed)) + bytes.MinRead)
	n, err := data.ReadFrom(io.LimitReader(r, maxIndexed))
	c.data = data.Bytes()
	return n, err
}

// sum hashes the beginning and what follows it, and returns the size of both.
func (c *content) sum(ctx context.Context, r io.Reader) (int64, error) {
	sum := sha256.New()
	sum.Write(c.data)
	n := int64(len(c.data))
	if n == maxIndexed {
		rest, err := drain(ctx, sum, io.LimitReader(r, MaxSize-maxIndexed))
		if err != nil {
			return n, err
		}
		n += rest
	}
	c.digest = [sha256.Size]byte(sum.Sum(nil))
	return n, nil
}

// drain hashes what lies beyond the bound, in steps that notice the end of ctx.
func drain(ctx context.Context, sum hash.Hash, r io.Reader) (int64, error) {
	var total int64
	for {
		n, err := io.CopyN(sum, r, maxIndexed)
		total += n
		if err == io.EOF {
			return total, nil
		}
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return total, err
		}
	}
}
