package table_test

import (
	"bytes"
	"testing"

	"emberd/stm/record"
	"emberd/stm/table"
)

// archivedRow is a memory that was saved and then archived.
func archivedRow(t *testing.T, n int) *table.Row {
	t.Helper()
	saved := `{"content":"The kettle in the office kitchen was descaled in March and works again.","stage":"active"}`
	set := `{"archived_at":"2026-02-01T00:00:00Z","content":"The kettle was descaled.","key_terms":["kettle","March"],` +
		`"stage":"archived","text_digest":"sha256:000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f",` +
		`"vault_path":"Memories/Archive/The kettle.md"}`
	row := &table.Row{Key: idOf(n).Bytes()}
	for i, c := range []record.Change{{Op: record.OpPut, Data: []byte(saved)}, {Op: record.OpSet, Data: []byte(set)}} {
		c.ID = idOf(n)
		next, err := table.Merged(row, &c, record.Stamp{T: uint64(i+1) << 16})
		if err != nil {
			t.Fatal(err)
		}
		row = next
	}
	return row
}

// The document of a cold memory is kept compressed and read as it was.
func TestColdDocumentIsCompressed(t *testing.T) {
	row := archivedRow(t, 1)
	if len(row.Doc) >= len(row.JSON())*2/3 {
		t.Errorf("%d bytes are kept of a document of %d", len(row.Doc), len(row.JSON()))
	}
	if m, err := row.Memory(); err != nil || m.Content != "The kettle was descaled." || len(m.KeyTerms) != 2 {
		t.Errorf("read back: %+v, %v", m, err)
	}
	if !row.MayBeAt("Memories/Archive/The kettle.md") || row.MayBeAt("Memories/Archive/Another.md") {
		t.Error("its note is taken to be elsewhere")
	}
	back, err := table.Merged(row, &record.Change{Op: record.OpSet, ID: idOf(1), Data: []byte(`{"stage":"active"}`)},
		record.Stamp{T: 9 << 16})
	if err != nil || !bytes.Equal(back.Doc, back.JSON()) || back.MayBeAt("Memories/Archive/The kettle.md") {
		t.Errorf("a warm memory is kept as %q, %v", back.Doc, err)
	}
}

// What a snapshot has of a row is the row, in far less bytes than its document.
func TestColdRowInASnapshot(t *testing.T) {
	var e record.Encoder
	rows := []*table.Row{archivedRow(t, 1), archivedRow(t, 2)}
	for _, row := range rows {
		row.Encode(&e, 7, nil)
	}
	if len(e.B) >= 2*len(rows[0].JSON()) {
		t.Errorf("%d bytes for two documents of %d", len(e.B), len(rows[0].JSON()))
	}
	d := &record.Decoder{B: e.B}
	var shared table.SharedRegisters
	for _, want := range rows {
		var got table.Row
		doc := table.DecodeRow(d, &got, nil)
		shared.Share(&got)
		if d.Err != nil || doc != 7 || got.Rev() != want.Rev() || !bytes.Equal(got.JSON(), want.JSON()) ||
			!got.MayBeAt("Memories/Archive/The kettle.md") || got.KeyRev("stage") != want.KeyRev("stage") {
			t.Errorf("read back as %s %s, %v", got.Rev(), got.JSON(), d.Err)
		}
	}
}

// A row that refers to what it does not have is damage, and no panic.
func TestDamagedRowInASnapshot(t *testing.T) {
	var e record.Encoder
	archivedRow(t, 1).Encode(&e, 0, nil)
	for i := range e.B {
		for _, to := range []byte{0, 1, 0x7f, 0xff} {
			b := bytes.Clone(e.B)
			b[i] = to
			var got table.Row
			table.DecodeRow(&record.Decoder{B: b}, &got, nil)
			_ = got.Rev()
			_ = got.Text()
		}
	}
}

// encodeRow6 writes a row as snapshots of version 6 have it.
func encodeRow6(e *record.Encoder, r *table.Row) {
	e.B = append(e.B, r.Key[:]...)
	e.Uint(3)
	e.Bytes(r.JSON())
	e.Stamp(r.Base)
	o := r.Rest()
	e.Uint(uint64(len(o.Regs)))
	for _, g := range o.Regs {
		e.Text(g.Key)
		e.Stamp(g.Stamp)
	}
	e.Stamp(o.Tomb)
	e.Stamp(o.Born)
	e.Stamp(r.Latest())
	e.Bool(false)
	e.Hot(&r.Hot)
	e.Uint(0)
}

func TestRowOfVersion6(t *testing.T) {
	var e record.Encoder
	want, got := archivedRow(t, 1), table.Row{}
	encodeRow6(&e, want)
	d := &record.Decoder{B: e.B}
	if doc := table.DecodeRow6(d, &got); d.Err != nil || doc != 3 || got.Rev() != want.Rev() ||
		!bytes.Equal(got.Doc, want.Doc) || !got.MayBeAt("Memories/Archive/The kettle.md") {
		t.Errorf("read back as %s %s, %v", got.Rev(), got.JSON(), d.Err)
	}
}

// Which keys the document has is told again by the next snapshot.
func TestRowOfVersion8(t *testing.T) {
	var e, again record.Encoder
	var got table.Row
	if err := archivedRow(t, 1).Encode(&e, 7, nil); err != nil {
		t.Fatal(err)
	}
	d := &record.Decoder{B: e.B[:len(e.B)-1]}
	if doc := table.DecodeRow8(d, &got, nil); d.Err != nil || doc != 7 || !got.Has("text_digest") || got.Has("aliases") {
		t.Errorf("read back as %s %s, %v", got.Rev(), got.JSON(), d.Err)
	}
	if err := got.Encode(&again, 7, nil); err != nil || !bytes.Equal(again.B, e.B) {
		t.Errorf("written again as %x, %v, want %x", again.B, err, e.B)
	}
}
