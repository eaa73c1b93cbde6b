package snapshot

import (
	"bufio"
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"time"

	"emberd/stm/record"
)

// The format is on disk: these never change. A new layout takes a new version.
const (
	// withPlainRows is a version whose rows have all documents as JSON and a stamp for each key.
	withPlainRows = 6
	// withAllDocuments is the one after that, whose rows have their documents themselves.
	withAllDocuments = 7
	// withoutParts is the one after that, whose rows do not tell their parts.
	withoutParts = 8

	Magic      = "emberstm"
	Version    = 9
	endMagic   = "emberend"
	partMagic  = "part"
	headerSize = 16 // of the file
	partHeader = 24
	entrySize  = 32
	trailer    = 32
	block      = 1 << 20 // of a content, has a sum of its own
)

// kind is what a part holds.
type kind string

const (
	kindMeta   kind = "meta"
	kindRefs   kind = "refs"
	kindUndone kind = "undo"
	kindKeys   kind = "keys"
	kindDocs   kind = "docs"
	kindRows   kind = "rows"
	kindOpened kind = "open"
	kindGraves kind = "dels"
	kindBare   kind = "bare"
	kindPurges kind = "purg"
	kindWords  kind = "word"
)

// enough is how many bytes of items make a part; the last item may go beyond.
const enough = block - 1<<16

// syncEvery is after how many bytes a file is synced while it is written, so that
// the last sync is short and an end of the context is noticed soon.
const syncEvery = 8 << 20

// entry is a part as the directory has it.
type entry struct {
	kind   kind
	count  uint32
	at     int64 // where its header begins
	length int64 // of its content
	sums   uint32
}

// padded is n with the zeros that align what follows.
func padded(n int64) int64 { return (n + 7) &^ 7 }

func zeros(n int64) []byte { return make([]byte, padded(n)-n) }

func sumOf(b []byte) uint32 { return crc32.Checksum(b, record.Castagnoli) }

// end is where the part ends.
func (e *entry) end() int64 { return e.at + partHeader + padded(e.length) + e.sumsSize() }

// sumsSize is how many bytes the sums of the part take.
func (e *entry) sumsSize() int64 { return padded((padded(e.length) + block - 1) / block * 4) }

// header are the bytes before the content.
func (e *entry) header() []byte {
	b := append([]byte(partMagic), e.kind...)
	b = binary.LittleEndian.AppendUint64(b, uint64(e.length))
	b = binary.LittleEndian.AppendUint32(b, e.count)
	return binary.LittleEndian.AppendUint32(b, sumOf(b))
}

// inDirectory are the bytes that the directory has of the part.
func (e *entry) inDirectory() []byte {
	b := binary.LittleEndian.AppendUint32([]byte(e.kind), e.count)
	b = binary.LittleEndian.AppendUint64(b, uint64(e.at))
	b = binary.LittleEndian.AppendUint64(b, uint64(e.length))
	b = binary.LittleEndian.AppendUint32(b, e.sums)
	return binary.LittleEndian.AppendUint32(b, 0)
}

func fileHeader() []byte { return append([]byte(Magic), Version, 0, 0, 0, 0, 0, 0, 0) }

// container writes a file from its beginning to its end. After the first fault err is
// set and nothing more is written.
type container struct {
	to       io.Writer
	out      *bufio.Writer // to to
	gently   bool
	at       int64
	unsynced int64
	unrested int64
	began    time.Time // the writing of what is unrested
	parts    []entry
	err      error
}

func newContainer(to io.Writer, gently bool) *container {
	return &container{to: to, out: bufio.NewWriterSize(to, 1<<16), gently: gently, began: time.Now()}
}

// write passes b on, unless ctx ended.
func (c *container) write(ctx context.Context, b []byte) {
	if c.err == nil && ctx.Err() != nil {
		c.err = context.Cause(ctx)
	}
	if c.err != nil {
		return
	}
	_, c.err = c.out.Write(b)
	n := int64(len(b))
	c.at, c.unsynced, c.unrested = c.at+n, c.unsynced+n, c.unrested+n
	if c.unsynced >= syncEvery {
		c.sync()
	}
	if c.unrested >= block {
		c.rest(ctx)
	}
}

// sync puts what is written so far onto the disk, if to can.
func (c *container) sync() {
	if c.err == nil {
		c.unsynced, c.err = 0, c.out.Flush()
	}
	if disk, ok := c.to.(interface{ Sync() error }); ok && c.err == nil {
		c.err = disk.Sync()
	}
}

// rest waits as long as the latest MiB took, where others are to have half of the time at least.
func (c *container) rest(ctx context.Context) {
	if c.gently && c.err == nil {
		select {
		case <-time.After(time.Since(c.began)):
		case <-ctx.Done():
		}
	}
	c.unrested, c.began = 0, time.Now()
}

// part writes a part with a content of so many bytes, which fill hands to its argument.
func (c *container) part(ctx context.Context, k kind, count int, length int64, fill func(io.Writer) error) {
	e := entry{kind: k, count: uint32(count), at: c.at, length: length}
	c.write(ctx, e.header())
	body := &body{pass: func(b []byte) error { c.write(ctx, b); return c.err }}
	if err := fill(body); err != nil && c.err == nil {
		c.err = err
	}
	if body.n != length && c.err == nil {
		c.err = io.ErrShortWrite
	}
	_, _ = body.Write(zeros(length)) // c.err has its error
	sums := body.finish()
	e.sums = sumOf(sums)
	c.write(ctx, sums)
	c.parts = append(c.parts, e)
}

// finish writes directory and trailer.
func (c *container) finish(ctx context.Context) error {
	var dir []byte
	for i := range c.parts {
		dir = append(dir, c.parts[i].inDirectory()...)
	}
	end := binary.LittleEndian.AppendUint64(nil, uint64(c.at))
	end = binary.LittleEndian.AppendUint32(end, uint32(len(c.parts)))
	end = binary.LittleEndian.AppendUint32(end, sumOf(dir))
	end = binary.LittleEndian.AppendUint32(end, 0)
	end = binary.LittleEndian.AppendUint32(end, sumOf(end))
	c.write(ctx, dir)
	c.write(ctx, append(end, endMagic...))
	if c.err == nil {
		c.err = c.out.Flush()
	}
	return c.err
}

// body adds up the sums of a content that passes through it.
type body struct {
	pass func([]byte) error
	n    int64
	sum  uint32 // of the block that is not full
	sums []byte // of those before it
}

func (b *body) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		now := rest[:min(int64(len(rest)), block-b.n%block)]
		rest = rest[len(now):]
		b.sum = crc32.Update(b.sum, record.Castagnoli, now)
		if b.n += int64(len(now)); b.n%block == 0 {
			b.close()
		}
	}
	return len(p), b.pass(p)
}

func (b *body) close() { b.sums, b.sum = binary.LittleEndian.AppendUint32(b.sums, b.sum), 0 }

// finish returns the sums, aligned.
func (b *body) finish() []byte {
	if b.n%block != 0 {
		b.close()
	}
	return append(b.sums, zeros(int64(len(b.sums)))...)
}
