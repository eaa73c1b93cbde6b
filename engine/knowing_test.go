package engine_test

import (
	"fmt"
	"testing"

	"emberd/op"
)

// A text with its roles exchanged contradicts the one that is known, and adds no evidence to it.
func TestAReversalIsNoRepetition(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"Use tabs instead of spaces in this repository", "Use spaces instead of tabs in this repository"},
		{"Data is copied from staging to production", "Data is copied from production to staging"},
		{"Alice reports to Bob", "Bob reports to Alice"},
		{"Anna berichtet an Thomas", "Thomas berichtet an Anna"},
	} {
		e, _ := newEngine(t)
		m := save(t, e, c[0])
		if got := verify(t, e, c[1]); got.Status != op.StatusConflict {
			t.Errorf("%q after %q is %s, want a conflict", c[1], c[0], got.Status)
		}
		if res := add(t, e, c[1]); !res.New || len(res.Conflicts) != 1 || res.Conflicts[0].Kind != "order" {
			t.Errorf("%q after %q: new %v, conflicts %+v", c[1], c[0], res.New, res.Conflicts)
		}
		if is := look(t, e, m.ID); is.Importance != m.Importance || is.Learned() != m.Learned() {
			t.Errorf("%q: importance %v became %v", c[0], m.Importance, is.Importance)
		}
	}
}

// What differs in one preposition is stored beside what is known.
func TestAnotherPrepositionIsNotKnown(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	save(t, e, "The user is looking away from the screen")
	if res := add(t, e, "The user is looking at the screen"); !res.New {
		t.Errorf("it is taken for known: %s", res.Message)
	}
}

// A habit is found that excludes what a text says, with no word in common but the subject.
func TestAHabitIsFoundAmongManyMemories(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	save(t, e, "The user is vegetarian")
	for i := range 80 {
		save(t, e, fmt.Sprintf("The user finished task %d of the move", i))
	}
	if got := verify(t, e, "The user eats meat every Sunday"); got.Status != op.StatusConflict {
		t.Errorf("status %s, want a conflict", got.Status)
	}
}

// A relation with one value for each of several subjects so far has one value; one with two is none.
func TestTheStoreSaysWhichRelationHasOneValue(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	for _, job := range []string{"orders", "returns", "stock", "prices", "invoices"} {
		save(t, e, "The "+job+" export lands in the "+job+" bucket")
	}
	const other = "The stock export lands in the archive share"
	got := verify(t, e, other)
	if got.Status != op.StatusConflict || got.Conflicts[0].Why != "archive share against stock bucket" {
		t.Errorf("status %s, conflicts %+v", got.Status, got.Conflicts)
	}
	save(t, e, "The orders export lands in the audit share")
	if got := verify(t, e, other); got.Status == op.StatusConflict {
		t.Errorf("with two values of one subject: conflicts %+v", got.Conflicts)
	}
}
