package engine_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/embedding"
	"emberd/engine"
	"emberd/engine/core"
	"emberd/internal/access"
	"emberd/memory"
	"emberd/op"
)

// Whoever has a grant cannot tell a store with memories and notes beyond it from one
// without. There are two stores: what the grant sees is in both, and the rest, with what
// its owner does to it meanwhile, in the first alone. Whatever the caller asks, both give
// the same answers and the same errors, but for the ids and stamps that chance chooses.
func TestWhatAGrantDoesNotSeeLeavesNoTrace(t *testing.T) {
	compareWorlds(t, size(16, 400), 10, 40, stores{})
}

// With a vault less can be tried, since notes have to be read first.
func TestNotesThatAGrantDoesNotSeeLeaveNoTrace(t *testing.T) {
	compareWorlds(t, size(4, 60), 20, 60, stores{vault: true})
}

// What searches mean comes back by itself, which the log is told later.
func TestWhatComesBackByItselfLeavesNoTraceOfTheRest(t *testing.T) {
	compareWorlds(t, size(2, 40), 20, 50, stores{vault: true, auto: true})
}

// What is near by its vector is found among what is seen alone.
func TestVectorsOfWhatAGrantDoesNotSeeLeaveNoTrace(t *testing.T) {
	compareWorlds(t, size(1, 20), 10, 30, stores{vault: true, model: tinyModel(t, 42)})
}

// stores are what both are: with a vault of scopedNotes, with memories that searches bring
// back, with vectors of a model.
type stores struct {
	vault, auto bool
	model       string // its file
}

// compareWorlds tries as many pairs of stores, in each of them between least and most
// steps.
func compareWorlds(t *testing.T, pairs, least, most int, of stores) {
	checks := flag.Lookup("rapid.checks")
	before := checks.Value.String()
	ok(t, checks.Value.Set(fmt.Sprint(pairs)))
	defer func() { ok(t, checks.Value.Set(before)) }()
	done := make(map[string]int)
	defer func() { t.Logf("done: %v", done) }()
	rapid.Check(t, func(r *rapid.T) {
		one := &bout{TB: t}
		defer one.end()
		w := newWorlds(one, r, of)
		for range rapid.IntRange(least, most).Draw(r, "steps") {
			w.step(done)
		}
	})
}

// scopedNotes are the notes of a vault, and the tags of each.
var scopedNotes = []struct {
	path string
	tags []string
	text string
}{
	{"Work/Plan.md", []string{"work"}, "# Plan\nThe boiler runs at 60 degrees. See [[Boiler]] and [[Secret]].\n"},
	{"Private/Plan.md", []string{"home"}, "# Plan\nThe boiler runs at 65 degrees. See [[Work/Plan]].\n"},
	{"Private/Secret.md", nil, "---\naliases: [Boiler]\n---\nThe zeppelin is moored at dawn. [[Plan]]\n"},
	{"Work/Boiler.md", []string{"home"}, "The pump is replaced in May. #home\n"},
	{"Team/Boiler.md", []string{"team"}, "The boiler is read by Maren Voss.\n"},
	{"Loose.md", []string{"work/acme"}, "Pumps are ordered by Maren Voss, see [[Boiler]].\n"},
}

var scopedGrants = []access.Grant{
	{Write: []access.Scope{{Kind: access.Tag, Value: "work"}}},
	{Read: []access.Scope{{Kind: access.Tag, Value: "team"}}, Write: []access.Scope{{Kind: access.Tag, Value: "work"}}},
	{Read: []access.Scope{{Kind: access.Tag, Value: "work"}}},
	{Write: []access.Scope{{Kind: access.Project, Value: "acme"}}},
	{Read: []access.Scope{{Kind: access.Folder, Value: "Work"}}, Write: []access.Scope{{Kind: access.Tag, Value: "team"}, {Kind: access.Project, Value: "acme"}}},
	{Write: []access.Scope{{Kind: access.Folder, Value: "Work"}}},
}

var scopedTexts = []string{
	"The boiler runs at 60 degrees", "The boiler runs at 65 degrees", "The boiler does not run at 60 degrees",
	"Maren Voss reads the boiler every Monday", "Maren Voss reads the zeppelin every Monday", "Pumps are ordered from Harlan and Sons",
	"The zeppelin is moored at dawn", "The pump was replaced on 3 May 2025", "The pump was replaced on 4 May 2025",
}

var scopedQueries = []string{
	"boiler", "zeppelin", "zeplin", "boi", "zep", "Maren Voss", "pump replaced", `"moored at dawn"`, "bolier degrees", "boiler -zeppelin",
	"tag:work", "tag:home pump", "entity:\"Maren Voss\"", "path:Private", "runs at 60", "monday",
}

// worlds are the two stores.
type worlds struct {
	stores
	r      *rapid.T
	t      testing.TB
	grant  *access.Grant
	both   [2]*world
	unseen []memory.ID // of memories that are in the first alone
	via    string      // the caller comes
}

// world is one of them.
type world struct {
	*house
	e   *engine.Engine
	ids []memory.ID // of what is in both, in the same order
	txs []string    // journal entries of the caller, in the same order
}

func newWorlds(t testing.TB, r *rapid.T, of stores) *worlds {
	g := scopedGrants[rapid.IntRange(0, len(scopedGrants)-1).Draw(r, "grant")]
	g.Token = "job"
	w := &worlds{r: r, t: t, grant: &g, stores: of, via: rapid.SampledFrom([]string{"mcp", "cli"}).Draw(r, "via")}
	indexed := rapid.Bool().Draw(r, "indexed")
	for i := range w.both {
		h := newHouse(t)
		if of.vault {
			h = w.noted(i == 0)
		}
		h.Enrich, h.AutoPromote, h.LifecyclePeriod = true, false, 0
		h.Rekindle, h.Patience = core.RekindleAsk, time.Minute
		if of.auto {
			h.Rekindle = core.RekindleAuto
		}
		if of.model != "" {
			meant(t, h, embedding.Options{Providers: []string{embedding.Go}, Model: of.model})
		}
		w.both[i] = &world{house: h}
		if of.vault {
			w.both[i].e = h.following(t)
			_, err := w.both[i].e.Notes.Vault.AllLinks(t.Context())
			ok(t, err)
		} else if w.both[i].e = h.open(t); indexed {
			w.both[i].e.Storage.BuildIndex(t.Context())
		}
	}
	for range rapid.IntRange(3, 10).Draw(r, "memories") {
		w.found()
	}
	for _, in := range w.both {
		w.settle(in, nil)
	}
	return w
}

// noted is a house with the notes that the grant sees, and with all of them the others.
func (w *worlds) noted(all bool) *house {
	h := vaultHouse(w.t, nil)
	for _, n := range scopedNotes {
		if all || w.grant.Sees(access.Subject{Tags: n.tags, Note: n.path}) {
			h.write(w.t, n.path, n.text+"\n#"+strings.Join(append(n.tags, "note"), " #")+"\n")
		}
	}
	h.ms.Store(time.Now().Add(time.Hour).Truncate(time.Hour).UnixMilli())
	return h
}

// found puts a memory of the owner into both worlds, or into the first if the grant does not see it.
func (w *worlds) found() {
	req := w.drawnSave()
	req.Tags, req.Project = w.drawnTags(), rapid.SampledFrom([]string{"", "", "acme", "else"}).Draw(w.r, "project")
	var err error
	if req.ID, err = memory.NewID(); err != nil {
		w.r.Fatal(err)
	}
	sees := w.grant.Sees(access.Subject{Tags: req.Tags, Project: req.Project})
	req.Again, req.Enrich = sees, new(false) // its owner knows all names
	for i, world := range w.both {
		if i == 0 || sees {
			_, err := op.Save.Call(w.owner(), world.e, req)
			if memory.CodeOf(err) == memory.Forgotten {
				return // what is to be saved all the same can be saved by the caller, too
			}
			if err != nil {
				w.r.Fatal(err)
			}
		}
		if sees {
			world.ids = append(world.ids, req.ID)
		}
	}
	if !sees {
		w.unseen = append(w.unseen, req.ID)
	}
	w.pass()
}

func (w *worlds) owner() context.Context {
	return op.WithCaller(context.Background(), memory.Actor{UID: 1, Via: "cli"})
}

func (w *worlds) caller() context.Context {
	by := memory.Actor{UID: 1, Via: w.via, Client: "tester", Token: w.grant.Token}
	return op.WithGrant(op.WithCaller(context.Background(), by), w.grant)
}

// pass lets some time go by, so that nothing happens at the same moment.
func (w *worlds) pass() {
	for _, world := range w.both {
		world.advance(1500 * time.Millisecond)
	}
}

func (w *worlds) drawnTags() []string {
	return rapid.SampledFrom([][]string{nil, {"work"}, {"home"}, {"work/acme", "pump"}, {"team"}, {"home", "team"}, {"Work"}}).Draw(w.r, "tags")
}

func (w *worlds) drawnSave() *op.SaveRequest {
	req := &op.SaveRequest{Content: rapid.SampledFrom(scopedTexts).Draw(w.r, "text"), EvenRecalled: true}
	req.Content += rapid.SampledFrom([]string{"", "", ".", ", says the manual"}).Draw(w.r, "ending")
	return req
}

// ref names a memory in each world: one of both, or one that is in the first alone.
func (w *worlds) ref() func(*world) string {
	short := rapid.Bool().Draw(w.r, "short")
	spelt := func(id memory.ID) string {
		if short {
			return id.Short()
		}
		return string(id)
	}
	if n := len(w.both[0].ids); n > 0 && (len(w.unseen) == 0 || rapid.IntRange(0, 3).Draw(w.r, "of both") > 0) {
		i := rapid.IntRange(0, n-1).Draw(w.r, "memory")
		return func(in *world) string { return spelt(in.ids[i]) }
	}
	if len(w.unseen) == 0 {
		return func(*world) string { return "0198aaaa-bbbb-7ccc-8ddd-eeeeffff0000" }
	}
	id := rapid.SampledFrom(w.unseen).Draw(w.r, "unseen memory")
	return func(*world) string { return spelt(id) }
}

// step has the owner do something that the grant does not see, or the caller anything.
func (w *worlds) step(done map[string]int) {
	w.pass()
	if rapid.IntRange(0, 4).Draw(w.r, "who") == 0 {
		w.meanwhile()
		return
	}
	all := w.asked()
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	name := rapid.SampledFrom(names).Draw(w.r, "operation")
	ask := all[name]()
	var told [2]string
	outcome := name
	for i, in := range w.both {
		res, err := ask(in)
		if err != nil {
			outcome = name + " " + string(memory.CodeOf(err))
		}
		told[i] = w.normal(in, res, err)
		w.settle(in, res)
	}
	done[outcome]++
	if told[0] != told[1] {
		told[0], told[1] = parting(told[0], told[1])
		w.r.Fatalf("%s by %+v differs:\nwith what is not seen  %s\nand without            %s", name, *w.grant, told[0], told[1])
	}
}

// meanwhile is what the owner does to what the grant does not see.
func (w *worlds) meanwhile() {
	in := w.both[0]
	must := func(_ any, err error) {
		if err != nil && !slices.Contains([]memory.Code{memory.NotFound, memory.Conflict, memory.Forgotten}, memory.CodeOf(err)) {
			w.r.Fatal(err)
		}
	}
	any := func() string {
		if len(w.unseen) == 0 {
			return "0198aaaa-bbbb-7ccc-8ddd-eeeeffff0000"
		}
		return string(rapid.SampledFrom(w.unseen).Draw(w.r, "whose"))
	}
	switch rapid.SampledFrom([]string{"save", "edit", "forget", "relate", "search", "key", "show", "archive"}).Draw(w.r, "meanwhile") {
	case "save":
		w.found()
	case "edit":
		must(op.Edit.Call(w.owner(), in.e, &op.EditRequest{ID: any(), Content: &w.drawnSave().Content}))
	case "forget":
		must(op.Forget.Call(w.owner(), in.e, &op.ForgetRequest{ID: any()}))
	case "relate":
		must(op.Relate.Call(w.owner(), in.e, &op.RelateRequest{From: any(), To: w.ref()(in), Type: memory.Related}))
	case "search":
		must(op.Search.Call(w.owner(), in.e, &op.SearchRequest{Query: rapid.SampledFrom(scopedQueries).Draw(w.r, "query"), Track: new(false)}))
	case "key":
		req := w.drawnSave()
		req.Tags, req.IdempotencyKey = []string{"home"}, "key 1"
		if w.grant.Sees(access.Subject{Tags: req.Tags}) {
			return
		}
		res, err := op.Save.Call(w.owner(), in.e, req)
		if must(res, err); err == nil && !res.Replayed {
			w.unseen = append(w.unseen, res.Memory.ID)
		}
	case "show":
		must(op.Show.Call(w.owner(), in.e, &op.ShowRequest{ID: any()}))
	case "archive":
		if w.vault {
			must(op.Archive.Call(w.owner(), in.e, &op.ArchiveRequest{ID: any()}))
		}
	}
	for _, in := range w.both {
		w.settle(in, nil)
	}
}

// attempt is a request on its way to both worlds.
type attempt func(in *world) (any, error)

func asks[Req, Res any](w *worlds, o op.Op[Req, Res], req func(in *world) *Req) attempt {
	return func(in *world) (any, error) {
		res, err := o.Call(w.caller(), in.e, req(in))
		if err != nil {
			return nil, err
		}
		return res, nil
	}
}

// makes is an attempt after which both worlds have a new memory.
func makes[Req, Res any](w *worlds, o op.Op[Req, Res], req *Req, of func(*Res) (memory.ID, string)) attempt {
	return func(in *world) (any, error) {
		res, err := o.Call(w.caller(), in.e, req)
		if err != nil {
			return nil, err
		}
		id, tx := of(res)
		if id != "" && !slices.Contains(in.ids, id) {
			in.ids = append(in.ids, id)
		}
		if tx != "" && !slices.Contains(in.txs, tx) {
			in.txs = append(in.txs, tx)
		}
		return res, nil
	}
}

var (
	scopedStamp = regexp.MustCompile(`[0-9a-f]{12}-[0-9a-f]{4}-[a-z2-7]{8}(-[0-9a-f]{8})?`)
	scopedRel   = regexp.MustCompile(`rel-[0-9a-f]+`)
	scopedTime  = regexp.MustCompile(`"(modified|created|started)":"[^"]*"`)
	scopedPID   = regexp.MustCompile(`"(pid|cursor|next_cursor)":("[^"]*"|[0-9]+)`)
	scopedSum   = regexp.MustCompile(`([0-9]\.[0-9]{9})[0-9]+`)                            // sums come in any order
	scopedModel = regexp.MustCompile(`"embedding_version":"[^"]*",|,"has_embedding":true`) // goes some time after its memory
	scopedKey   = regexp.MustCompile(`"(relation|source)\.[^"]*"`)
)

// normal is an answer without what chance chose.
func (w *worlds) normal(in *world, res any, err error) string {
	var text string
	if typed, ok := err.(*memory.Error); ok {
		text = fmt.Sprintf("%s %s: %s (%s)", typed.Code, typed.Field, typed, typed.Current)
	} else if err != nil {
		w.r.Fatalf("an error without a code: %v", err)
	} else {
		raw, err := json.Marshal(res)
		if err != nil {
			w.r.Fatal(err)
		}
		text = string(raw)
	}
	if w.vault {
		text = strings.ReplaceAll(text, in.Vaults[0], "vault")
	}
	for i, id := range in.ids {
		text = strings.ReplaceAll(text, string(id), fmt.Sprintf("memory-%d", i))
		text = strings.ReplaceAll(text, id.Short(), fmt.Sprintf("m%d", i))
	}
	text = scopedStamp.ReplaceAllString(text, "stamp")
	text = scopedRel.ReplaceAllString(text, "relation")
	text = scopedSum.ReplaceAllString(text, "$1")
	text = scopedModel.ReplaceAllString(text, "")
	text = scopedKey.ReplaceAllString(text, `"key"`)
	text = scopedTime.ReplaceAllString(text, `"$1":"time"`)
	text = scopedPID.ReplaceAllString(text, `"$1":"some"`)
	var all any
	if json.Unmarshal([]byte(text), &all) != nil {
		return text // of an error
	}
	byChance(all)
	raw, err := json.Marshal(all)
	if err != nil {
		w.r.Fatal(err)
	}
	return string(raw)
}

// byChance sorts relations of one moment, which are in the order of their ids.
func byChance(value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, v := range value {
			byChance(v)
		}
	case []any:
		for _, v := range value {
			byChance(v)
		}
		slices.SortStableFunc(value, func(a, b any) int {
			one, ok := a.(map[string]any)
			other, too := b.(map[string]any)
			if !ok || !too || (one["id"] != "relation" || other["id"] != "relation") && (one["name"] != "key" || other["name"] != "key") {
				return 0
			}
			return strings.Compare(fmt.Sprint(one), fmt.Sprint(other))
		})
	}
}

// parting are two texts from shortly before where they differ.
func parting(a, b string) (string, string) {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	part := func(s string) string { return s[max(0, at-300):min(len(s), at+300)] }
	return part(a), part(b)
}
