package spelling

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"search", "serach", 1}, {"limit", "limits", 1},
		{"kitten", "sitting", 3}, {"Limit", "LIMIT", 0}, {"straße", "strase", 1}, {"ca", "abc", 3},
		{strings.Repeat("a", 64) + "x", strings.Repeat("a", 64) + "yz", 0},
	} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// defined is the distance by its definition.
func defined(a, b []rune) int {
	if len(a)*len(b) == 0 {
		return len(a) + len(b)
	}
	i, j := len(a)-1, len(b)-1
	d := 1 + min(defined(a[:i], b), defined(a, b[:j]), defined(a[:i], b[:j]))
	if a[i] == b[j] {
		d = defined(a[:i], b[:j])
	}
	if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
		d = min(d, 1+defined(a[:i-1], b[:j-1]))
	}
	return d
}

func TestDistanceIsAsDefined(t *testing.T) {
	word := rapid.StringMatching(`[a-cü]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		from, most := word.Draw(t, "from"), rapid.IntRange(0, 3).Draw(t, "most")
		measure := From(from, most)
		for range 3 { // one measure serves many words
			to := word.Draw(t, "to")
			want := defined([]rune(from), []rune(to))
			if got := Distance(from, to); got != want {
				t.Fatalf("Distance(%q, %q) = %d, want %d", from, to, got, want)
			}
			if got, ok := measure(to); ok != (want <= most) || ok && got != want {
				t.Fatalf("From(%q, %d)(%q) = %d, %v, want %d", from, most, to, got, ok, want)
			}
		}
	})
}

func TestEdits(t *testing.T) {
	for word, want := range map[string]int{"": 0, "cat": 0, "日本語": 0, "cats": 1, "clustre": 1, "kubernet": 2, "größere": 1} {
		if got := Edits(word); got != want {
			t.Errorf("Edits(%q) = %d, want %d", word, got, want)
		}
	}
}

func TestMeant(t *testing.T) {
	names := []string{"b8390", "v0.4.0", "v0.5.0"}
	for name, want := range map[string]string{"v0.50": "v0.5.0", "v0.6.0": "v0.4.0", "V0.5.0": "v0.5.0", "w1.5.0": "", "x": "", "": ""} {
		if got := Meant(name, names); got != want {
			t.Errorf("%q meant %q, want %q", name, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	near := []Near{{"far", 2, 90}, {"b", 1, 1}, {"a", 1, 2}, {"c", 1, 1}, {"b", 1, 3}, {"gone", 0, 0}}
	if got, want := Nearest(near, 8), []string{"b", "a", "c"}; !slices.Equal(got, want) {
		t.Errorf("nearest are %q, want %q: the fewest edits, the commonest first", got, want)
	}
	if got, want := Nearest(near, 2), []string{"b", "a"}; !slices.Equal(got, want) {
		t.Errorf("the two nearest are %q, want %q", got, want)
	}
	if got := Nearest(nil, 8); len(got) != 0 {
		t.Errorf("nearest of nothing are %q", got)
	}
}

func TestSlips(t *testing.T) {
	slips, replaced := Slips("runnign")
	for word, list := range map[string][]string{"running": slips, "runnig": slips, "runningn": slips, "runnnign": slips, "rnunnign": slips, "rannign": replaced, "runnian": replaced} {
		if !slices.Contains(list, word) {
			t.Errorf("no slip makes runnign of %s", word)
		}
	}
	if slices.Contains(append(slips, replaced...), "unning") {
		t.Error("two slips count as one")
	}
	if slips, _ := Slips("cafés"); slips != nil {
		t.Errorf("slips of letters beyond a to z: %q", slips)
	}
}
