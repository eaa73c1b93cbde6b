package config

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDurations(t *testing.T) {
	tests := []struct {
		text string
		want time.Duration
		ok   bool
	}{
		{"72h", 72 * time.Hour, true},
		{"3d", 72 * time.Hour, true},
		{"1.5d", 36 * time.Hour, true},
		{"1d12h", 36 * time.Hour, true},
		{"0", 0, true},
		{"0d", 0, true},
		{"250ms", 250 * time.Millisecond, true},
		{"3", 0, false},
		{"d", 0, false},
		{"-1d", 0, false},
		{"1d-1h", 0, false},
		{"3days", 0, false},
		{"1h2d", 0, false},
		{"NaNd", 0, false},
		{"1e300d", 0, false},
		{"36500d9999999h", 0, false},
	}
	for _, tt := range tests {
		got, ok := parseDuration(tt.text)
		if ok != tt.ok || ok && got != tt.want {
			t.Errorf("parseDuration(%q): got %v, %t; want %v, %t", tt.text, got, ok, tt.want, tt.ok)
		}
	}
}

func TestFormattedDurationsParseBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]time.Duration{1, time.Millisecond, time.Second, time.Minute, time.Hour, day}).Draw(t, "unit")
		want := time.Duration(rapid.Int64Range(0, 10_000).Draw(t, "n")) * unit
		text := formatDuration(want)
		if got, ok := parseDuration(text); !ok || got != want {
			t.Fatalf("%d ns is written %s, which reads back as %d, %t", want, text, got, ok)
		}
	})
}

func TestBooleans(t *testing.T) {
	for text, want := range map[string]bool{
		"true": true, "TRUE": true, "yes": true, "On": true, "1": true,
		"false": false, "No": false, "off": false, "0": false,
	} {
		got := !want
		if err := boolean(&got).set(text, nil); err != nil || got != want {
			t.Errorf("%q: got %t, %v; want %t", text, got, err, want)
		}
	}
	for _, text := range []string{"y", "2", "enabled", "t", "truee"} {
		if err := boolean(new(bool)).set(text, nil); err == nil {
			t.Errorf("%q passed for a boolean", text)
		}
	}
}

func TestNumbersKeepTheirBounds(t *testing.T) {
	tests := []struct {
		text string
		ok   bool
	}{
		{"0.1", true}, {"10", true}, {"1e0", true}, {"+2", true},
		{"0.0999", false}, {"10.001", false}, {"NaN", false}, {"Inf", false}, {"-1", false}, {"1,5", false}, {"1e400", false},
	}
	for _, tt := range tests {
		f := -1.0
		err := number(&f, 0.1, 10).set(tt.text, nil)
		if (err == nil) != tt.ok || !tt.ok && f != -1 {
			t.Errorf("%q: got %g, %v; want it accepted: %t", tt.text, f, err, tt.ok)
		}
	}
	for text, ok := range map[string]bool{"1": true, "100": true, "0": false, "101": false, "5.0": false, "0x10": false, "99999999999999999999": false} {
		if err := integer(new(int), 1, 100).set(text, nil); (err == nil) != ok {
			t.Errorf("%q: got %v, want it accepted: %t", text, err, ok)
		}
	}
}

// C83 among them, but that a//b and a/./b, which mean a folder too, are taken for a/b.
func TestVaultFolders(t *testing.T) {
	for text, want := range map[string]string{
		"Memories": "Memories", "A/B/": "A/B", "./A//B": "A/B", "Notes.old": "Notes.old",
		`a\b`: "a/b", "a//b": "a/b", "a/./b": "a/b", "日本語/メモ": "日本語/メモ",
		`C:\x`: "", `..\x`: "", `\\server\share`: "", "/abs": "", "what?": "",
		"": "", ".": "", "/A": "", "..": "", "../A": "", "A/../..": "", ".obsidian": "", "A/.git/B": "",
	} {
		var got string
		err := folder(&got).set(text, nil)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v; want %q", text, got, err, want)
		}
	}
}
