package vectors

import (
	"testing"

	"pgregory.net/rapid"
)

// Slots are found as in a map, whatever is added and removed. The keys collide.
func TestSlotsAreAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table slots
		want := map[Key]*slot{}
		for range rapid.IntRange(1, 400).Draw(t, "steps") {
			key := Key{0: rapid.Byte().Draw(t, "home"), 8: byte(rapid.IntRange(0, 3).Draw(t, "other"))}
			switch {
			case want[key] == nil:
				want[key] = &slot{key: key}
				table.add(want[key])
			case rapid.Bool().Draw(t, "remove"):
				delete(want, key)
				table.remove(key)
			}
		}
		for home := range 256 {
			for other := range 5 {
				key := Key{0: byte(home), 8: byte(other)}
				if got := table.get(key); got != want[key] {
					t.Fatalf("the slot of %x is %v, want %v", key, got, want[key])
				}
			}
		}
		if all := table.all(); len(all) != len(want) || table.n != len(want) {
			t.Fatalf("there are %d slots, counted as %d, want %d", len(all), table.n, len(want))
		}
	})
}
