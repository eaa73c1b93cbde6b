package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine/agents"
	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/memory"
	"emberd/op"
)

// tended is a store in which every agent finds something.
type tended struct {
	*desk
	fading, leaks, leaking, old, new, deserving, ann, leith memory.ID
}

func tend(t *testing.T, change func(*core.Options)) *tended {
	t.Helper()
	d := &desk{house: promotingHouse(t, nil), t: t}
	if change != nil {
		change(&d.Options)
	}
	d.start()
	s := &tended{desk: d, leaks: save(t, d.Engine, leaks, "kitchen").ID, leaking: save(t, d.Engine, leaking, "repairs").ID,
		old: save(t, d.Engine, "The staging database of the web shop listens on port 5432").ID,
		new: save(t, d.Engine, "The staging database of the web shop listens on port 5433").ID}
	s.fading = d.saved(t, d.Engine, 40, "The tide turns at six")
	s.deserving = d.house.used(t, d.Engine, 10, 7, "Compost wants air")
	named := func(content string, entities, tags []string) memory.ID {
		return do(t, d.Engine, op.Save, &op.SaveRequest{Content: content, Entities: entities, Tags: tags}).Memory.ID
	}
	s.ann = named("She keeps the books of the rowing club", []string{"Ann", "Leith"}, []string{"club"})
	s.leith = named("Somebody has to paint the boathouse", []string{"ann", "Leith", "boathouse"}, []string{"club"})
	return s
}

// runsAgents runs them and fails the test if one of them had a problem.
func (s *tended) runsAgents(req op.AgentsRunRequest) *op.AgentsRunResult {
	s.t.Helper()
	res := do(s.t, s.Engine, op.AgentsRun, &req)
	for _, a := range res.Ran {
		if a.Problem != "" {
			s.t.Errorf("agent %s: %s", a.Agent, a.Problem)
		}
	}
	return res
}

// did is what each agent found, filed, changed and left, as a line.
func did(res *op.AgentsRunResult) string {
	var out []string
	for _, a := range res.Ran {
		out = append(out, fmt.Sprintf("%s %d/%d/%d/%d", a.Agent, a.Found, a.Filed, a.Changed, a.Waiting))
	}
	return strings.Join(out, " ")
}

func wantDid(t *testing.T, res *op.AgentsRunResult, want string) {
	t.Helper()
	if got := did(res); got != want {
		t.Errorf("found/filed/changed/waiting are\n%s, want\n%s", got, want)
	}
}

// items are the review items with their states, as words.
func (s *tended) items() []string {
	var out []string
	for item := range s.Engine.Review.ReviewItems() {
		out = append(out, fmt.Sprintf("%s %s %s %d %s%s", item.Agent, item.Action, item.Urgency, len(item.MemoryIDs), item.Status, item.Decision))
	}
	slices.Sort(out)
	return out
}

func (s *tended) wantItems(want ...string) {
	s.t.Helper()
	if got := s.items(); !slices.Equal(got, want) {
		s.t.Errorf("the items are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const foundByAll = "decay 1/1/0/0 cluster 2/2/1/0 merge 1/0/0/0 promote 1/0/1/0 relations 1/0/1/0"

func TestADryRunOfTheAgentsChangesNothing(t *testing.T) {
	t.Parallel()
	for _, auto := range []bool{false, true} {
		s := tend(t, func(o *core.Options) { o.Agents.AutoMerge = auto })
		before, journal, files := stateOf(t, s.Engine), do(t, s.Engine, op.Journal, &op.JournalRequest{}), s.files(t)
		want := foundByAll
		if auto {
			want = strings.Replace(want, "merge 1/0/0/0", "merge 1/0/1/0", 1)
		}
		for range 2 {
			res := s.runsAgents(op.AgentsRunRequest{DryRun: true})
			wantDid(t, res, want)
			if !res.DryRun || res.Tx != "" || len(res.Merge) != 1 || res.Merge[0].NewMemoryID != "" || res.Merge[0].Success != auto {
				t.Errorf("a dry run answers %+v", res)
			}
		}
		if after := stateOf(t, s.Engine); after != before {
			t.Errorf("after it the store is\n%s\nwant\n%s", after, before)
		}
		if now := do(t, s.Engine, op.Journal, &op.JournalRequest{}); len(now.Entries) != len(journal.Entries) || !slices.Equal(s.files(t), files) {
			t.Errorf("it wrote the journal or the vault: %v", s.files(t))
		}
		if _, err := os.Stat(filepath.Join(s.State, "agents.json")); err == nil {
			t.Error("it counts as a run")
		}
	}
}

// Who removed a relation said that there is none, whichever way it led.
func TestWhatWasUnrelatedStaysSo(t *testing.T) {
	t.Parallel()
	for _, turned := range []bool{false, true} {
		s := tend(t, nil)
		from, to := s.ann, s.leith
		if turned {
			from, to = to, from
		}
		s.relates(from, memory.Related, to, 0.5)
		do(t, s.Engine, op.Unrelate, &op.UnrelateRequest{ID: memory.RelationID(from, to, memory.Related, "")})
		res := s.runsAgents(op.AgentsRunRequest{Agent: op.AgentRelations})
		if slices.ContainsFunc(res.Relations, func(r op.RelationResult) bool { return r.FromID == s.ann || r.ToID == s.ann }) {
			t.Errorf("turned round %v, the agent relates them again: %+v", turned, res.Relations)
		}
	}
}

// All that a run changes is one journal entry, which undo takes back whole: relations, the
// note, the merge and what was filed.
func TestARunOfTheAgentsIsOneEntry(t *testing.T) {
	t.Parallel()
	s := tend(t, func(o *core.Options) { o.Agents.AutoMerge = true })
	before := stateOf(t, s.Engine)
	s.relates(s.ann, memory.Supports, s.leaks, 0.5)
	undoneTo := stateOf(t, s.Engine)
	entries := len(do(t, s.Engine, op.Journal, &op.JournalRequest{}).Entries)
	res := s.runsAgents(op.AgentsRunRequest{})
	wantDid(t, res, strings.Replace(foundByAll, "merge 1/0/0/0", "merge 1/0/1/0", 1))
	if now := do(t, s.Engine, op.Journal, &op.JournalRequest{}).Entries; len(now) != entries+1 || now[0].Tx != res.Tx {
		t.Errorf("the journal begins with %+v", now[0])
	}
	s.wantFound(res)
	s.wantItems("cluster contradiction high 2 open", "cluster merge medium 2 closedmerge", "decay gc_candidate high 1 open")
	s.wantRelation(s.ann, memory.Related, s.leith, res.Relations[0].Strength)
	s.wantRelation(s.old, memory.Contradicts, s.new, res.Cluster[1].Cohesion)
	merged := res.Merge[0].NewMemoryID
	s.wantRelation(s.ann, memory.Supports, merged, 0.5)
	wantDid(t, s.runsAgents(op.AgentsRunRequest{}), "decay 1/0/0/0 cluster 1/0/0/0 merge 0/0/0/0 promote 0/0/0/0 relations 0/0/0/0")
	do(t, s.Engine, op.Undo, &op.UndoRequest{Tx: res.Tx})
	if after := withoutLine(stateOf(t, s.Engine), merged); after != undoneTo {
		t.Errorf("undone, the store is\n%s\nwant\n%s", after, undoneTo)
	}
	s.wantItems()
	if notes := s.files(t); slices.Contains(notes, res.Promote[0].VaultPath) {
		t.Errorf("undone, there are %v", notes)
	}
	do(t, s.Engine, op.Undo, &op.UndoRequest{})
	if after := withoutLine(stateOf(t, s.Engine), merged); after != before {
		t.Errorf("undone again, the store is\n%s\nwant\n%s", after, before)
	}
}

// wantFound checks what a run tells under the names of the specification.
func (s *tended) wantFound(res *op.AgentsRunResult) {
	s.t.Helper()
	if d := res.Decay; len(d) != 1 || d[0].MemoryID != s.fading || d[0].Urgency != "high" || d[0].Action != "gc_candidate" || d[0].Score > 0.1 {
		s.t.Errorf("at risk are %+v", d)
	}
	if c := res.Cluster; len(c) != 2 || !slices.Equal(c[0].MemoryIDs, []memory.ID{s.leaks, s.leaking}) || c[0].Action != "auto-merge" || c[0].Cohesion < 0.9 ||
		!slices.Equal(c[1].MemoryIDs, []memory.ID{s.old, s.new}) || c[1].Action != "contradiction" {
		s.t.Errorf("the clusters are %+v", c)
	}
	if m := res.Merge; len(m) != 1 || !m[0].Success || !slices.Equal(m[0].SourceIDs, []memory.ID{s.leaks, s.leaking}) || len(m[0].RelationIDs) != 2 {
		s.t.Errorf("merged are %+v", m)
	} else if whole := look(s.t, s.Engine, m[0].NewMemoryID); whole.Content != leaking+"\n\n"+leaks || !slices.Equal(whole.Tags, []string{"kitchen", "repairs"}) {
		s.t.Errorf("merged is %+v", whole.Memory)
	}
	if p := res.Promote; len(p) != 1 || p[0].MemoryID != s.deserving || !slices.Equal(p[0].CriteriaMet, []string{"score", "use_count"}) || !strings.HasPrefix(p[0].VaultPath, "Memories/") {
		s.t.Errorf("promoted are %+v", p)
	}
	if r := res.Relations; len(r) != 1 || r[0].FromID != s.ann || r[0].ToID != s.leith || r[0].RelationType != "related" || r[0].Jaccard != 0.7667 || r[0].Strength < 0.6 || r[0].Confidence < 0.6 ||
		!slices.Equal(r[0].SharedEntities, []string{"Ann", "Leith"}) || r[0].Reasoning != "both memories mention Ann, Leith; both memories are tagged club" {
		s.t.Errorf("related are %+v", r)
	}
}

// Without consolidation.auto_merge the pipeline only files what is alike; the merge agent,
// when it is asked for by name, merges what nobody has decided otherwise.
func TestNothingIsMergedUnasked(t *testing.T) {
	t.Parallel()
	s := tend(t, nil)
	res := s.runsAgents(op.AgentsRunRequest{})
	wantDid(t, res, foundByAll)
	if m := res.Merge[0]; m.Success || !strings.Contains(m.Reason, "emberd merges the memories only after your decision, because consolidation.auto_merge is false") || look(t, s.Engine, s.leaks).Stage != memory.Active {
		t.Errorf("it tells of the merge %+v", m)
	}
	s.wantItems("cluster contradiction high 2 open", "cluster merge medium 2 open", "decay gc_candidate high 1 open")
	claimed := memory.ReviewItemID(op.ReviewCluster, []memory.ID{s.leaks, s.leaking})
	_, _, err := s.Engine.Review.ClaimItem(t.Context(), memory.Actor{Via: "socket"}, "", claimed, "Ann")
	ok(t, err)
	if named := s.runsAgents(op.AgentsRunRequest{Agent: op.AgentMerge}); did(named) != "merge 0/0/0/0" {
		t.Errorf("of what somebody else has claimed it did %s", did(named))
	}
	do(t, s.Engine, op.Undo, &op.UndoRequest{}) // the claim
	named := s.runsAgents(op.AgentsRunRequest{Agent: op.AgentMerge})
	wantDid(t, named, "merge 1/0/1/0")
	s.wantItems("cluster contradiction high 2 open", "cluster merge medium 2 closedmerge", "decay gc_candidate high 1 open")
	do(t, s.Engine, op.Undo, &op.UndoRequest{Tx: named.Tx})
	s.wantItems("cluster contradiction high 2 open", "cluster merge medium 2 open", "decay gc_candidate high 1 open")
}

// What somebody took back is not done again: neither filed, nor merged, nor related, until
// something has changed.
func TestWhatIsUndoneIsNotDoneAgain(t *testing.T) {
	t.Parallel()
	s := tend(t, func(o *core.Options) { o.Agents.AutoMerge = true })
	nothing := "decay 1/0/0/0 cluster 2/0/0/0 merge 0/0/0/0 promote 0/0/0/0 relations 0/0/0/0"
	do(t, s.Engine, op.Undo, &op.UndoRequest{Tx: s.runsAgents(op.AgentsRunRequest{}).Tx})
	s.advance(time.Hour)
	wantDid(t, s.runsAgents(op.AgentsRunRequest{}), nothing)
	do(t, s.Engine, op.Edit, &op.EditRequest{ID: string(s.leaks), Tags: &[]string{"kettle"}})
	s.advance(time.Hour)
	wantDid(t, s.runsAgents(op.AgentsRunRequest{}), "decay 1/0/0/0 cluster 2/1/0/0 merge 0/0/0/0 promote 0/0/0/0 relations 0/0/0/0")
	s.wantItems("cluster merge medium 2 open")
	wantDid(t, s.runsAgents(op.AgentsRunRequest{Agent: op.AgentMerge}), "merge 1/0/1/0")
}

// What somebody has decided is not asked again, and what grew is asked anew.
func TestWhatIsDecidedIsNotFiledAgain(t *testing.T) {
	t.Parallel()
	s := tend(t, nil)
	s.runsAgents(op.AgentsRunRequest{Agent: op.AgentCluster})
	item := memory.ReviewItemID(op.ReviewCluster, []memory.ID{s.leaks, s.leaking})
	_, _, err := s.Engine.Review.CloseItem(t.Context(), agents.AgentsActor(), "", item, op.DecideKeep, "two kettles")
	ok(t, err)
	wantDid(t, s.runsAgents(op.AgentsRunRequest{Agent: op.AgentCluster}), "cluster 2/0/0/0")
	wantDid(t, s.runsAgents(op.AgentsRunRequest{Agent: op.AgentMerge}), "merge 0/0/0/0")
	save(t, s.Engine, "The kettle is leaking at its seam")
	wantDid(t, s.runsAgents(op.AgentsRunRequest{Agent: op.AgentCluster}), "cluster 2/1/0/0")
	save(t, s.Engine, "The kettle leaks at its seam again")
	wantDid(t, s.runsAgents(op.AgentsRunRequest{Agent: op.AgentCluster}), "cluster 2/1/0/0")
	s.wantItems("cluster contradiction high 2 open", "cluster merge medium 2 closedkeep", "cluster merge medium 3 closed", "cluster merge medium 4 open")
}

// Of many at risk ten are filed, those worth asking about first. No more follow while they are open, or on the day
// on which somebody decided them.
func TestTenAtRiskAreAskedAboutADay(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.AutoPromote = false
	e := h.open(t)
	var req op.SaveBatchRequest
	for i := range 150 {
		item := op.SaveRequest{Content: fmt.Sprint("pebble ", i), CreatedAt: h.daysAgo(40), LastUsed: h.daysAgo(40)}
		if i == 77 {
			item.UseCount, item.Strength = 3, new(1.6)
		}
		req.Items = append(req.Items, item)
	}
	do(t, e, op.SaveBatch, &req)
	for _, want := range []string{"decay 150/10/0/140", "decay 150/0/0/140"} {
		res := do(t, e, op.AgentsRun, &op.AgentsRunRequest{Agent: op.AgentDecay})
		wantDid(t, res, want)
		if len(res.Decay) != agents.MaxFound {
			t.Errorf("it shows %d", len(res.Decay))
		}
	}
	filed := slices.Collect(e.Review.ReviewItems())
	if !slices.ContainsFunc(filed, func(i memory.ReviewItem) bool {
		return i.Action == "reinforce" && strings.Contains(i.Evidence, "used 3 times")
	}) {
		t.Errorf("what is worth a look is not among the first %d", len(filed))
	}
	for _, item := range filed {
		do(t, e, op.ReviewClose, &op.ReviewCloseRequest{ID: string(item.ID), Decision: op.DecideKeep})
	}
	for _, later := range []struct {
		wait time.Duration
		want string
	}{{time.Hour, "/0/0/"}, {24 * time.Hour, "/10/0/"}} {
		h.advance(later.wait)
		res := do(t, e, op.AgentsRun, &op.AgentsRunRequest{Agent: op.AgentDecay})
		if !strings.Contains(did(res), later.want) {
			t.Errorf("%s later it did %s, want %s", later.wait, did(res), later.want)
		}
	}
}

func TestAScheduledRunRespectsTheLastOne(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	runs := func(req op.AgentsRunRequest) bool {
		t.Helper()
		res := do(t, e, op.AgentsRun, &req)
		if skipped := res.Skipped != ""; skipped == (len(res.Ran) > 0) || res.NextRun.IsZero() {
			t.Errorf("it answers %+v", res)
		}
		return len(res.Ran) > 0
	}
	scheduled := op.AgentsRunRequest{Scheduled: true}
	for i, step := range []struct {
		wait time.Duration
		req  op.AgentsRunRequest
		want bool
	}{
		{0, scheduled, true},
		{59 * time.Minute, scheduled, false},
		{0, op.AgentsRunRequest{Scheduled: true, Agent: op.AgentDecay}, false},
		{0, op.AgentsRunRequest{Scheduled: true, DryRun: true}, false},
		{0, op.AgentsRunRequest{Scheduled: true, IntervalSeconds: 1800, DryRun: true}, true},
		{time.Minute, scheduled, true},
		{0, op.AgentsRunRequest{Scheduled: true, Force: true}, true},
		{0, op.AgentsRunRequest{Agent: op.AgentDecay}, true},
	} {
		h.advance(step.wait)
		if got := runs(step.req); got != step.want {
			t.Errorf("step %d: it ran %v, want %v", i, got, step.want)
		}
	}
	ok(t, e.Close())
	h.advance(30 * time.Minute)
	e = h.open(t)
	if runs(scheduled) {
		t.Error("after a restart it forgot its last run")
	}
}

func TestAgentsRefuseWhatTheyDoNotKnow(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	for _, c := range []struct {
		req  op.AgentsRunRequest
		says string
	}{
		{op.AgentsRunRequest{Agent: "dream"}, `invalid maintenance agent "dream"; use decay, cluster, merge, promote, relations`},
		{op.AgentsRunRequest{Force: true}, "force and interval_seconds require scheduled"},
		{op.AgentsRunRequest{Scheduled: true, IntervalSeconds: 59}, "interval_seconds 59 is out of range (60 to 2592000)"},
	} {
		wantCode(t, refused(t, e, op.AgentsRun, &c.req), memory.Invalid, c.says)
	}
	e.Agents.AgentScheduler.Running.Lock()
	wantCode(t, refused(t, e, op.AgentsRun, &op.AgentsRunRequest{}), memory.Busy, "a run of the maintenance agents is in progress")
	e.Agents.AgentScheduler.Running.Unlock()
}

// Of several devices the keeper alone runs agents; the others may look.
func TestOnlyTheKeeperRunsAgents(t *testing.T) {
	t.Parallel()
	_, other, k, o := pair(t)
	wantCode(t, refused(t, o, op.AgentsRun, &op.AgentsRunRequest{}), memory.Conflict, "to make this device the primary device, run: emberd config primary-device here")
	do(t, o, op.AgentsRun, &op.AgentsRunRequest{DryRun: true})
	if next := o.Agents.AgentsDue(t.Context()); !next.Equal(other.clock.Now().Add(lifecycle.LooksAgain)) || !o.Agents.AgentScheduler.LastRun(agents.PipelineRun).IsZero() {
		t.Errorf("the other looks again at %v", next)
	}
	if res := do(t, k, op.AgentsRun, &op.AgentsRunRequest{}); len(res.Ran) != 5 {
		t.Errorf("the keeper's run answers %+v", res)
	}
}

// tendedByItself is a store whose daemon has read everything, so that it may run its agents.
func tendedByItself(t *testing.T, change func(*core.Options)) *tended {
	t.Helper()
	s := tend(t, change)
	s.Indexed.Store(true)
	s.Notes.Vault.Complete.Store(true)
	return s
}

// By themselves the agents run an interval after something has changed, else once a day,
// and what is nearly equal is merged once a week.
func TestTheAgentsRunByThemselves(t *testing.T) {
	t.Parallel()
	s := tendedByItself(t, nil)
	due := func(want time.Duration, entries int) {
		t.Helper()
		before := len(do(t, s.Engine, op.Journal, &op.JournalRequest{}).Entries)
		next := s.Engine.Agents.AgentsDue(t.Context())
		if got := next.Sub(s.clock.Now()); got != want {
			t.Errorf("it looks again in %s, want %s", got, want)
		}
		if made := len(do(t, s.Engine, op.Journal, &op.JournalRequest{}).Entries) - before; made != entries {
			t.Errorf("it wrote %d entries, want %d", made, entries)
		}
	}
	s.Engine.Agents.AgentScheduler.Running.Lock()
	due(lifecycle.FirstLook, 0) // another run is in progress
	s.Engine.Agents.AgentScheduler.Running.Unlock()
	due(24*time.Hour, 1)
	if by := do(t, s.Engine, op.Journal, &op.JournalRequest{}).Entries[0].By; by.Client != "agents" {
		t.Errorf("the entry is by %+v", by)
	}
	s.wantItems("cluster contradiction high 2 open", "cluster merge medium 2 open", "decay gc_candidate high 1 open")
	if first := s.Engine.Agents.AgentScheduler.LastRun(agents.SimilarRun); !first.Equal(s.Engine.Agents.AgentScheduler.LastRun(agents.PipelineRun)) {
		t.Errorf("what is nearly equal was looked for at %v", first)
	}
	s.advance(time.Hour)
	due(24*time.Hour, 0)
	save(t, s.Engine, "The kettle is leaking at its seam")
	if at := s.Engine.Agents.NextAgents(s.clock.Now().Add(day)); at.Sub(s.clock.Now()) != lifecycle.FirstLook {
		t.Errorf("after a change it looks at %v", at)
	}
	due(24*time.Hour, 1)
	s.Engine.Agents.AgentScheduler.Rates[op.AgentDecay].Take(s.clock.Now(), 60)
	s.house.saved(t, s.Engine, 40, "Low tide is at noon")
	s.advance(time.Hour - time.Second)
	s.Engine.Agents.AgentScheduler.Rates[op.AgentDecay].Take(s.clock.Now(), 60)
	s.advance(time.Second)
	due(time.Minute, 0) // there is more to do than the rate lets
	s.advance(time.Minute)
	due(59*time.Minute, 1)
	s.advance(59 * time.Minute)
	due(24*time.Hour, 0)
	jobs := do(t, s.Engine, op.LifecycleStatus, &op.LifecycleStatusRequest{}).Jobs
	i := slices.IndexFunc(jobs, func(j op.Job) bool { return j.Name == "agents" })
	if i < 0 || !jobs[i].Last.Equal(s.Engine.Agents.AgentScheduler.LastRun(agents.PipelineRun)) || jobs[i+1].Name != "similar" || !jobs[i+1].Next.Equal(jobs[i+1].Last.Add(7*day)) {
		t.Errorf("the jobs are %+v", jobs)
	}
	empty, _ := newEngine(t)
	if next := empty.Agents.AgentsDue(t.Context()); !next.IsZero() {
		t.Errorf("with no memories it looks again at %v", next)
	}
}

// A save has what is highly urgent filed, no more often than every five minutes.
func TestASaveHasTheUrgentFiled(t *testing.T) {
	t.Parallel()
	s := tendedByItself(t, nil)
	s.house.saved(t, s.Engine, 10, "Low tide is at noon") // of medium urgency
	if len(s.Engine.Agents.AgentScheduler.Saved) != 1 {
		t.Error("a save is not noticed")
	}
	if wait := s.Engine.Agents.UrgentWait(); wait != agents.UrgentPause && wait != agents.UrgentDelay {
		t.Errorf("it waits %s", wait)
	}
	s.Engine.Agents.LookForUrgent(t.Context())
	s.wantItems("decay gc_candidate high 1 open")
	if wait := s.Engine.Agents.UrgentWait(); wait != agents.UrgentPause {
		t.Errorf("after a look it waits %s", wait)
	}
	s.advance(4 * time.Minute)
	if wait := s.Engine.Agents.UrgentWait(); wait != agents.UrgentDelay {
		t.Errorf("later it waits %s", wait)
	}
}

// What two memories contradict each other in is rare, so that they are less alike than
// those of a group. What holds for two versions is no contradiction.
func TestContradictionsAreLessAlikeThanGroups(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	e.Indexed.Store(true)
	a, b := save(t, e, "The staging database listens on port 5432"), save(t, e, "The staging database listens on port 5433")
	save(t, e, "With Python 2.7 print needs no parentheses in the importer")
	save(t, e, "With Python 3.12 print needs parentheses in the importer")
	save(t, e, "Ann likes tea in the garden")
	res := do(t, e, op.AgentsRun, &op.AgentsRunRequest{Agent: op.AgentCluster, DryRun: true})
	if len(res.Cluster) != 1 || res.Cluster[0].Action != core.ContradictionAction || res.Cluster[0].Cohesion >= op.ClusterThreshold ||
		!slices.Equal(res.Cluster[0].MemoryIDs, []memory.ID{a.ID, b.ID}) {
		t.Errorf("the agent finds %+v", res.Cluster)
	}
}

// What was saved is checked for contradictions a few seconds later, by the rules of the hourly run. Earlier memories
// wait for that.
func TestASaveIsCheckedForContradictions(t *testing.T) {
	t.Parallel()
	s := tendedByItself(t, func(o *core.Options) { o.Agents.Rate = 1000 })
	s.wantItems()
	s.advance(time.Minute)
	s.Engine.Agents.CheckSaved(t.Context())
	s.wantItems()
	s.advance(time.Minute)
	if len(s.Engine.Agents.AgentScheduler.Added) != 1 {
		t.Error("a save is not noticed")
	}
	save(t, s.Engine, "The nightly backup runs at 02:00 on server alpha")
	save(t, s.Engine, "The nightly backup runs at 04:00 on server alpha")
	if next := s.Engine.Agents.CheckSaved(t.Context()); !next.IsZero() {
		t.Errorf("it checks again at %v", next)
	}
	s.wantItems("cluster contradiction high 2 open")
	s.Engine.Agents.CheckSaved(t.Context())
	s.wantItems("cluster contradiction high 2 open")
	if last := s.Engine.Agents.AgentScheduler.LastRun(agents.PipelineRun); !last.IsZero() {
		t.Errorf("the hourly run counts as done at %v", last)
	}
}
