package query

import (
	"testing"
	"time"
)

func TestDates(t *testing.T) {
	for _, tt := range []struct {
		date string
		want time.Time
	}{
		{"2026", day(2026, 1, 1)},
		{"2026-03", day(2026, 3, 1)},
		{"2026-03-09", day(2026, 3, 9)},
		{"2026-3-9", day(2026, 3, 9)},
		{"2026/03/09", day(2026, 3, 9)},
		{"2024-02-29", day(2024, 2, 29)},
		{"today", day(2026, 5, 14)},
		{"Yesterday", day(2026, 5, 13)},
		{"0d", day(2026, 5, 14)},
		{"7d", day(2026, 5, 7)},
		{"2W", day(2026, 4, 30)},
		{"3m", day(2026, 2, 14)},
		{"3mo", day(2026, 2, 14)},
		{"17m", day(2024, 12, 14)},
		{"1y", day(2025, 5, 14)},
	} {
		q := parse(t, "after:"+tt.date)
		if !q.After.Equal(tt.want) || !q.Before.IsZero() {
			t.Errorf("after:%s is from %v to %v, want from %v", tt.date, q.After, q.Before, tt.want)
		}
	}
}

func TestDatesThatAreNone(t *testing.T) {
	for _, date := range []string{
		"soon", "tomorrow", "7", "d", "7 d", "-7d", "+7d", "7dd", "7h", "100000d", "9999y", "26", "0999", "12026",
		"2026-13", "2026-02-30", "2026-03-09T10:00", "2026-03-09..2026-03-10", "20260309", "二〇二六",
	} {
		if q, err := Parse(`before:"`+date+`"`, now); err == nil {
			t.Errorf("before:%s is %v, want an error", date, q.Before)
		}
	}
}

func TestAMonthAgoAtTheEndOfMonth(t *testing.T) {
	for _, tt := range []struct {
		today time.Time
		age   string
		want  time.Time
	}{
		{day(2026, 3, 31), "1m", day(2026, 2, 28)},
		{day(2024, 3, 31), "1m", day(2024, 2, 29)},
		{day(2026, 12, 31), "1m", day(2026, 11, 30)},
		{day(2024, 2, 29), "1y", day(2023, 2, 28)},
	} {
		q, err := Parse("after:"+tt.age, tt.today)
		if err != nil || !q.After.Equal(tt.want) {
			t.Errorf("%s before %v is %v (%v), want %v", tt.age, tt.today, q.After, err, tt.want)
		}
	}
}

// In zones where the clocks go forward at midnight, such a day begins later.
func TestADayWithoutMidnight(t *testing.T) {
	zone, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil {
		t.Skipf("the time zone data is missing; install tzdata: %v", err)
	}
	q, err := Parse("after:2018-11-04", now.In(zone))
	if err != nil {
		t.Fatal(err)
	}
	if want := time.Date(2018, 11, 4, 1, 0, 0, 0, zone); !q.After.Equal(want) {
		t.Errorf("the day begins at %v, want %v", q.After, want)
	}
	if got := q.String(); got != "after:2018-11-04" {
		t.Errorf("it is written %q, want the same day", got)
	}
}
