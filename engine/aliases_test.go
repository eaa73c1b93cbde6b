package engine_test

import (
	"slices"
	"testing"
	"time"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
)

func savedAs(t testing.TB, e *engine.Engine, content string, aliases ...string) memory.ID {
	t.Helper()
	return do(t, e, op.Save, &op.SaveRequest{Content: content, Aliases: aliases, Again: true}).Memory.ID
}

func wantOpened(t testing.TB, e *engine.Engine, name string, want memory.ID) {
	t.Helper()
	if got := do(t, e, op.Show, &op.ShowRequest{ID: name}).Memory.ID; got != want {
		t.Errorf("%q opens %s, want %s", name, got, want)
	}
}

func TestAliasesAreCheckedOnce(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	got := do(t, e, op.Save, &op.SaveRequest{Content: "x", Aliases: []string{" GH-1 ", "GH-1", "a, b"}}).Memory
	if !slices.Equal(got.Aliases, []string{"GH-1", "a, b"}) {
		t.Errorf("kept %q", got.Aliases)
	}
	wantCode(t, refused(t, e, op.Save, &op.SaveRequest{Content: "y", Aliases: []string{"a\nb"}}), memory.Invalid, "control character")
	wantCode(t, refused(t, e, op.Save, &op.SaveRequest{Content: "y", Aliases: []string{"password: hunter2hunter2"}}), memory.Secret, "aliases")
}

// An alias with a comma in it is one name, also among others.
func TestAListOfNames(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	a, b := savedAs(t, e, "one", "Lovelace, Ada"), savedAs(t, e, "two", "two")
	res := do(t, e, op.Forget, &op.ForgetRequest{ID: "two,Lovelace, Ada," + string(b), DryRun: true})
	if len(res.Forgotten) != 2 || res.Forgotten[0].ID != b || res.Forgotten[1].ID != a {
		t.Errorf("would forget %+v", res.Forgotten)
	}
	wantCode(t, refused(t, e, op.Forget, &op.ForgetRequest{ID: "two,Lovelace"}), memory.NotFound, `memory "Lovelace" not found`)
}

func TestTheKeptOneTakesTheAliases(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	kept, other := savedAs(t, e, "the kettle leaks", "K-1"), savedAs(t, e, "the kettle leaks", "K-2", "K-1")
	res := do(t, e, op.HealthMerge, &op.HealthMergeRequest{ID1: string(kept), ID2: "K-2", Keep: op.KeepFirst})
	wantOpened(t, e, "K-1", kept)
	wantOpened(t, e, "K-2", kept)
	do(t, e, op.Undo, &op.UndoRequest{Tx: res.Tx})
	wantOpened(t, e, "K-2", other)
	wantCode(t, refused(t, e, op.Show, &op.ShowRequest{ID: "K-1"}), memory.Ambiguous, string(kept))
}

// An alias names the memory of then, and that of now at a moment before it had one.
func TestAnAliasAtAnEarlierMoment(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	id := savedAs(t, e, "the first words", "A-1")
	then := clock.Now()
	clock.advance(48 * time.Hour)
	do(t, e, op.Edit, &op.EditRequest{ID: "A-1", Content: new("other words")})
	got := do(t, e, op.Show, &op.ShowRequest{ID: "A-1", AsOf: then}).Memory
	if got.ID != id || got.Content != "the first words" {
		t.Errorf("at that moment: %s %q", got.ID, got.Content)
	}
}

func TestCompletionsOfAliases(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	id := savedAs(t, e, "the kettle leaks", "other", "GH-1042")
	res := do(t, e, op.Complete, &op.CompleteRequest{What: op.CompleteIDs, Prefix: "gh-10"})
	if len(res.Values) != 1 || res.Values[0].Value != "GH-1042" || res.Values[0].ID != id {
		t.Errorf("completed to %+v", res.Values)
	}
}
