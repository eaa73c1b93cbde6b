package content_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm"
	"emberd/stm/content"
)

// log is a store over real files, of two segments.
type log struct {
	*stm.Store
	testing.TB
	data, state string
}

func newLog(t *testing.T) *log {
	t.Helper()
	l := &log{TB: t, data: filepath.Join(t.TempDir(), "data"), state: filepath.Join(t.TempDir(), "state")}
	l.open()
	for i := range 60 {
		id := l.id(i)
		l.change(stm.Change{ID: id, Set: map[string]json.RawMessage{
			"content": text("memory %d", i), "created_at": text("2026-03-01T12:00:00Z")}})
		switch i % 6 {
		case 1:
			l.change(stm.Change{ID: id, Set: map[string]json.RawMessage{"content": text("changed %d", i)}})
		case 2:
			l.change(stm.Change{ID: id, Delete: true})
		case 3:
			l.change(stm.Change{ID: id, Set: map[string]json.RawMessage{"superseded_by": text("%s", l.id(i-3)),
				"category": text("a")}})
		}
	}
	for i := range 60 {
		if i%15 == 0 {
			_, err := l.Purge(context.Background(), l.id(i), memory.Actor{})
			l.ok(err)
		}
	}
	l.ok(l.Close())
	l.open()
	l.change(stm.Change{ID: l.id(5), Set: map[string]json.RawMessage{"category": json.RawMessage("null"),
		"content": text("later")}})
	return l
}

func text(format string, args ...any) json.RawMessage {
	b, _ := json.Marshal(fmt.Sprintf(format, args...)) // a string always marshals
	return b
}

func (l *log) ok(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

func (l *log) id(i int) memory.ID {
	return memory.ID(fmt.Sprintf("01a201e6-1e19-7e1f-a8c6-d73eebcf%04x", i*977))
}

func (l *log) open() {
	l.Helper()
	var err error
	l.Store, err = stm.Open(l.data, l.state, &stm.Options{Durability: stm.None})
	l.ok(err)
	l.Cleanup(func() { _ = l.Close() }) // may be closed
}

func (l *log) change(c stm.Change) {
	l.Helper()
	_, err := l.Update(context.Background(), []memory.ID{c.ID}, "", func([]*stm.Row) (*stm.Tx, error) {
		return &stm.Tx{Verb: "edit", Changes: []stm.Change{c}}, nil
	})
	l.ok(err)
}

// folder is the log on the disk as of now, and what the store knows.
func (l *log) folder() (*content.Folder, *content.Known) {
	l.Helper()
	at, known, err := l.Moment(context.Background())
	l.ok(err)
	f := &content.Folder{FS: durable.OS{}, Root: l.data, Now: time.Now(), Since: time.Now().Add(-time.Hour), Seq: at.Seq}
	copy(f.Device[:], at.Device)
	names, err := filepath.Glob(filepath.Join(l.data, "stm", "*", "*.jsonl"))
	l.ok(err)
	for _, name := range names {
		info, err := os.Stat(name)
		l.ok(err)
		below, err := filepath.Rel(l.data, name)
		l.ok(err)
		f.Files = append(f.Files, content.File{Name: filepath.ToSlash(below), Size: info.Size()})
	}
	return f, known
}

// However many memories are looked at in one reading, the files add up to what the store knows, and of
// damaged ones the same is missing.
func TestPartsMakeNoDifference(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	whole, known := l.folder()
	want := known.Summary(whole.Since)
	if want.Live() != 46 || want[content.Trash].Memories != 10 {
		t.Fatalf("the store knows %v", want)
	}
	for _, part := range []int{1, 7, 30, 1000} {
		f := *whole
		f.Part = part
		got, err := f.Compare(t.Context(), known)
		l.ok(err)
		if wrong := want.Differences(got.Summary); got.Memories != 0 || len(got.Saved) != 0 || len(wrong) > 0 {
			t.Errorf("by %d: %d missing, %v", part, got.Memories, wrong)
		}
	}
	l.ok(os.Remove(filepath.Join(l.data, whole.Files[0].Name)))
	damaged, known := l.folder()
	for _, part := range []int{1, 7, 1000} {
		f := *damaged
		f.Part = part
		got, err := f.Compare(t.Context(), known)
		l.ok(err)
		if got.Memories < 40 || got.LostTrash != 10 || got.Summary.Live() != want.Live() || len(got.Saved) != 1 {
			t.Errorf("by %d, of damaged files: %d missing, %d lost, %v", part, got.Memories, got.LostTrash, got.Summary)
		}
	}
}

// A file that changes under the fold is noticed.
func TestAChangedFileIsNoticed(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	f, _ := l.folder()
	f.Files[0].SHA256 = "of other bytes"
	if _, err := f.Sum(t.Context()); err == nil {
		t.Error("it was added up")
	}
}
