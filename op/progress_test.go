package op

import (
	"slices"
	"testing"
)

func TestReportReachesWhoAsked(t *testing.T) {
	Report(t.Context(), 1, 2) // nobody asked
	var got [][2]int
	ctx := WithProgress(t.Context(), func(done, total int) { got = append(got, [2]int{done, total}) })
	Report(ctx, 1, 3)
	Report(ctx, 2, 0)
	if want := [][2]int{{1, 3}, {2, 0}}; !slices.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
	if ProgressOf(t.Context()) != nil {
		t.Error("a context that nobody asked with tells somebody")
	}
}
