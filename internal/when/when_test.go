package when

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// now is a Thursday.
var now = time.Date(2026, 5, 14, 15, 4, 5, 0, time.UTC)

func date3(y, m, d int) time.Time { return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC) }

// shown is a span as the tables write it: what it says, and its first and its last day.
func shown(s Span) string {
	from, last := s.From.Format(time.DateOnly), s.To.Add(-time.Nanosecond).Format(time.DateOnly)
	if from == last {
		return s.Text + " = " + from
	}
	return s.Text + " = " + from + ".." + last
}

func shownAll(spans []Span) string {
	var all []string
	for _, s := range spans {
		all = append(all, shown(s))
	}
	return strings.Join(all, "; ")
}

func TestTimesThatAreMeant(t *testing.T) {
	for text, want := range map[string]string{
		"what happened in 2023?":            "2023 = 2023-01-01..2023-12-31",
		"goals 2025":                        "2025 = 2025-01-01..2025-12-31",
		"painted in 1887":                   "1887 = 1887-01-01..1887-12-31",
		"jazz of the 1950s":                 "1950s = 1950-01-01..1959-12-31",
		"notes of 2024-05":                  "2024-05 = 2024-05-01..2024-05-31",
		"2024/05/03":                        "2024/05/03 = 2024-05-03",
		"log of 2024-05-03T10:00:00Z":       "2024-05-03T10:00:00Z = 2024-05-03",
		"Rechnung vom 03.05.2023":           "03.05.2023 = 2023-05-03",
		"paid 12/25/2023":                   "12/25/2023 = 2023-12-25",
		"paid 25/12/2023":                   "25/12/2023 = 2023-12-25",
		"paid 5/5/2023":                     "5/5/2023 = 2023-05-05",
		"May 2024":                          "May 2024 = 2024-05-01..2024-05-31",
		"may 2024 invoices":                 "may 2024 = 2024-05-01..2024-05-31",
		"who came in March":                 "March = 2026-03-01..2026-03-31",
		"who came in june":                  "june = 2025-06-01..2025-06-30",
		"mid-May":                           "May = 2026-05-01..2026-05-31",
		"early October":                     "October = 2025-10-01..2025-10-31",
		"budget october":                    "october = 2025-10-01..2025-10-31",
		"3 May 2023":                        "3 May 2023 = 2023-05-03",
		"the 3rd of May, 2023":              "3rd of May, 2023 = 2023-05-03",
		"dinner on May 3rd":                 "May 3rd = 2026-05-03",
		"dinner on may 20":                  "may 20 = 2025-05-20",
		"May 3, 2023, in Rome":              "May 3, 2023 = 2023-05-03",
		"(25 February 2022)":                "25 February 2022 = 2022-02-25",
		"May 2023's plan":                   "May 2023 = 2023-05-01..2023-05-31",
		"summer 2023":                       "summer 2023 = 2023-06-01..2023-08-31",
		"the summer of 2023":                "summer of 2023 = 2023-06-01..2023-08-31",
		"winter 2023":                       "winter 2023 = 2023-12-01..2024-02-29",
		"during the winter":                 "winter = 2025-12-01..2026-02-28",
		"Q2 2024":                           "Q2 2024 = 2024-04-01..2024-06-30",
		"2024 Q4 and 2023-Q1":               "2024 Q4 = 2024-10-01..2024-12-31; 2023-Q1 = 2023-01-01..2023-03-31",
		"Q3 roadmap":                        "Q3 = 2025-07-01..2025-09-30",
		"what did I do today":               "today = 2026-05-14",
		"this morning":                      "this morning = 2026-05-14",
		"yesterday":                         "yesterday = 2026-05-13",
		"the day before yesterday":          "day before yesterday = 2026-05-12",
		"last night":                        "last night = 2026-05-13",
		"plans for tomorrow":                "tomorrow = 2026-05-15",
		"last week":                         "last week = 2026-05-04..2026-05-10",
		"last weekend":                      "last weekend = 2026-05-09..2026-05-10",
		"this month":                        "this month = 2026-05-01..2026-05-31",
		"next year":                         "next year = 2027-01-01..2027-12-31",
		"last quarter":                      "last quarter = 2026-01-01..2026-03-31",
		"last March":                        "last March = 2026-03-01..2026-03-31",
		"last may":                          "last may = 2025-05-01..2025-05-31",
		"next june":                         "next june = 2026-06-01..2026-06-30",
		"last summer":                       "last summer = 2025-06-01..2025-08-31",
		"this spring":                       "this spring = 2026-03-01..2026-05-31",
		"last Thursday":                     "last Thursday = 2026-05-07",
		"on Monday":                         "Monday = 2026-05-11",
		"next Friday":                       "next Friday = 2026-05-15",
		"two weeks ago":                     "two weeks ago = 2026-04-27..2026-05-03",
		"a couple of days ago":              "a couple of days ago = 2026-05-12",
		"4 years ago":                       "4 years ago = 2022-01-01..2022-12-31",
		"a month ago":                       "a month ago = 2026-04-01..2026-04-30",
		"the last 3 days":                   "last 3 days = 2026-05-11..2026-05-14",
		"over the past two months":          "past two months = 2026-03-14..2026-05-14",
		"since 2024":                        "2024 = 2024-01-01..2026-05-14",
		"after March 2026":                  "March 2026 = 2026-04-01..2026-05-14",
		"between May and July 2023":         "between May and July 2023 = 2023-05-01..2023-07-31",
		"between November and January 2023": "between November and January 2023 = 2022-11-01..2023-01-31",
		"from November 2022 to March":       "from November 2022 to March = 2022-11-01..2023-03-31",
		"from June to August":               "from June to August = 2025-06-01..2025-08-31",
		"from 2009 to 2014":                 "from 2009 to 2014 = 2009-01-01..2014-12-31",
		"2009-2014, stable":                 "2009-2014 = 2009-01-01..2014-12-31",
		"May–July 2023":                     "May–July 2023 = 2023-05-01..2023-07-31",
		"from 3 May 2023 until 7 May 2023":  "from 3 May 2023 until 7 May 2023 = 2023-05-03..2023-05-07",
		"the week before August 3, 2023":    "week before August 3, 2023 = 2023-07-27..2023-08-02",
		"two weeks after August 3, 2023":    "two weeks after August 3, 2023 = 2023-08-11..2023-08-17",
		"the Sunday before 25 October 2022": "Sunday before 25 October 2022 = 2022-10-23",
		"weekend before April 10, 2023":     "weekend before April 10, 2023 = 2023-04-08..2023-04-09",
		"weekend after April 10, 2023":      "weekend after April 10, 2023 = 2023-04-15..2023-04-16",
		"2023 or 2024":                      "2023 = 2023-01-01..2023-12-31; 2024 = 2024-01-01..2024-12-31",

		"was war gestern":                   "gestern = 2026-05-13",
		"letzte Woche":                      "letzte Woche = 2026-05-04..2026-05-10",
		"im letzten Jahr":                   "letzten Jahr = 2025-01-01..2025-12-31",
		"im Mai":                            "Mai = 2026-05-01..2026-05-31",
		"im Dezember 2023":                  "Dezember 2023 = 2023-12-01..2023-12-31",
		"am 3. Mai 2023":                    "3. Mai 2023 = 2023-05-03",
		"am 1. März":                        "1. März = 2026-03-01",
		"vor zwei Wochen":                   "vor zwei Wochen = 2026-04-27..2026-05-03",
		"im Sommer":                         "Sommer = 2025-06-01..2025-08-31",
		"Sommer 2023":                       "Sommer 2023 = 2023-06-01..2023-08-31",
		"seit 2024":                         "2024 = 2024-01-01..2026-05-14",
		"zwischen Mai und Juli 2023":        "zwischen Mai und Juli 2023 = 2023-05-01..2023-07-31",
		"la semaine dernière":               "semaine dernière = 2026-05-04..2026-05-10",
		"qu'est-ce que nous avons dit hier": "hier = 2026-05-13",
		"l'année dernière":                  "année dernière = 2025-01-01..2025-12-31",
		"il y a deux semaines":              "il y a deux semaines = 2026-04-27..2026-05-03",
		"en mars":                           "mars = 2026-03-01..2026-03-31",
		"le 1er août 2023":                  "1er août 2023 = 2023-08-01",
		"l'été 2023":                        "été 2023 = 2023-06-01..2023-08-31",
		"entre mai et juillet 2023":         "entre mai et juillet 2023 = 2023-05-01..2023-07-31",
		"la semana pasada":                  "semana pasada = 2026-05-04..2026-05-10",
		"ayer":                              "ayer = 2026-05-13",
		"hace dos semanas":                  "hace dos semanas = 2026-04-27..2026-05-03",
		"el 3 de mayo de 2023":              "3 de mayo de 2023 = 2023-05-03",
		"en mayo de 2023":                   "mayo de 2023 = 2023-05-01..2023-05-31",
		"verano de 2023":                    "verano de 2023 = 2023-06-01..2023-08-31",
		"entre mayo y julio de 2023":        "entre mayo y julio de 2023 = 2023-05-01..2023-07-31",
	} {
		if got := shownAll(Parse(text, now)); got != want {
			t.Errorf("%q means %q, want %q", text, got, want)
		}
	}
}

func TestWordsAndNumbersThatAreNoDates(t *testing.T) {
	for _, text := range []string{
		"you may ask", "may 5 users be active?", "it may", "march to the sea", "the march of progress", "May likes April", "august company",
		"second try", "wait a second", "1500 users", "2000 users", "2020 bytes", "port 2024", "listen on 2049", "on port 1999", "version 2024.1", "v2024.1.3", "2023.4",
		"RFC 1918", "CVE 2024", "$2024", "#2024", "line 1984", "room 2012", "10.0.2023.1", "http://x/2024/05/03", "localhost:2024",
		"3/5/2023", "31/02/2023", "2023-13", "2023-02-30", "20230503", "0999", "12023",
		"Spring Boot", "in spring boot", "fall back", "in fall", "sun", "Sat down", "Black Friday", "every Monday",
		"one-year-old", "5-6 years", "at 3 and 6 years", "aged 14 years", "6 months", "after 12 weeks", "the last photo", "the last week of school", "the last time", "1 in 5 million",
		"mayo and mustard", "mars rover", "hier ist der Schlüssel", "guten morgen", "der Weg nach vorn", "the 90s", "in their 50s",
		"before 2023", "vor 2023", "this may be it", "in order 2100 parts", "", "   ", "–", "...",
	} {
		if got := Parse(text, now); len(got) > 0 {
			t.Errorf("%q means %q, want no date", text, shownAll(got))
		}
	}
}

// The same question on two days asks for different times.
func TestTheLastOneIsToldFromNow(t *testing.T) {
	for _, tt := range []struct {
		now        time.Time
		text, want string
	}{
		{date3(2026, 3, 1), "in March", "March = 2026-03-01..2026-03-31"},
		{date3(2026, 2, 28), "in March", "March = 2025-03-01..2025-03-31"},
		{date3(2026, 3, 1), "on May 3rd", "May 3rd = 2025-05-03"},
		{date3(2026, 1, 5), "last month", "last month = 2025-12-01..2025-12-31"},
		{date3(2026, 3, 31), "last month", "last month = 2026-02-01..2026-02-28"},
		{date3(2026, 1, 5), "during the winter", "winter = 2025-12-01..2026-02-28"},
		{date3(2026, 5, 17), "last weekend", "last weekend = 2026-05-09..2026-05-10"}, // a Sunday
		{date3(2026, 5, 18), "last weekend", "last weekend = 2026-05-16..2026-05-17"},
		{date3(2026, 5, 11), "last Monday", "last Monday = 2026-05-04"},
		{date3(2026, 5, 11), "on Monday", "Monday = 2026-05-11"},
		{date3(2024, 3, 1), "29 February 2024", "29 February 2024 = 2024-02-29"},
	} {
		if got := shownAll(Parse(tt.text, tt.now)); got != tt.want {
			t.Errorf("on %s %q means %q, want %q", tt.now.Format(time.DateOnly), tt.text, got, tt.want)
		}
	}
}

func TestDaysBeginInTheZoneOfNow(t *testing.T) {
	zone := time.FixedZone("far east", 9*3600)
	got := Parse("yesterday", time.Date(2026, 5, 14, 20, 0, 0, 0, time.UTC).In(zone))
	if len(got) != 1 || !got[0].From.Equal(time.Date(2026, 5, 14, 0, 0, 0, 0, zone)) {
		t.Errorf("yesterday is %v, want 14 May in the zone of now, where it is the 15th", got)
	}
}

// vocabulary makes texts in which dates are likely.
var vocabulary = strings.Fields("the in of on since before after between and from to last next this two 3 31 2023 2024 1999 may May march June sept 3rd 1er 2024-05 2024-05-03 " +
	"03.05.2023 Q2 summer fall week weeks weekend year day ago yesterday Monday vor Wochen Mai de mai il y a hace semanas dernière pasada , . – - ' l'été (May) 2009-2014 users")

func TestSpansAreInOrderWithoutOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 12).Draw(t, "words"), " ")
		at := now.AddDate(0, 0, rapid.IntRange(-4000, 4000).Draw(t, "days"))
		check(t, text, at)
	})
}

func FuzzParse(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		const days = 100 * 366 * 24 * 3600
		check(t, text, now.Add(time.Duration(unix%days)*time.Second))
	})
}

type failing interface {
	Fatalf(format string, args ...any)
}

// check finds what no text may do to Parse.
func check(t failing, text string, now time.Time) {
	spans := Parse(text, now)
	end := 0
	for _, s := range spans {
		switch {
		case !s.From.Before(s.To):
			t.Fatalf("%q: %q is from %v to %v", text, s.Text, s.From, s.To)
		case s.Start < end || s.End <= s.Start || s.End > len(text) || text[s.Start:s.End] != s.Text:
			t.Fatalf("%q: %q is said to be at %d to %d, behind %d", text, s.Text, s.Start, s.End, end)
		case utf8.ValidString(text) && !utf8.ValidString(s.Text):
			t.Fatalf("%q: a letter is cut in %q", text, s.Text)
		}
		end = s.End
	}
	if again := Parse(text, now); shownAll(again) != shownAll(spans) {
		t.Fatalf("%q means %q and then %q", text, shownAll(spans), shownAll(again))
	}
}
