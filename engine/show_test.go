package engine_test

import (
	"testing"
	"time"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

func TestShowIsAnAccessAndNoUse(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	m := save(t, e, "the log book is in the chart room")
	clock.advance(time.Hour)
	if first := do(t, e, op.Show, &op.ShowRequest{ID: string(m.ID)}).Memory; first.AccessCount != 0 {
		t.Errorf("the first look shows %d accesses, want 0 as it was found", first.AccessCount)
	}
	got := look(t, e, m.ID)
	if got.UseCount != 0 || !got.LastUsed.Equal(m.LastUsed) || got.AccessCount != 1 || got.Rev != m.Rev {
		t.Errorf("after one look: %d uses, last %v, %d accesses, revision %s; want 0, %v, 1 and %s", got.UseCount, got.LastUsed, got.AccessCount, got.Rev, m.LastUsed, m.Rev)
	}
	if again := look(t, e, m.ID); again.AccessCount != 1 {
		t.Errorf("looking without tracking counted: %d accesses", again.AccessCount)
	}
	row, _ := e.Stm.Get(m.ID)
	if !stm.LastOpened(row).Equal(clock.Now().Truncate(time.Millisecond)) || !stm.LastTouched(row).Equal(stm.LastOpened(row)) {
		t.Errorf("last opened at %v, touched at %v", stm.LastOpened(row), stm.LastTouched(row))
	}
}

func TestShortIDs(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := do(t, e, op.Save, &op.SaveRequest{ID: "0192f3a1-b2c3-7000-8000-0123456789ab", Content: "one"}).Memory
	do(t, e, op.Save, &op.SaveRequest{ID: "0192f3a1-b2c3-7000-8000-0123ffff89ab", Content: "two"})
	if got := do(t, e, op.Show, &op.ShowRequest{ID: m.ID.Short()}).Memory; got.ID != m.ID {
		t.Errorf("%s names %s, want %s", m.ID.Short(), got.ID, m.ID)
	}
	wantCode(t, refused(t, e, op.Show, &op.ShowRequest{ID: "0192f3a1"}), memory.Ambiguous, "0192f3a1")
}

func TestShowOfAForgottenMemoryPointsToTheTrash(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, "over board")
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(m.ID)})
	wantCode(t, refused(t, e, op.Show, &op.ShowRequest{ID: string(m.ID)}), memory.NotFound, "emberd rekindle "+m.ID.Short())
}
