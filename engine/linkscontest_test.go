package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"emberd/memory"
	"emberd/op"
)

// TestLinksAndAnEditor: an editor saves the notes of memories while relations come and go and passes write their links.
// No line of the user is lost: each is in its note, or in a backup. EMBERD_TEST_NOTE_EDITS is how often relations
// change.
func TestLinksAndAnEditor(t *testing.T) {
	edits := 120
	if n, err := strconv.Atoi(os.Getenv("EMBERD_TEST_NOTE_EDITS")); err == nil {
		edits = n
	}
	c := &contestants{refused: make(map[string]int)}
	c.house, c.e = agentDesk(t, nil)
	d := &desk{house: c.house, Engine: c.e, t: t}
	var all []op.Memory
	for i := range 12 {
		m := d.promoted(fmt.Sprintf("memory %d is about the shared thing", i), "Shared Thing")
		all, c.paths = append(all, m), append(c.paths, m.PromotedTo)
	}
	var others sync.WaitGroup
	stop := make(chan struct{})
	until := func(pause time.Duration, do func(n int)) {
		others.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				case <-time.After(rand.N(pause)):
					do(n)
				}
			}
		})
	}
	until(8*time.Millisecond, func(n int) { c.edit(t, n) })
	until(40*time.Millisecond, func(int) {
		c.advance(500 * time.Millisecond)
		c.e.Promote.WriteDue(t.Context())
	})
	passes := 0
	until(10*time.Millisecond, func(int) {
		c.e.Links.WriteLinks(t.Context())
		passes++
	})
	for i := range edits {
		from, to := all[rand.IntN(len(all))], all[rand.IntN(len(all))]
		res, err := op.Relate.Call(context.Background(), c.e, relating(from, to, []string{memory.Related, memory.Supports}[i%2]))
		if err == nil && i%3 == 0 {
			_, err = op.Undo.Call(context.Background(), c.e, &op.UndoRequest{Tx: res.Tx})
		}
		if err != nil {
			c.refuse(t, "relate", err)
		}
		time.Sleep(rand.N(10 * time.Millisecond))
	}
	close(stop)
	others.Wait()
	c.rest(t, c.e)
	c.judge(t, edits)
	t.Logf("%d passes", passes)
	// Left alone, each note gets its links, and then a pass writes nothing.
	do(t, c.e, op.VaultLinks, &op.VaultLinksRequest{})
	c.rest(t, c.e)
	if res := do(t, c.e, op.VaultLinks, &op.VaultLinksRequest{}); res.Written > 0 {
		t.Errorf("a pass without a change wrote %+v", res)
	}
	linked := 0
	for _, m := range all {
		if strings.Contains(c.note(t, m.PromotedTo), "[[Shared Thing]]") {
			linked++
		}
	}
	if linked == 0 { // an editor that saves what it read before a pass takes links out, and they stay out
		t.Errorf("none of %d notes has a link", len(all))
	}
}
