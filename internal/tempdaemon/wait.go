package tempdaemon

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"emberd/op"
)

// Bounds of waiting for an index.
const (
	indexPoll  = 10 * time.Millisecond
	indexStall = time.Minute
)

// WaitIndexed waits until everything can be found. It gives up when nothing has moved for a
// minute.
func (d *Daemon) WaitIndexed(ctx context.Context) error {
	before, moved := "", time.Now()
	for {
		st, err := op.Status.Call(ctx, d, &op.StatusRequest{})
		if err != nil {
			return err
		}
		// A vault whose first look is under way has nothing waiting either, but says
		// so to whoever searches it.
		found, err := op.Search.Call(ctx, d, &op.SearchRequest{Query: "emberd", Limit: 1, Track: new(bool)})
		if err != nil {
			return err
		}
		waiting, now := 0, time.Now()
		for _, v := range st.Vaults {
			waiting += v.Waiting
		}
		if st.Loading == nil && found.Indexing == nil && waiting == 0 {
			return nil
		}
		if state := fmt.Sprint(st.Loading, found.Indexing, waiting); state != before {
			before, moved = state, now
		}
		if now.Sub(moved) > indexStall {
			return fmt.Errorf("the index made no progress for %s: %s", indexStall, vaultProblem(st))
		}
		if err := d.Alive(ctx, indexPoll); err != nil {
			return err
		}
	}
}

// WaitEmbedded waits until everything has its vectors, and returns what is known of them, or
// nil if there are to be none. It gives up when nothing has moved for a minute.
func (d *Daemon) WaitEmbedded(ctx context.Context) (*op.Meaning, error) {
	done, moved := -1, time.Now()
	for {
		st, err := op.Status.Call(ctx, d, &op.StatusRequest{})
		if err != nil || st.Meaning == nil {
			return nil, err
		}
		m, all := st.Meaning, st.Memories
		for _, v := range st.Vaults {
			all += v.Notes
		}
		if m.Provider != "" && (m.Weight == 0 || m.Total >= all && m.Covered >= m.Total) {
			return m, nil
		}
		if m.Covered != done {
			done, moved = m.Covered, time.Now()
		}
		if time.Since(moved) > indexStall {
			return nil, fmt.Errorf("the daemon computed no embeddings for %s: %s", indexStall,
				cmp.Or(m.Without, "the daemon reported no reason"))
		}
		if err := d.Alive(ctx, indexPoll); err != nil {
			return nil, err
		}
	}
}

func vaultProblem(st *op.StatusResult) string {
	for _, v := range st.Vaults {
		if v.Problem != "" {
			return v.Problem
		}
	}
	return "the daemon reported no reason"
}
