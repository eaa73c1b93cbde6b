package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// quarry is an engine with a vault and so many memories, of which one in ten nearly repeats
// another and all name two of a few hundred things.
func quarry(b *testing.B, n int) *engine.Engine {
	h := promotingHouse(b, nil)
	h.Durability, h.EchoWindow = stm.None, 0
	h.Agents = core.DefaultAgents()
	h.Agents.Interval, h.Agents.Rate, h.Agents.AutoMerge = 0, 1000, true
	e := h.following(b)
	req := &op.ImportRequest{Foreign: true}
	for i, text := range pebbles(n) {
		id, err := memory.NewID()
		ok(b, err)
		made := h.daysAgo(float64(i%200) + 1)
		fields := map[string]any{"content": text, "created_at": made, "entities": []string{"Ann", fmt.Sprint("project ", i%(n/20+1))}, "tags": []string{"work"}}
		rec := op.Record{ID: id, Fields: map[string]json.RawMessage{}}
		for key, value := range fields {
			rec.Fields[key], err = json.Marshal(value)
			ok(b, err)
		}
		if req.Records = append(req.Records, rec); len(req.Records) == op.MaxBatch || i == n-1 {
			do(b, e, op.Import, req)
			req.Records = nil
		}
	}
	return e
}

// What saves wait for while all agents run on a store, beside what they wait for alone.
func BenchmarkSavesWhileAgentsRun(b *testing.B) {
	for _, n := range shores {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			e := quarry(b, n)
			e.Storage.BuildIndex(b.Context())
			saves := 0
			measure := func(until func() bool) []time.Duration {
				var took []time.Duration
				for !until() {
					saves++
					began := time.Now()
					do(b, e, op.Save, &op.SaveRequest{Content: fmt.Sprintf("%s save %d", strings.Repeat("x", saves%9+1), saves), Again: true})
					took = append(took, time.Since(began))
					time.Sleep(2 * time.Millisecond)
				}
				slices.Sort(took)
				return took
			}
			at := func(took []time.Duration, part float64) float64 {
				return float64(took[int(part*float64(len(took)-1))].Microseconds()) / 1000
			}
			alone := measure(func() bool { return saves == 500 })
			for b.Loop() {
				done := make(chan *op.AgentsRunResult)
				go func() {
					res, err := op.AgentsRun.Call(b.Context(), e, &op.AgentsRunRequest{})
					if err != nil {
						b.Error(err)
					}
					done <- res
				}()
				var res *op.AgentsRunResult
				beside := measure(func() bool {
					select {
					case res = <-done:
						return true
					default:
						return false
					}
				})
				if res == nil {
					return
				}
				b.ReportMetric(at(alone, 0.99), "alone-p99-ms")
				b.ReportMetric(at(alone, 1), "alone-max-ms")
				b.ReportMetric(at(beside, 0.99), "beside-p99-ms")
				b.ReportMetric(at(beside, 1), "beside-max-ms")
				b.ReportMetric(float64(res.Millis), "run-ms")
				for _, a := range res.Ran {
					b.Logf("%+v", a)
				}
				if len(res.Merge) > 0 {
					b.Log(res.Merge[0].Reason)
				}
			}
		})
	}
}
