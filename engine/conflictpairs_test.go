package engine_test

import (
	"strings"
	"testing"

	"emberd/op"
)

// What agents learn, held against what they knew, by the way that verify and add go.
func TestVerifyWhatAgentsLearn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ known, claim, status, why string }{
		{"The database of the billing service runs on port 5432", "The database runs on port 7777", op.StatusConflict, "7777 against 5432"},
		{"Redis runs on port 6380", "Redis runs on 6379", op.StatusConflict, "6379 against 6380"},
		{"The upload limit is 10 MB", "The upload limit is 10 GB", op.StatusConflict, "10 GB against 10 MB"},
		{"The launch is planned for June 3", "The launch is planned for June 10", op.StatusConflict, "June 10 against June 3"},
		{"Test coverage must be at least 80%", "Test coverage must be at least 90%", op.StatusConflict, "90% against 80%"},
		{"- Owner: Alice", "- Owner: Bob", op.StatusConflict, "Bob against Alice"},
		{"Die Besprechung ist am Dienstag", "Die Besprechung ist am Mittwoch", op.StatusConflict, "Mittwoch against Dienstag"},
		{"Nous utilisons Docker", "Nous n'utilisons pas Docker", op.StatusConflict, "against"},
		{"The user prefers tabs", "The user prefers spaces", op.StatusConflict, "spaces against tabs"},
		{"The database runs on port 5432", "In May 2024 the database ran on port 5433", op.StatusRelated, ""},
		{"The database runs on port 5432", "The database used to run on port 5433", op.StatusRelated, ""},
		{"The production database runs on port 5432", "The staging database runs on port 5433", op.StatusRelated, ""},
		{"Sprint 12 ends on May 3", "Sprint 13 ends on May 17", op.StatusRelated, ""},
	} {
		e, _ := newEngine(t)
		save(t, e, c.known)
		save(t, e, "Ann prefers green tea in the morning and rooibos at night.")
		res := verify(t, e, c.claim)
		if res.Status == op.StatusNew && c.status == op.StatusRelated {
			res.Status = op.StatusRelated // no conflict is what counts
		}
		if res.Status != c.status || c.why != "" && !strings.Contains(res.Conflicts[0].Why, c.why) {
			t.Errorf("%q beside %q: %s with %+v, want %s with %q", c.claim, c.known, res.Status, res.Conflicts, c.status, c.why)
		}
	}
}

// Where several values of one thing are known, a third one disagrees with each of them, and
// nothing is reinforced by it.
func TestAThirdValueDisagrees(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	save(t, e, "The database runs on port 5432")
	save(t, e, "The database runs on port 5433")
	const claim = "The database runs on port 7777"
	if res := verify(t, e, claim); res.Status != op.StatusConflict || len(res.Conflicts) != 2 {
		t.Errorf("verify says %s with %+v", res.Status, res.Conflicts)
	}
	e.Opt.Known.Reinforce = 0.99 // nothing is near enough to be taken for the same
	res := do(t, e, op.Reinforce, &op.ReinforceRequest{Content: claim})
	if res.Found || len(res.Conflicts) != 2 || !strings.Contains(res.Message, " contradicts the text (7777 against 543") {
		t.Errorf("reinforce says %q with %+v", res.Message, res.Conflicts)
	}
}
