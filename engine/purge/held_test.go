package purge_test

import (
	"testing"

	"emberd/engine/purge"
	"emberd/memory"
)

// An id is found wherever reads of the backup happen to end.
func TestIDsAreFoundInBytes(t *testing.T) {
	t.Parallel()
	id := memory.ID("01a201e6-1e19-7e1f-a8c6-d73eebcf8cd4")
	for text, want := range map[string]int{
		string(id): 1, `{"` + string(id) + `":` + string(id) + "}": 2, "----" + string(id) + "----": 1,
		string(id[1:]): 0, string(id[:35]): 0, "": 0, "-": 0,
	} {
		got := 0
		for found := range purge.IDsIn([]byte(text)) {
			if found == id {
				got++
			}
		}
		if got != want {
			t.Errorf("%q has it %d times, want %d", text, got, want)
		}
	}
}
