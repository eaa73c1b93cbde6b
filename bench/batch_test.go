package bench

import (
	"os"
	"testing"

	"emberd/engine"
	"emberd/op"
)

// BenchmarkBatch saves full batches of typical memories, by the engine in this process and through the socket of the
// daemon. One iteration is one batch, durable when it is answered.
//
//	go test -run '^$' -bench Batch -benchtime 40x ./bench
func BenchmarkBatch(b *testing.B) {
	b.Run("engine", func(b *testing.B) { saveBatches(b, openEngine(b, engine.DefaultOptions())) })
	b.Run("socket", func(b *testing.B) {
		d := newProgram(b).start(b)
		saveBatches(b, d)
		d.stop(b, os.Interrupt)
	})
}

func saveBatches(b *testing.B, inv op.Invoker) {
	b.Helper()
	texts := newProse(1)
	fill(b, inv, texts, op.MaxBatch) // what a first batch makes is there
	items := make([]op.SaveRequest, op.MaxBatch)
	n := 0
	for b.Loop() {
		b.StopTimer()
		for i := range items {
			items[i].Content = texts.text(typicalText)
		}
		b.StartTimer()
		saveAll(b, inv, items)
		n += len(items)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "memories/s")
}
