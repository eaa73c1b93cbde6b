package admin

import (
	"context"
	"fmt"
	"slices"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/op"
	"emberd/stm"
)

// logWaits returns what waits for the user in the log: damaged lines, missing records, and memories of a device
// that was offline for long.
func logWaits(st *stm.Status) []op.Waiting {
	var out []op.Waiting
	if st.ReadOnly != "" {
		out = append(out, op.Waiting{Code: op.WaitsReadOnly, Count: 1, Text: "emberd cannot save " +
			"memories: " + st.ReadOnly,
			Command: "emberd doctor"})
	}
	for _, w := range st.Waits {
		wait := op.Waiting{Count: w.Count, Warning: w.Warning}
		switch w.Kind {
		case stm.WaitingQuarantine:
			wait.Code, wait.Command = op.WaitsQuarantine, "emberd doctor quarantine list"
			wait.Text = core.NumberOf(w.Count,
				"damaged log line is in quarantine", "damaged log lines are in quarantine")
		case stm.WaitingGaps:
			wait.Code, wait.Command = op.WaitsLogGaps, "emberd doctor log repair"
			wait.Text = core.NumberOf(w.Count, "log record of this device is missing",
				"log records of this device are missing")
		case stm.WaitingStale:
			wait.Code, wait.Command = op.WaitsOfflineDevice, "emberd doctor offline-device list"
			wait.Text = core.NumberOf(w.Count, "memory", "memories") + " of a device that was offline for more than " +
				"90 days might have been deleted in the meantime; searches skip these memories until you decide"
		}
		out = append(out, wait)
	}
	return out
}

// vaultWaits returns what waits for the user in the vaults.
func (e *Admin) vaultWaits(res *op.StatusResult) []op.Waiting {
	var out []op.Waiting
	for i := range res.Vaults {
		out = append(out, notes.VaultWaits(&res.Vaults[i])...)
		out = append(out, notes.WriteWaits(&res.Vaults[i], e.Opt.Now())...)
	}
	return out
}

// embeddingWaits returns that the user paused embedding, if memories or notes wait for it.
func (e *Admin) embeddingWaits() []op.Waiting {
	n := e.Semantic.Meaning.PausedWork()
	if n == 0 {
		return nil
	}
	return []op.Waiting{{Code: op.WaitsEmbedding, Count: n, Command: "emberd model resume",
		Text: fmt.Sprintf("embedding is paused, so %s no embedding yet",
			core.NumberOf(n, "memory or note has", "memories and notes have"))}}
}

// OtherWaits returns what waits for the user besides review items.
func (e *Admin) OtherWaits(ctx context.Context) []op.Waiting {
	res, err := e.Status(ctx, &op.StatusRequest{})
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(res.Waits, func(w op.Waiting) bool { return w.Code == op.WaitsReview })
}

// reviewWaits returns the number of undecided review items.
func (e *Admin) reviewWaits() []op.Waiting {
	n, claimed := e.Review.UndecidedItems()
	if n == 0 {
		return nil
	}
	text := core.NumberOf(n, "review item is", "review items are") + " undecided"
	if claimed > 0 {
		text += fmt.Sprintf(" (%d claimed)", claimed)
	}
	return []op.Waiting{{Code: op.WaitsReview, Count: n, Command: "emberd review list",
		Text: text}}
}
