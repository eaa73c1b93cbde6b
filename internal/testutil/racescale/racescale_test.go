package racescale

import (
	"testing"

	"pgregory.net/rapid"
)

func TestPropertiesAreCheckedOnSoMany(t *testing.T) {
	tried := 0
	rapid.Check(t, func(r *rapid.T) {
		rapid.Byte().Draw(r, "byte")
		tried++
	})
	if want := usual / Share; tried != want {
		t.Errorf("rapid tried %d inputs, want %d", tried, want)
	}
}
