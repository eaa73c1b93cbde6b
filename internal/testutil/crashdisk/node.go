package crashdisk

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// blockSize is the unit in which data reaches the disk without a sync.
const blockSize = 4096

// node is a file or a directory, whatever its names.
type node struct {
	inode    uint64
	modified int // the disk's time when last changed
	links    int // names at present

	// A directory has both maps: its names now, and those that survive a crash for sure.
	entries, synced map[string]*node

	// A file has an image now and one that survives a crash for sure. They may share bytes,
	// here and with the same file after a Kill: bytes are never changed in place, and only the
	// handle that made the file appends.
	now, stable image
	// clean is the size up to which no Sync has anything to write: a successful Sync raises
	// it, and so does a failed one.
	clean int
	// floor is the smallest size since the last successful Sync. Below it a crash changes
	// nothing.
	floor int
}

// image is the content of a file. The bytes in lost can be read but were given up by a failed
// Sync, so a crash may turn them into NUL bytes.
type image struct {
	data []byte
	lost []span
}

// span is a range of bytes [from, to).
type span struct{ from, to int }

func newDir() *node {
	return &node{entries: map[string]*node{}, synced: map[string]*node{}}
}

func (n *node) isDir() bool { return n.entries != nil }

func (n *node) write(p []byte) { n.now.data = append(n.now.data, p...) }

// truncate copies, for the next write must not reach the bytes behind a shared image.
func (n *node) truncate(size int) {
	data := make([]byte, size)
	copy(data, n.now.data)
	n.now = image{data: data, lost: clip(n.now.lost, size)}
	n.clean, n.floor = min(n.clean, size), min(n.floor, size)
}

func clip(spans []span, size int) []span {
	var clipped []span
	for _, s := range spans {
		if s.from < size {
			clipped = append(clipped, span{s.from, min(s.to, size)})
		}
	}
	return clipped
}

func (n *node) sync() {
	n.stable = n.now
	n.clean, n.floor = len(n.now.data), len(n.now.data)
}

// failSync marks what is dirty as clean although it was not written.
func (n *node) failSync() {
	if size := len(n.now.data); n.clean < size {
		n.now.lost = append(slices.Clip(n.now.lost), span{n.clean, size})
		n.clean = size
	}
}

// crash returns a content that the file may have after a power loss; a nil rng means the one with
// nothing in it that could be lost.
func (n *node) crash(rng *rand.Rand) []byte {
	stable := n.stable.settle(rng)
	if rng == nil || (n.floor == len(n.now.data) && n.floor == len(n.stable.data)) {
		return stable
	}
	now := n.now.settle(rng)
	switch cut := between(rng, min(n.floor, len(now)), len(now)); rng.IntN(5) {
	case 0: // the disk saw no truncation and no data
		return stable
	case 1: // it saw the truncation only
		return stable[:min(n.floor, len(stable))]
	case 2: // a prefix
		return now[:cut]
	case 3: // the new size, but not all of the data
		clear(now[cut:])
		return now
	default: // some blocks
		zeroBlocks(rng, now, span{n.floor, len(now)})
		return now
	}
}

// settle decides the fate of the lost bytes, in a copy. At the end of a file they may not have
// made it longer either.
func (i image) settle(rng *rand.Rand) []byte {
	data := slices.Clone(i.data)
	for _, s := range slices.Backward(i.lost) {
		switch {
		case s.to == len(data) && (rng == nil || rng.IntN(2) == 0):
			data = data[:s.from]
		case rng == nil:
			clear(data[s.from:s.to])
		default:
			zeroBlocks(rng, data, s)
		}
	}
	return data
}

// zeroBlocks clears some of the disk blocks in s, each as far as it lies in s.
func zeroBlocks(rng *rand.Rand, data []byte, s span) {
	for from := s.from; from < s.to; {
		to := min((from/blockSize+1)*blockSize, s.to)
		if rng.IntN(2) == 0 {
			clear(data[from:to])
		}
		from = to
	}
}

// between returns a number in [low, high].
func between(rng *rand.Rand, low, high int) int { return low + rng.IntN(high-low+1) }

// names returns the names of a map of entries in an order that does not change between runs.
func names(entries map[string]*node) []string {
	return slices.Sorted(maps.Keys(entries))
}
