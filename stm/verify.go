package stm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"path/filepath"
)

// verified is what reading a compacted file back has shown.
type verified struct {
	refs   []lineRef          // of its operations; places have no file yet
	graves map[[16]byte]grave // of its deletes that still can be restored
}

// verify is K4. It reads what is on the disk now and compares what it adds up
// to, memory by memory and value by value, with what the inputs add up to, and
// the whole lines of both files with those that had to be kept.
func (r *rewrite) verify() (*verified, error) {
	v := &verified{graves: map[[16]byte]grave{}}
	again := newFold(r.s.device, r.fold.hide)
	kept := lineSum{seed: r.seed}
	err := r.readBack(r.temps[0], r.emitter.hot, func(b, good []byte, l *line, is class) error {
		if is != counted {
			kept.add(bytes.TrimSuffix(b, []byte("\n")))
			return nil
		}
		if l.op != opUse {
			v.take(l)
			if !l.cut {
				kept.add(good)
			}
		}
		return again.add(l)
	})
	if err != nil {
		return nil, err
	}
	if len(r.temps) == 2 {
		err = r.readBack(r.temps[1], r.emitter.cold, func(b, _ []byte, _ *line, _ class) error {
			kept.add(bytes.TrimSuffix(b, []byte("\n")))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if kept.sum != r.emitter.kept.sum {
		return nil, fmt.Errorf("%w: lines are missing or changed", errVerify)
	}
	err = r.readBack(r.temps[0], r.emitter.hot, func(_, _ []byte, l *line, is class) error {
		if is == counted {
			for i := range l.changes {
				again.value(&l.changes[i], l.stamp, r.seed)
			}
		}
		return nil
	})
	if err == nil {
		err = r.fold.same(again)
	}
	return v, err
}

// same reports where two folds differ.
func (f *fold) same(o *fold) error {
	for _, keys := range []*fold{f, o} {
		for key := range keys.rows {
			if f.essence(key) != o.essence(key) {
				return fmt.Errorf("%w: a memory differs", errVerify)
			}
		}
	}
	if !maps.Equal(f.use, o.use) {
		return fmt.Errorf("%w: totals of use differ", errVerify)
	}
	return nil
}

// take notes where a line is.
func (v *verified) take(l *line) {
	v.refs = append(v.refs, l.lineRef())
	for _, c := range l.changes {
		if key := c.id.Bytes(); c.op == opDelete && (c.prev != nil || !l.cut) && l.stamp.after(v.graves[key].stamp) {
			v.graves[key] = grave{stamp: l.stamp, tx: l.tx, at: l.at}
		}
	}
}

// readBack checks a file that is complete against what was written to it, and
// calls fn for every line between header and seal.
func (r *rewrite) readBack(name string, wrote *output, fn func(b, good []byte, l *line, is class) error) error {
	f, err := r.s.fs.OpenRead(name)
	if err != nil {
		return err
	}
	defer f.Close()
	var last []byte
	var lines int
	crc := crc32.New(castagnoli)
	size, err := scanLines(r.ctx, io.TeeReader(f, crc), atOnce(f, 0), func(b []byte, at place, whole bool) error {
		lines++
		r.rest()
		l, good, is := classify(b, whole, r.s.device)
		if is == meta {
			last = append(last[:0], good...)
			return nil
		}
		l.at = at
		return fn(b, good, &l, is)
	})
	if err != nil {
		return err
	}
	if lines != wrote.lines+1 || crc.Sum32() != crc32.Update(wrote.crc, castagnoli, append(last, '\n')) || size != wrote.size+int64(len(last)+1) {
		return fmt.Errorf("%w: %s is not what was written to it", errVerify, filepath.Base(name))
	}
	return nil
}

// inspect reads a compacted file or a history whole and returns its header, or
// an error if any byte of it is not as it was written.
func (s *Store) inspect(ctx context.Context, name string) (header, error) {
	f, err := s.fs.OpenRead(name)
	if err != nil {
		return header{}, err
	}
	defer f.Close()
	var first, last []byte
	var lines int
	var length int64
	var crc uint32
	size, err := scanLines(ctx, f, atOnce(f, 0), func(b []byte, _ place, _ bool) error {
		if lines++; lines == 1 {
			first = bytes.Clone(b)
		}
		crc = crc32.Update(crc, castagnoli, last)
		last = append(last[:0], b...)
		length += int64(len(b))
		return nil
	})
	if err != nil {
		return header{}, err
	}
	h, ok := headerOf(first)
	end, sealed := sealOf(last)
	if !ok || !sealed || size != length || end.Count != lines-1 || end.CRC != fmt.Sprintf("%08x", crc) {
		return header{}, fmt.Errorf("%s is not whole", filepath.Base(name))
	}
	return h, nil
}

// headerOf decodes the first line of a file.
func headerOf(b []byte) (header, bool) {
	l, ok := metaOf(b, opSegment)
	if !ok {
		return header{}, false
	}
	h, err := decodeHeader(l.data)
	return h, err == nil
}

// sealOf decodes the last line of a file.
func sealOf(b []byte) (end seal, ok bool) {
	l, ok := metaOf(b, opSeal)
	ok = ok && json.Unmarshal(l.data, &end) == nil
	return end, ok
}

func metaOf(b []byte, op string) (line, bool) {
	good, err := mend(b)
	if err != nil {
		return line{}, false
	}
	l, err := decodeLine(good)
	return l, err == nil && l.op == op && l.version == formatVersion
}
