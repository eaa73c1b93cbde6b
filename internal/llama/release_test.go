package llama

import (
	"strings"
	"testing"
)

func TestReleases(t *testing.T) {
	for name, want := range map[string]struct {
		shown   string
		tooOld  bool
		slow    bool
		warning string
	}{
		"b4600":        {"b4600", true, true, "slower"},
		"b5639":        {"b5639", true, true, "slower"},
		"b5640":        {"b5640", false, true, "llama.cpp b5640 works, but is slower than b8390 and later"},
		"b8389":        {"b8389", false, true, "slower"},
		"b8390":        {"b8390", false, false, ""},
		"b10361":       {"b10361", false, false, ""},
		"v0.5.0":       {"v0.5.0", false, false, ""},
		"v0.5.0-dev":   {"v0.5.0", false, false, ""},
		"v1.12.3":      {"v1.12.3", false, false, ""},
		"":             {"", false, false, "the llama.cpp release of these libraries is unknown"},
		"v0.0.0":       {"", false, false, "the llama.cpp release of these libraries is unknown"},
		"b":            {"", false, false, "the llama.cpp release of these libraries is unknown"},
		"b0":           {"", false, false, "the llama.cpp release of these libraries is unknown"},
		"b99999999999": {"", false, false, "the llama.cpp release of these libraries is unknown"},
		"master":       {"", false, false, "the llama.cpp release of these libraries is unknown"},
	} {
		r := parseRelease(name)
		if r.String() != want.shown || r.known() != (want.shown != "") {
			t.Errorf("%q is read as %q, want %q", name, r, want.shown)
		}
		if r.tooOld() != want.tooOld || r.slowFlash() != want.slow {
			t.Errorf("%q: too old %t, slow %t, want %t, %t", name, r.tooOld(), r.slowFlash(), want.tooOld, want.slow)
		}
		if got := r.warning(); !strings.Contains(got, want.warning) || want.warning == "" && got != "" {
			t.Errorf("%q has the warning %q, want %q", name, got, want.warning)
		}
	}
}
