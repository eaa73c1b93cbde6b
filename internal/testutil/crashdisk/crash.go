package crashdisk

import (
	"bytes"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// change is one unsynced change of names: a creation has no from, a removal no to. Syncing one
// of the two directories of a rename takes its half off. An exchange, of names in one directory,
// has the node that was at to before in other.
type change struct {
	node, other *node
	from, to    *place
}

// apply makes a change visible and remembers it as unsynced.
func (d *Disk) apply(c *change) {
	if c.other != nil {
		c.from.dir.entries[c.from.name], c.to.dir.entries[c.to.name] = c.other, c.node
		d.pending = append(d.pending, c)
		return
	}
	if c.from != nil {
		d.unlink(*c.from)
	}
	if c.to != nil {
		d.unlink(*c.to)
		d.link(*c.to, c.node)
	}
	d.pending = append(d.pending, c)
}

func (d *Disk) link(p place, n *node) {
	p.dir.entries[p.name] = n
	if n.links++; n.links == 1 {
		d.used += uint64(len(n.now.data))
	}
}

func (d *Disk) unlink(p place) {
	n := p.node()
	if n == nil {
		return
	}
	delete(p.dir.entries, p.name)
	if n.links--; n.links == 0 {
		d.used -= uint64(len(n.now.data))
	}
}

// settle makes all names in dir survive.
func (d *Disk) settle(dir *node) {
	dir.synced = maps.Clone(dir.entries)
	d.pending = slices.DeleteFunc(d.pending, func(c *change) bool {
		if c.from != nil && c.from.dir == dir {
			c.from = nil
		}
		if c.to != nil && c.to.dir == dir {
			c.to = nil
		}
		return c.from == nil && c.to == nil
	})
}

// Crash cuts the power, if it is still on, and returns the disk as found when it is back: all
// that was synced, and of the rest what rng decides (see the package documentation). A nil rng
// drops everything unsynced. It may be called again for another outcome.
func (d *Disk) Crash(rng *rand.Rand) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.off = true
	r := reboot{rng: rng, names: d.survivors(rng), disk: d.successor("crash"), made: map[*node]*node{}}
	r.disk.root = r.node(d.root)
	return r.disk
}

// successor is the next life of the disk, still without its content.
func (d *Disk) successor(cause string) *Disk {
	trace := append(slices.Clip(d.trace), cause)
	return &Disk{capacity: d.capacity, inodes: d.inodes, epoch: d.time() + 1, stop: math.MaxInt, trace: trace}
}

// survivors returns the names in each directory after a power loss. Directories without unsynced
// changes are left out.
func (d *Disk) survivors(rng *rand.Rand) map[*node]map[string]*node {
	after := map[*node]map[string]*node{}
	in := func(dir *node) map[string]*node {
		if after[dir] == nil {
			after[dir] = maps.Clone(dir.synced)
		}
		return after[dir]
	}
	for _, c := range d.pending {
		if rng == nil || rng.IntN(2) == 0 {
			continue
		}
		if c.from != nil && c.to != nil && in(c.from.dir)[c.from.name] != c.node {
			continue // nothing there to rename
		}
		if c.other != nil {
			if dir := in(c.to.dir); dir[c.to.name] == c.other {
				dir[c.from.name], dir[c.to.name] = c.other, c.node
			}
			continue
		}
		if c.from != nil {
			delete(in(c.from.dir), c.from.name)
		}
		if c.to != nil {
			in(c.to.dir)[c.to.name] = c.node
		}
	}
	return after
}

// reboot builds the disk that a crash leaves. It goes through directories in the order of names,
// so that one rng gives one disk.
type reboot struct {
	rng   *rand.Rand
	names map[*node]map[string]*node
	disk  *Disk
	made  map[*node]*node
}

func (r *reboot) node(old *node) *node {
	if n := r.made[old]; n != nil {
		return n
	}
	if !old.isDir() {
		n := &node{inode: old.inode, modified: r.disk.epoch}
		n.write(old.crash(r.rng))
		n.sync()
		if bytes.Equal(n.now.data, old.now.data) {
			n.modified = old.modified
		}
		r.made[old] = n
		return n
	}
	dir := newDir()
	dir.inode = old.inode
	r.made[old] = dir
	entries, changed := r.names[old]
	if !changed {
		entries = old.synced
	}
	for _, name := range names(entries) {
		r.disk.link(place{dir, name}, r.node(entries[name]))
	}
	dir.synced = maps.Clone(dir.entries)
	return dir
}

// Kill returns the disk as the next process finds it when this one died (kill -9) and the machine
// stayed up: everything written is there, but what was not synced still is not. Handles of the
// old disk are dead, and so is the old disk.
func (d *Disk) Kill() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.off = true
	next := d.successor("kill")
	twins := twins{}
	next.root, next.used = twins.of(d.root), d.used
	for _, c := range d.pending {
		next.pending = append(next.pending, &change{twins.of(c.node), twins.of(c.other), twins.place(c.from),
			twins.place(c.to)})
	}
	return next
}

// twins are the copies made of nodes, so that a node with two names gets one.
type twins map[*node]*node

func (t twins) of(n *node) *node {
	if n == nil {
		return nil
	}
	if twin := t[n]; twin != nil {
		return twin
	}
	twin := &node{
		inode: n.inode, modified: n.modified, links: n.links,
		now: n.now, stable: n.stable,
		clean: n.clean, floor: n.floor,
	}
	t[n] = twin
	if n.isDir() {
		twin.entries, twin.synced = t.entries(n.entries), t.entries(n.synced)
	}
	return twin
}

func (t twins) entries(entries map[string]*node) map[string]*node {
	copied := make(map[string]*node, len(entries))
	for name, n := range entries {
		copied[name] = t.of(n)
	}
	return copied
}

func (t twins) place(p *place) *place {
	if p == nil {
		return nil
	}
	return &place{t.of(p.dir), p.name}
}
