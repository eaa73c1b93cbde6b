package hookrun

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/memory"
	"emberd/op"
)

// recorder answers hooks at the other end of a socket, and keeps what it is told.
type recorder struct {
	mu   sync.Mutex
	got  []op.HookRequest
	who  []memory.Actor
	fail error
}

func (r *recorder) Invoke(ctx context.Context, s *op.Spec, req any) (any, error) {
	hook, ok := req.(*op.HookRequest)
	if !ok {
		return nil, memory.Errorf(memory.Internal, "%s is not a hook", s.Name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		return nil, r.fail
	}
	r.got, r.who = append(r.got, *hook), append(r.who, op.CallerFrom(ctx))
	return &op.HookResult{Text: "Recorded: port 5433."}, nil
}

func (r *recorder) Events(context.Context, string) iter.Seq[op.Event] {
	return func(func(op.Event) bool) {}
}

func (r *recorder) told() []op.HookRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// home makes a home of emberd.
func home(t *testing.T) string {
	t.Helper()
	home := filepath.Join(clitest.ShortDir(t), "h")
	if err := os.MkdirAll(filepath.Join(home, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	return home
}

// listen puts a recorder at the socket of a home until the test ends.
func listen(t *testing.T, home string) *recorder {
	t.Helper()
	r := &recorder{}
	ln, err := api.Listen(filepath.Join(home, "emberd.sock"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- api.Serve(ctx, ln, api.NewHandler(r, nil), nil) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return r
}

// run runs a hook with an event, in this process and so without a deadline, and returns its answer.
func run(t *testing.T, home, input string, args ...string) string {
	t.Helper()
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	go func() {
		_, _ = w.WriteString(input) // the reader may have had enough
		_ = w.Close()
	}()
	var out bytes.Buffer
	app := cli.New()
	app.Env, app.Home = nil, home
	h := &hook{inputAt: time.Now().Add(time.Minute), app: app, in: in, out: &out, limit: make(chan time.Duration, 1)}
	h.work(args)
	return out.String()
}

func spoolOf(t *testing.T, home string) []spooled {
	t.Helper()
	return spool{filepath.Join(home, "state", "hooks")}.lines()
}

// A prompt goes to the daemon, and what it says to the agent.
func TestPrompt(t *testing.T) {
	t.Parallel()
	home := home(t)
	r := listen(t, home)
	folder := repository(t)
	input := fmt.Sprintf(`{"hook_event_name":"UserPromptSubmit","session_id":"s1","cwd":%q,"prompt":"Which port?"}`, folder)
	got := run(t, home, input, "claude-code")
	want := `{"hookSpecificOutput":{"additionalContext":"Recorded: port 5433.","hookEventName":"UserPromptSubmit"}}` + "\n"
	if got != want {
		t.Errorf("the answer is %s, want %s", got, want)
	}
	told := r.told()
	if len(told) != 1 || told[0].Prompt != "Which port?" || told[0].Project != "shop" || told[0].Session != "s1" ||
		told[0].Folder != folder || r.who[0].Client != "hook/claude-code" || r.who[0].Via != "http" {
		t.Errorf("the daemon was told %+v by %+v", told, r.who)
	}
}

// The name of the event may come from the command line, as of Copilot CLI.
func TestEventOnTheCommandLine(t *testing.T) {
	t.Parallel()
	home := home(t)
	listen(t, home)
	got := run(t, home, `{"sessionId":"s","cwd":"/","prompt":"p","transformedPrompt":"<now/>p"}`, "copilot", "userPromptTransformed")
	if want := `{"modifiedTransformedPrompt":"<now/>p\n\nRecorded: port 5433."}` + "\n"; got != want {
		t.Errorf("the answer is %s, want %s", got, want)
	}
}

// The end of a turn is told with the last answer, and answered with nothing.
func TestTurn(t *testing.T) {
	t.Parallel()
	home := home(t)
	r := listen(t, home)
	input := `{"hook_event_name":"Stop","session_id":"s","cwd":"/","last_assistant_message":"We use port 5433."}`
	for range 2 {
		if got := run(t, home, input, "claude-code"); got != "" {
			t.Errorf("the answer is %s, want none", got)
		}
	}
	told := r.told()
	if len(told) != 2 || len(told[0].Messages) != 1 || told[0].Messages[0].Text != "We use port 5433." ||
		!told[0].Messages[0].Final || told[0].Messages[0].ID != told[1].Messages[0].ID {
		t.Errorf("the daemon was told %+v", told)
	}
}

// The transcript has what was said: its last turn at the end of a turn, all of it at the end of the session.
func TestTranscript(t *testing.T) {
	t.Parallel()
	home := home(t)
	file := filepath.Join(t.TempDir(), "s.jsonl")
	var lines strings.Builder
	for i, text := range []string{"Use pnpm.", "Done.", "Which port?", "It is 5433."} {
		role := []string{"user", "assistant"}[i%2]
		fmt.Fprintf(&lines, `{"type":%q,"sessionId":"s","uuid":"u%d","timestamp":"2026-11-29T08:00:0%[2]dZ","message":`+
			`{"role":%[1]q,"id":"m%[2]d","content":[{"type":"text","text":%[3]q}]}}`+"\n", role, i, text)
	}
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	event := func(name, last string) string {
		return fmt.Sprintf(`{"hook_event_name":%q,"session_id":"s","cwd":"/","transcript_path":%q,"last_assistant_message":%q}`,
			name, file, last)
	}
	run(t, home, event("PreCompact", ""), "claude-code") // into the spool
	r := listen(t, home)
	run(t, home, event("Stop", "It is 5433."), "claude-code")
	run(t, home, event("Stop", "And 5434."), "claude-code")
	run(t, home, event("SessionEnd", ""), "claude-code")
	var got []string
	for _, told := range r.told() {
		var texts []string
		for _, m := range told.Messages {
			texts = append(texts, m.Text)
		}
		got = append(got, told.Event+": "+strings.Join(texts, " "))
	}
	all := "Use pnpm. Done. Which port? It is 5433."
	want := []string{"turn: Done. Which port? It is 5433.", "compact: " + all, "turn: Done. Which port? It is 5433. And 5434.", "end: " + all}
	if !slices.Equal(got, want) {
		t.Errorf("the daemon was told\n%q, want\n%q", got, want)
	}
}

// What a daemon does not take is in the spool once, and the next end of a turn hands it over.
func TestSpool(t *testing.T) {
	t.Parallel()
	home := home(t)
	event := func(name, session string) string {
		return fmt.Sprintf(`{"hook_event_name":%q,"session_id":%q,"cwd":"/","transcript_path":"/none/%[2]s.jsonl"}`, name, session)
	}
	for _, name := range []string{"UserPromptSubmit", "SessionStart", "Stop", "Stop", "SessionEnd", "PreCompact"} {
		if got := run(t, home, event(name, "s1"), "claude-code"); got != "" {
			t.Errorf("%s is answered with %s", name, got)
		}
	}
	lines := spoolOf(t, home)
	var events []string
	for _, l := range lines {
		events = append(events, l.Event+" "+l.Transcript)
	}
	if want := []string{"turn /none/s1.jsonl", "end /none/s1.jsonl", "compact /none/s1.jsonl"}; !slices.Equal(events, want) {
		t.Errorf("the spool has %q, want %q", events, want)
	}
	info, err := os.Stat(filepath.Join(home, "state", "hooks", "spool.jsonl"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the spool has mode %v (%v)", info.Mode(), err)
	}
	r := listen(t, home)
	run(t, home, event("Stop", "s2"), "claude-code")
	var sessions []string
	for _, told := range r.told() {
		sessions = append(sessions, told.Session+" "+told.Event)
	}
	if want := []string{"s2 turn", "s1 turn", "s1 end", "s1 compact"}; !slices.Equal(sessions, want) {
		t.Errorf("the daemon was told of %q, want %q", sessions, want)
	}
	if _, err := os.Stat(filepath.Join(home, "state", "hooks", "spool.jsonl")); !os.IsNotExist(err) {
		t.Errorf("the spool is left: %v", err)
	}
}

// The start of a session hands over the spool before it asks, so that its answer has what the spool has.
func TestStartHandsOverTheSpool(t *testing.T) {
	t.Parallel()
	home := home(t)
	event := func(name, session string) string {
		return fmt.Sprintf(`{"hook_event_name":%q,"session_id":%q,"cwd":"/","source":"startup","transcript_path":"/none/t.jsonl"}`,
			name, session)
	}
	run(t, home, event("Stop", "s1"), "claude-code")
	r := listen(t, home)
	if got := run(t, home, event("SessionStart", "s2"), "claude-code"); !strings.Contains(got, "port 5433") {
		t.Errorf("the start is answered with %q", got)
	}
	told := r.told()
	if len(told) != 2 || told[0].Session != "s1" || told[0].Event != op.HookTurn || told[1].Event != op.HookStart {
		t.Errorf("the daemon was told %+v, want the turn of the spool and then the start", told)
	}
	if lines := spoolOf(t, home); len(lines) > 0 {
		t.Errorf("the spool still has %+v", lines)
	}
}

// A daemon that cannot write now is told later; what it refuses is not kept.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for code, want := range map[memory.Code]int{memory.Busy: 1, memory.DiskFull: 1, memory.Invalid: 0, memory.Forbidden: 0} {
		home := home(t)
		r := listen(t, home)
		r.fail = memory.Errorf(code, "no")
		run(t, home, `{"hook_event_name":"Stop","session_id":"s","cwd":"/","transcript_path":"/t"}`, "codex")
		if got := len(spoolOf(t, home)); got != want {
			t.Errorf("after %s the spool has %d lines, want %d", code, got, want)
		}
	}
}

// The spool has an end, survives what is no line, and is not made where there never was an emberd.
func TestBoundsOfTheSpool(t *testing.T) {
	t.Parallel()
	home := home(t)
	s := spool{filepath.Join(home, "state", "hooks")}
	var text strings.Builder
	text.WriteString("no line\n\x00\n{}\n")
	for i := range maxLines {
		line, err := json.Marshal(spooled{Agent: "codex", Event: "turn", Session: fmt.Sprint(i), Transcript: "/t"})
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(line, '\n'))
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.file(), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s.keep(spooled{Agent: "codex", Event: "turn", Session: "one more", Transcript: "/t"})
	if got := s.lines(); len(got) != maxLines || got[maxLines-1].Session != fmt.Sprint(maxLines-1) {
		t.Errorf("the spool has %d lines, want %d", len(got), maxLines)
	}
	first := s.first(3)
	s.remove(first)
	if got := s.lines(); len(got) != maxLines-3 || got[0].Session != "3" {
		t.Errorf("after 3 were removed, the spool has %d lines", len(got))
	}
	nowhere := spool{filepath.Join(t.TempDir(), "none", "hooks")}
	nowhere.keep(first[0])
	if _, err := os.Stat(filepath.Dir(nowhere.dir)); !os.IsNotExist(err) {
		t.Errorf("a state folder was made: %v", err)
	}
}

// Hooks are off by a variable, by a file above the folder, and for subagents.
func TestOff(t *testing.T) {
	t.Parallel()
	home := home(t)
	r := listen(t, home)
	folder := repository(t)
	inside := filepath.Join(folder, "a", "b")
	if err := os.MkdirAll(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, ".emberd-off"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, input := range []string{
		fmt.Sprintf(`{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":%q,"prompt":"p"}`, inside),
		`{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/","prompt":"p","agent_id":"a"}`,
		`{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/","prompt":" "}`,
	} {
		if got := run(t, home, input, "claude-code"); got != "" {
			t.Errorf("%s: %s", input, got)
		}
	}
	if told := r.told(); len(told) > 0 {
		t.Errorf("the daemon was told %+v", told)
	}
}

// A session in which hooks were off is noted; what was said in it is not told at its end either.
func TestASessionWithHooksOffIsNoted(t *testing.T) {
	t.Parallel()
	home := home(t)
	r := listen(t, home)
	folder := repository(t)
	off := filepath.Join(folder, ".emberd-off")
	if err := os.WriteFile(off, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(event, session string) string {
		return fmt.Sprintf(`{"hook_event_name":%q,"session_id":%q,"cwd":%q,"prompt":"p","last_assistant_message":"We use Kafka."}`, event, session, folder)
	}
	for range 2 {
		run(t, home, at("UserPromptSubmit", "s"), "claude-code")
	}
	want := []OffSession{{"claude-code", "s"}}
	if got := OffSessions(filepath.Join(home, "state")); !slices.Equal(got, want) {
		t.Errorf("noted are %+v, want %+v", got, want)
	}
	if err := os.Remove(off); err != nil {
		t.Fatal(err)
	}
	for _, session := range []string{"s", "other"} {
		run(t, home, at("SessionEnd", session), "claude-code")
	}
	told := r.told()
	if len(told) != 2 || len(told[0].Messages) != 0 || len(told[1].Messages) != 1 {
		t.Errorf("the daemon was told %+v, want nothing that was said in the session s", told)
	}
}

// repository makes the folder of a git repository with the name shop.
func repository(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "shop")
	if err := os.MkdirAll(filepath.Join(folder, ".git", "worktrees", "fix"), 0o700); err != nil {
		t.Fatal(err)
	}
	return folder
}

// What calls for help or names no agent is no hook.
func TestMeant(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"hook claude-code": true, "hook --home /h claude-code": true, "hook copilot agentStop": true, "hook nobody": true,
		"hook": false, "hook --help": false, "hook claude-code --help": false, "hook --home /h": false, "search hook": false, "": false,
	} {
		if got := Meant(strings.Fields(line)); got != want {
			t.Errorf("%q: %t, want %t", line, got, want)
		}
	}
	rest, app := places(strings.Fields("--home /h codex --set a=b --socket=/s Stop --json"))
	if !slices.Equal(rest, []string{"codex", "Stop"}) || app.Home != "/h" || app.Socket != "/s" || !slices.Equal(app.Set, []string{"a=b"}) {
		t.Errorf("%q, home %q, socket %q, set %q", rest, app.Home, app.Socket, app.Set)
	}
}

// An input is read to its end, or until it is whole, even if the agent writes it late; one that is too long is none. An
// agent that writes nothing more is left after a wait.
func TestInput(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		open bool // the agent does not close it
		want int
		wait time.Duration
		late time.Duration // after which the agent writes
	}{
		{`{"a":1}`, false, 7, time.Minute, 0}, {`{"a":1}` + "\n", true, 8, time.Minute, 0},
		{`{"a":1}`, false, 7, time.Minute, 200 * time.Millisecond}, {`{"a":1}`, true, 7, time.Minute, 200 * time.Millisecond},
		{"", true, 0, time.Millisecond, 0},
		{`{"a":"` + strings.Repeat("x", maxInput) + `"}`, false, 0, time.Minute, 0},
		{`{"a":"` + strings.Repeat("x", maxInput-8) + `"}`, true, maxInput, time.Minute, 0},
	} {
		in, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		var wrote sync.WaitGroup
		wrote.Go(func() {
			time.Sleep(tt.late)
			_, _ = w.WriteString(tt.text) // fails for the one that is too long
			if !tt.open {
				_ = w.Close()
			}
		})
		if got := len(readInput(in, tt.wait)); got != tt.want {
			t.Errorf("%d bytes of %d are read, want %d", got, len(tt.text), tt.want)
		}
		_ = in.Close()
		wrote.Wait()
		_ = w.Close()
	}
}

// Only the newest messages go in one request.
func TestBounded(t *testing.T) {
	t.Parallel()
	big := op.SessionMessage{ID: "1", Text: strings.Repeat("x", maxSaid)}
	small := op.SessionMessage{ID: "2", Text: "y"}
	if got := bounded([]op.SessionMessage{small, big, small}); len(got) != 1 || got[0].ID != "2" {
		t.Errorf("%d messages are handed over, want the last", len(got))
	}
	if got := withLast([]op.SessionMessage{{Role: op.RoleAgent, Text: "done."}}, " done. "); len(got) != 1 {
		t.Errorf("the last answer is there twice: %+v", got)
	}
}

// Copilot CLI writes a turn after it has told of its end.
func TestLateTranscript(t *testing.T) {
	t.Parallel()
	at := home(t)
	r := listen(t, at)
	file := filepath.Join(t.TempDir(), "events.jsonl")
	line := `{"type":"user.message","id":"1","data":{"content":"We use Redis."}}` + "\n"
	written := make(chan error, 1)
	go func() {
		time.Sleep(writtenWait / 6)
		written <- os.WriteFile(file, []byte(line), 0o600)
	}()
	run(t, at, fmt.Sprintf(`{"sessionId":"s","cwd":"/","transcriptPath":%q}`, file), "copilot", "agentStop")
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	got := r.told()
	if len(got) != 1 || len(got[0].Messages) != 1 || got[0].Messages[0].Text != "We use Redis." {
		t.Errorf("the daemon is told %+v, want what was written late", got)
	}
}
