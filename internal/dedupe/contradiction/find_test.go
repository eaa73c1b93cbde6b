package contradiction

import (
	"strings"
	"testing"

	"emberd/internal/text/analysis"
)

// disagreement is what two texts disagree in, as "kind: a against b" or the beginning of
// that; "" is no conflict.
type disagreement struct{ a, b, found string }

func TestWhichValuesConflict(t *testing.T) {
	check(t, []disagreement{
		// numbers
		{"The database runs on port 5432", "The database runs on port 5433", "number: 5432 against 5433"},
		{"Our database runs on port 5432 in the main cluster", "The database runs on port 5433", "number: 5432 against 5433"},
		{"Recall budgets 12ms", "recall budgets 12 ms", ""},
		{"Recall budgets 12ms", "Recall budgets 12 s", "unit: 12ms against 12 s"},
		{"Recall budgets 1000 ms", "Recall budgets 1 second", ""},
		{"The cache holds 2k entries", "The cache holds 2,000 entries", ""},
		{"The cache holds 2k entries", "The cache holds 3,000 entries", "number: 2k against 3,000"},
		{"We have two kettles", "We have 2 kettles", ""},
		{"We have two kettles", "We have three kettles", "number: two against three"},
		{"We have two kettles", "We have three mugs", ""},
		{"Disabled 5432 ports", "Disabled 5433", ""}, // how many were, and which one
		{"Discount is 15%", "The discount is 20 percent", "number: 15% against 20 percent"},
		{"The timeout is about 200ms", "The timeout is 210ms", ""},
		{"The timeout is 10 to 20 seconds", "The timeout is 15 seconds", ""},
		{"The timeout is 10 to 20 seconds", "The timeout is 45 seconds", "number: 10 to 20 seconds against 45 seconds"},
		{"The limit is at most 50 items", "The limit is 40 items", ""},
		{"The web server's timeout is 30s", "The web client's timeout is 10s", ""},
		{"Retain budgets 12ms; recall budgets 40ms", "Recall budgets 40ms", ""},
		{"Retain budgets 12ms; recall budgets 40ms", "Recall budgets 55ms", "number: 40ms against 55ms"},
		{"Ann is 30 years old", "Bob is 40 years old", ""},
		{"The p95 budget was raised from 200ms to 250ms", "The p95 budget is 200ms", "number: 250ms against 200ms"},
		// versions, dates, times
		{"Emberd needs Go 1.25", "Emberd needs Go 1.26", "number: 1.25 against 1.26"},
		{"The server is at v2.1.0", "The server is at v2.2.0", "version: v2.1.0 against v2.2.0"},
		{"The server is at v2.1", "The server is at version 2.1.4", ""},
		{"The release is on 2024-05-01", "The release is on May 1, 2024", ""},
		{"The release is on 2024-05-01", "The release is on May 2", "date: 2024-05-01 against May 2"},
		{"The release is on 1 May", "The release is on 3 May 2024", "date: 1 May against 3 May 2024"},
		{"Releases are cut on Tuesdays", "Releases moved from Tuesdays to Wednesdays", "date: Tuesdays against Wednesdays"},
		{"The standup is at 9:30", "The standup is at 9.30am", ""},
		{"The standup is at 9:30", "The standup is at 10am", "date: 9:30 against 10am"},
		{"clover-ledger listens on port 80", "clover-ledger listens on port 81", "number: 80 against 81"},
		{"clover-ledger listens on port 80", "raven-ledger listens on port 81", ""},
		{"clover-notifier goes to Graz after the export", "clover-exporter goes to Nantes after the export", ""},
		{"birch-billing calls lilac-matcher 8 times", "lilac-billing calls lilac-matcher 4 times", ""},
		{"The tests of clover-ledger need Redis and take 4 minutes", "The tests of raven-mailer need Redis and take 6 minutes", ""},
		{"Ada Jansen leads the mail team since 4 March", "Ada Gruber leads the mail team since 9 April", ""},
	})
}

func TestWhichWordsConflict(t *testing.T) {
	check(t, []disagreement{
		// names
		{"The owner of billing is Ann", "The owner of billing is Bob", "name: Ann against Bob"},
		{"The service uses Postgres", "The service uses MySQL", "name: Postgres against MySQL"},
		{"The service uses Postgres", "The service uses Postgres and Redis", ""},
		{"The service uses Postgres for storage", "The service uses Redis for caching", ""},
		{"Ann ordered a gasket", "Bob ordered a gasket", ""},
		{"Ann works with Bob", "Ann works with Bob at Acme", ""},
		{"The owner of clover-ledger is Ann", "The owner of raven-mailer is Bob", ""},
		{"The owner of clover-ledger is Ann", "The owner of clover-ledger is Bob", "name: Ann against Bob"},
		// negation
		{"The cache is on disk", "The cache is not on disk", "negation: disk against not on disk"},
		{"We don’t use Redis", "We use Redis", "negation: don’t use against use"},
		{"There is no cache", "There is a cache", "negation: no cache against cache"},
		{"Nobody uses the old API", "Everybody uses the old API", "negation"},
		{"The job never runs without a lock", "The job runs with a lock", ""},
		{"We don't use Redis for sessions", "We use Redis for queues", ""},
		{"It is not only fast but small", "It is fast and small", ""},
		{"We use Kafka, not Redis", "We use Redis, not Kafka", "order"},
		{"The service lacks TLS", "The service has TLS", "negation: lacks TLS against TLS"},
		// opposites and states
		{"Dark mode is enabled", "Dark mode is disabled", "opposite: enabled against disabled"},
		{"Registration is open", "Registration is closed", "opposite: open against closed"},
		{"Backups run daily", "Backups run weekly", "opposite: daily against weekly"},
		{"The feature is available", "The feature is unavailable", "opposite: available against unavailable"},
		{"Dark mode is enabled", "Dark mode is not disabled", ""},
		{"The cache increases latency", "The cache reduces latency", "opposite: increases against reduces"},
		{"The cache increases throughput", "The cache reduces latency", ""},
		{"increases - port to port", "the reduces port increases and service", ""}, // a word said twice is one
		// a change is announced
		{"Sign-off now needs the release manager and the on-call engineer", "A release needs sign-off from the on-call engineer", "change"},
		// nothing
		{"The kettle leaks at the seam", "The kettle leaks", ""},
		{"The tide turns at six", "Releases go out weekly", ""},
		{"", "The kettle leaks", ""},
		{"The kettle leaks", "The kettle leaks", ""},
	})
}

// check finds what each two texts disagree in, both ways.
func check(t *testing.T, cases []disagreement) {
	t.Helper()
	for _, c := range cases {
		got, back := told(c.a, c.b), told(c.b, c.a)
		if (got == "") != (c.found == "") || !strings.HasPrefix(got, c.found) {
			t.Errorf("%q and %q: found %q, want %q", c.a, c.b, got, c.found)
		}
		if (got == "") != (back == "") {
			t.Errorf("%q and %q: %q there, %q back", c.a, c.b, got, back)
		}
	}
}

// told is the first finding in two texts as words, "" if there is none.
func told(a, b string) string {
	an := analysis.New()
	found := Of(an, a).Find(Of(an, b))
	if len(found) == 0 {
		return ""
	}
	return found[0].Kind + ": " + found[0].Why
}
