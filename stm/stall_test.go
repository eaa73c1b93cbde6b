package stm_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// slowDisk is a real disk whose syncs wait at a gate.
type slowDisk struct {
	durable.OS
	*gate
}

type gate struct {
	shut    sync.RWMutex  // held to write while syncs must wait
	waiting chan struct{} // told of the first that does
}

func (d slowDisk) CreateAppend(name string) (durable.File, error) {
	f, err := d.OS.CreateAppend(name)
	return slowFile{f, d.gate}, err
}

type slowFile struct {
	durable.File
	*gate
}

func (f slowFile) Sync() error {
	if !f.shut.TryRLock() {
		select {
		case f.waiting <- struct{}{}:
		default:
		}
		f.shut.RLock()
	}
	defer f.shut.RUnlock()
	return f.File.Sync()
}

// stall is a store with one memory whose disk does not answer until it is released.
type stall struct {
	*testStore
	first   memory.ID
	waiting <-chan struct{} // told when the writer waits for the disk
	release func()
}

func stalled(t *testing.T, opt wal.Options) stall {
	g := &gate{waiting: make(chan struct{}, 1)}
	opt.FS, opt.Ballast = slowDisk{gate: g}, -1 // whose sync is none of a batch
	ts := openStore(t, opt)
	first := ts.save("before the stall").ID()
	g.shut.Lock()
	return stall{ts, first, g.waiting, sync.OnceFunc(g.shut.Unlock)}
}

func (ts *testStore) saveFor(ctx context.Context, id memory.ID, text string) error {
	_, err := ts.Update(ctx, []memory.ID{id}, "", func([]*table.Row) (*wal.Tx, error) {
		return &wal.Tx{Verb: "save", Changes: []wal.Change{{ID: id, Set: textOf(text)}}}, nil
	})
	return err
}

// Case 25, without a process; the daemon's is in cmd/emberd.
func TestAStalledDiskLeavesCallersFreeAndReadersServed(t *testing.T) {
	ts := stalled(t, wal.Options{})
	defer ts.release()
	ctx, giveUp := context.WithCancel(context.Background())
	answer := make(chan error)
	go func() { answer <- ts.saveFor(ctx, idOf(1), "in the stall") }()
	<-ts.waiting // a sync with the batch in it, so nothing is left but to wait
	ts.wantFound("before", ts.first)
	ts.wantGone(idOf(1))
	giveUp()
	if err := <-answer; !errors.Is(err, memory.ErrUnknown) || !errors.Is(err, context.Canceled) {
		t.Fatalf("gave up: %v, want the outcome to be unknown", err)
	}

	// The memory stays locked until its fate is known, so nobody bases a
	// change on what may not hold.
	busy, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := ts.saveFor(busy, idOf(1), "too early"); !errors.Is(err, memory.ErrBusy) {
		t.Fatalf("change of a memory whose fate is open: %v, want busy", err)
	}
	ts.release()
	if err := ts.saveFor(context.Background(), idOf(1), "after the stall"); err != nil {
		t.Fatal(err)
	}
	ts.wantContent(idOf(1), "after the stall")
	ts.withoutSnapshot()
	ts.wantContent(idOf(1), "after the stall")
}

func TestAFullQueueIsBusy(t *testing.T) {
	ts := stalled(t, wal.Options{})
	defer ts.release()
	var wg sync.WaitGroup
	var mu sync.Mutex
	answers := map[memory.Code]int{}
	for i := range wal.MaxQueue + 3*wal.MaxBatchLines {
		wg.Go(func() {
			err := ts.saveFor(context.Background(), memory.DeriveID(fmt.Append(nil, i)), "x")
			mu.Lock()
			defer mu.Unlock()
			answers[memory.CodeOf(err)]++
			if answers[memory.Busy] == wal.MaxBatchLines {
				ts.release()
			}
		})
	}
	wg.Wait()
	if answers[""]+answers[memory.Busy] != wal.MaxQueue+3*wal.MaxBatchLines || answers[memory.Busy] < wal.MaxBatchLines {
		t.Errorf("answers: %v", answers)
	}
	if got := ts.Len(); got != answers[""]+1 {
		t.Errorf("%d memories, want the %d acknowledged and the first", got, answers[""])
	}
}

func TestSnapshotsWhileWriting(t *testing.T) {
	ts := openStore(t, wal.Options{Durability: wal.None, SegmentBytes: 20_000})
	var wg sync.WaitGroup
	for client := range 4 {
		wg.Go(func() {
			for i := range 150 {
				id := memory.DeriveID(fmt.Append(nil, client, " ", i%40))
				if err := ts.saveFor(context.Background(), id, fmt.Sprintf("client%dround%d", client, i)); err != nil {
					t.Error(err)
				}
				ts.Use(table.Use{ID: id, Uses: 1})
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
			if err := ts.WriteSnapshot(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	}
	check := func() {
		t.Helper()
		if ts.Len() != 160 {
			t.Fatalf("%d memories, want 160", ts.Len())
		}
		ts.wantFound("client2round117", memory.DeriveID(fmt.Append(nil, 2, " ", 117%40)))
		uses := int64(0)
		for r := range ts.Rows() {
			uses += r.UseCount()
		}
		if uses != 600 {
			t.Errorf("%d uses, want 600", uses)
		}
	}
	// As after kill -9: the store is left open, and the snapshot is older
	// than the log.
	ts.settleUses()
	ts.open()
	if got := ts.Status().Snapshot; got != "used" {
		t.Errorf("snapshot %s", got)
	}
	check()
	ts.withoutSnapshot()
	check()
}

// settleUses waits until no use waits for the disk.
func (ts *testStore) settleUses() {
	for ts.Wal().Uses.Waiting() {
		ts.save("a batch takes waiting uses along")
		ts.undo("")
	}
}
