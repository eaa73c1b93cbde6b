package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/internal/metrics"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// TestWhatHappensIsCounted, once each, and with no word of what it was about.
func TestWhatHappensIsCounted(t *testing.T) {
	opt := core.DefaultOptions()
	opt.Data, opt.State = t.TempDir(), t.TempDir()
	saveAndClose(t, opt, "the sieve is old") // each run has a file of its own, and two can be folded
	saveAndClose(t, opt, "the grater is new")
	e, err := engine.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	ctx := t.Context()
	var saved []memory.ID
	for _, text := range []string{"the kettle is blue", "the teapot is red", "the cup is white"} {
		res, err := op.Save.Call(ctx, e, &op.SaveRequest{Content: text, Tags: []string{"kitchen"}})
		if err != nil {
			t.Fatal(err)
		}
		saved = append(saved, res.Memory.ID)
	}
	if _, err := op.Forget.Call(ctx, e, &op.ForgetRequest{ID: string(saved[0])}); err != nil {
		t.Fatal(err)
	}
	if _, err := op.Show.Call(ctx, e, &op.ShowRequest{ID: string(saved[0])}); memory.CodeOf(err) != memory.NotFound {
		t.Fatalf("a forgotten memory: %v", err)
	}
	if _, err := op.Compact.Call(ctx, e, &op.CompactRequest{}); err != nil {
		t.Fatal(err)
	}
	text := measured(t, e)
	for _, want := range []string{
		`emberd_memories{stage="active"} 4`, `emberd_memories{stage="archived"} 0`,
		`emberd_operations_total{operation="save",outcome="ok"} 3`, `emberd_operations_total{operation="show",outcome="not_found"} 1`,
		`emberd_operation_seconds_count{operation="save"} 3`, "emberd_log_appends_total 4\n", "emberd_log_writable 1\n",
		`emberd_compactions_total{outcome="ok"} 1`, "emberd_compaction_seconds_count 1\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q; it has %.200q", want, text[strings.Index(text, want[:strings.IndexAny(want, "{ ")]):])
		}
	}
	for _, never := range append([]string{"kettle", "kitchen", opt.Data}, string(saved[1])) {
		if strings.Contains(text, never) {
			t.Errorf("the page has %q", never)
		}
	}
}

func saveAndClose(t *testing.T, opt core.Options, text string) {
	t.Helper()
	e, err := engine.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := op.Save.Call(t.Context(), e, &op.SaveRequest{Content: text}); err != nil {
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func measured(t testing.TB, e *engine.Engine) string {
	t.Helper()
	p := new(metrics.Exposition)
	e.Admin.Measure(p)
	var text strings.Builder
	if _, err := p.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// BenchmarkMeasure tells what a page costs with 100,000 memories, and what saves take
// meanwhile.
func BenchmarkMeasure(b *testing.B) {
	opt := core.DefaultOptions()
	opt.Data, opt.State, opt.Durability = b.TempDir(), b.TempDir(), stm.None
	e, err := engine.Open(opt)
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	for range 200 {
		req := op.SaveBatchRequest{}
		for i := range 500 {
			req.Items = append(req.Items, op.SaveRequest{Content: fmt.Sprintf("memory %d of a batch", i)})
		}
		if _, err := op.SaveBatch.Call(context.Background(), e, &req); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		measured(b, e)
	}
}
