package cli

import (
	"math"
	"testing"
	"time"
)

func TestImportance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want float64
		core bool
	}{{"low", 0.3, false}, {"Normal", 0.5, false}, {"high", 0.7, false}, {"core", 0.9, true}, {"0", 0, false},
		{"0.42", 0.42, false}} {
		var v Importance
		if err := v.Set(c.in); err != nil || !v.Given || v.Value != c.want || v.Core != c.core {
			t.Errorf("Set(%q) = %+v, %v; want %v, core %v", c.in, v, err, c.want, c.core)
		}
	}
	for _, in := range []string{"", "huge", "1.1", "-0.1", "NaN"} {
		var v Importance
		if err := v.Set(in); err == nil || v.Given {
			t.Errorf("Set(%q) = %+v, want an error", in, v)
		}
	}
}

func TestWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		days float64
	}{{"7d", 7}, {"7", 7}, {"36h", 1.5}, {"2w", 14}, {"3mo", 90}, {"1y", 365}, {"90min", 0.0625}, {"0.5 d", 0.5}} {
		var v Window
		if err := v.Set(c.in); err != nil || math.Abs(v.Days-c.days) > 1e-9 {
			t.Errorf("Set(%q) = %v days, %v; want %v", c.in, v.Days, err, c.days)
		}
	}
	for _, in := range []string{"", "d", "-1d", "0d", "7 fortnights", "NaNd", "Infd"} {
		var v Window
		if err := v.Set(in); err == nil {
			t.Errorf("Set(%q) = %v days, want an error", in, v.Days)
		}
	}
}

func TestMetaKeepsJSON(t *testing.T) {
	t.Parallel()
	var v Meta
	for _, in := range []string{"pr=412", "name=Ada", "list=[1, 2]", "gone=null", "empty=", "eq=a=b"} {
		if err := v.Set(in); err != nil {
			t.Fatalf("Set(%q): %v", in, err)
		}
	}
	for key, want := range map[string]string{"pr": "412", "name": `"Ada"`, "list": "[1, 2]", "gone": "null",
		"empty": `""`, "eq": `"a=b"`} {
		if got := string(v[key]); got != want {
			t.Errorf("meta %s = %s, want %s", key, got, want)
		}
	}
	for _, in := range []string{"alone", "=value"} {
		if err := v.Set(in); err == nil {
			t.Errorf("Set(%q): no error", in)
		}
	}
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	want := time.Date(2023, 5, 8, 13, 56, 0, 0, time.UTC)
	for _, in := range []string{
		"2023-05-08T13:56:00Z", "2023-05-08T15:56:00+02:00", "2023-05-08T13:56:00", "2023-05-08 13:56:00.000",
		"1683554160", "1683554160.0", "1683554160000", "1.68355416e9",
	} {
		if got, err := ParseTime(in); err != nil || !got.Equal(want) {
			t.Errorf("parseTime(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
	if got, err := ParseTime("2023-05-08"); err != nil || !got.Equal(want.Truncate(24*time.Hour)) {
		t.Errorf("a date alone = %v, %v; want its midnight", got, err)
	}
	for _, in := range []string{"", "yesterday", "1e300", "NaN", "2023-13-01"} {
		if got, err := ParseTime(in); err == nil {
			t.Errorf("parseTime(%q) = %v, want an error", in, got)
		}
	}
}
