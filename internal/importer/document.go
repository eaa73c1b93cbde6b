package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sort"
	"unicode/utf8"

	"emberd/memory"
)

// document is JSON that is read piece by piece: of a whole collection never more than one
// element is in memory beside what is made of it.
type document struct {
	dec   *json.Decoder
	lines lineEnds
	depth int // of objects and lists that are being read
}

// maxDepth bounds how deep a reader follows lists and objects within each other.
const maxDepth = 32

// enter counts a list or an object that is read, until leave.
func (d *document) enter() error {
	if d.depth++; d.depth > maxDepth {
		return memory.Errorf(memory.Invalid, "the JSON is nested more than %d levels deep", maxDepth)
	}
	return nil
}

func (d *document) leave() { d.depth-- }

func newDocument(r io.Reader) *document {
	d := &document{}
	d.lines.r = withoutMark(newBounded(r))
	d.dec = json.NewDecoder(&d.lines)
	d.dec.UseNumber()
	return d
}

// withoutMark takes the byte-order mark away that some editors put before a text.
func withoutMark(r io.Reader) io.Reader {
	var head [3]byte
	n, err := io.ReadFull(r, head[:])
	rest := bytes.TrimPrefix(head[:n], []byte("\ufeff"))
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return io.MultiReader(bytes.NewReader(rest), failing{err})
	}
	return io.MultiReader(bytes.NewReader(rest), r)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// token returns the next one. At the end of the file, between values, it is io.EOF.
func (d *document) token() (json.Token, error) {
	t, err := d.dec.Token()
	return t, d.explain(err)
}

// element reads the value that comes next, and tells the line that it begins on.
func (d *document) element() (json.RawMessage, int, error) {
	var raw json.RawMessage
	if err := d.dec.Decode(&raw); err != nil {
		return nil, 0, d.explain(err)
	}
	line := d.lines.at(d.dec.InputOffset() - int64(len(raw)))
	if !utf8.Valid(raw) {
		return nil, 0, memory.Errorf(memory.Invalid, "line %d is not valid UTF-8; convert the file to UTF-8", line)
	}
	return raw, line, nil
}

// elements reads the rest of an array whose bracket was read.
func (d *document) elements(f func(i int, raw json.RawMessage, line int) error) error {
	defer d.leave()
	if err := d.enter(); err != nil {
		return err
	}
	for i := 0; d.dec.More(); i++ {
		raw, line, err := d.element()
		if err == nil {
			err = f(i, raw, line)
		}
		if err != nil {
			return err
		}
	}
	_, err := d.token()
	return err
}

// members reads the rest of an object whose brace was read. f takes the value of its key off
// the document.
func (d *document) members(f func(key string) error) error {
	defer d.leave()
	if err := d.enter(); err != nil {
		return err
	}
	for d.dec.More() {
		t, err := d.token()
		if err != nil {
			return err
		}
		key, _ := t.(string) // More makes sure that it is one
		if err := f(key); err != nil {
			return err
		}
	}
	_, err := d.token()
	return err
}

// skip passes the value that comes next over, such as vectors.
func (d *document) skip() error {
	for depth := 0; ; {
		t, err := d.token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// explain returns where a document cannot be read. The end of the file between values stays
// io.EOF.
func (d *document) explain(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	if _, ours := errors.AsType[*memory.Error](err); ours {
		return err
	}
	line := d.lines.at(d.dec.InputOffset())
	if _, bad := errors.AsType[*json.SyntaxError](err); bad || errors.Is(err, io.ErrUnexpectedEOF) {
		return memory.Errorf(memory.Invalid, "the JSON is incomplete or damaged at line %d: %v; nothing was imported",
			line, err)
	}
	return err
}

// whole is explain for a document that ends too early.
func whole(err error) error {
	if errors.Is(err, io.EOF) {
		return memory.Errorf(memory.Invalid, "the JSON ends too early; nothing was imported")
	}
	return err
}

// lineEnds passes a reader on and remembers where lines ended, of what was not asked for yet.
type lineEnds struct {
	r      io.Reader
	read   int64
	before int     // line ends that were let go
	ends   []int64 // offsets of those after them
}

func (l *lineEnds) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for i, c := range p[:n] {
		if c == '\n' {
			l.ends = append(l.ends, l.read+int64(i))
		}
	}
	l.read += int64(n)
	return n, err
}

// at returns the line of an offset, which is not before one that was asked for earlier.
func (l *lineEnds) at(offset int64) int {
	n := sort.Search(len(l.ends), func(i int) bool { return l.ends[i] >= offset })
	l.ends, l.before = l.ends[n:], l.before+n
	return l.before + 1
}
