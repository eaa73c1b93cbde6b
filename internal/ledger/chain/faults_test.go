package chain

import (
	"fmt"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
)

func appendOne(c *Chain) error {
	return c.Append(func() []Line { return []Line{{Kind: "write", What: "save"}} })
}

// One operation after the other fails once. The process goes on, ends at a kill, and another one
// finds nothing that was changed.
func TestAChainHoldsAfterAFailedOperation(t *testing.T) {
	whole := crashdisk.New()
	c := New(whole, "/audit", time.Now)
	for range 3 {
		if err := appendOne(c); err != nil {
			t.Fatal(err)
		}
	}
	for nth := 1; nth <= whole.Ops(); nth++ {
		t.Run(fmt.Sprint(nth), func(t *testing.T) {
			disk := crashdisk.New()
			disk.Fail(crashdisk.Fault{Nth: nth})
			failed := 0
			c := New(disk, "/audit", time.Now)
			for range 3 {
				if appendOne(c) != nil {
					failed++
				}
			}
			if failed != 1 {
				t.Fatalf("%d appends of three failed, want one", failed)
			}
			holds(t, disk.Kill(), 2)
		})
	}
}

// holds has another process append to a chain, and checks it.
func holds(t *testing.T, disk durable.FS, atLeast int) {
	t.Helper()
	c := New(disk, "/audit", time.Now)
	r, err := c.Open()
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Lines) < atLeast || len(r.Problems) > 0 {
		t.Errorf("%d lines, problems %q; want at least %d and no problem", len(r.Lines), r.Problems, atLeast)
	}
}
