package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"emberd/internal/durable"
)

// checkpoint is how many bytes arrive between two that are known to be on the disk: what a
// resumed download reads again at most.
const checkpoint = 4 << 20

// A partial is a file that is not complete. It is locked while it is open.
type partial struct {
	to   string // the name that the file gets in the end
	file *os.File
	sum  hash.Hash // of the first size bytes
	size int64
	note note
}

// A note is what the file beside a partial one says of it.
type note struct {
	From     string `json:"from"`    // for people, without secrets
	Address  string `json:"address"` // the SHA-256 of the whole address, which may have some
	ETag     string `json:"etag,omitempty"`
	Modified string `json:"modified,omitempty"`
	SHA256   string `json:"sha256,omitempty"` // that is expected
	Total    int64  `json:"total,omitempty"`  // bytes of the file, if the server told
	Synced   int64  `json:"synced"`           // bytes of the partial file that are on the disk
}

// validator is what If-Range may say, and empty if nothing tells one version of the file from
// another. A weak ETag does not tell whether bytes are the same.
func (n *note) validator() string {
	if n.ETag != "" && n.ETag[0] == '"' {
		return n.ETag
	}
	return n.Modified
}

// resumable reports whether a later download can go on with the file.
func (n *note) resumable() bool { return n.SHA256 != "" || n.validator() != "" }

// sameAs reports whether two notes are of one thing.
func (n *note) sameAs(other *note) bool {
	if n.SHA256 != "" || other.SHA256 != "" {
		return n.SHA256 == other.SHA256
	}
	return n.Address == other.Address && n.validator() != ""
}

func partialName(to string) string { return to + ".partial" }

func noteName(to string) string { return to + ".partial.json" }

// openPartial opens and locks the partial file of a name, and makes it if there is none. The
// lock is on the file itself, so nothing stays when it has become the complete one; a process
// that waited for it there finds another file under the name, or none, and starts over.
func openPartial(to string) (*partial, error) {
	for range 10 {
		f, err := os.OpenFile(partialName(to), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, Explain(err, filepath.Dir(to))
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			f.Close()
			break
		}
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", partialName(to), err)
		}
		if named(f) {
			return &partial{to: to, file: f, sum: sha256.New()}, nil
		}
		f.Close()
	}
	return nil, fmt.Errorf("%s %w", to, ErrBusy)
}

// named reports whether the open file still is what its name means.
func named(f *os.File) bool {
	open, err := f.Stat()
	if err != nil || !open.Mode().IsRegular() {
		return false
	}
	now, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(open, now)
}

// close ends the lock, and leaves no empty file. What is worth keeping was synced before.
func (p *partial) close() {
	if info, err := p.file.Stat(); err == nil && info.Size() == 0 {
		p.remove()
	}
	p.file.Close()
}

// remove removes the partial file, as far as that goes: what stays is overwritten next time.
func (p *partial) remove() {
	if named(p.file) {
		_ = os.Remove(p.file.Name())
	}
	_ = os.Remove(noteName(p.to))
	p.size = 0
}

// resume takes up what an earlier download of the same thing left, and empties the file if it
// is of something else.
func (p *partial) resume(ctx context.Context, of *note) error {
	left, err := readNote(p.to)
	if err != nil || !left.sameAs(of) {
		return p.reset()
	}
	info, err := p.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < left.Synced { // somebody cut it
		return p.reset()
	}
	if err := p.file.Truncate(left.Synced); err != nil {
		return err
	}
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	p.sum.Reset()
	p.note = *left
	buf := make([]byte, 1<<20)
	for p.size = 0; ; {
		if err := ctx.Err(); err != nil { // gigabytes take a while
			return err
		}
		n, err := p.file.Read(buf)
		p.sum.Write(buf[:n])
		p.size += int64(n)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func readNote(to string) (*note, error) {
	data, err := durable.ReadAll(durable.OS{}, noteName(to))
	if err != nil {
		return nil, err
	}
	var n note
	if err := json.Unmarshal(data, &n); err != nil || n.Synced < 0 {
		return nil, fmt.Errorf("%s: not what was written", noteName(to))
	}
	return &n, nil
}

// reset empties the file. The note goes first: it never speaks of more than there is.
func (p *partial) reset() error {
	if err := os.Remove(noteName(p.to)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := p.file.Truncate(0); err != nil {
		return err
	}
	p.sum.Reset()
	p.size = 0
	_, err := p.file.Seek(0, io.SeekStart)
	return err
}

func (p *partial) Write(data []byte) (int, error) {
	n, err := p.file.Write(data)
	p.sum.Write(data[:n])
	p.size += int64(n)
	return n, err
}

// keep makes sure that a later download can go on from here, even after a power loss.
func (p *partial) keep() error {
	if !p.note.resumable() || p.size == p.note.Synced {
		return nil
	}
	if err := p.file.Sync(); err != nil {
		return err
	}
	p.note.Synced = p.size
	data, err := json.Marshal(&p.note)
	if err != nil {
		return err
	}
	return durable.ReplaceFile(durable.OS{}, noteName(p.to), data)
}

// finish checks the complete file and gives it its name.
func (p *partial) finish(o *Options) (*File, error) {
	digest := hex.EncodeToString(p.sum.Sum(nil))
	if err := p.judge(o, digest); err != nil {
		p.remove()
		return nil, err
	}
	done := &File{Size: p.size, SHA256: digest}
	if err := p.file.Sync(); err != nil {
		p.remove() // what a failed sync left on the disk nobody knows
		return nil, Explain(err, filepath.Dir(p.to))
	}
	if err := os.Rename(p.file.Name(), p.to); err != nil {
		return nil, Explain(err, filepath.Dir(p.to))
	}
	_ = os.Remove(noteName(p.to)) // it is of no file now, and the next download sees that
	return done, durable.OS{}.SyncDir(filepath.Dir(p.to))
}

// judge says what is wrong with the complete file.
func (p *partial) judge(o *Options, digest string) error {
	switch {
	case o.Size != 0 && p.size != o.Size:
		return fmt.Errorf("%s has %d bytes where %d were expected: it is another file; check where it comes from", Shown(o.Source), p.size, o.Size)
	case o.SHA256 != "" && digest != o.SHA256:
		return fmt.Errorf("%s has the SHA-256 %s where %s was expected: it is another file, or damaged, and was not kept; check where it comes from",
			Shown(o.Source), digest, o.SHA256)
	case o.Check != nil:
		return o.Check(p.file.Name(), digest)
	}
	return nil
}
