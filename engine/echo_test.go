package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
)

const valve = "The copper valve on deck three leaks whenever the tide turns"

// linkCount counts the links of a provenance chain, each as often as it was learned by.
func linkCount(m *op.Memory) (n int64) {
	for _, s := range m.Sources {
		n += s.Count()
	}
	return n
}

func TestSavingWhatWasJustRecalledStoresNothing(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	m := save(t, e, valve)
	searchFor(t, e, "copper valve")
	clock.advance(time.Minute)
	res := do(t, e, op.Save, &op.SaveRequest{Content: "> " + valve + "."})
	if res.Echo == nil || res.Echo.Of != m.ID || res.Memory.ID != m.ID || res.Echo.Similarity != 1 || res.Echo.RecalledAt != clock.Now().Add(-time.Minute) {
		t.Fatalf("the save answers %+v, want an echo of %s", res, m.ID)
	}
	now := look(t, e, m.ID)
	if now.UseCount != 1 || now.Importance != m.Importance || now.Strength != m.Strength || linkCount(&now) != linkCount(&m)+1 {
		t.Errorf("it was used %d times and has %d links, importance %v; want 1, one more than %d, and as before", now.UseCount, linkCount(&now), now.Importance, linkCount(&m))
	}
	if n := do(t, e, op.List, &op.ListRequest{}).Total; n != 1 {
		t.Errorf("there are %d memories, want 1", n)
	}
	do(t, e, op.Undo, &op.UndoRequest{Tx: res.Tx})
	if now = look(t, e, m.ID); linkCount(&now) != linkCount(&m) {
		t.Errorf("after the undo it has %d links, want %d", linkCount(&now), linkCount(&m))
	}
}

func TestWhatIsNoEchoIsStored(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		req  op.SaveRequest
		wait time.Duration
	}{
		"another number":     {req: op.SaveRequest{Content: "The copper valve on deck four leaks whenever the tide turns"}},
		"a new fact with it": {req: op.SaveRequest{Content: valve + ", and Ann has ordered a new one from the chandler"}},
		"wanted":             {req: op.SaveRequest{Content: valve, Again: true}},
		"wanted by a tool":   {req: op.SaveRequest{Content: valve, EvenRecalled: true}},
		"imported":           {req: op.SaveRequest{Content: valve, CreatedAt: newClock().daysAgo(2)}},
		"with an id":         {req: op.SaveRequest{Content: valve, ID: "0192f3a1-b2c3-7000-8000-0123456789ab"}},
		"another project":    {req: op.SaveRequest{Content: valve, Project: "other"}},
		"another collection": {req: op.SaveRequest{Content: valve, Collection: "other"}},
		"too long ago":       {req: op.SaveRequest{Content: valve}, wait: time.Hour + time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			e, clock := newEngine(t)
			m := do(t, e, op.Save, &op.SaveRequest{Content: valve, Project: "boat"}).Memory
			searchFor(t, e, "copper valve")
			clock.advance(c.wait)
			res := do(t, e, op.Save, &c.req)
			if res.Echo != nil || res.Memory.ID == m.ID {
				t.Errorf("it is taken for an echo: %+v", res.Echo)
			}
		})
	}
}

func TestWhatIsGoneOrOtherwiseNowHasNoEcho(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, e *engine.Engine, id memory.ID){
		"edited": func(t *testing.T, e *engine.Engine, id memory.ID) {
			do(t, e, op.Edit, &op.EditRequest{ID: string(id), Content: new("The copper valve on deck three was mended")})
		},
		"forgotten": func(t *testing.T, e *engine.Engine, id memory.ID) {
			do(t, e, op.Forget, &op.ForgetRequest{ID: string(id)})
		},
		"purged": func(t *testing.T, e *engine.Engine, id memory.ID) {
			do(t, e, op.Purge, &op.PurgeRequest{ID: string(id)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := newEngine(t)
			m := save(t, e, valve)
			searchFor(t, e, "copper valve")
			change(t, e, m.ID)
			if of := e.Recall.Find(valve, "", ""); of != nil {
				t.Errorf("it is an echo of %+v", of)
			}
		})
	}
}

func TestAfterAPurgeNothingRecalledIsKnown(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, valve)
	save(t, e, "The copper pipe beside the valve is sound and needs no care")
	searchFor(t, e, "copper valve")
	if texts, words := e.Recall.Returned.Size(); texts != 2 || words == 0 {
		t.Fatalf("%d texts of %d words are known, want 2", texts, words)
	}
	do(t, e, op.Purge, &op.PurgeRequest{ID: string(m.ID)})
	if texts, words := e.Recall.Returned.Size(); texts+words != 0 {
		t.Errorf("%d texts of %d words are known, want none", texts, words)
	}
}

// A trial leaves nothing: no access, and no text that counts as recalled.
func TestATrialLeavesNothing(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, valve)
	res := do(t, e, op.Search, &op.SearchRequest{Query: "copper valve", Trial: true})
	if len(res.Hits) != 1 || res.Hits[0].ID != m.ID {
		t.Fatalf("got %d hits, want the memory", len(res.Hits))
	}
	if texts, _ := e.Recall.Returned.Size(); texts != 0 {
		t.Errorf("%d texts count as recalled, want none", texts)
	}
	if after := do(t, e, op.Show, &op.ShowRequest{ID: string(m.ID), Track: new(bool)}); after.Memory.AccessCount != 0 {
		t.Errorf("%d accesses are counted, want none", after.Memory.AccessCount)
	}
}

func TestTheSameRequestAgainCountsItsEchoOnce(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, valve)
	searchFor(t, e, "copper valve")
	for range 3 {
		if got := do(t, e, op.Save, &op.SaveRequest{Content: valve, IdempotencyKey: "k"}).Memory.ID; got != m.ID {
			t.Fatalf("it answers with %s, want %s", got, m.ID)
		}
	}
	if now := look(t, e, m.ID); now.UseCount != 1 || linkCount(&now) != linkCount(&m)+1 {
		t.Errorf("it was used %d times and has %d links, want 1 and one more than %d", now.UseCount, linkCount(&now), linkCount(&m))
	}
}

func TestAPersonThatSaysAgainWhatAPageSaidConfirmsIt(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := do(t, e, op.Save, &op.SaveRequest{Content: valve, Provenance: op.Provenance{Origin: memory.FromWeb}}).Memory
	searchFor(t, e, "copper valve")
	ctx := op.WithCaller(t.Context(), memory.Actor{Via: core.ViaCLI})
	res, err := op.Save.Call(ctx, e, &op.SaveRequest{Content: valve})
	if err != nil || res.Memory.ID != m.ID || !res.Confirmed || res.Memory.DataOnly() {
		t.Fatalf("the save answers %+v, %v", res, err)
	}
	if now := look(t, e, m.ID); now.ConfirmedAt.IsZero() {
		t.Error("it is not confirmed")
	}
}

func TestAToolThatSaysAgainWhatSomebodySaidIsNoUse(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, valve)
	searchFor(t, e, "copper valve")
	for _, origin := range []string{memory.FromTool, memory.FromWeb} {
		res := do(t, e, op.Save, &op.SaveRequest{Content: valve, Provenance: op.Provenance{Origin: origin}})
		if res.Echo == nil {
			t.Fatalf("what %s says again is stored", origin)
		}
	}
	if now := look(t, e, m.ID); now.UseCount != 0 || linkCount(&now) != linkCount(&m)+2 {
		t.Errorf("it was used %d times and has %d links, want 0 and two more than %d", now.UseCount, linkCount(&now), linkCount(&m))
	}
}

// What is left out of a long text may be what is corrected in it.
func TestWhatALongTextLeavesOut(t *testing.T) {
	t.Parallel()
	crew := "The crew of the summer: " + strings.Repeat("one of the watch sleeps while two of them sail and the next of them cooks for all. ", 6) + "Fish, bread, cheese and apples are in the hold"
	for text, echo := range map[string]bool{
		crew: true,
		strings.Replace(crew, "are in the hold", "are in hold", 1): true,
		strings.Replace(crew, "cheese ", "", 1):                    false,
		strings.Replace(crew, "cheese", "ham", 1):                  false,
		crew + " and rum": false,
	} {
		e, _ := newEngine(t)
		save(t, e, crew)
		searchFor(t, e, "crew summer")
		if of := e.Recall.Find(text, "", ""); (of != nil) != echo {
			t.Errorf("%q is an echo of %+v, want one: %t", text, of, echo)
		}
	}
}

func TestSeveralHitsSavedAsOneAreAnEcho(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, valve)
	other := save(t, e, "The copper pipe beside the valve is sound and needs no care")
	searchFor(t, e, "copper valve")
	for text, want := range map[string]memory.ID{
		"- " + valve + "\n- " + other.Content:                      m.ID,
		other.Content + "\n\n" + valve:                             other.ID,
		"- " + valve + "\n- " + other.Content + "\n- Ann knows it": "",
		"- " + valve + "\n- " + valve:                              "",
	} {
		var got memory.ID
		if of := e.Recall.Find(text, "", ""); of != nil {
			got = of.Of
		}
		if got != want {
			t.Errorf("%q is an echo of %q, want of %q", text, got, want)
		}
	}
}

// Of a note only what it says in the same words is known to be there still.
func TestATextLikeThatOfANoteIsStored(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("one of the watch sleeps while two of them sail and the next of them cooks for all. ", 6) + "Fish, bread, cheese and apples are in the hold"
	d := newDesk(t, map[string]string{"Crew.md": text + "\n"})
	do(t, d.Engine, op.NoteRead, &op.NoteReadRequest{Path: "Crew.md"})
	if of := d.Recall.Find(text, "", ""); of == nil || of.Path != "Crew.md" {
		t.Errorf("the text of the note is an echo of %+v", of)
	}
	if of := d.Recall.Find(strings.Replace(text, "cheese ", "", 1), "", ""); of != nil {
		t.Errorf("without the cheese it is an echo of %+v", of)
	}
}

// An answer under way during a purge may have what was purged.
func TestWhatIsRecalledDuringAPurgeIsNotKnown(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, valve)
	list := e.Handlers()[op.List.Name]
	e.Handlers()[op.List.Name] = func(ctx context.Context, req any) (any, error) {
		res, err := list(ctx, req)
		do(t, e, op.Purge, &op.PurgeRequest{ID: string(m.ID)})
		return res, err
	}
	if n := len(do(t, e, op.List, &op.ListRequest{}).Memories); n != 1 {
		t.Fatalf("the list has %d memories, want 1", n)
	}
	if texts, words := e.Recall.Returned.Size(); texts+words != 0 {
		t.Errorf("%d texts of %d words are known, want none", texts, words)
	}
}
