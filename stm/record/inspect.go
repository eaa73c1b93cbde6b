package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"

	"emberd/internal/durable"
	"emberd/memory"
)

// LineState reports what a reader of the log makes of a line.
type LineState string

// The states of a line.
const (
	LineGood    LineState = "good"
	LineDamaged LineState = "damaged" // its checksum is wrong, or it is no line of a log
	LineTorn    LineState = "torn"    // the last one, without its end: a crash left it
	LineNul     LineState = "nul"     // nothing but NUL bytes: a power cut left it
	LineEdited  LineState = "edited"  // valid but for its checksum, which a human took out
	LineUnknown LineState = "unknown" // of a later version: kept and passed over
)

// LogLine is one line of a log file, decoded as far as it can be. Its slices
// alias Raw, which the next line overwrites.
type LogLine struct {
	File   string // path as it was given or found
	Offset int64  // of its first byte
	Number int    // from 1
	Raw    []byte // verbatim, LF included; of a line beyond MaxLine only the beginning
	State  LineState
	Reason string // why it is not good

	Seq         uint64
	Stamp       Stamp
	Op          string
	Tx          Stamp // journal entry, the stamp itself if the line begins one
	Verb        string
	By          []byte // JSON
	Key         string
	Undoes      Stamp  // journal entry that the line reverts
	Audit       string // seal of the audit log
	Cut         bool   // compaction left out what was superseded; the whole line is history
	Changes     []LogChange
	Data        []byte // JSON: d of lines that change no memory
	Sum         string // checksum as written, of a good line
	fromVersion int
}

// LogChange is what a line says about one memory. Prev is what it superseded,
// {"t":revision,"d":values}, Data the values it wrote; both JSON, nil when absent.
type LogChange struct {
	Op         string
	ID         memory.ID
	Prev, Data []byte
}

// LogFiles lists the log files under path: of a data folder, of its stm folder,
// of the folder of one device, or path itself if it is a file. They are sorted.
func LogFiles(fsys durable.FS, path string) ([]string, error) {
	info, err := fsys.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("cannot find the log: %w", err)
	}
	if !info.IsDir() && !isLinkToFolder(fsys, path, info) {
		return []string{path}, nil
	}
	for _, sub := range []string{filepath.Join(path, "stm"), path} {
		if names, err := filesBelow(fsys, sub); err != nil || len(names) > 0 {
			return names, err
		}
	}
	return nil, nil
}

// isLinkToFolder reports whether a name is a link to a folder, which a data folder may be.
func isLinkToFolder(fsys durable.FS, path string, info fs.FileInfo) bool {
	if info.Mode().Type() != fs.ModeSymlink {
		return false
	}
	_, err := fsys.ReadDir(path)
	return err == nil
}

// filesBelow lists the log files of dir and of the folders of devices in it.
func filesBelow(fsys durable.FS, dir string) ([]string, error) {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	var names []string
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if IsLogFile(e) {
			names = append(names, name)
		}
		if _, ok := ParseDevice(e.Name()); ok && e.IsDir() {
			below, err := filesBelow(fsys, name)
			if err != nil {
				return nil, err
			}
			names = append(names, below...)
		}
	}
	return names, nil
}

// ReadLog yields every line of a log file but empty ones, whatever it holds. It
// reads only, and may run beside the daemon that writes the file. An error ends
// it: the file cannot be read.
func ReadLog(fsys durable.FS, name string) iter.Seq2[LogLine, error] {
	return ReadLogContaining(fsys, name, nil)
}

// ReadLogContaining passes over lines that do not hold the text part, without decoding.
func ReadLogContaining(fsys durable.FS, name string, part []byte) iter.Seq2[LogLine, error] {
	return func(yield func(LogLine, error) bool) {
		f, err := fsys.OpenRead(name)
		if err != nil {
			yield(LogLine{File: name}, fmt.Errorf("cannot open a log file: %w", err))
			return
		}
		defer f.Close()
		in := bufio.NewReaderSize(f, 1<<18)
		l := LogLine{File: name, Number: 1}
		var raw []byte
		var passed garbage
		for {
			n := 0
			raw, err = passed.read(in, raw[:0], func(part []byte) { n += len(part) })
			if errors.Is(err, ErrGarbage) {
				l.Raw = raw
				yield(l.judged(LineDamaged, err.Error()), nil)
				return
			}
			if err != nil && !errors.Is(err, io.EOF) {
				yield(l, fmt.Errorf("read %s at %d: %w", name, l.Offset, err))
				return
			}
			wanted := len(bytes.TrimSpace(raw)) > 0 && bytes.Contains(raw, part)
			if wanted && !yield(ReadLine(l, raw, n, err == nil), nil) || err != nil {
				return
			}
			l.Offset, l.Number = l.Offset+int64(n), l.Number+1
		}
	}
}

// TornReason is why the last line of a file is not read: a write that was not synced.
const TornReason = "the line is incomplete, probably because of a crash"

// ReadLine decodes what stands at the place that at says. whole reports whether
// the line's LF is there.
func ReadLine(at LogLine, raw []byte, n int, whole bool) LogLine {
	at.Raw = raw
	good, err := Trim(raw)
	switch {
	case len(bytes.Trim(raw, "\x00\r\n ")) == 0:
		return at.judged(LineNul, fmt.Sprintf("%d NUL bytes instead of a record, probably because of a power failure",
			n))
	case n > MaxLine:
		return at.judged(LineDamaged, fmt.Sprintf("the line has %d bytes, which exceeds the limit for a line", n))
	case errors.Is(err, ErrNoSum) && whole && at.Decode(good) == nil && IsHandEdit(good):
		return at.judged(LineEdited, "the line has no checksum, so emberd treats it as a manual edit")
	case err != nil && !whole:
		return at.judged(LineTorn, TornReason)
	case err != nil:
		_ = at.Decode(good) // as far as that goes
		return at.judged(LineDamaged, err.Error())
	}
	at.Sum = string(good[len(good)-10 : len(good)-2])
	if err := at.Decode(good); err != nil {
		return at.judged(LineUnknown, "cannot decode the line: "+err.Error())
	}
	if at.fromVersion != FormatVersion || at.Stamp.IsZero() || !slices.Contains(knownOps(), at.Op) {
		return at.judged(LineUnknown, fmt.Sprintf(
			"this version of emberd does not support operation %q in format version %d", at.Op, at.fromVersion))
	}
	return at.judged(LineGood, "")
}

func knownOps() []string {
	return []string{OpSegment, OpSeal, OpPut, OpSet, OpDelete, OpPurge, OpAll, OpUse}
}

func (l LogLine) judged(state LineState, reason string) LogLine {
	l.State, l.Reason = state, reason
	return l
}

// Decode fills in what the line says.
func (l *LogLine) Decode(b []byte) error {
	in, err := Decode(b)
	if err != nil {
		return err
	}
	l.fromVersion, l.Seq, l.Stamp, l.Op, l.Tx = in.Version, in.Seq, in.Stamp, in.Op, in.Tx
	l.Verb, l.By, l.Key, l.Undoes, l.Audit = in.Verb, in.By, in.Key, in.Ref, in.Audit
	l.Cut = string(Member(b, "cut")) == "true"
	for _, c := range in.Changes {
		l.Changes = append(l.Changes, LogChange{Op: c.Op, ID: c.ID, Prev: c.Prev, Data: c.Data})
	}
	if len(l.Changes) == 0 {
		l.Data = in.Data
	}
	return nil
}

// Line is the inverse of decode, for what merges.
func (l *LogLine) Line() Line {
	out := Line{Version: l.fromVersion, Seq: l.Seq, Stamp: l.Stamp, Op: l.Op, Tx: l.Tx, Verb: l.Verb, By: l.By,
		Key: l.Key, Ref: l.Undoes, Audit: l.Audit, Data: l.Data}
	for _, c := range l.Changes {
		out.Changes = append(out.Changes, Change{Op: c.Op, ID: c.ID, Prev: c.Prev, Data: c.Data})
	}
	return out
}

// Actor returns the caller that a line names, the zero Actor if it names none.
func (l *LogLine) Actor() memory.Actor {
	var by memory.Actor
	// The actor is for display; an invalid value becomes the zero Actor.
	_ = json.Unmarshal(l.By, &by)
	return by
}

// Entry is the line's journal entry without its memories.
func (l *LogLine) Entry() Entry {
	return Entry{Tx: l.Tx.String(), Verb: l.Verb, At: l.Stamp.Time(), By: l.Actor()}
}
