package notes_test

import (
	"slices"
	"testing"

	"emberd/engine/notes"
	"emberd/watcher"
)

func TestPortionsAreBounded(t *testing.T) {
	t.Parallel()
	files := make([]watcher.File, 600)
	for i := range files {
		files[i].Size = 100
	}
	files[10].Size, files[11].Size, files[12].Size = 5<<20, 5<<20, 50<<20
	var got []int
	for len(files) > 0 {
		n := notes.Portion(files)
		got = append(got, n)
		files = files[n:]
	}
	if want := []int{12, 1, 256, 256, 75}; !slices.Equal(got, want) {
		t.Errorf("portions of %d notes, want %d", got, want)
	}
}
