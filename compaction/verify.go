package compaction

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"hash/maphash"
	"io"
	"path/filepath"

	"emberd/stm/record"
)

// verified is what reading a compacted file back has shown.
type verified struct {
	refs    []record.LineRef            // of its operations; places have no file yet
	deletes map[[16]byte]record.LineRef // that can still be restored, by memory
}

// verify is K4. It reads what is on the disk now and compares what it adds up
// to, in a sum over all memories and values, with what the inputs add up to, and
// the whole lines of both files with those that had to be kept.
func (r *compactionRun) verify() (*verified, error) {
	v := &verified{deletes: map[[16]byte]record.LineRef{}}
	again := NewFold(r.Device, r.fold.hide)
	kept := lineSum{seed: r.seed}
	err := r.readBack(r.temps[0], r.emitter.hot, func(b, good []byte, l *record.Line, is record.Class) error {
		if is != record.Counted {
			kept.add(bytes.TrimSuffix(b, []byte("\n")))
			v.takeCopied(good, l.At)
			return nil
		}
		if l.Op != record.OpUse {
			v.take(l)
			if !l.Cut {
				kept.add(good)
			}
		}
		return again.Add(l)
	})
	if err != nil {
		return nil, err
	}
	if len(r.temps) == 2 {
		err = r.readBack(r.temps[1], r.emitter.cold, func(b, _ []byte, _ *record.Line, _ record.Class) error {
			kept.add(bytes.TrimSuffix(b, []byte("\n")))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if kept.sum != r.emitter.kept.sum {
		return nil, fmt.Errorf("%w: lines are missing or changed", ErrVerify)
	}
	err = r.readBack(r.temps[0], r.emitter.hot, func(_, _ []byte, l *record.Line, is record.Class) error {
		if is == record.Counted {
			for i := range l.Changes {
				again.value(&l.Changes[i], l.Stamp, r.seed)
			}
		}
		return nil
	})
	if err == nil {
		err = r.want.Same(again.Sum(r.seed))
	}
	return v, err
}

// Sum sums up what the lines of a fold add up to, in whatever order they came.
type Sum struct{ memories, uses uint64 }

// Sum returns the sum of a fold. Only sums with the same seed can be compared.
func (f *Fold) Sum(seed maphash.Seed) (s Sum) {
	type about[V comparable] struct {
		key   [16]byte
		value V
	}
	for key, row := range f.rows {
		if d := f.digest(key, row); d != (memoryDigest{}) {
			s.memories += maphash.Comparable(seed, about[memoryDigest]{key, d})
		}
	}
	for key, total := range f.use {
		s.uses += maphash.Comparable(seed, about[record.UseTotal]{key, total})
	}
	return s
}

// Same reports in what the sums of two folds differ.
func (s Sum) Same(o Sum) error {
	if s.memories != o.memories {
		return fmt.Errorf("%w: a memory is missing or different", ErrVerify)
	}
	if s.uses != o.uses {
		return fmt.Errorf("%w: the use counts of memories differ", ErrVerify)
	}
	return nil
}

// take notes where a line is.
func (v *verified) take(l *record.Line) {
	v.refs = append(v.refs, record.RefOf(l))
	for _, c := range l.Changes {
		if key := c.ID.Bytes(); c.Op == record.OpDelete && (c.Prev != nil || !l.Cut) &&
			l.Stamp.After(v.deletes[key].Stamp) {
			v.deletes[key] = record.RefOf(l)
		}
	}
}

// takeCopied notes where a line is that was copied as it is and counts all the same: one that another device
// wrote first.
func (v *verified) takeCopied(good []byte, at record.Place) {
	l, err := record.Decode(good)
	if err != nil || record.Verify(good) != nil || l.Version != record.FormatVersion || l.Stamp.IsZero() {
		return
	}
	switch l.Op {
	case record.OpPut, record.OpSet, record.OpDelete, record.OpPurge, record.OpAll:
		if l.At = at; l.Applicable() == nil {
			v.take(&l)
		}
	}
}

// readBack checks a file that is complete against what was written to it, and
// calls fn for every line between header and seal.
func (r *compactionRun) readBack(name string, wrote *output, fn func(b, good []byte, l *record.Line,
	is record.Class) error) error {
	f, err := r.FS.OpenRead(name)
	if err != nil {
		return err
	}
	defer f.Close()
	var last []byte
	var lines int
	crc := crc32.New(record.Castagnoli)
	size, err := record.ScanLines(r.ctx, io.TeeReader(f, crc), record.AtOnce(f, 0), func(b []byte, at record.Place,
		whole bool) error {
		lines++
		r.rest()
		l, good, is := record.Classify(b, whole, r.Device)
		if is == record.Meta {
			last = append(last[:0], good...)
			return nil
		}
		l.At = at
		return fn(b, good, &l, is)
	})
	if err != nil {
		return err
	}
	if lines != wrote.lines+1 || crc.Sum32() != crc32.Update(wrote.crc, record.Castagnoli, append(last, '\n')) ||
		size != wrote.size+int64(len(last)+1) {
		return fmt.Errorf("%w: %s differs from the data that emberd wrote", ErrVerify, filepath.Base(name))
	}
	return nil
}
