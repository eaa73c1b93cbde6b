package admin_test

import (
	"testing"
	"time"

	"emberd/engine/admin"
	"emberd/memory"
)

func TestExpiry(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Skipf("no time zones here: %v", err)
	}
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, paris) // the clock is put forward in the night
	tests := []struct {
		text, want string // want is "" for never
	}{
		{"", ""},
		{"never", ""},
		{"12h", "2026-03-29T00:00:00+01:00"},
		{" 1d ", "2026-03-29T13:00:00+02:00"},
		{"2w", "2026-04-11T13:00:00+02:00"},
		{"2026-03-29", "2026-03-30T00:00:00+02:00"},
		{"2026-04", "2026-05-01T00:00:00+02:00"},
		{"2027", "2028-01-01T00:00:00+01:00"},
		{"today", "2026-03-29T00:00:00+01:00"},
	}
	for _, tt := range tests {
		got, err := admin.Expiry(tt.text, now)
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		if text := admin.Ends(got); text != tt.want && (tt.want != "" || text != "never") {
			t.Errorf("%q ends %s, want %s", tt.text, text, tt.want)
		}
	}
	for _, text := range []string{"soon", "-1d", "12", "99999d", "1.5d", "d", "0x1d", "2026-13-01", "1d2h", "3m", "1y",
		"yesterday", "2025"} {
		if got, err := admin.Expiry(text, now); memory.CodeOf(err) != memory.Invalid {
			t.Errorf("%q ends %v, %v; want a refusal", text, got, err)
		}
	}
}
