package stm

import (
	"bytes"
	"encoding/json"
	"hash/crc32"
	"log/slog"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/internal/durable/crashdisk"
	"emberd/internal/text"
)

const goodLine = `{"v":1,"q":42,"t":"0192f3a1b2c3-0004-k7q2mzxa","op":"put","id":"0192f3a1-b2c3-7000-8000-0123456789ab",` +
	`"tx":"0192f3a1b2c3-0004-k7q2mzxa","do":"save","by":{"via":"cli","uid":1},"d":{"content":"a \"b\"","tags":["x"],"n":9007199254740993}`

// FuzzLine: whatever a line holds, decoding does not panic, and a line that
// decodes to a transaction says the same after encoding.
func FuzzLine(f *testing.F) {
	f.Add([]byte(goodLine + "}"))
	f.Add([]byte(`{"v":1,"q":1,"t":"0192f3a1b2c3-0004-k7q2mzxa","op":"all","d":[{"op":"del","id":"0192f3a1-b2c3-7000-8000-0123456789ab","prev":{"t":"x","d":{}}}]}`))
	f.Add([]byte(`{"v":1,"q":1,"t":"0192f3a1b2c3-0004-k7q2mzxa","op":"use","d":{"0192f3a1-b2c3-7000-8000-0123456789ab":{"u":3}}}`))
	f.Add([]byte(`{"a":` + string(bytes.Repeat([]byte("["), 70)) + `}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if !json.Valid(b) {
			// Only structure is promised for what is not JSON: no panic.
			decodeLine(b)
			return
		}
		l, err := decodeLine(b)
		if err != nil || len(l.changes) == 0 || l.stamp.IsZero() {
			return
		}
		out := l.append(nil)
		if err := checkLine(bytes.TrimSuffix(out, []byte("\n"))); err != nil {
			t.Fatalf("encoded line %q: %v", out, err)
		}
		back, err := decodeLine(bytes.TrimSuffix(out, []byte("\n")))
		if err != nil {
			t.Fatalf("%q does not decode: %v", out, err)
		}
		if back.stamp != l.stamp || back.seq != l.seq || len(back.changes) != len(l.changes) ||
			!bytes.Equal(back.changes[0].data, l.changes[0].data) || back.changes[0].id != l.changes[0].id {
			t.Fatalf("%+v\nbecame %+v", l, back)
		}
	})
}

// FuzzSegment: recovery reads a file of any bytes and leaves a store that answers.
func FuzzSegment(f *testing.F) {
	good := string(sealLine([]byte(goodLine), 0))
	f.Add([]byte(good))
	f.Add([]byte(good + "\x00\x00\x00"))
	f.Add([]byte("\ufeff" + good + "\r\n" + good[:40]))
	f.Add([]byte(goodLine + "}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, disk := memoryOnly(), crashdisk.New()
		f, err := disk.CreateAppend("/s-00000001.jsonl")
		if err == nil {
			_, err = f.Write(b)
		}
		if err != nil {
			t.Fatal(err)
		}
		s.fs = disk
		r := newRecovery(s, &hlc{now: time.Now})
		if err := r.segment("/s-00000001.jsonl"); err != nil {
			t.Fatalf("damage is an error: %v", err)
		}
		for row := range s.Rows() {
			row.Memory()
			row.Content()
		}
		for _, e := range r.edited() {
			if tx := e.tx(s.table.get(e.id)); tx != nil {
				if _, err := s.pending(tx); err != nil {
					t.Fatalf("a hand edit that was taken cannot be written: %v", err)
				}
			}
		}
	})
}

// FuzzSnapshot: a snapshot with any content and a right checksum is used or
// refused, without panic and without taking memory it does not need.
func FuzzSnapshot(f *testing.F) {
	f.Add([]byte(snapshotMagic + "\x01"))
	e := &encoder{b: []byte(snapshotMagic)}
	e.uint(snapshotVersion)
	e.text(text.New().Identity())
	e.text("k7q2mzxa")
	f.Add(bytes.Clone(e.b))
	e.uint(1 << 40)
	f.Add(e.b)
	f.Fuzz(func(t *testing.T, b []byte) {
		s := memoryOnly()
		r := newRecovery(s, &hlc{now: time.Now})
		b = appendUint32(bytes.Clone(b), crc32.Checksum(b, castagnoli))
		if s.decodeSnapshot(b, r) == nil {
			s.Search(Query{Terms: asTerms("x"), Limit: 3})
		}
	})
}

// FuzzStamp: only what String prints is a stamp.
func FuzzStamp(f *testing.F) {
	f.Add("0192f3a1b2c3-0004-k7q2mzxa")
	f.Add("0192F3A1B2C3-0004-k7q2mzxa")
	f.Add("+192f3a1b2c3-0004-k7q2mzxa")
	f.Fuzz(func(t *testing.T, s string) {
		if got, err := ParseStamp(s); err == nil && got.String() != s {
			t.Fatalf("%q became %q", s, got)
		}
	})
}

// memoryOnly is a store without log, for what only reads.
func memoryOnly() *Store {
	log := slog.New(slog.DiscardHandler)
	dev, _ := parseDevice("k7q2mzxa")
	return &Store{Memories: Memories{table: newTable(), index: newIndex(text.New(), log)}, kept: &kept{journal: &journal{undone: map[Stamp]Stamp{}}, device: dev,
		keys: &idemKeys{known: map[string]keyUse{}}, log: log, fs: durable.OS{}, now: time.Now, files: []string{"x"}, state: "/nonexistent"}}
}
