package ledger

import (
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/internal/durable"
	_ "emberd/internal/testutil/ramdisk"
	"emberd/memory"
)

// desk is a folder in which ledgers can be opened one after another, and a clock.
type desk struct {
	dir  string
	now  time.Time
	line float64
}

func newDesk(t testing.TB) *desk {
	return &desk{dir: t.TempDir(), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
}

func (d *desk) file() string { return filepath.Join(d.dir, "audit.json") }

func (d *desk) open() *Ledger {
	return Open(Options{FS: durable.OS{}, File: d.file(), Now: func() time.Time { return d.now },
		Logger: slog.New(slog.DiscardHandler), Below: d.line})
}

func (d *desk) write(t testing.TB, text string) {
	t.Helper()
	if err := os.WriteFile(d.file(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func flush(t rapid.TB, l *Ledger) {
	t.Helper()
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
}

var cursor = memory.Actor{Via: "mcp", Client: "cursor/1.2", PID: 7}

func named(name string) memory.Actor { return memory.Actor{Via: "mcp", Client: name} }

// some are n memories that no other call of the kind has.
func some(kind string, n int) (ids []memory.ID) {
	for i := range n {
		ids = append(ids, memory.DeriveID(fmt.Appendf(nil, "%s %d", kind, i)))
	}
	return ids
}

func searched(ids ...memory.ID) *Call {
	return &Call{What: "search", Search: true, Reads: true, Given: ids, Recalled: ids, Tokens: 10}
}

func noneGone(memory.ID) bool { return false }

// sum is what a caller did, of all days.
func sum(t testing.TB, l *Ledger, a memory.Actor, junk func(memory.ID) bool) Sum {
	t.Helper()
	for _, s := range l.Sums(time.Time{}, junk) {
		if s.Caller == Of(a) {
			return s
		}
	}
	t.Fatalf("nothing is known of %v", Of(a))
	return Sum{}
}

func TestCallersAreTokensOrClaimsOrWays(t *testing.T) {
	tests := []struct {
		actor memory.Actor
		want  Caller
	}{
		{memory.Actor{Via: "mcp", Client: "cursor/1.2", Token: "work"}, Caller{Token, "work"}},
		{memory.Actor{Via: "mcp", Client: "cursor/1.2"}, Caller{Claimed, "cursor"}},
		{memory.Actor{Via: "http", Client: "work"}, Caller{Claimed, "work"}},
		{memory.Actor{Via: "http"}, Caller{Via, "http"}},
		{memory.Actor{Via: "http", Client: "vault"}, Caller{Claimed, "vault"}},
		{memory.Actor{Via: "emberd", Client: "vault"}, Caller{Via, "vault"}},
		{memory.Actor{Via: "cli", Client: "cli/0.1"}, Caller{Via, "cli"}},
		{memory.Actor{Via: "mcp", Client: "cli/0.1"}, Caller{Claimed, "cli"}},
		{memory.Actor{Via: "mcp", Client: "/1"}, Caller{Via, "mcp"}},
		{memory.Actor{}, Caller{Via, "unknown"}},
		{memory.Actor{Client: strings.Repeat("é", 80)}, Caller{Claimed, strings.Repeat("é", 50)}},
	}
	for _, test := range tests {
		got := Of(test.actor)
		if got != test.want {
			t.Errorf("Of(%+v) = %v, want %v", test.actor, got, test.want)
		}
		// A chain of before had emberd's own work as claimed.
		if !recordedAs(test.actor, got.String()) || recordedAs(test.actor, "claimed:vault") != (got.Name == "vault") {
			t.Errorf("%+v is not compared with the audit log as %v", test.actor, got)
		}
		text, err := got.MarshalText()
		var back Caller
		if err != nil || back.UnmarshalText(text) != nil || back != got {
			t.Errorf("%v is written %s and read %v", got, text, back)
		}
	}
}

func TestNoClaimStandsInTheWayOfAnotherKind(t *testing.T) {
	tests := []struct {
		name string
		want []string
	}{
		{"work", []string{"claimed:work", "token:work"}},
		{"token:work", []string{"token:work"}},
		{"claimed:token:work", []string{"claimed:token:work"}},
		{"cursor:beta", []string{"claimed:cursor:beta"}},
		{"", nil},
		{"others", []string{"claimed:others"}},
		{"nobody", nil},
	}
	l := newDesk(t).open()
	for _, a := range []memory.Actor{{Token: "work"}, named("work"), named("token:work"), named("cursor:beta"), named("others")} {
		l.Count(a, searched())
	}
	for _, test := range tests {
		var got []string
		for _, c := range l.Named(test.name) {
			got = append(got, c.String())
		}
		slices.Sort(got)
		if !slices.Equal(got, test.want) {
			t.Errorf("%q names %v, want %v", test.name, got, test.want)
		}
	}
}

func TestARecallIsUsedOnceWithinADay(t *testing.T) {
	d := newDesk(t)
	l, ids := d.open(), some("memory", 3)
	l.Count(cursor, searched(ids...))
	l.Count(cursor, searched(ids...)) // the same recalls
	l.Count(cursor, &Call{Used: ids[:1]})
	l.Count(cursor, &Call{Used: ids[:1]})
	l.Count(named("zed"), &Call{Used: ids[1:2]}) // it was not recalled to zed
	if got := sum(t, l, cursor, noneGone); got.Recalled != 3 || got.Useful != (Rate{Of: 1, Hits: 1}) || got.Served != 6 {
		t.Errorf("while two might still be used: %+v", got)
	}
	d.now = d.now.Add(useWindow)
	l.Count(cursor, &Call{Used: ids[2:]}) // too late
	if got := sum(t, l, cursor, noneGone); got.Useful != (Rate{Of: 3, Hits: 1}) {
		t.Errorf("after a day: %+v", got.Useful)
	}
	l.Count(cursor, searched(ids[0]))
	if got := sum(t, l, cursor, noneGone); got.Recalled != 4 {
		t.Errorf("%d recalls, want that a new one begins after a day", got.Recalled)
	}
}

func TestSavesThatCameToNothingAreWasted(t *testing.T) {
	d := newDesk(t)
	l, ids := d.open(), some("memory", 4)
	l.Count(cursor, &Call{Saved: ids})
	l.Count(cursor, &Call{Refused: 1})
	l.Count(named("zed"), &Call{Used: ids[:1]})
	gone := func(id memory.ID) bool { return id == ids[0] || id == ids[1] }
	if got := sum(t, l, cursor, gone).Wasted; got != (Rate{Of: 5, Hits: 2}) {
		t.Errorf("%+v, want the one that somebody used and is gone not to count", got)
	}
	if got := sum(t, l, cursor, noneGone).Wasted; got != (Rate{Of: 5, Hits: 1}) {
		t.Errorf("%+v after what was gone is back", got)
	}
	d.now = d.now.Add(judgedFor)
	if got := sum(t, l, cursor, gone); got.Wasted != (Rate{}) || got.Saved != 4 {
		t.Errorf("after 30 days: %+v", got)
	}
}

// slow tells whether a caller is throttled now.
func slow(l *Ledger, a memory.Actor, gone func(memory.ID) bool) string {
	l.Judge(gone)
	return l.Slow(a)
}

func TestThrottlingNeedsEvidenceAndEnds(t *testing.T) {
	d := newDesk(t)
	d.line = 0.1
	l := d.open()
	l.Count(cursor, searched(some("few", EnoughUse-1)...))
	d.now = d.now.Add(useWindow)
	if why := slow(l, cursor, noneGone); why != "" {
		t.Fatalf("throttled by %d recalls: %s", EnoughUse-1, why)
	}
	l.Count(cursor, searched(some("many", 212-EnoughUse+1)...))
	l.Count(cursor, &Call{Used: some("many", 3)})
	if why := slow(l, cursor, noneGone); why != "" && l.Slow(named("zed")) != "" {
		t.Errorf("zed is throttled for what cursor did")
	}
	d.now = d.now.Add(useWindow)
	want := "in 30 days, cursor used 3 of the 212 memories that it received, a share below 0.10 (audit.throttle_below)"
	if why := slow(l, cursor, noneGone); why != want {
		t.Errorf("throttled %q, want %q", why, want)
	}
	user := memory.Actor{Via: "cli", Client: "cursor"}
	l.Count(user, searched(some("many", 212)...))
	d.now = d.now.Add(useWindow)
	if why := slow(l, user, noneGone); why != "" || l.Verdict(Of(user)) != "" {
		t.Errorf("the command line is throttled: %q, %q", why, l.Verdict(Of(user)))
	}
	flush(t, l)
	if again := d.open(); slow(again, cursor, noneGone) != want {
		t.Error("a restart ends it")
	}
	d.now = d.now.Add(judgedFor)
	if nothing := (&Call{What: "search", Search: true}); !l.Count(cursor, nothing) || l.Count(named("zed"), nothing) {
		t.Error("a search that finds nothing has to have the throttled judged anew, and nobody else")
	}
	if why := slow(l, cursor, noneGone); why != "" {
		t.Errorf("after 30 days still: %s", why)
	}
}

func TestForgivingBeginsAnew(t *testing.T) {
	d := newDesk(t)
	d.line = 0.5
	l, ids := d.open(), some("memory", 40)
	l.Count(cursor, &Call{Saved: ids})
	gone := func(memory.ID) bool { return true }
	if why := slow(l, cursor, gone); !strings.Contains(why, "in 30 days, 40 of 40 saves by cursor were refused, or were deleted or merged without use") {
		t.Fatalf("throttled %q", why)
	}
	if !l.Forgive(Of(cursor)) || l.Forgive(Of(named("nobody"))) {
		t.Error("forgave the wrong ones")
	}
	if why := slow(l, cursor, gone); why != "" {
		t.Errorf("forgiven, and throttled: %s", why)
	}
	if got := sum(t, l, cursor, gone); got.Saved != 40 || got.Calls != 1 {
		t.Errorf("forgiving took counts away: %+v", got)
	}
}

func TestTheIntervalIsThatOfWilson(t *testing.T) {
	// The examples are those of Newcombe, "Two-sided confidence intervals for the single
	// proportion", 1998, table I.
	tests := []struct {
		rate      Rate
		low, high float64
	}{
		{Rate{Of: 263, Hits: 81}, 0.2553, 0.3662},
		{Rate{Of: 148, Hits: 15}, 0.0624, 0.1605},
		{Rate{Of: 20, Hits: 0}, 0, 0.1611},
		{Rate{Of: 29, Hits: 1}, 0.0061, 0.1718},
		{Rate{}, 0, 1},
	}
	for _, test := range tests {
		low, high := test.rate.Interval()
		if fmt.Sprintf("%.4f %.4f", low, high) != fmt.Sprintf("%.4f %.4f", test.low, test.high) {
			t.Errorf("%+v: %.4f to %.4f, want %.4f to %.4f", test.rate, low, high, test.low, test.high)
		}
	}
}

func TestALedgerIsBounded(t *testing.T) {
	d := newDesk(t)
	l := d.open()
	ids := some("memory", 30)
	for i := range maxCallers + 50 {
		l.Count(named(fmt.Sprint("name ", i)), searched(ids...))
		d.now = d.now.Add(time.Second)
	}
	l.Count(memory.Actor{Token: "work"}, searched(ids...))
	for i := range maxReads {
		l.Count(cursor, searched(ids[i%30]))
	}
	l.Count(cursor, &Call{Saved: some("saved", maxWatched+1)})
	l.Count(cursor, searched(some("recalled", maxOpen+1)...))
	flush(t, l)
	if n := len(l.accounts); n != maxCallers+1 {
		t.Errorf("%d callers, want %d and all others", n, maxCallers)
	}
	if l.accounts[Caller{Token, "work"}] == nil || l.accounts[Caller{Claimed, "name 0"}] != nil {
		t.Error("a token has not taken the place of the claimed name that was silent for longest")
	}
	if len(l.reads) > maxReads || l.readIDs > maxReadIDs || l.recalls > maxOpen || len(l.watched) > maxWatchedEach {
		t.Errorf("%d reads, %d ids, %d recalls, %d saves", len(l.reads), l.readIDs, l.recalls, len(l.watched))
	}
	others := Sum{}
	for _, s := range l.Sums(time.Time{}, noneGone) {
		if s.Caller.Kind == Others {
			others = s
		}
	}
	if others.Searches != 51+maxReads+1 {
		t.Errorf("%d searches of all others, want none lost", others.Searches)
	}
	info, err := os.Stat(d.file())
	if err != nil || info.Size() > maxFile/2 || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	if again := d.open(); again.Problem() != "" || len(again.reads) != len(l.reads) {
		t.Errorf("a full ledger is not read again: %s", again.Problem())
	}
	d.now = d.now.Add(maxDays * aDay)
	l.Count(cursor, searched(ids...))
	flush(t, l)
	if len(l.accounts) != 1 || len(l.watched) != 0 {
		t.Errorf("after %d days %d callers, %d saves and %d recalls are left", maxDays, len(l.accounts), len(l.watched), l.recalls)
	}
}

func TestADamagedFileIsSetAside(t *testing.T) {
	for name, text := range map[string]string{
		"torn":           `{"format":1,"callers":[`,
		"empty":          "",
		"a later format": `{"format":2}`,
		"no caller":      `{"format":1,"callers":[{"caller":"king:arthur"}]}`,
		"no day":         `{"format":1,"callers":[{"caller":"via:cli","days":{"yesterday":{}}}]}`,
		"a read to come": `{"format":1,"seq":3,"reads":[{"seq":3}]}`,
		"no object":      `[]`,
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.write(t, text)
			l := d.open()
			if p := l.Problem(); !strings.Contains(p, "cannot read audit.json, so emberd restarted the counts per caller: ") || !strings.Contains(p, "audit.json.damaged") {
				t.Errorf("said %q", p)
			}
			if kept, err := os.ReadFile(d.file() + ".damaged"); err != nil || string(kept) != text {
				t.Errorf("set aside %q, %v", kept, err)
			}
			l.Count(cursor, searched(some("memory", 1)...))
			flush(t, l)
			if again := d.open(); again.Problem() != "" || sum(t, again, cursor, noneGone).Calls != 1 {
				t.Errorf("the new file is not read: %s", again.Problem())
			}
		})
	}
}

func TestWhatIsForgottenIsInNoFile(t *testing.T) {
	d := newDesk(t)
	d.write(t, "not JSON")
	l, ids := d.open(), some("memory", 3)
	l.Count(cursor, searched(ids...))
	l.Count(cursor, &Call{Saved: ids})
	flush(t, l)
	if err := l.Forget(func(id memory.ID) bool { return id == ids[1] }); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(d.file())
	if err != nil || strings.Contains(string(text), string(ids[1])) || strings.Count(string(text), string(ids[2])) != 3 {
		t.Errorf("the file has %s, %v", text, err)
	}
	if _, err := os.Stat(d.file() + ".damaged"); !os.IsNotExist(err) {
		t.Errorf("what was set aside is still there: %v", err)
	}
	if got := sum(t, l, cursor, noneGone); got.Recalled != 3 || got.Saved != 3 {
		t.Errorf("counts went too: %+v", got)
	}
}

// fullDisk refuses every new file.
type fullDisk struct{ durable.OS }

func (fullDisk) CreateAppend(string) (durable.File, error) { return nil, fs.ErrPermission }

func TestCountsThatCannotBeWrittenAreKept(t *testing.T) {
	d := newDesk(t)
	l := d.open()
	l.opt.FS = fullDisk{}
	l.Count(cursor, searched(some("memory", 1)...))
	if err := l.Flush(); err == nil {
		t.Fatal("a full disk is no error")
	}
	l.opt.FS = durable.OS{}
	flush(t, l)
	if got := sum(t, d.open(), cursor, noneGone); got.Searches != 1 {
		t.Errorf("%+v", got)
	}
}

// TestRestartsChangeNothing compares a ledger that is written and opened again now and
// then with one that never is, and both with plain sums.
func TestRestartsChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "ledger")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		d := &desk{dir: dir, now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
		once, often := Open(Options{FS: durable.OS{}, File: filepath.Join(dir, "once"), Now: func() time.Time { return d.now }, Logger: slog.New(slog.DiscardHandler)}), d.open()
		who := []memory.Actor{cursor, named("zed"), {Token: "work"}}
		ids := some("memory", 6)
		want := make(map[Caller]Counts)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			a := rapid.SampledFrom(who).Draw(t, "caller")
			pick := rapid.SampledFrom(ids)
			var c Call
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0, 1:
				c = *searched(rapid.SliceOfNDistinct(pick, 1, 4, rapid.ID).Draw(t, "given")...)
			case 2:
				c = Call{Used: []memory.ID{pick.Draw(t, "used")}}
			case 3:
				c = Call{Saved: []memory.ID{pick.Draw(t, "saved")}}
			case 4:
				d.now = d.now.Add(time.Duration(rapid.IntRange(1, 20).Draw(t, "hours")) * time.Hour)
				continue
			default:
				flush(t, often)
				often = d.open()
				continue
			}
			once.Count(a, &c)
			often.Count(a, &c)
			sums := want[Of(a)]
			sums.add(Counts{Calls: 1, Served: int64(len(c.Given)), Tokens: int64(c.Tokens), Saved: int64(len(c.Saved))})
			want[Of(a)] = sums
		}
		junk := func(id memory.ID) bool { return id < ids[2] }
		a, b := once.Sums(time.Time{}, junk), often.Sums(time.Time{}, junk)
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("without restarts %+v\nwith them %+v", a, b)
		}
		for _, s := range a {
			w := want[s.Caller]
			if s.Calls != w.Calls || s.Served != w.Served || s.Tokens != w.Tokens || s.Saved != w.Saved {
				t.Fatalf("%v: %+v, want %+v", s.Caller, s.Counts, w)
			}
			if s.Used > s.Recalled || s.Recalled > s.Served || s.Useful.Hits > s.Useful.Of || s.Wasted.Hits > s.Wasted.Of {
				t.Fatalf("%v: %+v does not add up", s.Caller, s)
			}
		}
		all := func(*Read) bool { return true }
		if x, y := once.Reads(0, maxReads, "", all), often.Reads(0, maxReads, "", all); !reflect.DeepEqual(x, y) {
			t.Fatalf("reads without restarts %v\nwith them %v", x, y)
		}
	})
}

func BenchmarkCountASearch(b *testing.B) {
	d := newDesk(b)
	l, ids := d.open(), some("memory", 1000)
	for i := 0; b.Loop(); i++ {
		from := i % 990
		l.Count(cursor, searched(ids[from:from+10]...))
	}
}
