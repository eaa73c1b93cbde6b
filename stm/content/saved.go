package content

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"maps"
	"path"
	"slices"
	"time"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
)

// Saved is a file of the log that is made of what a store knows.
type Saved struct {
	Name string // slash-separated path below the data folder
	Data []byte
}

// Purges has for each memory that was purged when that was.
type Purges map[[16]byte]record.Stamp

func (p Purges) lines() (out []record.Line) {
	for key, at := range p {
		out = append(out, lineOf(at, record.Change{Op: record.OpPurge, ID: memory.IDFromBytes(key)}))
	}
	return out
}

// saved are the files that say which memories were purged.
func (p Purges) saved(f *Folder, now time.Time) []Saved {
	made := lines{}
	for _, l := range p.lines() {
		made.add(&l)
	}
	return made.files(f, now)
}

// lines gathers what goes into further files, by device and stamp.
type lines map[record.Device]*deviceLines

type deviceLines struct {
	changes map[record.Stamp][]record.Change
	use     map[[16]byte]record.UseTotal
	last    record.Stamp
}

func (m lines) of(dev record.Device) *deviceLines {
	if m[dev] == nil {
		m[dev] = &deviceLines{changes: map[record.Stamp][]record.Change{}, use: map[[16]byte]record.UseTotal{}}
	}
	return m[dev]
}

func (m lines) add(l *record.Line) {
	to := m.of(l.Stamp.Dev)
	to.changes[l.Stamp] = append(to.changes[l.Stamp], l.Changes...)
	to.last = record.Later(to.last, l.Stamp)
}

// uses adds how often each device used a memory.
func (m lines) uses(row *table.Row) {
	for _, u := range row.Rest().Use {
		to := m.of(u.Dev)
		to.use[row.Key] = record.MaxUse(to.use[row.Key], u)
		to.last = record.Later(to.last, record.Stamp{T: row.Latest().T, Dev: u.Dev})
	}
}

// files makes one file for each device. That of the device of the backup is named like its next segment.
// Other devices give such names themselves, so that theirs is named like a copy.
func (m lines) files(f *Folder, now time.Time) (out []Saved) {
	for dev, l := range m {
		segment, base := uint32(0), record.SavedPrefix+now.UTC().Format("20060102T150405.000Z")+".jsonl"
		var lost [][2]uint64
		if dev == f.Device {
			segment, lost = f.nextSegment(), [][2]uint64{{1, f.Seq}}
			base = record.SegmentName(segment)
		}
		out = append(out, Saved{Name: path.Join("stm", dev.String(), base), Data: l.encode(dev, segment, lost, now)})
	}
	slices.SortFunc(out, func(a, b Saved) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func (f *Folder) nextSegment() (n uint32) {
	for _, file := range f.Files {
		if path.Dir(file.Name) == "stm/"+f.Device.String() {
			n = max(n, record.ParseName(path.Base(file.Name)).To)
		}
	}
	return n + 1
}

// encode makes a sealed segment. Its lines have no numbers of their own: they stand for lines that had, some of
// those in lost.
func (l *deviceLines) encode(dev record.Device, segment uint32, lost [][2]uint64, now time.Time) []byte {
	stamps := slices.SortedFunc(maps.Keys(l.changes), record.Stamp.Compare)
	first := l.last
	if len(stamps) > 0 {
		first = stamps[0]
	}
	var out sealedLines
	out.add(record.MetaLine(record.OpSegment, record.Stamp{T: first.T - 1, Dev: dev}, record.Header{Dev: dev.String(),
		Segment: segment, First: 1, Format: record.FormatVersion, Lost: lost, Created: now.UTC().Format(time.RFC3339)}))
	for _, at := range stamps {
		line := lineOf(at, l.changes[at][0])
		if line.Changes = l.changes[at]; len(line.Changes) > 1 {
			line.Op = record.OpAll
		}
		out.add(line.Append(nil))
	}
	last := l.last
	for keys := range slices.Chunk(slices.Collect(maps.Keys(l.use)), record.MaxUses) {
		last.T++
		out.add(l.useLine(last, keys))
	}
	last.T++
	return out.seal(record.Stamp{T: last.T, Dev: dev}, record.Seal{})
}

func (l *deviceLines) useLine(at record.Stamp, keys [][16]byte) []byte {
	some := map[[16]byte]record.UseTotal{}
	for _, key := range keys {
		some[key] = l.use[key]
	}
	line := record.Line{Version: record.FormatVersion, Stamp: at, Op: record.OpUse, Data: record.EncodeUse(some)}
	return line.Append(nil)
}

// sealedLines are lines of a segment that is being made.
type sealedLines struct {
	text  []byte
	count int
	sum   uint32 // as a seal has it
}

// add adds a line with its checksum and LF.
func (s *sealedLines) add(line []byte) {
	s.sum = crc32.Update(s.sum, record.Castagnoli, record.SumText(line[:len(line)-1]))
	s.addDamaged(line)
}

// addDamaged adds a line that is in no checksum of a seal.
func (s *sealedLines) addDamaged(line []byte) {
	s.count++
	s.text = append(s.text, line...)
}

// seal returns all lines and the last one, which describes them.
func (s *sealedLines) seal(at record.Stamp, end record.Seal) []byte {
	end.Count, end.Sum = s.count, fmt.Sprintf("%08x", s.sum)
	return append(s.text, record.MetaLine(record.OpSeal, at, end)...)
}
