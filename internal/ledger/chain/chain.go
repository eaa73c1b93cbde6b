// Package chain keeps what callers did in files that show when a line was changed, left out, moved
// or cut off afterwards, to somebody with the key of the device.
//
// # Format
//
// A folder with: key, 32 random bytes in hex, mode 0600, made once; segments NNNNNNNN.jsonl, one
// JSON object a line, each process begins one; and head, where the chain ends and begins. Each line
// ends with ,"mac":"HEX"} where HEX is HMAC-SHA-256 under the key of the MAC of the line before and
// all of this line that precedes the comma. The first line of a segment is of kind anchor: it
// repeats where the chain was, so that the segments before it can be removed. Head is a line of
// the same form over the kind head with the number and the MAC of the last line and the number of
// the first one that is kept; it is replaced after each append. Memories are named by 16 hex digits
// of a keyed digest, so that a purged one is named nowhere.
//
// # What it shows, and what not
//
// Without the key nobody can write a line or a head that holds. With the key, which every program
// of the same user can read that no sandbox keeps from the state folder, anybody can write the
// chain anew; and a copy of the whole folder from an earlier moment holds as well, but for seals.
//
// A chain also seals lines of another file: [Chain.Seal]. A seal says how many lines the chain had,
// so that a copy of the folder from before shows, and whether the other line is as it was written.
//
// A Chain is for one goroutine at a time, but for what says otherwise.
package chain

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"emberd/internal/durable"
)

// What is kept at most.
const (
	maxSegment  = 512 << 10 // bytes, before the next one is begun
	maxTotal    = 8 << 20   // bytes of all segments but the open one
	maxSegments = 1000
)

// What is read at most, so that a file which somebody put there cannot fill the memory.
const (
	maxRead  = 32 << 20 // bytes of a segment
	maxSmall = 64 << 10 // bytes of the key and the head
)

// The kinds of lines that the chain makes itself.
const (
	Anchor   = "anchor"
	headKind = "head"
)

// Line is something that a caller did.
type Line struct {
	N    int64     `json:"n"` // one more than that of the line before
	At   time.Time `json:"at"`
	Kind string    `json:"kind"` // anchor, head, or one of package ledger
	What string    `json:"what,omitempty"`
	By   string    `json:"by,omitempty"` // kind:name of the caller
	PID  int       `json:"pid,omitempty"`
	Tx   string    `json:"tx,omitempty"`   // of a change: its entry in the journal, or in that of notes
	Read int64     `json:"read,omitempty"` // of a read: its number; of a mark: that of the next one
	IDs  []string  `json:"ids,omitempty"`  // digests of memories, the first ones
	Of   int       `json:"of,omitempty"`   // how many memories those are of, if there are more
	// Seq and Stamp are those of the line in the journal that a change is; of a mark: of the last one before.
	Seq   uint64 `json:"seq,omitempty"`
	Stamp string `json:"stamp,omitempty"`
	// First is, of a mark, the first read that is kept; Saved are the first and the next read that
	// are on the disk for certain.
	First int64    `json:"first,omitempty"`
	Saved [2]int64 `json:"saved,omitzero"`
	// Counts are, of a mark, digests of the counts of callers: that are on the disk for certain, and
	// that are written next.
	Counts [2]string `json:"counts,omitzero"`
	Before time.Time `json:"before,omitzero"` // superseded changes from before that may be gone
	// Note is, of an anchor, why the chain begins here; of a change that was found, what its seal says.
	Note string `json:"note,omitempty"`
	// Seals is, of a mark, that the process seals the lines of the journal.
	Seals bool   `json:"seals,omitempty"`
	Last  string `json:"last,omitempty"` // of an anchor and a head: the MAC of the last line before
	From  int64  `json:"from,omitempty"` // of a head: the first line that is kept
}

// Chain appends to the files of a folder.
type Chain struct {
	fs   durable.FS
	dir  string
	now  func() time.Time
	key  []byte
	n    int64  // of the last line
	last []byte // its MAC
	from int64
	// end is what seals are made with: the key, and the last line on the disk.
	end  atomic.Pointer[end]
	file durable.File // the open segment, nil before the first append
	size int64
	segs []string
}

// New returns the chain of a folder, which need not exist. Nothing is read before the first call.
func New(disk durable.FS, dir string, now func() time.Time) *Chain {
	return &Chain{fs: disk, dir: dir, now: now}
}

// Digest returns what stands for a memory in lines. The chain must have been opened by Append or
// Check. After Append any goroutine can call it.
func (c *Chain) Digest(id string) string {
	return hex.EncodeToString(macBy(c.sealKey(), []byte("id"), []byte(id))[:8])
}

func (c *Chain) mac(parts ...[]byte) []byte { return macBy(c.key, parts...) }

func macBy(key []byte, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, part := range parts {
		h.Write(part)
	}
	return h.Sum(nil)
}

// Append adds lines and has them on the disk when it returns nil. It sets their numbers. Fill is
// called with the chain open, and returns the lines.
func (c *Chain) Append(fill func() []Line) error {
	if c.file == nil {
		if _, err := c.Open(); err != nil {
			return err
		}
	}
	if err := c.write(fill()); err != nil {
		err = errors.Join(err, c.Close())
		return fmt.Errorf("cannot write the audit log: %w", err)
	}
	return nil
}

// Close closes the open segment. A later Append begins another one.
func (c *Chain) Close() error {
	if c.file == nil {
		return nil
	}
	f := c.file
	c.file, c.key = nil, nil
	return f.Close()
}

// Open begins a segment and returns what a check of those before found. Append does so, too.
func (c *Chain) Open() (*Report, error) {
	if c.file != nil {
		return c.Check()
	}
	r, err := c.open()
	if err != nil {
		return nil, fmt.Errorf("cannot open the audit log: %w", err)
	}
	return r, nil
}

// open finds where the chain ends.
func (c *Chain) open() (*Report, error) {
	if err := durable.MkdirAll(c.fs, c.dir); err != nil {
		return nil, err
	}
	if err := c.readKey(true); err != nil {
		return nil, err
	}
	r := c.check()
	c.n, c.last, c.from, c.segs = r.lastN, r.lastMAC, max(r.from, 1), r.segments
	c.end.Store(&end{c.key, c.n})
	if err := c.continueAt(r); err != nil { // what is on the disk is read again at the next try
		return nil, errors.Join(err, c.Close())
	}
	return r, nil
}

// continueAt begins a segment where a check says that the chain ends. The first segment of all has
// a head before it, so that one without a head always lost it.
func (c *Chain) continueAt(r *Report) error {
	if c.n == 0 {
		if err := c.saveHead(); err != nil {
			return err
		}
	}
	return c.begin(r.reason)
}

func (c *Chain) readKey(make bool) error {
	name := filepath.Join(c.dir, "key")
	raw, err := durable.ReadAtMost(c.fs, name, maxSmall)
	if errors.Is(err, fs.ErrNotExist) && make {
		fresh := [32]byte{}
		_, _ = rand.Read(fresh[:]) // which never fails
		raw = []byte(hex.EncodeToString(fresh[:]) + "\n")
		err = durable.CreateFile(c.fs, name, func(w io.Writer) error { _, err := w.Write(raw); return err })
	}
	if err != nil {
		return err
	}
	if c.key, err = hex.DecodeString(strings.TrimSpace(string(raw))); err != nil || len(c.key) != 32 {
		return fmt.Errorf("%s does not contain a key of 32 bytes in hexadecimal; "+
			"remove this file; the check then reports the key as missing", name)
	}
	return nil
}

// begin begins a segment with an anchor, and removes the oldest ones beyond what is kept.
func (c *Chain) begin(note string) error {
	if c.file != nil {
		if err := c.file.Close(); err != nil {
			return err
		}
		c.file = nil
	}
	name := fmt.Sprintf("%08d.jsonl", segmentNumber(c.segs)+1)
	f, err := c.fs.CreateAppend(filepath.Join(c.dir, name))
	if err != nil {
		return err
	}
	c.file, c.size, c.segs = f, 0, append(c.segs, name)
	if err := c.put([]Line{{Kind: Anchor, Note: note, Last: hex.EncodeToString(c.last)}}); err != nil {
		return err
	}
	if over := c.excess(); over > 0 {
		return c.trim(c.segs[:over])
	}
	return c.saveHead()
}

// excess returns how many of the oldest segments are too many.
func (c *Chain) excess() int {
	total, kept := int64(0), 1 // the open one
	for i := len(c.segs) - 2; i >= 0 && kept < maxSegments; i-- {
		info, err := c.fs.Lstat(filepath.Join(c.dir, c.segs[i]))
		if err == nil {
			total += info.Size()
		}
		if total > maxTotal {
			break
		}
		kept++
	}
	return len(c.segs) - kept
}

// trim removes segments, after the head says that the chain begins behind them.
func (c *Chain) trim(old []string) error {
	first, err := firstLine(c.fs, filepath.Join(c.dir, c.segs[len(old)]))
	if err != nil {
		return err
	}
	c.from = first
	if err := c.saveHead(); err != nil {
		return err
	}
	for _, name := range old {
		if err := c.fs.Remove(filepath.Join(c.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	c.segs = c.segs[len(old):]
	return c.fs.SyncDir(c.dir)
}

func (c *Chain) write(lines []Line) error {
	if c.size > maxSegment {
		if err := c.begin(""); err != nil {
			return err
		}
	}
	if err := c.put(lines); err != nil {
		return err
	}
	return c.saveHead()
}

// put appends lines to the open segment and syncs it.
func (c *Chain) put(lines []Line) error {
	var text bytes.Buffer
	n, last := c.n, c.last
	for i := range lines {
		n++
		lines[i].N = n
		if lines[i].At.IsZero() {
			lines[i].At = c.now().UTC().Truncate(time.Millisecond)
		}
		line, mac, err := c.seal(last, &lines[i])
		if err != nil {
			return err
		}
		text.Write(line)
		last = mac
	}
	if _, err := c.file.Write(text.Bytes()); err != nil {
		return errors.Join(err, c.file.Truncate(c.size))
	}
	if err := c.file.Sync(); err != nil {
		return err
	}
	c.n, c.last, c.size = n, last, c.size+int64(text.Len())
	c.end.Store(&end{c.key, c.n})
	return c.fs.SyncDir(c.dir)
}

// seal writes a line with its MAC.
func (c *Chain) seal(last []byte, l *Line) (line, mac []byte, err error) {
	body, err := json.Marshal(l)
	if err != nil {
		return nil, nil, err
	}
	body = body[:len(body)-1] // the brace
	mac = c.mac(last, body)
	return fmt.Appendf(body, macForm, hex.EncodeToString(mac)), mac, nil
}

const (
	macForm   = ",\"mac\":\"%s\"}\n"
	macLength = len(macForm) - len("%s") + 2*sha256.Size
)

func (c *Chain) saveHead() error {
	head := &Line{N: c.n, At: c.now().UTC(), Kind: headKind, Last: hex.EncodeToString(c.last), From: c.from}
	text, _, err := c.seal(nil, head)
	if err != nil {
		return err
	}
	return durable.ReplaceFile(c.fs, filepath.Join(c.dir, headKind), text)
}
