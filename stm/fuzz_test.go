package stm_test

import (
	"bytes"
	"encoding/json"
	"hash/crc32"
	"log/slog"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
	"emberd/internal/text/analysis"
	"emberd/stm"
	"emberd/stm/device"
	"emberd/stm/journal"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
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
			record.Decode(b)
			return
		}
		l, err := record.Decode(b)
		if err != nil || len(l.Changes) == 0 || l.Stamp.IsZero() {
			return
		}
		out := l.Append(nil)
		if err := record.Verify(bytes.TrimSuffix(out, []byte("\n"))); err != nil {
			t.Fatalf("encoded line %q: %v", out, err)
		}
		back, err := record.Decode(bytes.TrimSuffix(out, []byte("\n")))
		if err != nil {
			t.Fatalf("%q does not decode: %v", out, err)
		}
		if back.Stamp != l.Stamp || back.Seq != l.Seq || len(back.Changes) != len(l.Changes) ||
			!bytes.Equal(back.Changes[0].Data, l.Changes[0].Data) || back.Changes[0].ID != l.Changes[0].ID {
			t.Fatalf("%+v\nbecame %+v", l, back)
		}
	})
}

// FuzzSegment: recovery reads a file of any bytes and leaves a store that answers.
func FuzzSegment(f *testing.F) {
	good := string(record.SealLine([]byte(goodLine), 0))
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
		s.Wal().FS = disk
		r := wal.NewRecovery(s.Wal(), &record.Clock{Now: time.Now})
		if err := r.Segment("/s-00000001.jsonl"); err != nil {
			t.Fatalf("damage is an error: %v", err)
		}
		for row := range s.Rows() {
			row.Memory()
			row.Content()
		}
		for _, e := range r.Edited() {
			if tx := e.Tx(s.Table.Get(e.ID)); tx != nil {
				if _, err := s.Encoded(tx); err != nil {
					t.Fatalf("a hand edit that was taken cannot be written: %v", err)
				}
			}
		}
	})
}

// FuzzSnapshot: a snapshot with any content and a right checksum is used or
// refused, without panic and without taking memory it does not need.
func FuzzSnapshot(f *testing.F) {
	f.Add([]byte(wal.SnapshotMagic + "\x01"))
	e := &record.Encoder{B: []byte(wal.SnapshotMagic)}
	e.Uint(wal.SnapshotVersion)
	e.Text(analysis.New().Identity())
	e.Text("k7q2mzxa")
	f.Add(bytes.Clone(e.B))
	e.Uint(1 << 40)
	f.Add(e.B)
	f.Fuzz(func(t *testing.T, b []byte) {
		s := memoryOnly()
		r := wal.NewRecovery(s.Wal(), &record.Clock{Now: time.Now})
		b = record.AppendUint32(bytes.Clone(b), crc32.Checksum(b, record.Castagnoli))
		if s.Wal().DecodeSnapshot(b, r) == nil {
			s.Search(table.Query{Terms: asTerms("x"), Limit: 3})
		}
	})
}

// FuzzStamp: only what String prints is a stamp.
func FuzzStamp(f *testing.F) {
	f.Add("0192f3a1b2c3-0004-k7q2mzxa")
	f.Add("0192F3A1B2C3-0004-k7q2mzxa")
	f.Add("+192f3a1b2c3-0004-k7q2mzxa")
	f.Fuzz(func(t *testing.T, s string) {
		if got, err := record.ParseStamp(s); err == nil && got.String() != s {
			t.Fatalf("%q became %q", s, got)
		}
	})
}

// memoryOnly is a store without log, for what only reads.
func memoryOnly() *stm.Store {
	log := slog.New(slog.DiscardHandler)
	dev, _ := record.ParseDevice("k7q2mzxa")
	h := &device.Home{Logger: log, Now: time.Now, Device: dev, FS: durable.OS{}, State: "/nonexistent"}
	l := &wal.Log{MemorySet: table.MemorySet{Table: table.NewTable(), Words: table.NewIndex(analysis.New(), log)}, Home: h,
		FileTable: &journal.FileTable{Files: []string{"x"}}, Keys: journal.NewIdemKeys(), Decided: &wal.QuarantineDecisions{Home: h}, Prints: &device.TextKeys{Home: h}}
	l.Journal = journal.NewJournal(h, l.FileTable)
	l.Peers = &device.Peers{Home: h, Keys: l.Prints, Last: &l.LastSeq}
	return stm.OfLog(l)
}
