package stm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/internal/text/analysis"
	"emberd/internal/words"
	"emberd/memory"
	"emberd/stm"
	"emberd/stm/history"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// bench is a store on a disk, reopened as a test likes.
type testStore struct {
	*stm.Store
	t    testing.TB
	root string
	opt  wal.Options
}

func openStore(t testing.TB, opt wal.Options) *testStore {
	t.Helper()
	ts := &testStore{t: t, root: t.TempDir(), opt: opt}
	if ts.opt.DocumentBytes == 0 {
		ts.opt.DocumentBytes = 1 // with each snapshot, all documents go into files
	}
	ts.open()
	t.Cleanup(func() { ts.Store.Close() })
	return ts
}

func (ts *testStore) open() {
	ts.t.Helper()
	s, err := stm.Open(filepath.Join(ts.root, "data"), filepath.Join(ts.root, "state"), &ts.opt)
	if err != nil {
		ts.t.Fatal(err)
	}
	if err := s.BuildIndex(context.Background()); err != nil {
		ts.t.Fatal(err)
	}
	ts.Store = s
}

// reopen closes in order and opens again.
func (ts *testStore) reopen() {
	ts.t.Helper()
	if err := ts.Close(); err != nil {
		ts.t.Fatal(err)
	}
	ts.open()
}

// withoutSnapshot makes the next open read the whole log.
func (ts *testStore) withoutSnapshot() {
	ts.t.Helper()
	if err := ts.Close(); err != nil {
		ts.t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(ts.root, "state", "index")); err != nil {
		ts.t.Fatal(err)
	}
	ts.open()
}

func (ts *testStore) segments() []string {
	ts.t.Helper()
	names, err := filepath.Glob(filepath.Join(ts.root, "data", "stm", "*", "*.jsonl"))
	if err != nil {
		ts.t.Fatal(err)
	}
	return names
}

func (ts *testStore) save(content string, tags ...string) *table.Row {
	ts.t.Helper()
	id, err := memory.NewID()
	if err != nil {
		ts.t.Fatal(err)
	}
	return ts.put(id, content, tags...)
}

func (ts *testStore) put(id memory.ID, content string, tags ...string) *table.Row {
	ts.t.Helper()
	set := map[string]json.RawMessage{"content": record.Encode(content), "created_at": record.Encode(ts.Wal().Now().UTC().Truncate(time.Millisecond))}
	if tags != nil {
		set["tags"] = record.Encode(tags)
	}
	return ts.commit(wal.Tx{Verb: "save", Changes: []wal.Change{{ID: id, Set: set}}}).Rows[0]
}

func (ts *testStore) edit(id memory.ID, key, value string) wal.Receipt {
	ts.t.Helper()
	return ts.commit(wal.Tx{Verb: "edit", Changes: []wal.Change{{ID: id, Set: map[string]json.RawMessage{key: record.Encode(value)}}}})
}

func (ts *testStore) forget(ids ...memory.ID) wal.Receipt {
	ts.t.Helper()
	tx := wal.Tx{Verb: "forget"}
	for _, id := range ids {
		tx.Changes = append(tx.Changes, wal.Change{ID: id, Delete: true})
	}
	return ts.commit(tx)
}

func (ts *testStore) commit(tx wal.Tx) wal.Receipt {
	ts.t.Helper()
	got, err := ts.try(tx)
	if err != nil {
		ts.t.Fatal(err)
	}
	return got
}

func (ts *testStore) try(tx wal.Tx) (wal.Receipt, error) {
	var ids []memory.ID
	for _, c := range tx.Changes {
		ids = append(ids, c.ID)
	}
	return ts.Update(context.Background(), ids, tx.Key, func([]*table.Row) (*wal.Tx, error) { return &tx, nil })
}

func (ts *testStore) undo(entry string) history.Undone {
	ts.t.Helper()
	got, err := ts.Undo(context.Background(), history.Undo{Entry: entry})
	if err != nil {
		ts.t.Fatal(err)
	}
	return got
}

// finds returns the ids a search finds, best first.
func (ts *testStore) finds(query string) []memory.ID {
	var ids []memory.ID
	for _, m := range ts.Search(table.Query{Terms: asTerms(query), Limit: 10}).Matches {
		ids = append(ids, m.Row.ID())
	}
	return ids
}

func asTerms(query string) []words.QueryTerm {
	var terms []words.QueryTerm
	for _, t := range analysis.New().Query(query) {
		terms = append(terms, words.QueryTerm{Term: t.Text, Weight: 1})
	}
	return terms
}

func (ts *testStore) wantFound(words string, want ...memory.ID) {
	ts.t.Helper()
	if got := ts.finds(words); fmt.Sprint(got) != fmt.Sprint(want) {
		ts.t.Errorf("search %q found %v, want %v", words, got, want)
	}
}

func (ts *testStore) wantContent(id memory.ID, want string) {
	ts.t.Helper()
	r, ok := ts.Get(id)
	if !ok {
		ts.t.Errorf("memory %s is gone, want %q", id, want)
	} else if r.Content() != want {
		ts.t.Errorf("memory %s holds %q, want %q", id, r.Content(), want)
	}
}

func (ts *testStore) wantGone(id memory.ID) {
	ts.t.Helper()
	if r, ok := ts.Get(id); ok {
		ts.t.Errorf("memory %s is still there with %q", id, r.Content())
	}
}

func TestSavedIsFoundNowAndAfterEveryKindOfStart(t *testing.T) {
	ts := openStore(t, wal.Options{})
	jwt := ts.save("Use JWT tokens for authentication", "security").ID()
	tea := ts.save("The kettle is in the kitchen", "home/tea").ID()
	check := func() {
		t.Helper()
		ts.wantFound("authentication", jwt)
		ts.wantFound("kettles", tea)
		ts.wantFound("security", jwt)
		ts.wantContent(tea, "The kettle is in the kitchen")
		if r, _ := ts.Get(tea); !r.HasTag("home") || !r.HasTag("home/tea") || r.HasTag("tea") {
			t.Errorf("tags of %v are not nested as they should be", r.Tags())
		}
	}
	check()
	ts.reopen()
	if got := ts.Status().Snapshot; got != "used" {
		t.Errorf("snapshot %s, want used", got)
	}
	check()
	ts.withoutSnapshot()
	if got := ts.Status(); got.Snapshot != "absent" || got.Recovery.Applied != 2 {
		t.Errorf("snapshot %s, %d lines applied; want absent and 2", got.Snapshot, got.Recovery.Applied)
	}
	check()
}

func TestEditForgetRestoreUndo(t *testing.T) {
	ts := openStore(t, wal.Options{})
	a := ts.save("alpha one").ID()
	b := ts.save("beta two").ID()
	edit := ts.edit(a, "content", "gamma three")
	ts.wantFound("alpha")
	ts.wantFound("gamma", a)
	ts.forget(a, b)
	ts.wantGone(a)
	ts.wantFound("beta")
	if got := len(ts.Trash()); got != 2 {
		t.Fatalf("trash holds %d, want 2", got)
	}
	old, err := ts.ReadTrashed(a)
	if err != nil || old.Content != "gamma three" {
		t.Fatalf("in the trash: %q, %v", old.Content, err)
	}
	ts.reopen()
	if _, err := ts.Restore(context.Background(), []memory.ID{b}, memory.Actor{}); err != nil {
		t.Fatal(err)
	}
	ts.wantFound("beta", b)
	// The newest entry that stands is the restore.
	if got := ts.undo(""); got.Items[0].Action != history.Removed || got.Entry.Verb != "restore" {
		t.Fatalf("undo of the restore: %+v", got)
	}
	// Then the forget of both.
	if got := ts.undo(""); len(got.Items) != 2 || got.Items[0].Action != history.Restored || got.Items[1].Action != history.Restored {
		t.Fatalf("undo of the forget: %+v", got)
	}
	ts.wantContent(a, "gamma three")
	// Forgotten and back, the memory is as the edit left it.
	if got := ts.undo(edit.Entry); got.Items[0].Action != history.Reverted {
		t.Fatalf("undo of the edit: %+v", got)
	}
	ts.withoutSnapshot()
	ts.wantContent(a, "alpha one")
	ts.wantContent(b, "beta two")
}

func TestUndoOfAnEditGivesTheEarlierText(t *testing.T) {
	ts := openStore(t, wal.Options{})
	a := ts.save("first", "x").ID()
	one := ts.edit(a, "content", "second")
	ts.edit(a, "source", "mail")
	ts.undo(one.Entry)
	ts.wantContent(a, "first")
	if r, _ := ts.Get(a); string(r.Value("source")) != `"mail"` {
		t.Errorf("source is %s, want the later edit to stay", r.Value("source"))
	}
	if _, err := ts.Undo(context.Background(), history.Undo{Entry: one.Entry}); err == nil || !strings.Contains(err.Error(), "was already undone") {
		t.Errorf("second undo: %v", err)
	}
	two := ts.edit(a, "content", "third")
	ts.edit(a, "content", "fourth")
	if got := ts.undo(two.Entry); got.Items[0].Action != history.Left || got.Tx != "" {
		t.Errorf("undo of an edit that was edited since: %+v", got)
	}
	ts.wantContent(a, "fourth")
}

func TestUseCountsSurviveAndDoNotChangeTheRevision(t *testing.T) {
	ts := openStore(t, wal.Options{})
	r := ts.save("counted")
	for range 3 {
		ts.Use(table.Use{ID: r.ID(), Uses: 1, Accesses: 2})
	}
	check := func() {
		t.Helper()
		got, _ := ts.Get(r.ID())
		if got.UseCount() != 3 || got.AccessCount() != 6 || got.Rev() != r.Rev() {
			t.Errorf("uses %d, accesses %d, rev %s; want 3, 6, %s", got.UseCount(), got.AccessCount(), got.Rev(), r.Rev())
		}
	}
	check()
	ts.reopen()
	check()
	ts.withoutSnapshot()
	check()
	ts.forget(r.ID())
	ts.undo("")
	check0, _ := ts.Get(r.ID())
	if check0.UseCount() != 3 {
		t.Errorf("uses after forget and undo: %d, want 3", check0.UseCount())
	}
}

func TestIdempotencyKeyIsKeptInTheLog(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id, _ := memory.NewID()
	ts.commit(wal.Tx{Verb: "save", Key: "k1", KeyHash: "h", Changes: []wal.Change{{ID: id, Set: map[string]json.RawMessage{"content": record.Encode("x")}}}})
	for _, again := range []func(){func() {}, ts.reopen, ts.withoutSnapshot} {
		again()
		got, ok := ts.Replay("k1")
		if !ok || got.Hash != "h" || len(got.IDs) != 1 || got.IDs[0] != id {
			t.Errorf("Replay = %+v, %v", got, ok)
		}
	}
	if _, ok := ts.Replay("k2"); ok {
		t.Error("an unknown key was known")
	}
}

func TestResolve(t *testing.T) {
	ts := openStore(t, wal.Options{})
	a, b := memory.ID("0192f3a1-b2c3-7000-8000-0123456789ab"), memory.ID("0192f3a1-b2c3-7000-8000-0123456789cd")
	ts.put(a, "a")
	ts.put(b, "b")
	for _, c := range []struct {
		in   string
		want memory.ID
		code memory.Code
	}{
		{"89ab", a, ""}, {string(b), b, ""}, {"89AB", a, ""},
		{"0192f3a1", "", memory.Ambiguous}, {"ffff", "", memory.NotFound}, {"abc", "", memory.NotFound}, {"x'or1=1", "", memory.NotFound}, {" ", "", memory.Invalid}, {"a\x00b", "", memory.Invalid},
	} {
		got, err := ts.Resolve(c.in)
		if got != c.want || memory.CodeOf(err) != c.code {
			t.Errorf("Resolve(%q) = %q, %v", c.in, got, err)
		}
	}
	ts.forget(a)
	if got, err := ts.Resolve("89ab"); got != a || err != nil {
		t.Errorf("Resolve of a trashed id = %q, %v", got, err)
	}
}

func TestCloseRefusesWhatComesLater(t *testing.T) {
	ts := openStore(t, wal.Options{})
	if err := errors.Join(ts.Close(), ts.Close()); err != nil {
		t.Fatal(err)
	}
	_, err := ts.try(wal.Tx{Verb: "save", Changes: []wal.Change{{ID: memory.DeriveID(nil), Set: map[string]json.RawMessage{"content": record.Encode("x")}}}})
	if !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("save after Close: %v", err)
	}
}

var _ durable.FS = durable.OS{}

func TestRequiredAndExcludedTerms(t *testing.T) {
	ts := openStore(t, wal.Options{})
	pie := ts.save("apple pie with cream").ID()
	tart := ts.save("apple tart").ID()
	ts.save("plum cake")
	ids := func(q table.Query) (ids []memory.ID) {
		q.Limit = 10
		for _, m := range ts.Search(q).Matches {
			ids = append(ids, m.Row.ID())
		}
		return ids
	}
	check := func(when string) {
		t.Helper()
		for _, c := range []struct {
			q    table.Query
			want []memory.ID
		}{
			{table.Query{Terms: asTerms("apple"), All: []string{"cream"}}, []memory.ID{pie}},
			{table.Query{Terms: asTerms("apple"), None: []string{"cream"}}, []memory.ID{tart}},
			{table.Query{All: []string{"tart"}}, []memory.ID{tart}},
			{table.Query{All: []string{"tart"}, None: []string{"tart"}}, nil},
		} {
			if got := ids(c.q); !slices.Equal(got, c.want) {
				t.Errorf("%s: %+v found %v, want %v", when, c.q, got, c.want)
			}
		}
	}
	check("indexed")
	ts.Words.Reset()
	for _, r := range []memory.ID{pie, tart} {
		ts.Table.Cell(r.Bytes()).Doc.Store(0)
	}
	check("scanned")
}

// What could not be read back is refused, in a new memory and in one that is there,
// and leaves that as it was.
func TestAValueThatCannotBeReadIsRefused(t *testing.T) {
	ts := openStore(t, wal.Options{})
	row := ts.save("apple pie")
	for key, value := range map[string]string{
		"content": `7`, "tags": `"x"`, "stage": `3`, "strength": `"much"`, "core": `"yes"`, "created_at": `"noon"`, "use_count": `-1.5`,
		"meta": `[]`, "source": "\"\xff\"", "x": strings.Repeat("[", record.DocDepth) + strings.Repeat("]", record.DocDepth), "y": `{`,
	} {
		for _, id := range []memory.ID{row.ID(), idOf(1)} {
			set := textOf("plum tart")
			set[key] = json.RawMessage(value)
			wantCode(t, key, one(ts.Store, "save", wal.Change{ID: id, Set: set}), memory.Invalid)
		}
	}
	if got, _ := ts.Get(row.ID()); got != row || ts.Len() != 1 {
		t.Errorf("%d memories, %s", ts.Len(), got.JSON())
	}
}
