package importer_test

import (
	"testing"
	"time"

	"emberd/internal/importer"
)

func TestTimesAsSpreadsheetsWriteThem(t *testing.T) {
	t.Parallel()
	day := time.Date(2025, 4, 11, 0, 0, 0, 0, time.UTC)
	half := day.Add(9*time.Hour + 30*time.Minute)
	for text, want := range map[string]time.Time{
		"2025-04-11":                day,
		"2025-04-11 09:30":          half,
		"2025-04-11 09:30:00":       half,
		"2025-04-11T09:30":          half,
		"2025-04-11T11:30+02:00":    {}, // RFC 3339 has seconds
		"2025-04-11T11:30:00+02:00": half,
		"2025/4/11":                 day,
		"11.04.2025":                day,
		"11.4.2025 9:30":            half,
		"11 Apr 2025":               day,
		"11 April 2025 09:30":       half,
		"Apr 11, 2025":              day,
		"April 11, 2025 9:30 AM":    half,
		"1744363800":                half,
		"1744363800000":             half,
		"13/04/2025":                day.AddDate(0, 0, 2),
		"04/13/2025":                day.AddDate(0, 0, 2),
		"04/04/2025":                day.AddDate(0, 0, -7),
		"04/11/2025":                {}, // April or November
		"31.02.2025":                {},
		"31/31/2025":                {},
		"11. April 2025":            day,
		"11. Apr 2025 9:30":         half,
		"11 april 2025":             day,
		"Fr, 11.4.2025":             day,
		"Friday, April 11, 2025":    day,
		"1. März 2025":              time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC),
		"31.12.99":                  time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC),
		"Foo, 11.4.2025":            {},
		"11.04.25":                  {}, // 2025 or 2011
		"11/04/25":                  {},
		"soon":                      {},
		"":                          {},
	} {
		got, ok := importer.ParseTime(text)
		if ok == want.IsZero() || ok && !got.Equal(want) {
			t.Errorf("%q is %v, %v; want %v", text, got, ok, want)
		}
	}
}

func TestTheOrderOfADateWithSlashes(t *testing.T) {
	t.Parallel()
	for order, want := range map[importer.DateOrder]time.Time{
		importer.DayFirst:   time.Date(2025, 11, 4, 18, 5, 0, 0, time.UTC),
		importer.MonthFirst: time.Date(2025, 4, 11, 18, 5, 0, 0, time.UTC),
	} {
		if got, ok := importer.ParseDate("04/11/2025 6:05 PM", order); !ok || !got.Equal(want) {
			t.Errorf("order %d: %v, %v; want %v", order, got, ok, want)
		}
		if got, ok := importer.ParseDate("13/04/2025", order); !ok || got.Month() != time.April {
			t.Errorf("order %d: 13/04/2025 is %v, %v; want the one date that it can be", order, got, ok)
		}
	}
	for text, want := range map[string]bool{"04/11/2025": true, "04/11/2025 6:05 PM": true, "13/04/2025": false,
		"05/05/2025": false, "soon": false} {
		if got := importer.IsAmbiguous(text); got != want {
			t.Errorf("%q is ambiguous: %v, want %v", text, got, want)
		}
	}
}

func TestDaysThatDoNotExist(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"29.02.2026": true, "2026-02-29": true, "2026-02-29T10:00:00Z": true,
		"30/02/2025 9:30": true, "02/30/2025": true, "31 April 2025": true, "29.02.2028": false, "31/31/2025": false,
		"11.04.25": false, "soon": false} {
		if got := importer.HasMissingDay(text); got != want {
			t.Errorf("HasMissingDay(%q) = %v", text, got)
		}
	}
}
