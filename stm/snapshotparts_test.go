package stm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/internal/durable"
	"emberd/internal/testutil/oldhome"
	"emberd/internal/testutil/snapfile"
	"emberd/memory"
	"emberd/stm"
	"emberd/stm/snapshot"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// A diary is a closed store whose snapshot has several parts of rows, with the file as it was
// written and what the memories said then.
type diary struct {
	*testStore
	whole   []byte
	content map[memory.ID]string
	deleted memory.ID
}

// newDiary keeps 2.5 MiB of texts, all of them in the snapshot itself, one of which is deleted and one of which is purged.
func newDiary(t *testing.T) *diary {
	t.Helper()
	d := &diary{testStore: openStore(t, wal.Options{DocumentBytes: 1 << 30}),
		content: map[memory.ID]string{}}
	for i := range 40 {
		text := fmt.Sprintf("day %d %s", i, strings.Repeat("z", 64<<10))
		d.content[d.save(text).ID()] = text
	}
	d.deleted = d.save("forgotten").ID()
	d.forget(d.deleted)
	gone := d.save("secret").ID()
	if _, err := d.Purge(context.Background(), gone, memory.Actor{}); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	var err error
	if d.whole, err = os.ReadFile(d.Wal().SnapshotPath()); err != nil {
		t.Fatal(err)
	}
	return d
}

// with gives the snapshot another content.
func (d *diary) with(b []byte) {
	d.t.Helper()
	if err := os.WriteFile(d.Wal().SnapshotPath(), b, 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// witness reads the snapshot without the log.
func (d *diary) witness() *snapshot.Held {
	d.t.Helper()
	held, err := snapshot.Witness(durable.OS{}, d.Wal().SnapshotPath())
	if err != nil {
		d.t.Fatal(err)
	}
	return held
}

func texts(in *table.Table) map[memory.ID]string {
	out := map[memory.ID]string{}
	in.Each(func(_ *table.Cell, r *table.Row) bool { out[r.ID()] = r.Content(); return true })
	return out
}

// wantUnused opens the store and checks that it did without the snapshot and lacks nothing.
func (d *diary) wantUnused(why string) {
	d.t.Helper()
	if err := snapshot.Check(durable.OS{}, filepath.Join(d.root, "state")); err == nil {
		d.t.Errorf("%s: the check found nothing", why)
	}
	d.open()
	if got := d.Status().Snapshot; !strings.HasPrefix(got, "damaged") {
		d.t.Errorf("%s: snapshot %s", why, got)
	}
	if !maps.Equal(texts(d.Table), d.content) {
		d.t.Errorf("%s: %d memories, want %d, or other texts", why, d.Len(), len(d.content))
	}
	if err := d.Close(); err != nil {
		d.t.Fatal(err)
	}
}

func TestASnapshotHasManyPartsOfRows(t *testing.T) {
	d, kinds := newDiary(t), map[string]int{}
	parts := snapfile.Parts(d.whole)
	for _, p := range parts {
		if kinds[p.Kind]++; p.At%8 != 0 || p.End%8 != 0 || len(p.Content) > 1<<20+1<<17 {
			t.Errorf("part %s of %d bytes at %d to %d", p.Kind, len(p.Content), p.At, p.End)
		}
	}
	want := map[string]int{"meta": 1, "refs": 1, "rows": 3, "dels": 1, "purg": 1, "word": 1}
	if !maps.Equal(kinds, want) {
		t.Errorf("parts %v, want %v", kinds, want)
	}
	if !bytes.Equal(snapfile.Build(parts...), d.whole) {
		t.Error("the documented format makes another file of the same parts")
	}
	d.open()
	if got := d.Status(); got.Snapshot != "used" || got.Recovery.Applied != 0 || !maps.Equal(texts(d.Table), d.content) {
		t.Errorf("snapshot %s, %d lines applied, %d memories", got.Snapshot, got.Recovery.Applied, d.Len())
	}
}

func TestASnapshotThatWasCutIsNeverChosen(t *testing.T) {
	d := newDiary(t)
	cuts := []int{0, 8, 16, len(d.whole) - 32, len(d.whole) - 1}
	for _, p := range snapfile.Parts(d.whole) {
		cuts = append(cuts, p.At, (p.At+p.End)/2, p.End)
	}
	for _, at := range cuts {
		d.with(d.whole[:at])
		d.wantUnused(fmt.Sprintf("cut at %d", at))
	}
}

func TestOneBitOfASnapshot(t *testing.T) {
	d := newDiary(t)
	for _, p := range snapfile.Parts(d.whole) {
		for _, at := range []int{p.At, p.At + 23, p.At + 24, p.At + 24 + len(p.Content)/2, p.End - 8, p.End - 1} {
			name := fmt.Sprintf("a bit of part %s at %d, byte %d", p.Kind, p.At, at)
			flipped := bytes.Clone(d.whole)
			flipped[at] ^= 1
			d.with(flipped)
			held := d.witness()
			got := texts(held.Table)
			for id, text := range got {
				if d.content[id] != text {
					t.Errorf("%s: %s has another text", name, id)
				}
			}
			lost := 0
			if at >= p.At+24 && p.Kind == "rows" {
				lost = int(p.Count)
			}
			if len(got) < len(d.content)-lost || lost > 0 && held.Damaged != 1 {
				t.Errorf("%s: %d memories of %d, %d damaged parts of %d", name, len(got), len(d.content), held.Damaged, held.Parts)
			}
			if err := snapshot.Check(durable.OS{}, filepath.Join(d.root, "state")); err == nil {
				t.Errorf("%s: the check found nothing", name)
			}
		}
		d.wantUnused("the last bit of part " + p.Kind)
	}
}

func TestAWitnessWithoutADirectory(t *testing.T) {
	d := newDiary(t)
	parts := snapfile.Parts(d.whole)
	rows := slices.DeleteFunc(slices.Clone(parts), func(p snapfile.Part) bool { return p.Kind != "rows" })
	d.with(d.whole[:len(d.whole)-40])
	if held := d.witness(); !maps.Equal(texts(held.Table), d.content) || held.Damaged != 1 {
		t.Errorf("cut at its end: %d memories of %d, %d damaged", len(texts(held.Table)), len(d.content), held.Damaged)
	}
	// Without its header the first part of rows is not found, those behind it are.
	spoilt := bytes.Clone(d.whole[:len(d.whole)-40])
	spoilt[rows[0].At] ^= 1
	d.with(spoilt)
	held := d.witness()
	if got := held.Table.Live.Load(); int(got) < len(d.content)-int(rows[0].Count) || int(got) >= len(d.content) || held.Meta == nil {
		t.Errorf("without a header: %d memories of %d", got, len(d.content))
	}
}

func TestAWitnessNeedsNoLogThatFits(t *testing.T) {
	d := newDiary(t)
	used := d.Wal()
	os.RemoveAll(filepath.Join(d.root, "data"))
	held := d.witness()
	if !maps.Equal(texts(held.Table), d.content) || held.Damaged != 0 || held.Version != snapshot.Version {
		t.Errorf("version %d: %d memories, %d damaged parts", held.Version, held.Table.Live.Load(), held.Damaged)
	}
	m := held.Meta
	if m == nil || m.Device != used.Device || m.Seq != used.LastSeq.Load() || m.Clock == 0 || len(m.Files) == 0 {
		t.Fatalf("meta %+v", m)
	}
	for _, f := range m.Files {
		if f.Name == "" || f.Size == 0 {
			t.Errorf("file %+v", f)
		}
	}
	if g, ok := held.Table.Graves[d.deleted.Bytes()]; !ok || int(g.At.File) >= len(m.Files) || len(held.Table.Purges) != 1 {
		t.Errorf("delete %+v, %v; %d purges", g, ok, len(held.Table.Purges))
	}
	if _, err := snapshot.Witness(durable.OS{}, filepath.Join(d.root, "nothing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	d.with([]byte(strings.Repeat("no snapshot ", 20)))
	if _, err := snapshot.Witness(durable.OS{}, d.Wal().SnapshotPath()); err == nil {
		t.Error("something else was taken for a snapshot")
	}
}

// An end of the context leaves the snapshot that was there, and nothing beside it.
func TestASnapshotThatIsBrokenOff(t *testing.T) {
	d := newDiary(t)
	d.open()
	id := d.save("after").ID()
	for n := range 12 {
		ctx := &endsAfter{Context: context.Background(), left: n}
		if err := d.Wal().WriteSnapshot(ctx, false); err == nil {
			t.Fatalf("written although the context ended at write %d", n)
		}
	}
	ended, end := context.WithCancel(context.Background())
	end()
	if err := d.Shutdown(ended, func(error) {}); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(d.Wal().SnapshotPath())
	if err != nil || !bytes.Equal(kept, d.whole) {
		t.Errorf("the snapshot changed: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(d.Wal().SnapshotPath())); len(left) != 1 {
		t.Errorf("beside the snapshot there is %v", left)
	}
	d.open()
	if got := d.Status(); got.Snapshot != "used" || got.Recovery.Applied != 1 {
		t.Errorf("snapshot %s, %d lines applied, want 1", got.Snapshot, got.Recovery.Applied)
	}
	d.wantContent(id, "after")
}

// endsAfter is a context that has ended once it was asked so often.
type endsAfter struct {
	context.Context
	left int
}

func (c *endsAfter) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// A home of an earlier version has a snapshot of version 5: a start reads the log instead, and what
// the snapshot holds is the same.
func TestASnapshotOfVersion5(t *testing.T) {
	root := t.TempDir()
	oldhome.Unpack(t, filepath.Join("..", "testdata", "homes", "2026-11.tar.gz"), root)
	state := filepath.Join(root, "home", "state")
	name := filepath.Join(state, "index", "stm.snap")
	held, err := snapshot.Witness(durable.OS{}, name)
	if err != nil || held.Version != 5 || held.Damaged != 0 || held.Meta.Seq == 0 || len(held.Meta.Files) == 0 {
		t.Fatalf("%+v, %v", held, err)
	}
	if err := snapshot.Check(durable.OS{}, state); err != nil {
		t.Error(err)
	}
	s, err := stm.Open(filepath.Join(root, "home", "data"), state, &wal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := s.Status().Snapshot; !strings.HasPrefix(got, "stale: the snapshot does not match the log: version 5") {
		t.Errorf("snapshot %s", got)
	}
	if in := texts(s.Table); len(in) == 0 || !maps.Equal(texts(held.Table), in) {
		t.Errorf("the snapshot has %d memories, the log %d", held.Table.Live.Load(), len(in))
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := snapshot.Witness(durable.OS{}, name); err == nil || snapshot.Check(durable.OS{}, state) == nil {
		t.Error("one that is damaged was believed")
	}
}
