package stm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
	"emberd/internal/testutil/snapfile"
	"emberd/internal/text/analysis"
	"emberd/stm"
	"emberd/stm/device"
	"emberd/stm/journal"
	"emberd/stm/quarantine"
	"emberd/stm/record"
	"emberd/stm/snapshot"
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

// FuzzSnapshot: a snapshot with any content and right checksums is used or
// refused, without panic and without taking memory it does not need.
func FuzzSnapshot(f *testing.F) {
	for _, p := range snapfile.Parts(smallSnapshot(f)) {
		f.Add(p.Kind, p.Count, p.Content)
		f.Add(p.Kind, uint32(1<<31), p.Content)
	}
	good := snapfile.Parts(smallSnapshot(f))
	f.Fuzz(func(t *testing.T, kind string, count uint32, b []byte) {
		parts := slices.Clone(good)
		for i := range parts {
			if parts[i].Kind == kind {
				parts[i].Count, parts[i].Content = count, b
			}
		}
		file := snapfile.Build(parts...)
		opened, err := snapshot.Parse(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		s := memoryOnly()
		if wal.NewRecovery(s.Wal(), &record.Clock{Now: time.Now}).Load(opened) == nil {
			s.Search(table.Query{Terms: asTerms("x"), Limit: 3})
		}
	})
}

// smallSnapshot is a snapshot of all kinds of parts, of device k7q2mzxa with no file that must be there.
func smallSnapshot(tb testing.TB) []byte {
	tb.Helper()
	s, out := memoryOnly(), bytes.Buffer{}
	l, err := record.Decode([]byte(goodLine + "}"))
	if err != nil {
		tb.Fatal(err)
	}
	l.Key = "a key"
	s.Wal().Journal.Add(&l)
	s.Wal().Keys.Add(&l, time.Now())
	s.Wal().Journal.Undone[l.Stamp] = l.Stamp
	for i := range l.Changes {
		if _, err := s.Table.Apply(&l.Changes[i], &l, record.Place{}); err != nil {
			tb.Fatal(err)
		}
	}
	if err := s.BuildIndex(context.Background()); err != nil {
		tb.Fatal(err)
	}
	s.Table.Graves[idOf(2).Bytes()] = table.TombstoneRef{Stamp: l.Stamp, Tx: l.Tx, Aliases: []string{"other"}}
	s.Table.Purges[idOf(3).Bytes()] = table.Purge{Stamp: l.Stamp}
	files := snapshot.Marks{{Name: "/elsewhere/s-00000001.jsonl", Size: 1000}}
	content := &snapshot.Content{Meta: snapshot.Meta{Analyzer: s.Words.Analyzer.Identity(), Device: s.Wal().Device, Files: files},
		Journal: s.Wal().Journal, Keys: s.Wal().Keys, Table: s.Table, Words: s.Words.Words.Load()}
	if err := snapshot.Write(context.Background(), &out, content, false); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
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
	damaged, _ := quarantine.Open(h)
	l := &wal.Log{MemorySet: table.MemorySet{Table: table.NewTable(), Words: table.NewIndex(analysis.New(), log, nil)}, Home: h,
		FileTable: &journal.FileTable{Files: []string{"x"}}, Keys: journal.NewIdemKeys(), Quarantine: damaged, Prints: &device.TextKeys{Home: h}}
	l.Journal = journal.NewJournal(h, l.FileTable)
	l.Peers = &device.Peers{Home: h, Keys: l.Prints, Last: &l.LastSeq}
	return stm.OfLog(l)
}
