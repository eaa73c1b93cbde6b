package engine_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"emberd/op"
)

// BenchmarkHook answers prompts and starts of sessions with 10,000 and 100,000 memories in four projects.
func BenchmarkHook(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		h := newHouse(b)
		h.Hooks.Recall = "on"
		e := h.open(b)
		prompts := fillProjects(b, func(req *op.SaveBatchRequest) { do(b, e, op.SaveBatch, req) }, n)
		for _, event := range []string{op.HookPrompt, op.HookStart} {
			b.Run(fmt.Sprintf("memories=%d/%s", n, event), func(b *testing.B) {
				answered := 0
				for i := 0; b.Loop(); i++ {
					req := promptOf(fmt.Sprintf("%s-%d", event, i), "orion", prompts[i%len(prompts)])
					req.Event = event
					if do(b, e, op.Hook, req).Text != "" {
						answered++
					}
				}
				if answered < b.N/5 {
					b.Fatalf("%d of %d hooks were answered", answered, b.N)
				}
			})
		}
	}
}

// fillProjects saves memories of 12 words, frequent ones and rare ones as in a language, and returns prompts.
func fillProjects(b *testing.B, save func(*op.SaveBatchRequest), n int) (prompts []string) {
	b.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	zipf := rand.NewZipf(rng, 1.1, 8, 20_000)
	var batch []op.SaveRequest
	for i := range n {
		words := make([]string, 12)
		for j := range words {
			words[j] = fmt.Sprintf("w%dx", zipf.Uint64())
		}
		req := op.SaveRequest{Content: strings.Join(words, " "), Project: []string{"orion", "vega", "lyra", "cygnus"}[i%4]}
		if i%10 == 0 {
			req.Tags = []string{"decision"}
		}
		if batch = append(batch, req); len(batch) == 500 {
			save(&op.SaveBatchRequest{Items: batch})
			batch = nil
		}
		if i%(n/100) == 0 {
			prompts = append(prompts, "where is "+strings.Join(words[:5], " ")+" now?")
		}
	}
	return prompts
}
