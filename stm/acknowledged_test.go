package stm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// setOf is one change of one key, as it came from a caller.
func setOf(id memory.ID, key, value string) wal.Tx {
	return wal.Tx{Verb: "edit", Changes: []wal.Change{{ID: id, Set: map[string]json.RawMessage{key: json.RawMessage(value)}}}}
}

func TestWhatIsAcknowledgedCanBeReadBack(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`[`, n) + strings.Repeat(`]`, n) }
	for _, c := range []struct{ name, key, value string }{
		{"line feeds between tokens", "meta", "{\n\"a\": 1\n}"},
		{"a null in spaces", "source", " null "},
		{"a number above 2^53", "meta", `{"n":9007199254740993}`},
		{"a quote in a name", `a"b`, `1`},
		{"nested as deep as it gets", "meta", `{"a":` + deep(50) + `}`},
		{"nested near the limit", "meta", `{"a":` + deep(60) + `}`},
		{"nested at the limit", "meta", `{"a":` + deep(62) + `}`},
		{"nested too deep", "meta", `{"a":` + deep(90) + `}`},
		{"not JSON", "source", `tru`},
		{"an escape that is none", "source", `"\q"`},
		{"bytes that are not UTF-8", "source", "\"\xff\""},
		{"a list that is text", "tags", `"security"`},
		{"a list of numbers", "entities", `[1]`},
		{"a number that is text", "strength", `"high"`},
		{"a time that is none", "created_at", `"yesterday"`},
		{"a count that does not fit", "use_count", `4294967296`},
	} {
		t.Run(c.name, func(t *testing.T) {
			ts := openStore(t, wal.Options{Durability: wal.None})
			for n, create := range []bool{true, false} {
				id := idOf(n)
				if !create {
					ts.put(id, "before")
				}
				tx := setOf(id, c.key, c.value)
				tx.Changes = append(tx.Changes, wal.Change{ID: idOf(n + 10), Set: textOf("beside it")})
				if _, err := ts.try(tx); err != nil {
					if memory.CodeOf(err) != memory.Invalid {
						t.Errorf("refused with %v", err)
					}
					continue
				}
				was, ok := ts.Get(id)
				if !ok {
					t.Fatal("acknowledged, and not there")
				}
				if _, err := was.Memory(); err != nil {
					t.Error(err)
				}
				ts.withoutSnapshot()
				if now, ok := ts.Get(id); !ok || !bytes.Equal(now.JSON(), was.JSON()) {
					t.Fatalf("acknowledged %s, after a start %v", was.JSON(), now)
				}
				ts.edit(id, "context", "the name stays as it is")
				ts.forget(id)
				if _, err := ts.Restore(context.Background(), []memory.ID{id}, memory.Actor{}); err != nil {
					t.Fatal(err)
				}
				if now, _ := ts.Get(id); !bytes.Equal(now.Value(c.key), was.Value(c.key)) {
					t.Errorf("%s was %s and is %s", c.key, was.Value(c.key), now.Value(c.key))
				}
			}
		})
	}
}

func TestAMemoryIsChangedOnceInATransaction(t *testing.T) {
	ts := openStore(t, wal.Options{})
	tx := setOf(idOf(1), "content", `"a"`)
	tx.Changes = append(tx.Changes, setOf(idOf(1), "content", `"b"`).Changes...)
	if _, err := ts.try(tx); memory.CodeOf(err) != memory.Invalid {
		t.Errorf("two changes of one memory, of which one would be dropped: %v", err)
	}
}

func TestTheLongestLineIsReadBack(t *testing.T) {
	ts := openStore(t, wal.Options{Durability: wal.None})
	of := func(size int) wal.Tx {
		return wal.Tx{Verb: "save", By: memory.Actor{Client: strings.Repeat("c", 200)}, Key: strings.Repeat("k", 100),
			Changes: []wal.Change{{ID: idOf(1), Set: textOf(strings.Repeat("x", size))}}}
	}
	tx := of(1)
	p, err := ts.Encoded(&tx)
	if err != nil {
		t.Fatal(err)
	}
	most := record.MaxLine - p.Bytes + 1
	if _, err := ts.try(of(most + 1)); memory.CodeOf(err) != memory.TooLarge {
		t.Errorf("a line that is too long by one byte: %v", err)
	}
	ts.commit(of(most))
	ts.withoutSnapshot()
	if r, ok := ts.Get(idOf(1)); !ok || len(r.Content()) != most {
		t.Error("the longest line that was acknowledged is gone")
	}
}

func TestManyUsesTakeSeveralLines(t *testing.T) {
	ts := openStore(t, wal.Options{Durability: wal.None})
	const n = 60_000
	for i := range n {
		ts.Wal().Uses.Put(memory.DeriveID(fmt.Append(nil, i)).Bytes(), record.UseTotal{Uses: 1, Used: 1_700_000_000_000, Accesses: 1, Accessed: 1_700_000_000_000})
	}
	ts.withoutSnapshot()
	if got := ts.Status().Recovery; got.Quarantined != 0 || len(ts.Table.Cells) != n {
		t.Errorf("%d of %d totals are back: %+v", len(ts.Table.Cells), n, got)
	}
}

func TestAPanicLeavesNothingLocked(t *testing.T) {
	ts := openStore(t, wal.Options{})
	func() {
		defer func() { recover() }()
		ts.Update(context.Background(), []memory.ID{idOf(1)}, "", func([]*table.Row) (*wal.Tx, error) { panic("a fault of the caller") })
	}()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := ts.saveFor(ctx, idOf(1), "x"); err != nil {
		t.Error(err)
	}
}

func TestAFolderThatIsGoneIsNotWrittenTo(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(data, dir string)
	}{
		{"data deleted", func(data, _ string) { os.RemoveAll(data) }},
		{"data moved away", func(data, _ string) { os.Rename(data, data+".away") }},
		{"data replaced", func(data, dir string) { os.Rename(data, data+".away"); os.MkdirAll(dir, 0o700) }},
		{"device folder deleted", func(_, dir string) { os.RemoveAll(dir) }},
		{"device folder replaced", func(_, dir string) { os.Rename(dir, dir+".away"); os.Mkdir(dir, 0o700) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			id := ts.save("before").ID()
			dir := filepath.Dir(ts.segments()[0])
			c.do(filepath.Join(ts.root, "data"), dir)
			if err := ts.saveFor(context.Background(), idOf(1), "after"); memory.CodeOf(err) != memory.ReadOnly {
				t.Fatalf("save into a log that is gone: %v", err)
			}
			if ts.Status().ReadOnly == "" || len(ts.segments()) > 0 && !strings.HasPrefix(c.name, "device folder replaced") {
				t.Errorf("status %q, segments %v", ts.Status().ReadOnly, ts.segments())
			}
			ts.wantContent(id, "before")
		})
	}
}

func TestAFolderThatIsPutBackIsWrittenToAgain(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("before").ID()
	data := filepath.Join(ts.root, "data")
	if err := os.Rename(data, data+".away"); err != nil {
		t.Fatal(err)
	}
	if err := ts.saveFor(context.Background(), idOf(1), "refused"); memory.CodeOf(err) != memory.ReadOnly {
		t.Fatalf("save into a log that is away: %v", err)
	}
	if err := os.Rename(data+".away", data); err != nil {
		t.Fatal(err)
	}
	after := ts.save("after").ID()
	if got := ts.Status().ReadOnly; got != "" {
		t.Errorf("still said to be read-only: %s", got)
	}
	ts.withoutSnapshot()
	ts.wantContent(id, "before")
	ts.wantContent(after, "after")
	ts.wantGone(idOf(1))
}

func TestADeletedSegmentIsNotWrittenTo(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.save("before")
	os.Remove(ts.segments()[0])
	after := ts.save("after").ID()
	ts.withoutSnapshot()
	ts.wantContent(after, "after")
	if ts.Status().Recovery.Gaps != 1 {
		t.Errorf("gaps: %d, want the deleted record", ts.Status().Recovery.Gaps)
	}
}
