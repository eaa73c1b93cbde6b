// Package boltfile finds damage in a file of bbolt before bbolt opens it.
//
// bbolt trusts what a page says of itself: with one wrong bit in an element's position it makes pointers to
// anywhere, and the garbage collector then ends the program, which no recover prevents. Only its two meta pages have
// a checksum. [Check] reads the file as bytes, and finds what bbolt would follow blindly.
//
// The format is that of bbolt 1.4, internal/common: meta.go, page.go, bucket.go and inode.go.
package boltfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
)

// Sizes in bytes, flags and numbers of the format. All integers are little endian here; bbolt writes the order of the
// machine, which is little endian wherever emberd is built.
const (
	headerSize  = 16 // of a page: its number (8), flags (2), count (2), further pages (4)
	elementSize = 16 // of a branch or leaf
	bucketSize  = 16 // of a bucket's header: number of the root page (8), sequence (8)
	metaSize    = 64

	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10

	bucketElement = 0x01

	magic   = 0xED0CDAED
	version = 2

	firstPage  = 2 // after the two meta pages
	noFreelist = math.MaxUint64

	maxDepth = 64
	maxPage  = 64 << 20 // in bytes, with the further pages
)

var order = binary.LittleEndian

// Check returns what is wrong with the structure of a file of bbolt that has size bytes: pages that are not where they
// should be, elements that reach out of their page, keys out of order, pages used twice, or both used and free. It
// does not know what the values mean. A file without any valid meta page, or an empty one, is damaged, too. Memory: a
// page at a time, and some bytes for each page in use.
func Check(file io.ReaderAt, size int64) error {
	m, err := readMeta(file, size)
	if err != nil {
		return err
	}
	c := checker{file: file, meta: m, used: map[uint64]bool{}}
	if err := c.tree(m.root, 0); err != nil {
		return err
	}
	return c.freelist()
}

// meta is the content of a meta page.
type meta struct{ pageSize, root, freelist, pages, transaction uint64 }

// readMeta returns the newer of the two meta pages, of those that are valid, like bbolt.
func readMeta(file io.ReaderAt, size int64) (m meta, err error) {
	found := false
	first := make([]byte, headerSize+metaSize)
	if _, err := file.ReadAt(first, 0); err != nil && !errors.Is(err, io.EOF) {
		return m, err
	}
	a, ok := decodeMeta(first)
	if ok {
		m, found = a, true
	}
	// Where the second begins only the first knows; bbolt tries these when that is damaged.
	for pageSize := int64(1 << 10); pageSize <= 64<<10; pageSize <<= 1 {
		second := make([]byte, headerSize+metaSize)
		if _, err := file.ReadAt(second, pageSize); err != nil {
			continue
		}
		b, ok := decodeMeta(second)
		if ok && int64(b.pageSize) == pageSize && (!found || b.transaction > m.transaction) {
			m, found = b, true
		}
	}
	switch {
	case !found:
		return m, errors.New("neither meta page is valid")
	case m.pages < firstPage || m.pages > uint64(size)/m.pageSize:
		return m, fmt.Errorf("the file has %d bytes instead of %d pages of %d bytes", size, m.pages, m.pageSize)
	}
	return m, nil
}

func decodeMeta(page []byte) (meta, bool) {
	b := page[headerSize:]
	sum := fnv.New64a()
	sum.Write(b[:56])
	m := meta{
		pageSize: uint64(order.Uint32(b[8:])), root: order.Uint64(b[16:]), freelist: order.Uint64(b[32:]),
		pages: order.Uint64(b[40:]), transaction: order.Uint64(b[48:]),
	}
	ok := order.Uint32(b) == magic && order.Uint32(b[4:]) == version && order.Uint64(b[56:]) == sum.Sum64() &&
		m.pageSize >= 1<<10 && m.pageSize&(m.pageSize-1) == 0
	return m, ok
}

type checker struct {
	file   io.ReaderAt
	meta   meta
	used   map[uint64]bool
	nested int // in how many buckets
}

// page reads a page with those that continue it, and counts them as used.
func (c *checker) page(id uint64) ([]byte, error) {
	if id < firstPage || id >= c.meta.pages {
		return nil, fmt.Errorf("page %d does not exist; the file has %d pages", id, c.meta.pages)
	}
	header := make([]byte, headerSize)
	at := int64(id * c.meta.pageSize)
	if _, err := c.file.ReadAt(header, at); err != nil {
		return nil, fmt.Errorf("page %d: %w", id, err)
	}
	count := uint64(order.Uint32(header[12:])) + 1
	if is := order.Uint64(header); is != id || count > c.meta.pages-id || count*c.meta.pageSize > maxPage {
		return nil, fmt.Errorf("page %d has an invalid header: page number %d, length %d", id, is, count)
	}
	for i := range count {
		if c.used[id+i] {
			return nil, fmt.Errorf("page %d is used twice", id+i)
		}
		c.used[id+i] = true
	}
	b := make([]byte, count*c.meta.pageSize)
	if _, err := c.file.ReadAt(b, at); err != nil {
		return nil, fmt.Errorf("page %d: %w", id, err)
	}
	return b, nil
}

// tree checks a page and all below it.
func (c *checker) tree(id uint64, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("page %d is too deep in the tree (depth %d)", id, depth)
	}
	b, err := c.page(id)
	if err != nil {
		return err
	}
	switch flags := order.Uint16(b[8:]); {
	case flags == leafPage, flags == branchPage && order.Uint16(b[10:]) > 0:
		err = c.elements(b, flags == leafPage, depth)
	default:
		err = fmt.Errorf("the page has invalid flags %#x: it is not a leaf or a branch with children", flags)
	}
	if err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	return nil
}

// elements checks what lies in a page, or in a leaf inside a bucket's header, and all below it.
func (c *checker) elements(b []byte, leaf bool, depth int) error {
	count := int(order.Uint16(b[10:]))
	if headerSize+count*elementSize > len(b) {
		return fmt.Errorf("%d elements do not fit into %d bytes", count, len(b))
	}
	var last []byte
	for i := range count {
		at := headerSize + i*elementSize
		e := decodeElement(b[at:], leaf)
		from := uint64(at) + uint64(e.position)
		to := from + uint64(e.key) + uint64(e.value)
		if from < uint64(headerSize+count*elementSize) || to > uint64(len(b)) {
			return fmt.Errorf("element %d has an invalid position: bytes %d to %d of a page of %d bytes", i, from, to,
				len(b))
		}
		key, value := b[from:from+uint64(e.key)], b[from+uint64(e.key):to]
		if i > 0 && bytes.Compare(last, key) >= 0 {
			return fmt.Errorf("key %d is not greater than the previous key", i)
		}
		last = key
		if err := c.below(e, value, leaf, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// elem is an element of a page: where its key begins, counted from the element, how long key and value are, and what
// only one of a leaf (flags) or of a branch (child) has.
type elem struct {
	position, key, value, flags uint32
	child                       uint64
}

func decodeElement(b []byte, leaf bool) elem {
	if !leaf {
		return elem{position: order.Uint32(b), key: order.Uint32(b[4:]), child: order.Uint64(b[8:])}
	}
	return elem{
		flags: order.Uint32(b), position: order.Uint32(b[4:]), key: order.Uint32(b[8:]), value: order.Uint32(b[12:]),
	}
}

// below checks what an element leads to.
func (c *checker) below(e elem, value []byte, leaf bool, depth int) error {
	switch {
	case !leaf:
		return c.tree(e.child, depth)
	case e.flags == 0 && c.nested > 0:
		return nil
	case e.flags == 0:
		return errors.New("a value is not in a bucket")
	case e.flags == bucketElement:
		return c.bucket(value, depth)
	default:
		return fmt.Errorf("element has invalid flags %#x", e.flags)
	}
}

// bucket checks a bucket, which is a tree of its own, or a leaf that follows the header.
func (c *checker) bucket(value []byte, depth int) error {
	c.nested++
	defer func() { c.nested-- }()
	if len(value) < bucketSize {
		return fmt.Errorf("bucket header has only %d bytes", len(value))
	}
	if root := order.Uint64(value); root != 0 {
		return c.tree(root, depth)
	}
	inline := value[bucketSize:]
	switch {
	case depth > maxDepth:
		return fmt.Errorf("bucket is too deep in the tree (depth %d)", depth)
	case len(inline) < headerSize || order.Uint16(inline[8:]) != leafPage || order.Uint32(inline[12:]) != 0:
		return errors.New("bucket header is not followed by a leaf")
	}
	return c.elements(inline, true, depth)
}

// freelist checks the list of free pages: bbolt writes to them next.
func (c *checker) freelist() error {
	if c.meta.freelist == noFreelist {
		return nil
	}
	b, err := c.page(c.meta.freelist)
	if err != nil {
		return fmt.Errorf("cannot read the list of free pages: %w", err)
	}
	if flags := order.Uint16(b[8:]); flags != freelistPage {
		return fmt.Errorf("list of free pages has invalid flags %#x", flags)
	}
	count, ids := uint64(order.Uint16(b[10:])), b[headerSize:]
	if count == math.MaxUint16 { // then the number follows
		count, ids = order.Uint64(ids), ids[8:]
	}
	if count > uint64(len(ids))/8 {
		return fmt.Errorf("list of free pages has %d entries, too many for %d bytes", count, len(ids))
	}
	last := uint64(firstPage - 1)
	for i := range count {
		id := order.Uint64(ids[8*i:])
		if id <= last || id >= c.meta.pages || c.used[id] {
			return fmt.Errorf("page %d is listed as free, but is in use, out of order or out of range", id)
		}
		last = id
	}
	return nil
}
