package engine_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// wilds is a store to which anything may happen.
type wilds struct {
	*desk
	r     *rapid.T
	n     int      // texts so far
	human []string // what somebody typed into notes
	done  []string
	last  string // of what happened
}

// newWilds has a few memories that say nearly the same, some of them long unused.
func newWilds(t *testing.T, r *rapid.T) *wilds {
	w := &wilds{desk: shelf(t, nil), r: r}
	w.Storage.BuildIndex(t.Context())
	for range rapid.IntRange(2, 6).Draw(r, "memories") {
		if rapid.IntRange(0, 3).Draw(r, "imported") == 0 {
			w.foreign()
		} else {
			w.save()
		}
		w.advance(time.Duration(rapid.IntRange(1, 200).Draw(r, "hours")) * time.Hour)
	}
	return w
}

// tried carries out an operation that may be refused for a reason, and returns nil then.
func tried[Req, Res any](w *wilds, o op.Op[Req, Res], req *Req) *Res {
	w.t.Helper()
	res, err := o.Call(w.t.Context(), w.Engine, req)
	switch memory.CodeOf(err) {
	case "":
		w.done = append(w.done, o.Name)
		return res
	case memory.Conflict, memory.Busy, memory.NotFound, memory.Invalid:
		w.done = append(w.done, o.Name+" refused: "+err.Error())
		return nil
	}
	w.r.Fatalf("%s: %v, after %q", o.Name, err, w.done)
	return nil
}

// text is one of a few things to say about one of a few things.
func (w *wilds) text() string {
	w.n++
	thing := rapid.SampledFrom([]string{"kettle", "bicycle", "aquarium"}).Draw(w.r, "thing")
	way := rapid.SampledFrom([]string{"The %s leaks at the seam", "At the seam the %s is leaking", "The %s is leaking at its seam", "TODO %s",
		"The %s was bought for 12 crowns", "The %s was bought for 14 crowns"}).Draw(w.r, "way")
	return fmt.Sprintf(way, thing) + strings.Repeat(".", w.n) // not the same again
}

func (w *wilds) save() string {
	req := &op.SaveRequest{Content: w.text(), Again: true, Tags: []string{rapid.SampledFrom([]string{"home", "work"}).Draw(w.r, "tag")}}
	if rapid.IntRange(0, 9).Draw(w.r, "core") == 0 {
		req.Core = true
	}
	return do(w.t, w.Engine, op.Save, req).Tx
}

// foreign is a record of another system, which a migration completes.
func (w *wilds) foreign() string {
	id, err := memory.NewID()
	ok(w.t, err)
	r := op.Record{ID: id, Fields: map[string]json.RawMessage{"chunk_index": json.RawMessage("1")}}
	for key, value := range map[string]any{"content": w.text(), "created_at": w.clock.Now().Add(-time.Hour)} {
		r.Fields[key], err = json.Marshal(value)
		ok(w.t, err)
	}
	return txOf(tried(w, op.Import, &op.ImportRequest{Foreign: true, Records: []op.Record{r}}), func(r *op.ImportResult) string { return r.Tx })
}

// one draws a live memory, "" if there is none.
func (w *wilds) one() string {
	var live []memory.ID
	for row := range w.Stm.Rows() {
		live = append(live, row.ID())
	}
	slices.Sort(live)
	if len(live) == 0 {
		w.r.Skip("no memory")
	}
	return string(rapid.SampledFrom(live).Draw(w.r, "id"))
}

// runs are operations that may change many memories, with the journal entry of each.
func (w *wilds) runs() map[string]func() string {
	return map[string]func() string{
		"merge":      func() string { return w.consolidated(op.ModeApply) },
		"link":       func() string { return w.consolidated(op.ModeLink) },
		"gc":         func() string { return w.collected(false) },
		"gc archive": func() string { return w.collected(true) },
		"lifecycle": func() string {
			w.advance(time.Duration(rapid.IntRange(1, 40).Draw(w.r, "days")) * 24 * time.Hour)
			return txOf(tried(w, op.LifecycleRun, &op.LifecycleRunRequest{}), func(r *op.LifecycleRunResult) string { return r.Tx })
		},
		"archive": func() string {
			return txOf(tried(w, op.Archive, &op.ArchiveRequest{ID: w.one()}), func(r *op.ArchiveResult) string { return r.Tx })
		},
		"promote": func() string {
			return txOf(tried(w, op.Promote, &op.PromoteRequest{ID: w.one(), Force: true}), func(r *op.PromoteResult) string { return r.Tx })
		},
		"agents": func() string {
			req := &op.AgentsRunRequest{Agent: rapid.SampledFrom(append(op.Agents(), "")).Draw(w.r, "agent")}
			return txOf(tried(w, op.AgentsRun, req), func(r *op.AgentsRunResult) string { return r.Tx })
		},
		"clean up": func() string {
			req := &op.CleanupRequest{Collection: core.EveryCollection, Mode: op.CleanupFull, Execute: true}
			return txOf(tried(w, op.Cleanup, req), func(r *op.CleanupRun) string {
				if r.State != op.CleanupDone {
					return ""
				}
				return r.Tx
			})
		},
		"keep one": func() string {
			req := &op.HealthMergeRequest{ID1: w.one(), ID2: w.one(), Keep: op.KeepFirst}
			return txOf(tried(w, op.HealthMerge, req), func(r *op.HealthMergeResult) string { return r.Tx })
		},
		"migrate": func() string {
			return txOf(tried(w, op.Migrate, &op.MigrateRequest{Collection: core.EveryCollection}), func(r *op.MigrateResult) string { return r.Tx })
		},
		"decide": w.decide,
		"forget": func() string {
			ids := []string{w.one(), w.one()}
			return txOf(tried(w, op.ForgetBatch, &op.ForgetBatchRequest{IDs: slices.Compact(ids)}), func(r *op.ForgetResult) string { return r.Tx })
		},
	}
}

// changes are what people and agents do to single memories.
func (w *wilds) changes() map[string]func() string {
	return map[string]func() string{
		"save": w.save,
		"edit": func() string {
			req := &op.EditRequest{ID: w.one()}
			switch rapid.IntRange(0, 3).Draw(w.r, "field") {
			case 0:
				req.Content = new(w.text())
			case 1:
				req.AddTags = []string{fmt.Sprintf("t%d", w.n)}
			case 2:
				req.Source = new(w.text())
			default:
				req.Strength = new(float64(rapid.IntRange(10, 20).Draw(w.r, "strength")) / 10)
			}
			return txOf(tried(w, op.Edit, req), func(r *op.EditResult) string { return r.Tx })
		},
		"touch": func() string {
			return txOf(tried(w, op.Touch, &op.TouchRequest{ID: w.one(), Boost: true}), func(r *op.TouchResult) string { return r.Tx })
		},
		"relate": func() string {
			return txOf(tried(w, op.Relate, &op.RelateRequest{From: w.one(), To: w.one(), Type: memory.Related}), func(r *op.RelateResult) string { return r.Tx })
		},
		"file": func() string {
			req := &op.ReviewCreateRequest{MemoryIDs: []string{w.one()}}
			return txOf(tried(w, op.ReviewCreate, req), func(r *op.ReviewChangeResult) string { return r.Tx })
		},
		"rekindle": func() string {
			tried(w, op.Rekindle, &op.RekindleRequest{Query: w.one()})
			return ""
		},
		"write a note": w.write,
		"import":       w.foreign,
	}
}

// decide closes a review item, with one of the decisions that can be carried out.
func (w *wilds) decide() string {
	open := do(w.t, w.Engine, op.ReviewList, &op.ReviewListRequest{}).Items
	if len(open) == 0 {
		w.r.Skip("nothing to decide")
	}
	item := rapid.SampledFrom(open).Draw(w.r, "item")
	choices := do(w.t, w.Engine, op.ReviewShow, &op.ReviewShowRequest{ID: item.ID}).Choices
	if len(choices) == 0 {
		w.r.Skip("nothing can be done about it")
	}
	req := &op.ReviewCloseRequest{ID: item.ID, Decision: rapid.SampledFrom(choices).Draw(w.r, "decision")}
	w.done = append(w.done, "decides "+req.Decision)
	return txOf(tried(w, op.ReviewClose, req), func(r *op.ReviewChangeResult) string { return r.Tx })
}

func txOf[Res any](res *Res, tx func(*Res) string) string {
	if res == nil {
		return ""
	}
	return tx(res)
}

func (w *wilds) consolidated(mode string) string {
	return txOf(tried(w, op.Consolidate, &op.ConsolidateRequest{AutoDetect: true, Mode: mode}), func(r *op.ConsolidateResult) string { return r.Tx })
}

func (w *wilds) collected(archive bool) string {
	w.advance(time.Duration(rapid.IntRange(10, 60).Draw(w.r, "days")) * 24 * time.Hour)
	return txOf(tried(w, op.GC, &op.GCRequest{DryRun: new(false), ArchiveInstead: archive, Limit: 2}), func(r *op.GCResult) string { return r.Tx })
}

// write is a human at a note that carries a memory.
func (w *wilds) write() string {
	m := look(w.t, w.Engine, memory.ID(w.one()))
	if m.PromotedTo == "" {
		w.r.Skip("no note")
	}
	typed := w.text()
	was, err := os.ReadFile(w.at(m.PromotedTo))
	if err != nil {
		w.r.Skip("its note is gone")
	}
	w.human = append(w.human, typed)
	w.edit(m.PromotedTo, strings.TrimRight(string(was), "\n")+"\n\n"+typed+"\n")
	w.done = append(w.done, "a human writes")
	return ""
}

// quiet has everything written that waits.
func (w *wilds) quiet() {
	w.rest(w.t, w.Engine)
	w.batch(w.all(), w.vanished())
	w.settle()
}

// happen does one thing, and has what it leads to done.
func (w *wilds) happen(what map[string]func() string) string {
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(what))).Draw(w.r, "what")
	w.advance(time.Minute)
	tx := what[name]()
	w.last = name
	w.quiet()
	return tx
}

// fields are the memories with their fields, as an export has them.
func (w *wilds) fields() map[memory.ID]map[string]string {
	out := map[memory.ID]map[string]string{}
	for _, r := range exported(w.t, w.Engine) {
		f := map[string]string{}
		for key, value := range r.Fields {
			if !op.IsCounter(key) {
				f[key] = string(op.Canonical(value))
			}
		}
		if !r.Forgotten.IsZero() {
			f[forgottenMark] = "true"
		}
		out[r.ID] = f
	}
	return out
}

// forgottenMark stands for the key of a memory that is in the trash.
const forgottenMark = " forgotten"

// wantTyped checks that nothing is lost of what a human typed.
func (w *wilds) wantTyped() {
	var all strings.Builder
	for _, path := range w.files(w.t) {
		raw, err := os.ReadFile(filepath.Join(w.Vaults[0], path))
		ok(w.t, err)
		all.WriteString(string(raw))
	}
	for _, typed := range w.human {
		if !strings.Contains(all.String(), typed) {
			w.r.Fatalf("what a human typed is in no note after %q", w.done)
		}
	}
}

// Whatever a store is like: undoing a run takes back what the run did and nothing else.
// Of what the run changed and something else has changed since, the latter stays and is
// listed; everything else is as it was before the run.
func TestUndoingARunTakesBackThatRunAlone(t *testing.T) {
	checks := flag.Lookup("rapid.checks")
	before := checks.Value.String()
	ok(t, checks.Value.Set(fmt.Sprint(size(10, 400))))
	defer func() { ok(t, checks.Value.Set(before)) }()
	undone := make(map[string]int) // by run
	defer func() { t.Logf("undone: %v", undone) }()
	rapid.Check(t, func(r *rapid.T) {
		w := newWilds(t, r)
		both := w.changes()
		maps.Copy(both, w.runs())
		for range rapid.IntRange(0, 5).Draw(r, "before") {
			w.happen(both)
		}
		runs := w.runs()
		switch rapid.IntRange(0, 5).Draw(r, "meant") {
		case 0, 1: // else there is seldom anything to decide
			tried(w, op.AgentsRun, &op.AgentsRunRequest{Agent: op.AgentCluster})
			maps.DeleteFunc(runs, func(name string, _ func() string) bool { return name != "decide" })
		case 2:
			w.foreign()
			maps.DeleteFunc(runs, func(name string, _ func() string) bool { return name != "migrate" })
		}
		w.quiet()
		v := &undoing{wilds: w, before: w.fields()}
		tx := w.happen(runs)
		if tx == "" {
			return
		}
		undone[w.last]++
		v.after = w.fields()
		for range rapid.IntRange(0, 3).Draw(r, "since") {
			w.happen(both)
		}
		v.since = w.fields()
		v.undone(tx)
	})
}

// undoing is a run with the memories before it, after it, and when it is undone.
type undoing struct {
	*wilds
	before, after, since map[memory.ID]map[string]string
}

func (v *undoing) undone(tx string) {
	would := tried(v.wilds, op.Undo, &op.UndoRequest{Tx: tx, DryRun: true})
	res := tried(v.wilds, op.Undo, &op.UndoRequest{Tx: tx})
	if res == nil {
		if got := v.fields(); !maps.EqualFunc(got, v.since, maps.Equal) {
			v.r.Fatalf("refused, and something was changed: %q", v.done)
		}
		return
	}
	if !slices.Equal(res.Items, would.Items) {
		v.r.Errorf("the undo did %+v and previewed %+v", res.Items, would.Items)
	}
	v.check(res)
	v.quiet()
	v.quiet()
	// A note that was made of a memory stays, and the memory learns where it is.
	v.check(res, "vault_path", "note_seen")
	v.wantTyped()
}

// check compares the memories with what they should be, but for some of their fields.
func (v *undoing) check(res *op.UndoResult, but ...string) {
	now := v.fields()
	for _, all := range []map[memory.ID]map[string]string{v.before, v.after, v.since, now} {
		for _, fields := range all {
			for _, key := range but {
				delete(fields, key)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(now)) {
		if why := v.wrong(id, now[id], res.Items); why != "" {
			v.r.Fatalf("memory %s: %s\nbefore  %v\nafter   %v\nsince   %v\nundone  %v\nitems %+v\n%s", id, why, v.before[id], v.after[id], v.since[id], now[id], res.Items, strings.Join(v.done, "\n"))
		}
	}
}

// wrong is what the undo of a run should not have done to a memory.
func (v *undoing) wrong(id memory.ID, now map[string]string, items []op.UndoItem) string {
	before, after, since := v.before[id], v.after[id], v.since[id]
	if since == nil { // too long in the trash to be listed; the log has it still
		since = after
	}
	switch {
	case maps.Equal(before, after):
		if !maps.Equal(now, since) {
			return "the run had nothing to do with it, and it was changed"
		}
		return ""
	case maps.Equal(unfiled(since), unfiled(after)) && before == nil:
		if now[forgottenMark] == "" {
			return "the run made it, and it is there"
		}
		return ""
	case maps.Equal(since, after):
		if !maps.Equal(now, before) {
			return "it is not as it was"
		}
		return ""
	}
	if before["text_digest"] == "" && after["stage"] == `"archived"` && since["stage"] == `"rehydratable"` && since["archived_at"] == after["archived_at"] {
		since["stage"] = after["stage"] // it faded on, and gets its text back all the same
	}
	told := slices.ContainsFunc(items, func(it op.UndoItem) bool { return it.ID == id && it.Reason != "" })
	for key := range keysOf(before, after, since, now) {
		switch {
		case key == "updated_at":
		case since[key] != after[key] && now[key] != since[key]:
			return key + " was changed since, and that is lost"
		case since[key] == after[key] && now[key] != before[key] && !told:
			return key + " stays, and nothing says so"
		case now[key] != since[key] && now[key] != before[key]:
			return key + " is neither as it was before nor as it is since"
		}
	}
	return ""
}

// unfiled leaves out the review items of a memory: that one was filed is no change of it.
func unfiled(fields map[string]string) map[string]string {
	out := maps.Clone(fields)
	maps.DeleteFunc(out, func(key, _ string) bool { return stm.IsReviewKey(key) })
	return out
}

func keysOf(all ...map[string]string) map[string]bool {
	out := map[string]bool{}
	for _, m := range all {
		for key := range m {
			out[key] = true
		}
	}
	return out
}
