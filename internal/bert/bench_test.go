package bert

import (
	"fmt"
	"strings"
	"testing"

	"emberd/internal/tinybert"
)

func benchmarkedTypes() map[string]tinybert.Type {
	return map[string]tinybert.Type{"F32": tinybert.F32, "F16": tinybert.F16, "Q8_0": tinybert.Q8_0}
}

// One core: go test -run '^$' -bench Embed -cpu 1
func BenchmarkEmbed(b *testing.B) {
	for _, name := range []string{"F32", "F16", "Q8_0"} {
		m := opened(b, tinybert.MiniLM(benchmarkedTypes()[name]))
		for _, tokens := range []int{61, 251} {
			text := strings.TrimSpace(strings.Repeat("note ", tokens-2))
			if got := m.Tokens(text); got != tokens {
				b.Fatalf("the text has %d tokens, want %d", got, tokens)
			}
			b.Run(fmt.Sprintf("%s/tokens=%d", name, tokens), func(b *testing.B) {
				for b.Loop() {
					embedded(b, m, text)
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "texts/s")
			})
		}
		m.Close()
	}
}
