package ledger

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"emberd/internal/stamp"
	"emberd/memory"
)

// compareReads compares the reads of audit.json, nil if there is no file, with their lines.
func (c *comparison) compareReads(f *file) {
	if f == nil && c.now.Next > 1 {
		c.problem("audit.json is missing, but the audit log contains reads")
	}
	if f == nil {
		return
	}
	if next := max(f.Seq, 1); next != c.now.Next {
		c.problem("the number of the next read is %d in audit.json, but %d in the audit log", next, c.now.Next)
	}
	has := make(map[int64]bool, len(f.Reads))
	for i := range f.Reads {
		r := f.Reads[i].read()
		if has[r.Seq] {
			c.problem("audit.json contains two reads with the number %d", r.Seq)
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
			c.problem("audit.json no longer contains read %d (%s by %s at %s)", line.Read, line.What, line.By,
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
		c.problem("audit.json contains read %d (%s by %s at %s), but the audit log does not", r.Seq, r.What, r.By,
			r.At.Format(day))
	}
}

func (c *comparison) compareRead(r *Read, line sealed) {
	switch {
	case line.By != r.By.String() || line.What != r.What:
		c.problem("the caller and operation of a read differ: %s, %s in audit.json, but %s, %s in the audit log",
			r.By, r.What, line.By, line.What)
	case line.Tx != r.Tx:
		c.problem("read %d by %s changed notes in change %q according to "+
			"audit.json, but in change %q according to the audit log", r.Seq, r.By, r.Tx, line.Tx)
	case !line.At.Equal(r.At) || line.PID != r.PID:
		c.problem("read %d was at %s by process %d according to audit.json, "+
			"but at %s by process %d according to the audit log", r.Seq, r.At.Format(day), r.PID, line.At.Format(day),
			line.PID)
	case !c.sameMemories(r.IDs, line):
		c.problem("audit.json and the audit log list different memories for read %d by %s", r.Seq, line.By)
	}
}

// sameMemories reports whether a list has what its line has, in the same order, but for what was
// purged later. Beyond the memories that a line names only their number is compared.
func (c *comparison) sameMemories(ids []memory.ID, line sealed) bool {
	next, total := 0, max(line.Of, len(line.IDs))
	for _, id := range line.IDs {
		switch {
		case next < len(ids) && c.chain.Digest(string(ids[next])) == id:
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

// journaled is what the journal has, as far as it is compared.
type journaled struct {
	has     map[place]*logged // that have a line
	beyond  []*Change         // after the last line of the chain
	wrong   []string
	unknown map[place]bool        // from before the chain, with seals that do not hold
	others  map[stamp.Device]bool // devices that the chain does not know
}

// compareChanges compares the changes of the journal with their lines.
func (c *comparison) compareChanges(j Journal) error {
	if j == nil {
		return nil
	}
	var got *journaled
	err := changesOf(j, func() {
		got = &journaled{has: make(map[place]*logged), unknown: make(map[place]bool),
			others: make(map[stamp.Device]bool)}
	}, func(ch *Change) { c.sort(ch, got) })
	if err == nil {
		err = j.Settle()
	}
	if err != nil {
		return fmt.Errorf("cannot compare the log with the audit log: %w", err)
	}
	c.beyond(j, got)
	slices.Sort(got.wrong)
	for _, text := range slices.Compact(got.wrong) {
		c.problem("%s", text)
	}
	c.missing(got.has)
	c.noteUnknown(got)
	return nil
}

// sort takes a change of the journal.
func (c *comparison) sort(ch *Change, got *journaled) {
	at := place{deviceOf(ch.Stamp), ch.Seq}
	line, ok := c.changes[at]
	switch base := c.base[at.device]; {
	case base == nil:
		got.others[at.device] = true
	case ok:
		if got.has[at] == nil {
			got.has[at] = &logged{ids: make(map[string]bool)}
		}
		got.wrong = append(got.wrong, c.compareChange(ch, line, got.has[at])...)
	case at.seq <= base.Seq && ch.Stamp <= base.Stamp: // from before the chain
		if ch.Audit != "" && !c.holds(ch) {
			got.unknown[at] = true
		}
	case at.seq > c.upTo[at.device].Seq:
		got.beyond = append(got.beyond, ch)
	default:
		got.wrong = append(got.wrong, unsealed(ch))
	}
}

// holds reports whether the seal of a change holds.
func (c *comparison) holds(ch *Change) bool {
	_, ok := c.chain.Sealed(signed(ch), ch.Audit)
	return ok
}

func unsealed(ch *Change) string {
	return fmt.Sprintf("the log contains the change %s (%s by %s), but the audit log does not", ch.Tx, ch.What,
		Of(asStored(ch.By)))
}

// beyond judges changes after the last line of the chain. Of this device there are some while emberd
// runs. Of one that it was before there are some after a kill, or if a copy of this home writes them:
// their seals hold.
func (c *comparison) beyond(j Journal, got *journaled) {
	seq, newest, _ := j.End()
	ended := max(c.ended, c.chain.End())
	elsewhere := make(map[stamp.Device]map[place]bool)
	for _, ch := range got.beyond {
		device := deviceOf(ch.Stamp)
		n, ok := c.chain.Sealed(signed(ch), ch.Audit)
		now := device == deviceOf(newest)
		switch {
		case now && (ch.Seq > seq || ch.Stamp > newest), ch.Audit != "" && !ok,
			ch.Audit == "" && !now && c.seals[device]:
			got.wrong = append(got.wrong, unsealed(ch))
		case now && n > ended:
			got.wrong = append(got.wrong, unsealed(ch)+": "+setBack(n, ended))
		case !now:
			if elsewhere[device] == nil {
				elsewhere[device] = make(map[place]bool)
			}
			elsewhere[device][place{device, ch.Seq}] = true
		}
	}
	for _, at := range slices.SortedFunc(maps.Values(c.upTo), func(a, b point) int {
		return strings.Compare(a.Stamp, b.Stamp)
	}) {
		if device := deviceOf(at.Stamp); device != deviceOf(newest) && at.Seq+uint64(len(elsewhere[device])) > 0 {
			c.noteFormer(at, len(elsewhere[device]), c.closedLater(j, device, ended))
		}
	}
}

// closedLater reports whether a device closed its journal in order after a line that is not in the chain.
func (c *comparison) closedLater(j Journal, device stamp.Device, ended int64) bool {
	end := j.Closed(device)
	if end == nil {
		return false
	}
	n, ok := c.chain.Sealed(signed(end), end.Audit)
	return ok && n > ended
}

// noteFormer notes a device that this one was.
func (c *comparison) noteFormer(last point, later int, closed bool) {
	text := fmt.Sprintf("this installation was device %s until %s; then its device.json "+
		"was lost, or the installation was restored, moved or copied", deviceOf(last.Stamp),
		timeOf(last.Stamp).Format(day))
	switch {
	case later == 0 && closed:
		text += "; the log of that device ends after a line that the audit log does not contain: a copy of this " +
			"installation wrote the line, or the chain was restored from an earlier copy"
	case later > 0:
		text += fmt.Sprintf("; %s not in the audit log: emberd was killed, a copy of this installation "+
			"wrote to the log, or the chain was restored from an earlier copy",
			count(int64(later), "later change is", "later changes are"))
	}
	c.out.Notes = append(c.out.Notes, text)
}

// noteUnknown notes what the chain cannot vouch for.
func (c *comparison) noteUnknown(got *journaled) {
	if n := len(got.unknown); n > 0 {
		c.out.Notes = append(c.out.Notes, fmt.Sprintf("%s older than the audit log and sealed with another key, so "+
			"emberd cannot verify the seals; the folder audit was later lost or removed",
			count(int64(n), "change is", "changes are")))
	}
	if n := len(got.others); n > 0 {
		c.out.Notes = append(c.out.Notes, fmt.Sprintf("the log contains changes of %s; emberd cannot verify changes "+
			"of other devices, or of this device before its state folder was lost",
			count(int64(n), "device that is not in the audit log", "devices that are not in the audit log")))
	}
}

func (c *comparison) compareChange(ch *Change, line sealed, has *logged) (wrong []string) {
	by := asStored(ch.By)
	switch {
	case !recordedAs(by, line.By):
		wrong = append(wrong, fmt.Sprintf(
			"according to the log, %s made the change %s, but according to the audit log, %s made the change", Of(by),
			line.Tx, line.By))
	case ch.Stamp != line.Stamp || ch.Tx != line.Tx || ch.What != line.What || by.PID != line.PID:
		wrong = append(wrong, fmt.Sprintf(
			"the log contains change %s (%s by process %d), but the audit log contains change %s (%s by process %d)",
			ch.Tx, ch.What, by.PID, line.Tx, line.What, line.PID))
	}
	if len(wrong) == 0 && ch.Audit != "" && !c.holds(ch) {
		wrong = append(wrong, fmt.Sprintf("the log contains an invalid seal of %s", changeText(line.Line)))
	}
	for _, id := range ch.IDs {
		digest := c.chain.Digest(string(id))
		has.ids[digest] = true
		if line.Of == 0 && !slices.Contains(line.IDs, digest) {
			wrong = append(wrong, fmt.Sprintf(
				"according to the log, %s also affected memory %s, but not according to the audit log",
				changeText(line.Line), id))
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
		if line.Stamp == "" || last.Line != line || last.i < c.restore || timeOf(line.Stamp).Before(c.expired) {
			continue
		}
		got := has[at]
		gone := func(id string) bool { // a purge itself stays
			return (got == nil || !got.ids[id]) && (c.purged[id] <= last.i || line.What == purgeVerb)
		}
		switch {
		case got == nil && (len(line.IDs) == 0 || slices.ContainsFunc(line.IDs, gone)):
			c.problem("the log no longer contains %s", changeText(line))
		case slices.ContainsFunc(line.IDs, gone):
			c.problem("for %s, the log lists fewer memories than the audit log", changeText(line))
		}
	}
}
