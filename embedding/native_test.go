package embedding

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"emberd/internal/gguf"
	"emberd/internal/llamawire"
)

// engineFolder has what passes for a library where a script is the helper.
func engineFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "libllama.so"), []byte("scripted"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// supervised opens an Embedder that has a scripted helper as its only provider, which is
// not spared after a death.
func supervised(t *testing.T, helper string, change ...func(*Options)) (*Embedder, *native) {
	t.Helper()
	opt := Options{Providers: []string{Llama}, Helper: helper, Engine: engineFolder(t), Model: modelFile(t, tiny(42))}
	for _, c := range change {
		c(&opt)
	}
	e := open(t, opt)
	n := e.chain[0].provider.(*native)
	n.limits.firstPause, n.limits.mostPause = 0, 0
	n.limits.grace = time.Minute // what ends by itself is not killed, however busy the machine is
	return e, n
}

func withGo(o *Options) { o.Providers = []string{Llama, Go} }

// impatient is a limit for what is never going to come.
const impatient = 300 * time.Millisecond

func TestHelperMakesVectors(t *testing.T) {
	helper := scripted(t, life{})
	e, _ := supervised(t, helper, func(o *Options) { o.QueryPrefix, o.PassagePrefix = "query: ", "passage: " })
	id := ready(t, e)
	if id.Provider != Llama || id.Dim != 32 || id.Pooling != "mean" || id.MaxTokens != 128 {
		t.Errorf("Ready = %+v; want a mean of 32 numbers of 128 tokens by llama", id)
	}
	if s := e.Status(); s.Loaded || s.Native.PID != 0 || starts(t, helper) != 0 {
		t.Errorf("after Ready the status is %+v; want that nothing was started", s)
	}
	for purpose, prefix := range map[Purpose]string{Query: "query: ", Passage: "passage: "} {
		got, err := e.Embed(t.Context(), purpose, []string{"harbour", "", "lighthouse"})
		if err != nil || !same(got[0], scriptedVector(prefix+"harbour", 32)) || got[1] != nil ||
			!same(got[2], scriptedVector(prefix+"lighthouse", 32)) {
			t.Errorf("Embed = %v, %v; want the helper's two vectors, and none of a blank text", got, err)
		}
	}
	if got := e.Tokens(t.Context(), "note memory search"); got != 6 {
		t.Errorf("a passage takes %d tokens, want the 6 that the helper counts", got)
	}
	s := e.Status().Native
	if s.Version != "scripted" || s.Release != "v0" || s.System != "AVX2 = 1" || s.Warning != "scripted" ||
		s.PID == 0 || s.Restarts != 0 || s.LastExit != "" || s.Helper != helper {
		t.Errorf("the status is %+v, want what the helper said of itself", s)
	}
	if n := starts(t, helper); n != 1 {
		t.Errorf("the helper was started %d times, want once", n)
	}
}

// A helper that cannot so much as load the model is passed over, and go makes the same
// vectors; it is not started for each text.
func TestHelperThatDoesNotLoad(t *testing.T) {
	const bad, good = true, false
	for name, c := range map[string]struct {
		life life
		want string
		bad  bool // remembered for the next run
	}{
		"silence": {life{Hello: hang},
			"the native runtime did not answer within 300ms while loading the model, so emberd killed the process; to retry, run: emberd model " +
				"resume", bad},
		"half a frame": {life{Hello: half}, "did not answer within 300ms while loading the model, so emberd killed the process", bad},
		"garbage": {life{Hello: garbage}, "the native runtime sent an unreadable reply while loading the model",
			bad},
		"endless": {life{Hello: tooLong}, "sent an unreadable reply while loading the model", bad},
		"exit": {life{Hello: exits},
			"the native runtime ended while loading the model (exit status 3: it leaves); to retry, run: emberd model " +
				"resume", bad},
		"abort": {life{Hello: abort},
			"ended while loading the model (SIGABRT: [31mggml.c:1: GGML_ASSERT(script) failed)", bad},
		"segfault": {life{Hello: segfault}, "ended while loading the model (SIGSEGV)", bad},
		"Go's report": {life{Hello: exits,
			Print: "llama.cpp: odd\nSIGBUS: bus error\nPC=0x1 m=0 sigcode=2\n\nrax 0x6568\n"},
			"(SIGBUS: llama.cpp: odd)", bad},
		"a warning": {life{Hello: exits,
			Print: llamawire.Warning + "odd\nSIGSEGV: segmentation violation\nPC=0x1 m=0 sigcode=2\n"},
			"while loading the model (SIGSEGV); to retry", bad},
		"protocol": {life{Hello: protocol}, "belongs to another version of emberd; install emberd and the helper from one package", good},
		"other model": {life{Hello: otherDim},
			"the native runtime reports a model with 33 dimensions, 128 tokens and mean pooling, but the model file has 32, 128 " +
				"and mean", good},
		"engine": {life{Failed: llamawire.OfEngine}, "emberd cannot use the native runtime: it is a script", good},
		"model":  {life{Failed: llamawire.OfModel}, "emberd cannot use the native runtime: it is a script", good},
		"both":   {life{Failed: llamawire.OfBoth}, "emberd cannot use the native runtime: it is a script", good},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			helper := scripted(t, c.life)
			e, n := supervised(t, helper, withGo,
				func(o *Options) { o.Memory = filepath.Join(t.TempDir(), "engines.json") })
			if strings.Contains(c.want, "300ms") {
				n.limits.load = impatient
			}
			if strings.Contains(c.want, "unreadable") {
				n.limits.grace = impatient
			}
			before := ready(t, e)
			want := embedOne(t, openModel(t, e.opt.Model), "harbour")
			for range 2 {
				if got := embedOne(t, e, "harbour"); !same(got, want) {
					t.Error("the vector is not that of the go provider")
				}
			}
			s := e.Status()
			if s.Provider != Go || s.Problem != "" || len(s.Passed) != 1 || s.Passed[0].Provider != Llama ||
				!strings.Contains(s.Passed[0].Reason, c.want) {
				t.Errorf("the status is %+v; want go, and llama passed over for: %s", s, c.want)
			}
			if after := ready(t, e); after.Key() != before.Key() {
				t.Errorf("the vectors had the key %s and have %s", before.Key(), after.Key())
			}
			if got := starts(t, helper); got != 1 {
				t.Errorf("the helper was started %d times, want once", got)
			}
			if got := len(s.Native.Bad) == 1; got != c.bad {
				t.Errorf("remembered are %+v; want it remembered: %t", s.Native.Bad, c.bad)
			}
			next := open(t, e.opt)
			if id := ready(t, next); (id.Provider == Go) != c.bad && c.bad {
				t.Errorf("the next run begins with %s", id.Provider)
			}
		})
	}
}

// What a helper does over one text is no matter of the next one.
func TestHelperThatFailsOverAText(t *testing.T) {
	for name, c := range map[string]struct{ misdeed, want string }{
		"exit": {exits,
			"the native runtime ended while embedding a text (exit status 3: it leaves); this happened 2 times with " +
				"the same text, so the text has no embedding"},
		"abort":         {abort, "(SIGABRT: [31mggml.c:1: GGML_ASSERT(script) failed)"},
		"segfault":      {segfault, "(SIGSEGV)"},
		"out of memory": {killed, "(SIGKILL)"},
		"silence":       {hang, "did not answer within 300ms while embedding a text, so emberd killed the process"},
		"half a frame":  {half, "did not answer within 300ms while embedding a text, so emberd killed the process"},
		"garbage":       {garbage, "sent an unreadable reply while embedding a text"},
		"endless":       {tooLong, "sent an unreadable reply while embedding a text"},
		"another's":     {wrongID, "sent an unexpected reply"},
		"short":         {short, "returned an invalid embedding"},
		"no number":     {nan, "returned an invalid embedding"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			helper := scripted(t, life{On: map[string]string{"poison": c.misdeed}})
			e, n := supervised(t, helper)
			usual := n.limits
			first := embedOne(t, e, "harbour")
			if strings.Contains(c.want, "300ms") {
				n.limits.text = impatient
			}
			if strings.Contains(c.want, "unreadable") {
				n.limits.grace = impatient
			}
			v, err := e.Embed(t.Context(), Query, []string{"poison"})
			n.limits = usual
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "poison") ||
				errors.Is(err, ErrAway) || errors.Is(err, ErrNone) {
				t.Errorf("Embed = %v, %v\nwant of this text alone: %s", v, err, c.want)
			}
			if got := embedOne(t, e, "harbour"); !slices.Equal(got, first) {
				t.Error("afterwards the helper makes another vector")
			}
			s := e.Status().Native
			if starts(t, helper) != 3 || s.Restarts != 2 ||
				!strings.Contains(s.LastExit, strings.TrimPrefix(strings.TrimSuffix(c.want,
					"; this happened 2 times with the same text, so the text has no embedding"), "the native runtime ")) {
				t.Errorf("after %d starts the status is %+v; want 3, and why", starts(t, helper), s)
			}
		})
	}
}

func TestTextThatTheEngineRefuses(t *testing.T) {
	helper := scripted(t, life{On: map[string]string{"poison": failed}})
	e, _ := supervised(t, helper)
	if _, err := e.Embed(t.Context(), Query, []string{"poison"}); err == nil ||
		err.Error() != "the native runtime cannot embed a text: it is a script" {
		t.Errorf("Embed: %v", err)
	}
	embedOne(t, e, "harbour")
	if n := starts(t, helper); n != 1 {
		t.Errorf("the helper was started %d times, want once", n)
	}
}

func TestOneCrashCostsNothing(t *testing.T) {
	for _, misdeed := range []string{segfault, killed, twice} {
		t.Run(misdeed, func(t *testing.T) {
			helper := scripted(t, life{On: map[string]string{"harbour": misdeed}, Print: "so far, so good\n"}, life{})
			e, _ := supervised(t, helper)
			for _, text := range []string{"harbour", "lighthouse"} {
				if got := embedOne(t, e, text); !same(got, scriptedVector(text, 32)) {
					t.Errorf("%s has the vector %v", text, got)
				}
			}
			if s := e.Status().Native; s.Restarts != 1 || s.LastExit == "" ||
				!strings.Contains(s.Output, "so far, so good") || e.Status().Problem != "" {
				t.Errorf("the status is %+v; want one restart", s)
			}
		})
	}
}

// While a helper that is killed loads, nothing is held against it but how often it is.
func TestHelperKilledWhileItLoads(t *testing.T) {
	helper := scripted(t, life{Hello: killed}, life{})
	e, _ := supervised(t, helper)
	embedOne(t, e, "harbour")
	if s := e.Status().Native; s.Restarts != 1 || len(s.Bad) != 0 {
		t.Errorf("the status is %+v", s)
	}
}

// crashLoop is a helper that dies of every text.
func crashLoop(t *testing.T) string {
	t.Helper()
	return scripted(t, life{On: map[string]string{"": segfault}})
}

func TestThirdCrashWithinAMinute(t *testing.T) {
	helper := crashLoop(t)
	memory := filepath.Join(t.TempDir(), "engines.json")
	e, _ := supervised(t, helper, withGo, func(o *Options) { o.Memory = memory })
	before := ready(t, e)
	if v, err := e.Embed(t.Context(), Passage, []string{"harbour"}); err == nil {
		t.Errorf("after two crashes the first text has the vector %v", v)
	}
	want := embedOne(t, openModel(t, e.opt.Model), "lighthouse")
	if got := embedOne(t, e, "lighthouse"); !same(got, want) {
		t.Error("the second text does not have the vector that go makes of it")
	}
	const why = "the native runtime crashed 3 times within 1m0s; the last time it ended while embedding a text (SIGSEGV); to retry, run: emberd " +
		"model resume; for details, run: emberd model runtime selftest"
	s := e.Status()
	if s.Provider != Go || len(s.Passed) != 1 || s.Passed[0] != (SkippedProvider{Llama, why}) ||
		len(s.Native.Bad) != 1 || s.Native.GivenUp != why || s.Native.Bad[0].Model != before.SHA256 {
		t.Errorf("the status is %+v\nwant go, and llama passed over for: %s", s, why)
	}
	if after := ready(t, e); after.Key() != before.Key() || after.Provider != Go {
		t.Errorf("the vectors are of %+v, want the same key as %+v", after, before)
	}
	if got := starts(t, helper); got != 3 {
		t.Errorf("the helper was started %d times, want 3", got)
	}

	next := open(t, e.opt)
	if id := ready(t, next); id.Provider != Go || next.Status().Passed[0].Reason != why {
		t.Errorf("the next run begins with %s, and passes over %+v", id.Provider, next.Status().Passed)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(e.opt.Engine, "libllama.so"), later, later); err != nil {
		t.Fatal(err)
	}
	if id := ready(t, open(t, e.opt)); id.Provider != Llama {
		t.Errorf("another engine is not tried, vectors come from %s", id.Provider)
	}
}

func TestRetry(t *testing.T) {
	helper := scripted(t, life{Hello: segfault}, life{})
	memory := filepath.Join(t.TempDir(), "engines.json")
	e, _ := supervised(t, helper, withGo, func(o *Options) { o.Memory = memory })
	embedOne(t, e, "harbour")
	if s := e.Status(); s.Provider != Go || len(s.Native.Bad) != 1 {
		t.Fatalf("the status is %+v, want go", s)
	}
	if err := e.Retry(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := e.Status(); s.Provider != Llama || len(s.Native.Bad) != 0 || len(s.Passed) != 0 {
		t.Errorf("after Retry the status is %+v, want llama", s)
	}
	if got := embedOne(t, e, "harbour"); !same(got, scriptedVector("harbour", 32)) {
		t.Error("the vector is not the helper's")
	}
	if id := ready(t, open(t, e.opt)); id.Provider != Llama {
		t.Errorf("the next run begins with %s", id.Provider)
	}
}

func TestStatusWhileAHelperLoads(t *testing.T) {
	helper := scripted(t, life{Hello: gate})
	opened := makeGate(t, helper)
	e, _ := supervised(t, helper)
	made := make(chan error)
	go func() {
		_, err := e.Embed(t.Context(), Query, []string{"harbour"})
		made <- err
	}()
	w := opened()
	s := e.Status()
	for until := time.Now().Add(10 * time.Second); s.Native.PID == 0 && time.Now().Before(until); s = e.Status() {
		time.Sleep(time.Millisecond) // the helper may be at its work before its start is noted
	}
	if s.Loaded || s.Native.PID == 0 || s.Provider != Llama {
		t.Errorf("the status is %+v with %+v, want that nothing is loaded yet", s, s.Native)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-made; err != nil || !e.Status().Loaded {
		t.Errorf("Embed: %v; then loaded: %t", err, e.Status().Loaded)
	}
}

func TestPausesBetweenStarts(t *testing.T) {
	e, n := supervised(t, crashLoop(t))
	now := time.Unix(0, 0)
	var mu sync.Mutex
	var pauses []time.Duration
	n.limits.firstPause, n.limits.mostPause, n.limits.crashes = 100*time.Millisecond, 300*time.Millisecond, 100
	n.clock = clock{
		now: func() time.Time { mu.Lock(); defer mu.Unlock(); return now },
		after: func(d time.Duration) <-chan time.Time {
			mu.Lock()
			defer mu.Unlock()
			if d == n.unloadAfter {
				return nil
			}
			pauses, now = append(pauses, d), now.Add(d)
			past := make(chan time.Time)
			close(past)
			return past
		},
	}
	fail := func() {
		if v, err := e.Embed(t.Context(), Query, []string{"harbour"}); err == nil {
			t.Errorf("Embed = %v", v)
		}
	}
	fail()
	fail()
	mu.Lock()
	now = now.Add(2 * time.Minute)
	mu.Unlock()
	fail()
	mu.Lock()
	defer mu.Unlock()
	want := []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 300 * time.Millisecond,
		100 * time.Millisecond}
	if !slices.Equal(pauses, want) {
		t.Errorf("the pauses were %v, want %v", pauses, want)
	}
}

// Crashes that lie apart are not held against a model, but for hours of waiting.
func TestCrashesApart(t *testing.T) {
	now := time.Unix(0, 0)
	s := &supervisor{native: &native{knownFile: &knownFile{path: modelFile(t, tiny(1)), check: gguf.Preflight},
		limits: usualLimits(),
		bad:    newBadPairs("", slog.New(slog.DiscardHandler)), logger: slog.New(slog.DiscardHandler),
		clock: clock{now: func() time.Time { return now }}}}
	if _, err := s.describe(); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		now = now.Add(31 * time.Second)
		if err := s.countDeath(&helperExitedError{why: "ended"}); err != nil {
			t.Fatalf("after %s: %v", now.Sub(time.Unix(0, 0)), err)
		}
	}
	now = now.Add(time.Hour)
	for i := range 3 {
		now = now.Add(30 * time.Second)
		if err := s.countDeath(&helperExitedError{why: "did not answer",
			waited: 30 * time.Second}); (err != nil) != (i == 2) {
			t.Errorf("after %d hangs in a row: %v", i+1, err)
		}
	}
}

// Who does not wait for a vector leaves the helper to its work, and the next text gets its turn.
func TestWhoGivesUpKillsNothing(t *testing.T) {
	helper := scripted(t, life{On: map[string]string{"slow": gate}})
	opened := makeGate(t, helper)
	e, _ := supervised(t, helper)
	embedOne(t, e, "harbour")
	before := e.Status().Native.PID
	ctx, giveUp := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := e.Embed(ctx, Query, []string{"slow"})
		gone <- err
	}()
	w := opened() // the helper is at it
	giveUp()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("Embed: %v, want that nobody waited", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	embedOne(t, e, "harbour")
	if s := e.Status(); s.Native.PID != before || s.Native.LastExit != "" || s.Problem != "" {
		t.Errorf("the status is %+v, want the helper of before", s)
	}
}

// Who gives up is told that, whichever of the two is noticed first.
func TestWhoGivesUpIsToldSo(t *testing.T) {
	for range 64 {
		n := &native{asks: make(chan ask), done: make(chan struct{}), working: true}
		ctx, giveUp := context.WithCancel(t.Context())
		go func() {
			a := <-n.asks
			giveUp()
			a.answer <- answer{nil, errLeft}
		}()
		if _, err := n.ask(ctx, Identity{}, llamawire.Request{}); !errors.Is(err, context.Canceled) {
			t.Fatalf("ask: %v, want %v", err, context.Canceled)
		}
	}
}

// Who counts tokens need not wait for a helper that hangs.
func TestTokensOfAHelperThatHangs(t *testing.T) {
	helper := scripted(t, life{On: map[string]string{"slow": gate}})
	opened := makeGate(t, helper)
	e, _ := supervised(t, helper)
	embedOne(t, e, "harbour")
	ctx, giveUp := context.WithCancel(t.Context())
	counted := make(chan int)
	go func() { counted <- e.Tokens(ctx, "a slow boat") }()
	w := opened() // the helper is at it
	giveUp()
	if got, want := <-counted, estimate("a slow boat"); got != want {
		t.Errorf("%d tokens, want the estimate %d", got, want)
	}
	if s := e.Status(); s.Problem != "" {
		t.Errorf("the status tells of %q", s.Problem)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
