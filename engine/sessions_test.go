package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
)

// hooked is an engine that answers prompts.
func hooked(t *testing.T) (*engine.Engine, *clock) {
	t.Helper()
	h := newHouse(t)
	h.Hooks.Recall = "on"
	return h.open(t), h.clock
}

func event(name, session, project string) *op.HookRequest {
	return &op.HookRequest{Agent: "claude-code", Event: name, Session: session, Project: project}
}

func promptOf(session, project, text string) *op.HookRequest {
	req := event(op.HookPrompt, session, project)
	req.Prompt = text
	return req
}

func saidIn(session, project string, messages ...op.SessionMessage) *op.HookRequest {
	req := event(op.HookTurn, session, project)
	req.Messages = messages
	return req
}

func TestASessionIsToldOnceWhatFits(t *testing.T) {
	t.Parallel()
	e, clock := hooked(t)
	m := do(t, e, op.Save, &op.SaveRequest{Project: "orion", Content: "The staging database of Orion listens on port 5433."}).Memory
	do(t, e, op.Save, &op.SaveRequest{Project: "vega", Content: "The staging database of Vega listens on port 6000."})
	const question = "Which port does the staging database listen on?"
	got := do(t, e, op.Hook, promptOf("s1", "orion", question)).Text
	if !strings.Contains(got, "5433") || strings.Contains(got, "6000") || !strings.Contains(got, m.ID.Short()) {
		t.Errorf("the prompt gets %q, want the port of orion alone", got)
	}
	clock.advance(time.Minute)
	if again := do(t, e, op.Hook, promptOf("s1", "orion", question)).Text; again != "" {
		t.Errorf("the session is told once more: %q", again)
	}
	do(t, e, op.Hook, &op.HookRequest{Agent: "claude-code", Event: op.HookStart, Source: op.StartCompact, Session: "s1", Project: "orion"})
	clock.advance(time.Minute)
	if after := do(t, e, op.Hook, promptOf("s1", "orion", question)).Text; !strings.Contains(after, "5433") {
		t.Errorf("after a compaction the prompt gets %q, want the port", after)
	}
	for _, order := range []string{"fix the failing test", "yes", "/clear", "please run the tests again and commit"} {
		if got := do(t, e, op.Hook, promptOf("s2", "orion", order)).Text; got != "" {
			t.Errorf("%q gets %q, want nothing", order, got)
		}
	}
	if now := do(t, e, op.Show, &op.ShowRequest{ID: string(m.ID), Track: new(false)}).Memory; now.UseCount != 0 || now.AccessCount != 0 {
		t.Errorf("being told counts %d uses and %d accesses, want none", now.UseCount, now.AccessCount)
	}
}

func TestWhatAnAnswerUsesCountsAsUsed(t *testing.T) {
	t.Parallel()
	e, _ := hooked(t)
	m := do(t, e, op.Save, &op.SaveRequest{Project: "orion", Content: "The staging replica listens on 5433, behind pgbouncer on host kestrel."}).Memory
	do(t, e, op.Hook, promptOf("s1", "orion", "Where does the staging replica listen?"))
	do(t, e, op.Hook, saidIn("s1", "orion",
		op.SessionMessage{ID: "1", Role: op.RoleUser, Text: "Where does the staging replica listen?"},
		op.SessionMessage{ID: "2", Role: op.RoleAgent, Final: true, Text: "Connect to kestrel, where pgbouncer waits on 5433."}))
	if now := do(t, e, op.Show, &op.ShowRequest{ID: string(m.ID), Track: new(false)}).Memory; now.UseCount != 1 {
		t.Errorf("an answer with its words counts %d uses, want one", now.UseCount)
	}
	s := do(t, e, op.SessionList, &op.SessionListRequest{}).Sessions
	if len(s) != 1 || s[0].Shown != 1 || s[0].Used != 1 || s[0].Prompts != 1 || s[0].Answered != 1 || s[0].Tokens == 0 {
		t.Errorf("the session is told as %+v", s)
	}
}

func TestAnAnswerFromBeforeUsesNothing(t *testing.T) {
	t.Parallel()
	e, _ := hooked(t)
	earlier := []op.SessionMessage{{ID: "1", Role: op.RoleUser, Text: "Is there a pool in front of it?"},
		{ID: "2", Role: op.RoleAgent, Final: true, Text: "Connect to kestrel, where pgbouncer waits on 5433."}}
	do(t, e, op.Hook, saidIn("s1", "orion", earlier...))
	m := do(t, e, op.Save, &op.SaveRequest{Project: "orion", Content: "The staging replica listens on 5433, behind pgbouncer on host kestrel."}).Memory
	do(t, e, op.Hook, promptOf("s1", "orion", "Where does the staging replica listen?"))
	do(t, e, op.Hook, saidIn("s1", "orion", append(earlier,
		op.SessionMessage{ID: "3", Role: op.RoleUser, Text: "Where does the staging replica listen?"},
		op.SessionMessage{ID: "4", Role: op.RoleAgent, Final: true, Text: "I do not know."})...))
	if now := do(t, e, op.Show, &op.ShowRequest{ID: string(m.ID), Track: new(false)}).Memory; now.UseCount != 0 {
		t.Errorf("what was answered before the model was told counts %d uses, want none", now.UseCount)
	}
}

func TestWhatAHookKeptGetsNoNoteUntilItIsUsed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Vaults = []string{t.TempDir()}
	h.Promotion.Threshold = 0.1
	e := h.open(t)
	do(t, e, op.Hook, saidIn("s1", "orion", op.SessionMessage{ID: "1", Role: op.RoleUser, Text: "Always use pnpm in the orion repository."}))
	found := func() int {
		return do(t, e, op.PromoteAuto, &op.PromoteAutoRequest{Force: true, DryRun: true}).CandidatesFound
	}
	if n := found(); n != 0 {
		t.Errorf("%d memories of a hook would get notes, want none", n)
	}
	s := do(t, e, op.SessionList, &op.SessionListRequest{}).Sessions[0]
	do(t, e, op.Touch, &op.TouchRequest{ID: string(s.Memories[0].ID)})
	if n := found(); n != 1 {
		t.Errorf("after a use %d memories would get notes, want 1", n)
	}
}

func TestTurnsThatNoHookToldOfAreKeptAtTheEnd(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	req := event(op.HookEnd, "s1", "orion")
	for _, wish := range []string{"Always use pnpm for the web client.", "Never push to the branch release.", "Don't mock the clock, pass it.",
		"We never release on Fridays.", "Prefer table tests in this repository."} {
		req.Messages = append(req.Messages, op.SessionMessage{ID: wish, Role: op.RoleUser, Text: wish},
			op.SessionMessage{ID: wish + " answer", Role: op.RoleAgent, Final: true, Text: "Noted."})
	}
	if kept := do(t, e, op.Hook, req).Kept; len(kept) != 5 {
		t.Errorf("of five turns %d sentences are kept: %+v", len(kept), kept)
	}
}

func TestAnUndoPassesOverWhatHooksKept(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	mine := do(t, e, op.Save, &op.SaveRequest{Content: "Lunch is at noon."}).Memory
	hook := op.WithCaller(t.Context(), memory.Actor{Via: "http", Client: "hook/claude-code"})
	if _, err := op.Hook.Call(hook, e, saidIn("s1", "orion", op.SessionMessage{ID: "1", Role: op.RoleUser, Text: "Always use pnpm in the orion repository."})); err != nil {
		t.Fatal(err)
	}
	res := do(t, e, op.Undo, &op.UndoRequest{})
	if len(res.Items) != 1 || res.Items[0].ID != mine.ID {
		t.Errorf("an undo takes back %+v, want the save of the user", res.Items)
	}
}

func TestShadowShowsNothingAndCounts(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	do(t, e, op.Save, &op.SaveRequest{Project: "orion", Content: "The staging database of Orion listens on port 5433."})
	got := do(t, e, op.Hook, promptOf("s1", "orion", "Which port does the staging database listen on?")).Text
	res := do(t, e, op.SessionList, &op.SessionListRequest{})
	if s := res.Sessions; got != "" || res.Recall != "shadow" || len(s) != 1 || s[0].Answered != 1 || s[0].Tokens != 0 {
		t.Errorf("it shows %q and tells %+v", got, res)
	}
}

func TestTheStartOfASession(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	start := func(source, session, project string) string {
		clock.advance(time.Minute)
		req := event(op.HookStart, session, project)
		req.Source = source
		return do(t, e, op.Hook, req).Text
	}
	if got := start(op.StartNew, "s0", "orion"); got != "" {
		t.Errorf("an empty store tells %q, want nothing", got)
	}
	do(t, e, op.Save, &op.SaveRequest{Content: "Ada is left-handed.", Core: true})
	old := do(t, e, op.Save, &op.SaveRequest{Project: "orion", Tags: []string{"decision"}, Content: "We use SQLite for the cache."}).Memory
	do(t, e, op.Save, &op.SaveRequest{Project: "orion", Tags: []string{"decision"}, Content: "We use Redis for the cache.", Supersedes: []string{string(old.ID)}})
	do(t, e, op.Save, &op.SaveRequest{Project: "orion", Section: "Ongoing Threads", Content: "The export of reports is not done."})
	for _, req := range []*op.SaveRequest{{Project: "orion", Content: "Reports go out on Mondays."}, {Content: "The kettle leaks."}} {
		_, err := op.Save.Call(op.WithCaller(t.Context(), theUser), e, req)
		ok(t, err)
	}
	do(t, e, op.Save, &op.SaveRequest{Project: "vega", Tags: []string{"decision"}, Content: "Vega is written in Rust."})
	got := start(op.StartNew, "s1", "orion")
	for _, want := range []string{"left-handed", "Redis", "export of reports", "Mondays", "<emberd-memory>", "</emberd-memory>"} {
		if !strings.Contains(got, want) {
			t.Errorf("a start tells %q, want %q in it", got, want)
		}
	}
	if strings.Contains(got, "SQLite") || strings.Contains(got, "Rust") || strings.Contains(got, "kettle") || op.Tokens(got) > 900 {
		t.Errorf("a start tells %q: what is superseded, of another project, or too long", got)
	}
	if again := start(op.StartResume, "s1", "orion"); again != "" {
		t.Errorf("a session that goes on is told %q once more", again)
	}
	if again := start(op.StartClear, "s1", "orion"); again == "" {
		t.Error("a session that was cleared is told nothing")
	}
}

// Both memories of a contradiction stand together, even if the start would show one or both of them anyway.
func TestAStartShowsBothSidesOfAContradiction(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	one := do(t, e, op.Save, &op.SaveRequest{Project: "orion", Tags: []string{"decision"}, Content: "The cache of Orion is Redis."}).Memory
	other := do(t, e, op.Save, &op.SaveRequest{Project: "orion", Content: "Orion has no cache at all."}).Memory
	do(t, e, op.Save, &op.SaveRequest{Content: "Ada is left-handed.", Core: true})
	do(t, e, op.Relate, &op.RelateRequest{From: string(one.ID), To: string(other.ID), Type: memory.Contradicts})
	got := do(t, e, op.Hook, event(op.HookStart, "s1", "orion")).Text
	_, pair, _ := strings.Cut(got, "need a decision (1):\n")
	lines := strings.SplitN(pair, "\n", 3)
	if len(lines) < 3 || !strings.Contains(lines[0], "Redis") || !strings.Contains(lines[1], "no cache") ||
		strings.Count(got, "Redis") != 1 || !strings.Contains(lines[2], "left-handed") {
		t.Errorf("the start shows %q, want both memories below the heading, and once", got)
	}
}

// What a start tells of waits in the list of review items at once, and is no longer told when it is decided.
func TestAStartTellsOfContradictionsThatAreInReview(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	do(t, e, op.Save, &op.SaveRequest{Project: "orion", Content: "We store money as integer cents, never floats."})
	added := do(t, e, op.Add, &op.AddRequest{Project: "orion",
		Content: "No, that's wrong. Actually we store money as decimal strings, not integer cents."})
	if len(added.Conflicts) != 1 {
		t.Fatalf("add tells of %+v, want one conflict", added.Conflicts)
	}
	const told = "need a decision (1):"
	if got := do(t, e, op.Hook, event(op.HookStart, "s1", "orion")).Text; !strings.Contains(got, told) {
		t.Errorf("the start shows %q, want the contradiction", got)
	}
	list := do(t, e, op.ReviewList, &op.ReviewListRequest{})
	if list.Total != 1 || !strings.Contains(list.Items[0].Evidence, "not integer cents against integer cents") {
		t.Fatalf("review lists %+v, want the contradiction that was told", list.Items)
	}
	do(t, e, op.ReviewClose, &op.ReviewCloseRequest{ID: list.Items[0].ID, Decision: op.DecideKeep})
	clock.advance(time.Minute)
	if got := do(t, e, op.Hook, event(op.HookStart, "s2", "orion")).Text; strings.Contains(got, "need a decision") {
		t.Errorf("after the decision a start shows %q", got)
	}
	if total := do(t, e, op.ReviewList, &op.ReviewListRequest{}).Total; total != 0 {
		t.Errorf("review lists %d items after the decision", total)
	}
}

func TestWhatASessionLeftIsTakenBack(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	known := do(t, e, op.Add, &op.AddRequest{Project: "orion", Content: "Always use pnpm in this repository."}).Memory
	turn := saidIn("session-1", "orion",
		op.SessionMessage{ID: "1", Role: op.RoleUser, Text: "We decided to use Redis for the session cache. Always use pnpm in this repository."},
		op.SessionMessage{ID: "2", Role: op.RoleAgent, Final: true, Text: "Done."})
	kept := do(t, e, op.Hook, turn).Kept
	if len(kept) != 2 || do(t, e, op.List, &op.ListRequest{}).Total != 2 {
		t.Fatalf("the turn leaves %+v, want a decision and a repetition", kept)
	}
	if again := do(t, e, op.Hook, turn).Kept; len(again) != 0 {
		t.Errorf("the same turn leaves %+v once more", again)
	}
	made := kept[slices.IndexFunc(kept, func(k op.SessionMemory) bool { return k.New })]
	m := do(t, e, op.Show, &op.ShowRequest{ID: string(made.ID), Track: new(false)}).Memory
	if m.Origin != memory.FromAgent || m.Core || m.Strength != 0.5 || m.SessionID != "session-1" || m.Project != "orion" || m.Meta["captured"] == nil {
		t.Errorf("what is kept is %+v", m.Memory)
	}
	res := do(t, e, op.SessionForget, &op.SessionForgetRequest{ID: "sess"})
	if len(res.Forgotten) != 1 || res.Undone != 1 || len(res.Left) != 0 {
		t.Errorf("taking it back answers %+v", res)
	}
	if left := do(t, e, op.List, &op.ListRequest{}); left.Total != 1 || left.Memories[0].ID != known.ID {
		t.Errorf("%d memories are left, want the one of before", left.Total)
	}
}

// What a model repeats of what it was told is not kept, and counts for no more.
func TestAnInjectedTextIsNoNews(t *testing.T) {
	t.Parallel()
	e, clock := hooked(t)
	m := do(t, e, op.Save, &op.SaveRequest{Project: "orion", Tags: []string{"decision"}, Content: "We decided to use Redis for the session cache."}).Memory
	before := do(t, e, op.Show, &op.ShowRequest{ID: string(m.ID), Track: new(false)}).Memory
	for i := range 100 {
		session := "s" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		text := do(t, e, op.Hook, &op.HookRequest{Agent: "codex", Event: op.HookStart, Source: op.StartNew, Session: session, Project: "orion"}).Text
		if !strings.Contains(text, "Redis") {
			t.Fatalf("round %d is told %q", i, text)
		}
		do(t, e, op.Hook, saidIn(session, "orion", op.SessionMessage{ID: "1", Role: op.RoleUser, Text: "go on"},
			op.SessionMessage{ID: "2", Role: op.RoleAgent, Final: true, Text: "We decided to use Redis for the session cache."}))
		clock.advance(time.Second)
	}
	after := do(t, e, op.Show, &op.ShowRequest{ID: string(m.ID), Track: new(false)}).Memory
	if n := do(t, e, op.List, &op.ListRequest{}).Total; n != 1 || after.Importance != before.Importance || after.Strength != before.Strength {
		t.Errorf("%d memories, importance %v, strength %v; want 1, %v, %v", n, after.Importance, after.Strength, before.Importance, before.Strength)
	}
}

// A language model chooses sentences of a turn, which are kept as they were said and marked; it writes nothing.
func TestALanguageModelChoosesSentences(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	asked := make(chan string, 1)
	h.Hooks.Ask = func(_ context.Context, _, user string, _ int) (string, error) {
		asked <- user
		return "the brood people weigh on tuesdays\nThe brood people are moving to Mars, and love it there.\n", nil
	}
	e := h.open(t)
	chores, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Run(chores) }()
	t.Cleanup(func() { stop(); ok(t, <-done) })
	do(t, e, op.Hook, saidIn("s1", "hives", op.SessionMessage{ID: "1", Role: op.RoleUser,
		Text: "morning! the brood people weigh on tuesdays"}))
	if got := <-asked; !strings.Contains(got, "brood people") {
		t.Errorf("the model is asked %q", got)
	}
	var kept []op.SessionMemory
	until(t, "what the model chose is kept", func() bool {
		kept = do(t, e, op.SessionList, &op.SessionListRequest{}).Sessions[0].Memories
		return len(kept) > 0
	})
	if len(kept) != 1 || kept[0].Text != "the brood people weigh on tuesdays" || kept[0].Rule != "proposed" {
		t.Errorf("kept are %+v", kept)
	}
}

// An import of sessions is one change, which an undo without an ID reverts. After it the sessions can be imported again,
// without what a person deleted.
func TestAnImportOfSessionsIsOneChange(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	hook := op.WithCaller(t.Context(), memory.Actor{Via: "http", Client: "hook/claude-code"})
	known := do(t, e, op.Add, &op.AddRequest{Project: "orion", Content: "Always use pnpm in the orion repository."}).Memory
	sessions := []*op.HookRequest{
		saidIn("s1", "orion", op.SessionMessage{ID: "1", Role: op.RoleUser,
			Text: "We decided to use Redis for the session cache. Always use pnpm in the orion repository."}),
		saidIn("s2", "orion", op.SessionMessage{ID: "1", Role: op.RoleUser, Text: "Never push to the branch release."}),
		saidIn("s3", "orion", op.SessionMessage{ID: "1", Role: op.RoleUser, Text: "We decided to use Redis for the session cache."}),
	}
	imported := func() (tx string, kept []op.SessionMemory) {
		for _, s := range sessions {
			s.Whole, s.Tx = true, tx
			res, err := op.Hook.Call(hook, e, s)
			ok(t, err)
			tx, kept = res.Tx, append(kept, res.Kept...)
		}
		return tx, kept
	}
	total := func() int { return do(t, e, op.Stats, &op.StatsRequest{}).Total }
	tx, kept := imported()
	if len(kept) != 4 || total() != 3 {
		t.Fatalf("the import saves %+v, want four sentences", kept)
	}
	if _, again := imported(); len(again) != 0 {
		t.Errorf("a second import saves %+v", again)
	}
	undone := do(t, e, op.Undo, &op.UndoRequest{})
	if undone.Entry.Tx != tx || undone.Entry.Verb != "import" || total() != 1 {
		t.Errorf("the undo reverts %+v and leaves %d memories, want the whole import", undone.Entry, total())
	}
	if tx, kept = imported(); len(kept) != 4 || total() != 3 {
		t.Fatalf("after the undo an import saves %+v, want the same four sentences", kept)
	}
	if res := do(t, e, op.SessionForget, &op.SessionForgetRequest{ID: "s3"}); res.Undone != 0 || len(res.Left) != 1 || total() != 3 {
		t.Errorf("forgetting a session answers %+v, want that the change of the whole import is left", res)
	}
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(kept[2].ID)})
	do(t, e, op.Undo, &op.UndoRequest{Tx: tx})
	if _, kept = imported(); len(kept) != 3 || total() != 2 {
		t.Errorf("an import after a deletion saves %+v, want all but what was deleted", kept)
	}
	do(t, e, op.Undo, &op.UndoRequest{})
	if m := do(t, e, op.Show, &op.ShowRequest{ID: string(known.ID), Track: new(false)}).Memory; len(m.Sources) != len(known.Sources) {
		t.Errorf("the known memory still has what the import counted: %+v", m.Sources)
	}
}

// What an agent edited of a hook's memory is not told as the user's words.
func TestAnEditedTextIsToldAsTheAgents(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	hook := op.WithCaller(t.Context(), memory.Actor{Via: "http", Client: "hook/claude-code"})
	res, err := op.Hook.Call(hook, e, saidIn("s1", "orion",
		op.SessionMessage{ID: "1", Role: op.RoleUser, Text: "We decided to use Redis for the session cache."}))
	ok(t, err)
	line := func(session string) string { return do(t, e, op.Hook, event(op.HookStart, session, "orion")).Text }
	if got := line("s2"); !strings.Contains(got, "by a hook, from a message of the user: We decided to use Redis") {
		t.Errorf("the start tells %q", got)
	}
	agent := op.WithCaller(t.Context(), memory.Actor{Via: "mcp", Client: "claude-code"})
	_, err = op.Edit.Call(agent, e, &op.EditRequest{ID: string(res.Kept[0].ID), Content: new("We decided to use Valkey for the session cache.")})
	ok(t, err)
	if got := line("s3"); !strings.Contains(got, "by an agent: We decided to use Valkey") {
		t.Errorf("after an edit of an agent the start tells %q", got)
	}
}

// A session of the past has its own times, an empty one is not listed, and a start tells what was said last first.
func TestAnImportedSessionHasItsOwnTimes(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	do(t, e, op.Hook, saidIn("s-new", "orion", op.SessionMessage{ID: "1", Role: op.RoleUser, Text: "We decided to use Redis for the session cache."}))
	clock.advance(time.Hour)
	said := clock.Now().Add(-20 * 24 * time.Hour)
	old := saidIn("s-old", "orion", op.SessionMessage{ID: "1", Role: op.RoleUser, At: said, Text: "We decided to host the videos on Peertube."})
	old.Whole = true
	do(t, e, op.Hook, old)
	do(t, e, op.Hook, event(op.HookStart, "s-empty", "orion"))
	all := do(t, e, op.SessionList, &op.SessionListRequest{}).Sessions
	if len(all) != 2 || all[0].ID != "s-old" || !all[0].Last.Equal(said) || !all[0].Started.Equal(said) {
		t.Errorf("the sessions are %+v, want the imported one with its own times, and not the empty one", all)
	}
	got := do(t, e, op.Hook, event(op.HookStart, "s3", "orion")).Text
	if before, _, found := strings.Cut(got, "Peertube"); !found || !strings.Contains(before, "Redis") {
		t.Errorf("the start tells %q, want what was said last first", got)
	}
	_, err := op.SessionList.Call(t.Context(), e, &op.SessionListRequest{ID: "s-"})
	if memory.CodeOf(err) != memory.Invalid {
		t.Errorf("an ID of two characters is answered by %v", err)
	}
}

// A prompt of two words gets a memory by a rare word, and not by frequent ones.
func TestAShortPromptIsAnsweredByARareWord(t *testing.T) {
	t.Parallel()
	e, _ := hooked(t)
	do(t, e, op.Save, &op.SaveRequest{Project: "orion", Content: "We use JWT for authentication in all APIs."})
	for prompt, want := range map[string]bool{"JWT authentication": true, "fix authentication": false, "jwt": false} {
		if got := do(t, e, op.Hook, promptOf("s "+prompt, "orion", prompt)).Text; (got != "") != want {
			t.Errorf("%q gets %q, want a memory: %v", prompt, got, want)
		}
	}
}
