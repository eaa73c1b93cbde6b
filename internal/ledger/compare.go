package ledger

import (
	"fmt"
	"slices"

	"emberd/memory"
)

// compareReads compares the reads of audit.json, nil if there is no file, with their lines.
func (c *comparison) compareReads(f *file) {
	if f == nil && c.now.Next > 1 {
		c.problem("audit.json is missing, and the audit chain has reads")
	}
	if f == nil {
		return
	}
	if next := max(f.Seq, 1); next != c.now.Next {
		c.problem("audit.json says that the next read has the number %d, and the audit chain that it has %d",
			next, c.now.Next)
	}
	has := make(map[int64]bool, len(f.Reads))
	for i := range f.Reads {
		r := f.Reads[i].read()
		if has[r.Seq] {
			c.problem("audit.json has two reads of the number %d", r.Seq)
		}
		has[r.Seq] = true
		if line, ok := c.reads[r.Seq]; ok {
			c.compareRead(&r, line)
		} else {
			c.unsealedRead(&r)
		}
	}
	for _, line := range c.lines {
		if line.Kind == Looked && !has[line.Read] && line.Read >= c.now.First && c.reads[line.Read].Line == line {
			c.problem("audit.json has no longer the read number %d (%s by %s at %s)", line.Read, line.What, line.By,
				line.At.Format(day))
		}
	}
}

// unsealedRead is for a read without a line: from before the chain, or when that was full, or forged.
func (c *comparison) unsealedRead(r *Read) {
	old := c.first != nil && r.Seq < c.first.Read && !r.At.After(c.first.At)
	switch {
	case old:
		c.out.Unkeyed++
	case !slices.ContainsFunc(c.lost, func(e extent) bool { return e.First <= r.Seq && r.Seq < e.Next }):
		c.problem("audit.json has the read number %d (%s by %s at %s), which is not in the audit chain", r.Seq, r.What,
			r.By, r.At.Format(day))
	}
}

func (c *comparison) compareRead(r *Read, line sealed) {
	switch {
	case line.By != r.By.String() || line.What != r.What:
		c.problem("audit.json says that %s read by %s, and the audit chain that %s did by %s", r.By, r.What, line.By,
			line.What)
	case !line.At.Equal(r.At) || line.PID != r.PID:
		c.problem("audit.json says that the read number %d was at %s by process %d, and the audit chain at %s by %d",
			r.Seq, r.At.Format(day), r.PID, line.At.Format(day), line.PID)
	case !c.sameMemories(r.IDs, line):
		c.problem("audit.json names other memories of the read number %d by %s than the audit chain", r.Seq, line.By)
	}
}

// sameMemories reports whether a list has what its line has, in the same order, but for what was
// purged later. Beyond the memories that a line names only their number is compared.
func (c *comparison) sameMemories(ids []memory.ID, line sealed) bool {
	next, total := 0, max(line.Of, len(line.IDs))
	for _, id := range line.IDs {
		switch {
		case next < len(ids) && c.digest(string(ids[next])) == id:
			next++
		case c.purged[id] <= line.i:
			return false
		}
	}
	unnamed := len(ids) - next
	return unnamed == total-len(line.IDs) || unnamed < total-len(line.IDs) && c.lastPurge > line.i
}

// logged is what the journal has of a change, in whole lines and in what compaction left of them.
type logged struct {
	ids map[string]bool // by their digests
}

// compareChanges compares the changes of the journal with their lines.
func (c *comparison) compareChanges(j Journal) error {
	if j == nil {
		return nil
	}
	var has map[place]*logged
	var beyond []*Change
	var wrong []string
	err := changesOf(j, func() { has, beyond, wrong = make(map[place]*logged), nil, nil }, func(ch *Change) {
		at := place{deviceOf(ch.Stamp), ch.Seq}
		line, ok := c.changes[at]
		switch base := c.base[at.device]; {
		case base == nil: // of another device
		case ok:
			if has[at] == nil {
				has[at] = &logged{ids: make(map[string]bool)}
			}
			wrong = append(wrong, c.compareChange(ch, line, has[at])...)
		case at.seq <= base.Seq && ch.Stamp <= base.Stamp: // from before the chain
		case at.seq > c.upTo[at.device]:
			beyond = append(beyond, ch)
		default:
			wrong = append(wrong, unsealed(ch))
		}
	})
	if err == nil {
		err = j.Settle()
	}
	if err != nil {
		return fmt.Errorf("compare the journal with the audit chain: %w", err)
	}
	slices.Sort(wrong)
	c.named(slices.Compact(wrong))
	c.named(c.beyond(j, beyond))
	c.missing(has)
	return nil
}

func (c *comparison) named(problems []string) {
	for _, text := range problems {
		c.problem("%s", text)
	}
}

func unsealed(ch *Change) string {
	return fmt.Sprintf("the journal has the change %s (%s by %s), which is not in the audit chain", ch.Tx, ch.What,
		Of(asStored(ch.By)))
}

// beyond returns what is wrong with changes after the last line of the chain: there are some while
// emberd runs. Of a device that this one no longer is, they came from elsewhere.
func (c *comparison) beyond(j Journal, changes []*Change) (wrong []string) {
	seq, stamp, _ := j.End()
	for _, ch := range changes {
		if deviceOf(ch.Stamp) == deviceOf(stamp) && (ch.Seq > seq || ch.Stamp > stamp) {
			wrong = append(wrong, unsealed(ch))
		}
	}
	return wrong
}

func (c *comparison) compareChange(ch *Change, line sealed, has *logged) (wrong []string) {
	by := asStored(ch.By)
	switch {
	case !recordedAs(by, line.By):
		wrong = append(wrong, fmt.Sprintf("the journal says that %s made the change %s, and the audit chain that it "+
			"was %s", Of(by), line.Tx, line.By))
	case ch.Stamp != line.Stamp || ch.Tx != line.Tx || ch.What != line.What || by.PID != line.PID:
		wrong = append(wrong, fmt.Sprintf("the journal says that the change %s was %s by process %d, and the audit "+
			"chain that it was %s by process %d, %s", ch.Tx, ch.What, by.PID, line.What, line.PID, line.Tx))
	}
	for _, id := range ch.IDs {
		digest := c.digest(string(id))
		has.ids[digest] = true
		if line.Of == 0 && !slices.Contains(line.IDs, digest) {
			wrong = append(wrong, fmt.Sprintf("the journal says that %s was of the memory %s too, and the audit chain "+
				"does not", changeText(line.Line), id))
		}
	}
	return wrong
}

// purgeVerb is the verb of a purge in the journal.
const purgeVerb = "purge"

// missing names the lines whose change the journal has no longer, or not for all memories.
func (c *comparison) missing(has map[place]*logged) {
	for _, line := range c.lines {
		at := place{deviceOf(line.Stamp), line.Seq}
		last := c.changes[at]
		if line.Stamp == "" || last.Line != line || last.i < c.restore || stampTime(line.Stamp).Before(c.expired) {
			continue
		}
		got := has[at]
		gone := func(id string) bool { // a purge itself stays
			return (got == nil || !got.ids[id]) && (c.purged[id] <= last.i || line.What == purgeVerb)
		}
		switch {
		case got == nil && (len(line.IDs) == 0 || slices.ContainsFunc(line.IDs, gone)):
			c.problem("the journal has no longer %s", changeText(line))
		case slices.ContainsFunc(line.IDs, gone):
			c.problem("the journal names fewer memories of %s than the audit chain", changeText(line))
		}
	}
}
