package cli

import (
	"time"

	"github.com/spf13/pflag"

	"emberd/internal/when"
	"emberd/memory"
	"emberd/op"
)

// AsOf is the flag for an earlier moment. A day, month or year means its end: as of
// yesterday includes what was saved yesterday.
type AsOf struct{ text string }

func (v *AsOf) Add(f *pflag.FlagSet, what string) {
	f.StringVar(&v.text, "as-of", "",
		what+" as of `DATE`: 2026-03-09, 2026-03, 7d or yesterday (the end of that period), or an RFC 3339 time")
}

// Moment is the time that was given, zero for none.
func (v *AsOf) Moment(s *App) (time.Time, error) {
	if v.text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05",
		"2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, v.text, s.Zone); err == nil {
			return t, nil
		}
	}
	if t, err := time.Parse(time.RFC3339Nano, v.text); err == nil {
		return t, nil
	}
	now := s.Now().In(s.Zone)
	begin, end, ok := when.Period(v.text, now)
	switch {
	case !ok:
		return time.Time{}, memory.Errorf(memory.Invalid, "invalid --as-of date %s; use 2026, 2026-03, 2026-03-09, "+
			"\"2026-03-09 14:30\", today, yesterday, or an age such as 7d, 2w, 3m or 1y",
			JsonText(OneLine(Cut(v.text, 60)))).At("as_of")
	case begin.After(now):
		return begin, nil // the daemon says that this is in the future
	case end.After(now):
		return now, nil // it is not over yet
	}
	return end.Add(-time.Millisecond), nil
}

// PrintThen says which moment an answer is about, and what of it is not certain.
func (s *App) PrintThen(p *op.Past, notes bool) {
	if p == nil {
		return
	}
	text := "memories as of " + p.At.In(s.Zone).Format("2006-01-02 15:04:05")
	if notes {
		text += "; notes with their current text"
	}
	s.Note("%s", text)
	if !p.Since.IsZero() {
		s.Note("the log is complete only since %s; earlier changes and deletions can be missing",
			p.Since.In(s.Zone).Format("2006-01-02 15:04:05"))
	}
	if p.Uncounted > 0 {
		s.Note("the use counts of %s might be too low, because the log does not contain earlier counts",
			Count(p.Uncounted, "memory", "memories"))
	}
}
