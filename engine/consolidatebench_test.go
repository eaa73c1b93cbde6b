package engine_test

import (
	"fmt"
	"testing"

	"emberd/op"
)

// Clustering a hundred memories and telling what merging them would make, which may take
// 20 ms.
func BenchmarkConsolidateHundred(b *testing.B) {
	e, _ := newEngine(b)
	for i := range 50 {
		save(b, e, fmt.Sprintf("Pebble %c%c leaks at the seam by the harbour", 'a'+i%26, 'a'+i/26))
		save(b, e, fmt.Sprintf("At the seam by the harbour pebble %c%c is leaking", 'a'+i%26, 'a'+i/26))
	}
	b.ReportAllocs()
	for b.Loop() {
		if res := do(b, e, op.Consolidate, &op.ConsolidateRequest{AutoDetect: true, Limit: 100}); len(res.Previews) < 25 {
			b.Fatalf("%d merges of 50 pairs are shown", len(res.Previews))
		}
	}
}
