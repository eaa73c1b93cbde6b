package ledger

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
)

// The format of the file, which is on disk: do not change it.
const (
	format  = 1
	maxFile = 32 << 20 // bytes of a file that is read; one that is full of everything has half
	// dateOnly is how days are written.
	dateOnly = "2006-01-02"
)

// file is the ledger as it is stored.
type file struct {
	head
	Callers []fileOwner `json:"callers"`
	Saves   []fileSave  `json:"saves"`
	Reads   []held      `json:"reads"`
}

type head struct {
	Format int       `json:"format"`
	Since  time.Time `json:"since"`
	Seq    int64     `json:"seq"`
}

type fileOwner struct {
	Caller Caller               `json:"caller"`
	Seen   time.Time            `json:"seen"`
	Days   map[string]Counts    `json:"days"`
	Open   map[memory.ID]recall `json:"open,omitempty"`
}

type fileSave struct {
	ID   memory.ID `json:"id"`
	By   Caller    `json:"by"`
	At   time.Time `json:"at"`
	Used bool      `json:"used,omitempty"`
}

// load takes the file in; one that is not there is an empty one.
func (l *Ledger) load() error {
	data, err := l.readFile()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return fmt.Errorf("invalid list of callers: %w", err)
	}
	if f.Format != format {
		return fmt.Errorf("the file has format %d, but this version of emberd supports format %d", f.Format, format)
	}
	if len(f.Callers) > maxCallers+1 || len(f.Reads) > maxReads || len(f.Saves) > maxWatched {
		return errors.New("the list of callers exceeds its size limit")
	}
	if err = l.take(&f); err == nil {
		l.counts, err = countsIn(data)
	}
	return err
}

func (l *Ledger) readFile() ([]byte, error) {
	r, err := l.opt.FS.OpenRead(l.opt.File)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("the file is larger than %d MiB", maxFile>>20)
	}
	return data, err
}

func (l *Ledger) take(f *file) error {
	l.since, l.seq = f.Since, max(f.Seq, 1)
	for _, c := range f.Callers {
		of := &account{seen: c.Seen, days: make(map[int]*Counts), open: c.Open}
		if of.open == nil {
			of.open = make(map[memory.ID]recall)
		}
		for text, counts := range c.Days {
			day, err := time.Parse(dateOnly, text)
			if err != nil {
				return fmt.Errorf("invalid date %q", memory.Clip(text))
			}
			of.days[dayOf(day)] = &counts
		}
		l.recalls += len(of.open)
		l.accounts[c.Caller] = of
	}
	for _, s := range f.Saves {
		l.watched[s.ID] = &saved{by: s.By, at: s.At, used: s.Used}
		l.watching[s.By]++
	}
	for _, r := range f.Reads {
		if r.Seq >= l.seq {
			return errors.New("a read record has a number that emberd has not assigned yet")
		}
		l.readIDs += len(r.ids)
	}
	l.reads = f.Reads
	if l.recalls > maxOpen || l.readIDs > maxReadIDs {
		return errors.New("the list of callers exceeds its size limit")
	}
	l.expire(l.now())
	return nil
}

// aside returns where a file goes that cannot be used.
func (l *Ledger) aside() string { return l.opt.File + ".damaged" }

func (l *Ledger) setAside(cause error) {
	l.problem = fmt.Sprintf(
		"cannot read %s, so emberd restarted the counts per caller: %v; emberd renamed the file to %s",
		filepath.Base(l.opt.File), cause, filepath.Base(l.aside()))
	if err := l.opt.FS.Rename(l.opt.File, l.aside()); err != nil {
		l.problem = fmt.Sprintf("cannot read %s, so emberd restarted the counts per caller: %v",
			filepath.Base(l.opt.File), cause)
		cause = errors.Join(cause, err)
	}
	l.opt.Logger.Warn("caller statistics restarted", "file", l.opt.File, "err", cause)
}

// removeAside removes what was set aside, which may name anything.
func (l *Ledger) removeAside() error {
	err := l.opt.FS.Remove(l.aside())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = l.opt.FS.SyncDir(filepath.Dir(l.aside()))
	}
	return err
}

// Flush writes what was counted since the last call. Counting continues in the meantime.
func (l *Ledger) Flush() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	return l.flush()
}

// flush writes the file after the chain, so that a crash leaves it behind the chain and never
// ahead. Writing must be held.
func (l *Ledger) flush() (err error) {
	f, b, due := l.stored()
	if !due {
		return nil
	}
	if l.chain != nil {
		l.next, err = f.counts()
		err = errors.Join(err, l.seal(b))
	}
	if err == nil {
		err = durable.ReplaceFileBy(l.opt.FS, l.opt.File, f.write)
	}
	if err != nil {
		l.mu.Lock()
		l.dirty = true
		l.mu.Unlock()
		return fmt.Errorf("cannot write the list of callers: %w", err)
	}
	l.saved, l.counts = extentOf(f.Reads, f.Seq), l.next
	return nil
}

// Close flushes and closes the chain. The journal must not get any more changes before. The ledger
// can be used further.
func (l *Ledger) Close() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	err := l.flush()
	if l.chain == nil {
		return err
	}
	if err == nil {
		err = l.end()
	}
	return errors.Join(err, l.chain.Close())
}

// write writes the file item by item: a full one has many MB, and is written again and again.
func (f *file) write(to io.Writer) error {
	w := bufio.NewWriterSize(to, 64<<10)
	first, err := json.Marshal(&f.head)
	if err != nil {
		return err
	}
	_, _ = w.Write(first[:len(first)-1]) // what failed fails again in Flush
	err = errors.Join(writeList(w, "callers", f.Callers), writeList(w, "saves", f.Saves),
		writeList(w, "reads", f.Reads))
	_, _ = w.WriteString("}\n")
	return errors.Join(err, w.Flush())
}

// writeList adds one more member to an object, an item a line.
func writeList[T any](w *bufio.Writer, name string, items []T) error {
	_, _ = fmt.Fprintf(w, ",%q:", name)
	return writeItems(w, items)
}

func writeItems[T any](w *bufio.Writer, items []T) error {
	_ = w.WriteByte('[')
	lines := json.NewEncoder(w)
	for i := range items {
		if i > 0 {
			_ = w.WriteByte(',')
		}
		if err := lines.Encode(&items[i]); err != nil {
			return err
		}
	}
	return w.WriteByte(']')
}

// stored copies what the file is to have, if there is anything new, and takes what is for the chain.
func (l *Ledger) stored() (f file, b *batch, due bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.dirty {
		return f, nil, false
	}
	l.dirty, b = false, l.takePending()
	l.expire(l.now())
	f = file{head: head{Format: format, Since: l.since, Seq: l.seq}, Reads: slices.Clone(l.reads),
		Callers: make([]fileOwner, 0, len(l.accounts)), Saves: make([]fileSave, 0, len(l.watched))}
	for c, of := range l.accounts {
		owner := fileOwner{Caller: c, Seen: of.seen, Days: make(map[string]Counts, len(of.days)),
			Open: maps.Clone(of.open)}
		for day, counts := range of.days {
			owner.Days[time.Unix(int64(day)*int64(aDay/time.Second), 0).UTC().Format(dateOnly)] = *counts
		}
		f.Callers = append(f.Callers, owner)
	}
	for id, s := range l.watched {
		f.Saves = append(f.Saves, fileSave{ID: id, By: s.by, At: s.at, Used: s.used})
	}
	slices.SortFunc(f.Callers, func(a, b fileOwner) int { return compareCallers(a.Caller, b.Caller) })
	slices.SortFunc(f.Saves, func(a, b fileSave) int { return cmp.Compare(a.ID, b.ID) })
	return f, b, true
}
