package table

import (
	"testing"

	"emberd/internal/text/analysis"
)

// A merged memory has what its parts say in as many words as they took. Saying it more than
// once does not make it more relevant than a memory that says it once.
func TestAMergedMemoryCountsWordsOnce(t *testing.T) {
	t.Parallel()
	x := NewIndex(analysis.New(), nil, nil)
	const texts = `"content":"the lamp is lit at dusk\n\nat dusk the lamp, the lamp is lit"`
	count := func(doc string) (lamp, dusk, length int) {
		for _, c := range x.Analyze([]byte(doc)).terms {
			switch c.Term {
			case "lamp":
				lamp = c.Count
			case "dusk":
				dusk = c.Count
			}
		}
		return lamp, dusk, x.Analyze([]byte(doc)).length
	}
	if lamp, dusk, length := count(`{"stage":"active",` + texts + `}`); lamp != 3 || dusk != 2 || length < 6 {
		t.Errorf("a memory has lamp %d times, dusk %d times, in %d words", lamp, dusk, length)
	}
	_, _, whole := count(`{"stage":"active",` + texts + `}`)
	lamp, dusk, length := count(`{"stage":"active",` + texts + `,"consolidated_from":["a","b"]}`)
	if lamp != 2 || dusk != 1 || length >= whole || length < whole/2 {
		t.Errorf("a merged one has lamp %d times, dusk %d times, in %d words of %d", lamp, dusk, length, whole)
	}
}
