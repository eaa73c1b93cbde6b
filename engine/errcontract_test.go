package engine_test

import (
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"emberd/engine"
	"emberd/internal/testutil/crashdisk"
	"emberd/memory"
	"emberd/op"
)

// written is a home with a few memories, one of them with a note, in which one operation is to be carried out.
type written struct {
	*desk
	one, other, noted, trashed memory.ID
	entry                      string // to undo
}

// newWritten makes the home. Equal homes have equal memories, whichever their IDs.
func newWritten(t *testing.T, disk *crashdisk.Disk) *written {
	t.Helper()
	w := &written{desk: diskShelf(t, disk)}
	w.one, w.other = save(t, w.Engine, leaks, "kitchen").ID, save(t, w.Engine, leaking).ID
	w.noted, w.trashed = save(t, w.Engine, tide).ID, save(t, w.Engine, mended).ID
	promoteByID(t, w.Engine, w.noted)
	do(t, w.Engine, op.Forget, &op.ForgetRequest{ID: string(w.trashed)})
	w.entry = do(t, w.Engine, op.Edit, &op.EditRequest{ID: string(w.one), Category: new("home")}).Tx
	w.advance(2 * time.Minute)
	w.Promote.WriteDue(t.Context())
	return w
}

// told is what a caller can be told of all memories, in one text: their fields and what is in the trash.
func (w *written) told(e *engine.Engine) string {
	all := map[string]any{}
	names := map[memory.ID]string{w.one: "one", w.other: "other", w.noted: "noted", w.trashed: "trashed"}
	for row := range e.Stm.Rows() {
		fields := maps.Clone(row.Fields())
		delete(fields, "note_seen") // emberd's own account of the note
		all[names[row.ID()]+string(row.ID())] = fields
	}
	trash := do(w.t, e, op.TrashList, &op.TrashListRequest{})
	for _, item := range trash.Items {
		all["trash "+string(item.Memory.ID)] = item.Memory.Content
	}
	text, err := json.Marshal(all)
	ok(w.t, err)
	return string(text)
}

// writings are the operations that write memories, each as a caller asks for it.
func writings() map[string]func(ctx context.Context, w *written) error {
	return map[string]func(ctx context.Context, w *written) error{
		"save": func(ctx context.Context, w *written) error {
			_, err := op.Save.Call(ctx, w.Engine, &op.SaveRequest{Content: "the gasket is new"})
			return err
		},
		"save batch": func(ctx context.Context, w *written) error {
			_, err := op.SaveBatch.Call(ctx, w.Engine, &op.SaveBatchRequest{Items: []op.SaveRequest{{Content: "a gasket"},
				{Content: "a lid"}}})
			return err
		},
		"add": func(ctx context.Context, w *written) error {
			_, err := op.Add.Call(ctx, w.Engine, &op.AddRequest{Content: "the gasket is of rubber"})
			return err
		},
		"edit": func(ctx context.Context, w *written) error {
			_, err := op.Edit.Call(ctx, w.Engine, &op.EditRequest{ID: string(w.one), Content: new("another text")})
			return err
		},
		"edit of a note": func(ctx context.Context, w *written) error {
			_, err := op.Edit.Call(ctx, w.Engine, &op.EditRequest{ID: string(w.noted), Content: new("another text")})
			return err
		},
		"touch": func(ctx context.Context, w *written) error {
			_, err := op.Touch.Call(ctx, w.Engine, &op.TouchRequest{ID: string(w.noted), Boost: true})
			return err
		},
		"observe": func(ctx context.Context, w *written) error {
			_, err := op.Observe.Call(ctx, w.Engine, &op.ObserveRequest{IDs: []string{string(w.noted), string(w.one)},
				Tags: []string{"cooking"}})
			return err
		},
		"reinforce": func(ctx context.Context, w *written) error {
			_, err := op.Reinforce.Call(ctx, w.Engine, &op.ReinforceRequest{Content: tide})
			return err
		},
		"forget": func(ctx context.Context, w *written) error {
			_, err := op.Forget.Call(ctx, w.Engine, &op.ForgetRequest{ID: string(w.one)})
			return err
		},
		"restore": func(ctx context.Context, w *written) error {
			_, err := op.TrashRestore.Call(ctx, w.Engine, &op.TrashRestoreRequest{IDs: []string{string(w.trashed)}})
			return err
		},
		"relate": func(ctx context.Context, w *written) error {
			_, err := op.Relate.Call(ctx, w.Engine, &op.RelateRequest{From: string(w.one), To: string(w.other), Type: "related"})
			return err
		},
		"undo": func(ctx context.Context, w *written) error {
			_, err := op.Undo.Call(ctx, w.Engine, &op.UndoRequest{Tx: w.entry})
			return err
		},
		"promote": func(ctx context.Context, w *written) error {
			_, err := op.Promote.Call(ctx, w.Engine, &op.PromoteRequest{ID: string(w.one), Force: true})
			return err
		},
		"archive": func(ctx context.Context, w *written) error {
			_, err := op.Archive.Call(ctx, w.Engine, &op.ArchiveRequest{ID: string(w.one)})
			return err
		},
		"import": func(ctx context.Context, w *written) error {
			_, err := op.Import.Call(ctx, w.Engine, &op.ImportRequest{Records: []op.Record{{ID: memory.DeriveID([]byte("x")),
				Fields: map[string]json.RawMessage{"content": json.RawMessage(`"imported"`)}}}})
			return err
		},
	}
}

// A code other than unknown means that nothing was stored: whichever operation of the disk fails while memories are
// written, an error with such a code leaves all memories as they were, after a restart too.
func TestAnErrorWithACodeStoresNothing(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(writings())) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			codes := map[memory.Code]int{}
			for n := 1; failingAt(t, name, n, codes); n++ {
			}
			t.Logf("refused with %v", codes)
		})
	}
}

// failingAt carries out one operation whose nth change of the disk fails, as all after it do, and reports whether
// there are that many.
func failingAt(t *testing.T, name string, n int, codes map[memory.Code]int) (more bool) {
	t.Helper()
	disk := crashdisk.New()
	w := newWritten(t, disk)
	before, done := w.told(w.Engine), disk.Ops()
	disk.Fail(crashdisk.Fault{Nth: n, Forever: true})
	err := writings()[name](t.Context(), w)
	code := memory.CodeOf(err)
	more = disk.Ops() >= done+n
	_ = w.Engine.Close() // fails where the disk did
	if err != nil {
		codes[code]++
	}
	if err != nil && code != memory.Unknown {
		w.FS = disk.Crash(rand.New(rand.NewPCG(1, uint64(n))))
		w.start()
		w.Promote.WriteDue(t.Context())
		w.settle()
		if after := w.told(w.Engine); after != before {
			t.Errorf("after %s (%v) at operation %d:\n%s\nbefore:\n%s", code, err, n, after, before)
		}
		ok(t, w.Close())
	}
	return more && n < 60
}
