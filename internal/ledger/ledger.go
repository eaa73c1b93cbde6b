// Package ledger counts the requests of each caller, the memories that it received, and which
// of them it used; the log of memories does not contain that. A ledger contains IDs, times and
// numbers, and never a text or a query.
//
// # What is counted
//
// A caller is an access token, or else the name that a client claims ([Of]). For each caller
// and each day (UTC) there are [Counts], kept for 90 days. A memory that a search returns to a
// caller is a recall. It is used if the same caller opens, observes or changes it within 24
// hours; searches that return it again before that are part of the same recall. A memory that
// a caller saved is watched for 30 days: [Ledger.Judge] counts those that were deleted without
// any use. The last 10,000 reads are kept one by one.
//
// # Bounds
//
// 256 callers; later ones are counted among all others, but a token replaces the claimed name
// that was silent for longest. 10,000 reads with 50,000 IDs, 20,000 recalls that can still be
// used (2,000 a caller) and 20,000 watched saves (5,000 a caller): the oldest reads are
// dropped, and further recalls and saves are not judged.
//
// # The file
//
// What callers read and changed is also appended to the chain of package chain, in the folder of
// [Options.Chain], before the file is written. It shows changes to file and journal afterwards:
// [Ledger.Check]. What purges and compaction remove from them is in the chain before they do.
//
// One JSON object, format 1, replaced whole and at once: since (when counting began), seq
// (number of the next read), callers (caller, seen, days of Counts, open recalls by id),
// saves (id, by, at, used) and reads (seq, at, by, pid, what, tx, ids; tx of changes of notes). A
// caller is written kind:name. The owner of a ledger writes it regularly ([Ledger.Flush]); counts since the last Flush
// are lost with the process. A file that cannot be read is renamed to NAME.damaged, and
// counting starts again.
//
// Any number of goroutines can use a [Ledger].
package ledger

import (
	"cmp"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"emberd/internal/durable"
	"emberd/internal/ledger/chain"
	"emberd/memory"
)

// What is kept at most, and for how long.
const (
	maxCallers     = 256
	maxDays        = 90
	maxReads       = 10_000
	maxReadIDs     = 50_000
	maxOpen        = 20_000
	maxOpenEach    = 2_000
	maxWatched     = 20_000
	maxWatchedEach = 5_000
	maxName        = 100 // bytes
	useWindow      = 24 * time.Hour
	aDay           = 24 * time.Hour
)

// Counts are of one caller and one day, or a sum of those.
type Counts struct {
	Calls    int64 `json:"calls,omitempty"`
	Searches int64 `json:"searches,omitempty"`
	Served   int64 `json:"served,omitempty"` // memories in answers
	Tokens   int64 `json:"tokens,omitempty"` // of texts in answers, estimated
	Recalled int64 `json:"recalled,omitempty"`
	Used     int64 `json:"used,omitempty"` // of Recalled
	Saved    int64 `json:"saved,omitempty"`
	Refused  int64 `json:"refused,omitempty"` // saves for what was in them
	Wrote    int64 `json:"wrote,omitempty"`   // memories, as the log has it, and so the next two; and changes of notes
	Merged   int64 `json:"merged,omitempty"`
	Forgot   int64 `json:"forgot,omitempty"`
}

func (c *Counts) add(o Counts) {
	c.Calls += o.Calls
	c.Searches += o.Searches
	c.Served += o.Served
	c.Tokens += o.Tokens
	c.Recalled += o.Recalled
	c.Used += o.Used
	c.Saved += o.Saved
	c.Refused += o.Refused
	c.Wrote += o.Wrote
	c.Merged += o.Merged
	c.Forgot += o.Forgot
}

// Options are the settings of a ledger.
type Options struct {
	FS     durable.FS
	File   string
	Now    func() time.Time
	Logger *slog.Logger
	// Below is the score below which a caller is throttled, 0 to 1; 0 is never.
	Below float64
	// Chain is the folder of the chain, "" for none.
	Chain string
}

// recall is a memory that a search gave to a caller. At is the first time.
type recall struct {
	At   time.Time `json:"at"`
	Used bool      `json:"used,omitempty"`
}

// account is what is known of one caller.
type account struct {
	seen time.Time
	days map[int]*Counts // by days since 1970
	open map[memory.ID]recall
}

// saved is a memory that is watched.
type saved struct {
	by   Caller
	at   time.Time
	used bool
}

// Ledger is open for counting.
type Ledger struct {
	opt     Options
	problem string // with the file, when it was opened
	// verdicts are the words on why callers are throttled, as last judged.
	verdicts atomic.Pointer[map[Caller]string]

	asked   atomic.Bool  // the chain was to say that this process writes
	writing sync.Mutex   // held while the file is written; taken before mu; guards the next seven
	chain   *chain.Chain // nil without one
	journal Journal      // nil if none is compared
	begun   bool         // the chain says that this process writes
	saved   extent       // reads that the file has
	counts  string       // digest of the counts that the file has
	next    string       // of those that it gets next

	Damage ChainDamage

	mu       sync.Mutex // guards what follows
	since    time.Time
	seq      int64
	accounts map[Caller]*account
	recalls  int // open, of all accounts
	watched  map[memory.ID]*saved
	watching map[Caller]int
	reads    []held
	readIDs  int
	dirty    bool
	pending  []event // that are not in the chain yet
	from     point   // before them
	lost     bool    // there were more, for which there was no room
}

// maxPending bounds the events that wait for a chain that cannot be written.
const maxPending = 20_000

// Open reads the file. It always returns a ledger: a file that cannot be used is set
// aside, and [Ledger.Problem] says so.
func Open(opt Options) *Ledger {
	l := &Ledger{opt: opt}
	if opt.Chain != "" {
		l.chain = chain.New(opt.FS, opt.Chain, opt.Now)
	}
	l.reset()
	if err := l.load(); err != nil {
		l.reset()
		l.setAside(err)
	}
	l.from.Read, l.saved = l.seq, extentOf(l.reads, l.seq)
	l.counts = cmp.Or(l.counts, noCounts)
	l.next = l.counts
	return l
}

func (l *Ledger) reset() {
	l.since, l.seq, l.recalls, l.readIDs = l.now(), 1, 0, 0
	l.accounts, l.reads = make(map[Caller]*account), nil
	l.watched, l.watching = make(map[memory.ID]*saved), make(map[Caller]int)
}

func (l *Ledger) now() time.Time { return l.opt.Now().UTC().Truncate(time.Millisecond) }

func dayOf(t time.Time) int { return int(t.Unix() / int64(aDay/time.Second)) }

// Problem returns what became of a file that could not be used, "" if there was none.
func (l *Ledger) Problem() string { return l.problem }

// Count counts a call. It reports whether the ledger should be written soon; a call without
// results does not need that.
func (l *Ledger) Count(a memory.Actor, c *Call) (soon bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	who, of := l.account(Of(a), now)
	of.seen = now
	today := of.today(now)
	today.Calls++
	if c.Search {
		today.Searches++
	}
	today.Served += int64(len(c.Given))
	today.Tokens += int64(c.Tokens)
	today.Refused += int64(c.Refused)
	for _, id := range c.Used {
		l.use(of, id, now)
	}
	for _, id := range c.Recalled {
		l.recall(of, id, now)
	}
	for _, id := range c.Saved {
		today.Saved++
		l.watch(who, id, now)
	}
	if c.Tx != "" {
		today.Wrote++
	}
	if c.Reads || c.Tx != "" {
		r := Read{Seq: l.seq, At: now, By: who, PID: a.PID, What: c.What, Tx: c.Tx, IDs: c.Given}
		l.read(r)
		l.note(event{Read: r, kind: Looked})
	}
	// A throttled caller is judged again at every call, so that the throttling can end.
	soon = c.Reads || c.Tx != "" || c.Refused > 0 || len(c.Used)+len(c.Saved) > 0 || l.Verdict(who) != ""
	l.dirty = l.dirty || soon
	return soon
}

// The ways in which the log changes.
const (
	Wrote  = "write"
	Merged = "merge"
	Forgot = "forget"
)

// Looked is the kind of reads in the chain.
const Looked = "read"

// Change is an entry of the journal.
type Change struct {
	By   memory.Actor
	How  string // [Wrote], [Merged] or [Forgot]
	What string // the verb
	Tx   string
	IDs  []memory.ID
	// Seq and Stamp are those of its line in the journal.
	Seq   uint64
	Stamp string
	Audit string // its seal, see [Ledger.Sign]
}

// Changed takes down that an entry of the log changed memories.
func (l *Ledger) Changed(c *Change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	_, of := l.account(Of(c.By), now)
	of.seen = now
	l.note(*changed(c, c.How, now))
	switch today, n := of.today(now), int64(len(c.IDs)); c.How {
	case Merged:
		today.Merged += n
	case Forgot:
		today.Forgot += n
	default:
		today.Wrote += n
	}
	l.dirty = true
}

// account returns the account that a caller is counted in, and whose that is.
func (l *Ledger) account(c Caller, now time.Time) (Caller, *account) {
	if of := l.accounts[c]; of != nil {
		return c, of
	}
	if len(l.accounts) >= maxCallers && !l.makeRoom(c, now) {
		c = Caller{Kind: Others}
		if of := l.accounts[c]; of != nil {
			return c, of
		}
	}
	return c, l.begin(c, now)
}

// makeRoom counts the claimed name that was silent for longest among all others, if that
// is for a token: names can be made up without end, and are not to keep tokens out.
func (l *Ledger) makeRoom(c Caller, now time.Time) bool {
	if c.Kind != Token {
		return false
	}
	var silent Caller
	for name, of := range l.accounts {
		if name.Kind == Claimed && (silent.Kind == "" || of.seen.Before(l.accounts[silent].seen)) {
			silent = name
		}
	}
	if silent.Kind == "" {
		return false
	}
	gone := l.accounts[silent]
	l.recalls -= len(gone.open)
	delete(l.accounts, silent)
	others := l.accounts[Caller{Kind: Others}]
	if others == nil {
		others = l.begin(Caller{Kind: Others}, now)
	}
	for day, counts := range gone.days {
		others.on(day).add(*counts)
	}
	l.unwatch(silent)
	return true
}

func (l *Ledger) begin(c Caller, now time.Time) *account {
	of := &account{seen: now, days: make(map[int]*Counts), open: make(map[memory.ID]recall)}
	l.accounts[c] = of
	return of
}

// unwatch lets go of what a caller saved.
func (l *Ledger) unwatch(c Caller) {
	for id, s := range l.watched {
		if s.by == c {
			delete(l.watched, id)
		}
	}
	delete(l.watching, c)
}

func (a *account) today(now time.Time) *Counts { return a.on(dayOf(now)) }

func (a *account) on(day int) *Counts {
	c := a.days[day]
	if c == nil {
		c = new(Counts)
		a.days[day] = c
	}
	return c
}

// recall begins one unless the memory is part of one.
func (l *Ledger) recall(of *account, id memory.ID, now time.Time) {
	was, again := of.open[id]
	if again && now.Sub(was.At) < useWindow {
		return
	}
	if !again {
		if len(of.open) >= maxOpenEach || l.recalls >= maxOpen {
			return
		}
		l.recalls++
	}
	of.open[id] = recall{At: now}
	of.today(now).Recalled++
}

// use counts a use of the recall that the memory is part of, on the day when the recall began,
// and marks the memory as used for the caller that saved it.
func (l *Ledger) use(of *account, id memory.ID, now time.Time) {
	if s := l.watched[id]; s != nil {
		s.used = true
	}
	was, open := of.open[id]
	if !open || was.Used || now.Sub(was.At) >= useWindow {
		return
	}
	was.Used = true
	of.open[id] = was
	of.on(dayOf(was.At)).Used++
}

func (l *Ledger) watch(by Caller, id memory.ID, now time.Time) {
	if l.watched[id] != nil || len(l.watched) >= maxWatched || l.watching[by] >= maxWatchedEach {
		return
	}
	l.watched[id] = &saved{by: by, at: now}
	l.watching[by]++
}

// expire lets go of what has grown too old. It is called with mu held.
func (l *Ledger) expire(now time.Time) {
	first := dayOf(now) - maxDays + 1
	for name, of := range l.accounts {
		for day := range of.days {
			if day < first {
				delete(of.days, day)
			}
		}
		for id, r := range of.open {
			if now.Sub(r.At) >= useWindow {
				delete(of.open, id)
				l.recalls--
			}
		}
		if len(of.days) == 0 {
			l.recalls -= len(of.open)
			delete(l.accounts, name)
		}
	}
	for id, s := range l.watched {
		if now.Sub(s.at) >= judgedFor {
			l.leave(id, s)
		}
	}
}

func (l *Ledger) leave(id memory.ID, s *saved) {
	delete(l.watched, id)
	if l.watching[s.by]--; l.watching[s.by] <= 0 {
		delete(l.watching, s.by)
	}
}

// Since returns when counting began.
func (l *Ledger) Since() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.since
}

// Forget takes every memory out for which gone is true, from the file too before it
// returns, and what was set aside. Counts stay: they name nothing.
func (l *Ledger) Forget(gone func(memory.ID) bool) error {
	l.mu.Lock()
	l.dirty = true // the file can contain more than the ledger
	for _, of := range l.accounts {
		for id := range of.open {
			if gone(id) {
				delete(of.open, id)
				l.recalls--
			}
		}
	}
	for id, s := range l.watched {
		if gone(id) {
			l.leave(id, s)
		}
	}
	cut := make(map[memory.ID]bool)
	for i := range l.reads {
		l.forgetRead(&l.reads[i], func(id memory.ID) bool {
			cut[id] = cut[id] || gone(id)
			return cut[id]
		})
	}
	maps.DeleteFunc(cut, func(_ memory.ID, gone bool) bool { return !gone })
	l.notePurged(slices.Collect(maps.Keys(cut)))
	l.mu.Unlock()
	if err := l.Flush(); err != nil {
		return err
	}
	return l.removeAside()
}

// Forgive takes back what a caller is judged by, and reports whether there is such a
// caller. What it asked for and changed stays counted.
func (l *Ledger) Forgive(c Caller) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.accounts[c]
	if of == nil {
		return false
	}
	for _, counts := range of.days {
		counts.Recalled, counts.Used, counts.Refused = 0, 0, 0
	}
	l.recalls -= len(of.open)
	clear(of.open)
	l.unwatch(c)
	l.dirty = true
	return true
}

// Named returns the callers of a name, or of kind:name.
func (l *Ledger) Named(name string) []Caller {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Caller
	for c := range l.accounts {
		if c.Is(name) {
			out = append(out, c)
		}
	}
	return out
}
