package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/internal/access"
	"emberd/memory"
	"emberd/op"
)

// workGrant changes what is tagged work and reads what is tagged team.
func workGrant() *access.Grant {
	return &access.Grant{Token: "job", Read: []access.Scope{{Kind: access.Tag, Value: "team"}}, Write: []access.Scope{{Kind: access.Tag, Value: "work"}}}
}

func contextOf(g *access.Grant) context.Context {
	by := memory.Actor{UID: 1, Via: "mcp", Client: "tester", Token: g.Token}
	return op.WithGrant(op.WithCaller(context.Background(), by), g)
}

// as carries out an operation for who has a grant.
func as[Req, Res any](g *access.Grant, e *engine.Engine, o op.Op[Req, Res], req *Req) (*Res, error) {
	return o.Call(contextOf(g), e, req)
}

// Who may only read a memory leaves it as it is: it is not kept from fading, not woken, and not
// promoted for being used.
func TestReadingAloneIsNoUse(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	theirs := save(t, e, "the kettle leaks", "team")
	own := save(t, e, "the boiler leaks", "work")
	h.advance(time.Hour)
	for _, m := range []op.Memory{theirs, own} {
		asks := []func() error{
			func() error { _, err := as(workGrant(), e, op.Show, &op.ShowRequest{ID: string(m.ID)}); return err },
			func() error {
				_, err := as(workGrant(), e, op.OpenMany, &op.OpenManyRequest{IDs: []string{string(m.ID)}})
				return err
			},
			func() error { _, err := as(workGrant(), e, op.Search, &op.SearchRequest{Query: m.Content}); return err },
			func() error { _, err := as(workGrant(), e, op.Verify, &op.VerifyRequest{Claim: m.Content}); return err },
		}
		for _, ask := range asks {
			if err := ask(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := look(t, e, theirs.ID); got.UseCount != 0 || !got.LastUsed.Equal(theirs.LastUsed) || got.AccessCount != 0 {
		t.Errorf("one that may be read counts %d uses and %d accesses", got.UseCount, got.AccessCount)
	}
	if got := look(t, e, own.ID); got.UseCount != 0 || got.AccessCount < 3 {
		t.Errorf("one that may be changed counts %d uses, want none, and %d accesses", got.UseCount, got.AccessCount)
	}
}

// Every operation about one memory, for one that may be changed, one that may be read, one
// that is not seen and one that there is not.
func TestWhatAGrantReachesOfOneMemory(t *testing.T) {
	t.Parallel()
	const read, change = false, true
	tests := []struct {
		name    string
		changes bool
		do      func(e *engine.Engine, g *access.Grant, id string) error
	}{
		{"show", read, func(e *engine.Engine, g *access.Grant, id string) error {
			_, err := as(g, e, op.Show, &op.ShowRequest{ID: id})
			return err
		}},
		{"history", read, func(e *engine.Engine, g *access.Grant, id string) error {
			_, err := as(g, e, op.History, &op.HistoryRequest{ID: id})
			return err
		}},
		{"why", read, func(e *engine.Engine, g *access.Grant, id string) error {
			_, err := as(g, e, op.Why, &op.WhyRequest{ID: id})
			return err
		}},
		{"timeline", read, func(e *engine.Engine, g *access.Grant, id string) error {
			_, err := as(g, e, op.Timeline, &op.TimelineRequest{ID: id})
			return err
		}},
		{"relate to", read, func(e *engine.Engine, g *access.Grant, id string) error {
			from, err := as(g, e, op.Save, &op.SaveRequest{Content: "a start", Again: true})
			if err == nil {
				_, err = as(g, e, op.Relate, &op.RelateRequest{From: string(from.Memory.ID), To: id, Type: memory.Related})
			}
			return err
		}},
		{"edit", change, func(e *engine.Engine, g *access.Grant, id string) error {
			_, err := as(g, e, op.Edit, &op.EditRequest{ID: id, Category: new("other")})
			return err
		}},
		{"forget", change, func(e *engine.Engine, g *access.Grant, id string) error {
			_, err := as(g, e, op.Forget, &op.ForgetRequest{ID: id})
			return err
		}},
		{"forget_batch", change, func(e *engine.Engine, g *access.Grant, id string) error {
			_, err := as(g, e, op.ForgetBatch, &op.ForgetBatchRequest{IDs: []string{id}})
			return err
		}},
		{"touch", change, func(e *engine.Engine, g *access.Grant, id string) error {
			_, err := as(g, e, op.Touch, &op.TouchRequest{ID: id})
			return err
		}},
		{"reinforce", change, func(e *engine.Engine, g *access.Grant, id string) error {
			_, err := as(g, e, op.Reinforce, &op.ReinforceRequest{ID: id})
			return err
		}},
		{"relate from", change, func(e *engine.Engine, g *access.Grant, id string) error {
			to, err := as(g, e, op.Save, &op.SaveRequest{Content: "an end", Again: true})
			if err == nil {
				_, err = as(g, e, op.Relate, &op.RelateRequest{From: id, To: string(to.Memory.ID), Type: memory.Related})
			}
			return err
		}},
		{"supersede", change, func(e *engine.Engine, g *access.Grant, id string) error {
			_, err := as(g, e, op.Save, &op.SaveRequest{Content: "what holds now", Supersedes: []string{id}})
			return err
		}},
		{"promote", change, func(e *engine.Engine, g *access.Grant, id string) error {
			_, err := as(g, e, op.Promote, &op.PromoteRequest{ID: id, Force: true})
			return err
		}},
		{"archive", change, func(e *engine.Engine, g *access.Grant, id string) error {
			_, err := as(g, e, op.Archive, &op.ArchiveRequest{ID: id})
			return err
		}},
	}
	e := vaultHouse(t, nil).following(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			of := func(tag string) error {
				return test.do(e, workGrant(), string(save(t, e, test.name+" of "+tag+" memory", tag).ID))
			}
			ok(t, of("work"))
			if err := of("team"); test.changes {
				wantCode(t, err, memory.Forbidden, "cannot change memory")
			} else {
				ok(t, err)
			}
			unseen := save(t, e, test.name+" of home memory", "home").ID
			const nobody = "0198aaaa-bbbb-7ccc-8ddd-eeeeffff0000"
			err, want := test.do(e, workGrant(), string(unseen)), test.do(e, workGrant(), nobody)
			wantCode(t, err, memory.NotFound, "")
			if want == nil || err == nil || strings.ReplaceAll(err.Error(), string(unseen), nobody) != want.Error() {
				t.Errorf("of an unseen memory it says %q, and of none %q", err, want)
			}
		})
	}
}

func TestAnEditKeepsToTheGrant(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	id := string(save(t, e, "the boiler runs at 60 degrees", "work").ID)
	_, err := as(workGrant(), e, op.Edit, &op.EditRequest{ID: id, Tags: &[]string{"team"}})
	wantCode(t, err, memory.Forbidden, "keep the tags, project and note of the memory")
	_, err = as(workGrant(), e, op.Edit, &op.EditRequest{ID: id, Tags: &[]string{"work/acme"}})
	ok(t, err)
}

func TestASaveGetsTheScopeItLacks(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	res, err := as(workGrant(), e, op.Save, &op.SaveRequest{Content: "the boiler runs at 60 degrees"})
	ok(t, err)
	if res.Added != "tag:work" || strings.Join(res.Memory.Tags, " ") != "work" {
		t.Errorf("added %q, tags %q", res.Added, res.Memory.Tags)
	}
	project := &access.Grant{Token: "job", Write: []access.Scope{{Kind: access.Project, Value: "acme"}}}
	added, err := as(project, e, op.Add, &op.AddRequest{Content: "pumps are ordered from Harlan and Sons"})
	ok(t, err)
	if added.Memory.Project != "acme" || !strings.Contains(added.Message, "project:acme") {
		t.Errorf("project %q, said %q", added.Memory.Project, added.Message)
	}
	folder := &access.Grant{Token: "job", Write: []access.Scope{{Kind: access.Folder, Value: "Work"}}}
	_, err = as(folder, e, op.Save, &op.SaveRequest{Content: "the zeppelin is moored"})
	wantCode(t, err, memory.Forbidden, "because its scopes (folder:Work) include only notes and memories with a note; ask the user for a token with a tag or project scope")
	_, err = as(&access.Grant{Token: "job", Read: folder.Write}, e, op.Save, &op.SaveRequest{Content: "the zeppelin is moored"})
	wantCode(t, err, memory.Forbidden, "is read-only; ask the user for a token with a write scope")
}

func TestWholeOperationsNeedAWholeGrant(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	all := []access.Scope{{Kind: access.All}}
	_, err := as(workGrant(), e, op.Clusters, &op.ClustersRequest{})
	wantCode(t, err, memory.Forbidden, "token job cannot run clusters, which accesses memories outside tag:team, tag:work; ask the user, or use a token with scope all")
	_, err = as(&access.Grant{Token: "job", Read: all}, e, op.Clusters, &op.ClustersRequest{})
	ok(t, err)
	_, err = as(&access.Grant{Token: "job", Read: all}, e, op.PromoteAuto, &op.PromoteAutoRequest{})
	wantCode(t, err, memory.Forbidden, "ask the user, or use a token with scope all")
	_, err = as(&access.Grant{Token: "job", Write: all}, e, op.GC, &op.GCRequest{})
	ok(t, err)
	_, err = as(workGrant(), e, op.Version, &op.VersionRequest{})
	ok(t, err)
	_, err = as(workGrant(), e, op.List, &op.ListRequest{AsOf: e.Opt.Now()})
	wantCode(t, err, memory.Forbidden, "cannot read memories as of an earlier time, because the scopes of the token depend on the current memories; omit as_of")
}

// A key or an entry of somebody else is none.
func TestKeysAndEntriesAreTheTokensOwn(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	owner := do(t, e, op.Save, &op.SaveRequest{Content: "the zeppelin is moored", IdempotencyKey: "one"})
	mine, err := as(workGrant(), e, op.Save, &op.SaveRequest{Content: "the boiler runs", IdempotencyKey: "one"})
	ok(t, err)
	again, err := as(workGrant(), e, op.Save, &op.SaveRequest{Content: "the boiler runs", IdempotencyKey: "one"})
	ok(t, err)
	if mine.Replayed || !again.Replayed || again.Memory.ID != mine.Memory.ID {
		t.Errorf("replayed %v and %v", mine.Replayed, again.Replayed)
	}
	_, err = as(workGrant(), e, op.Undo, &op.UndoRequest{Tx: owner.Tx})
	wantCode(t, err, memory.NotFound, "change "+owner.Tx+" not found")
	_, err = as(workGrant(), e, op.SaveBatch, &op.SaveBatchRequest{Tx: owner.Tx, Items: []op.SaveRequest{{Content: "more"}}})
	wantCode(t, err, memory.NotFound, "change "+owner.Tx+" not found")
	journal, err := as(workGrant(), e, op.Journal, &op.JournalRequest{})
	ok(t, err)
	if journal.Total != 1 || journal.Entries[0].Tx != mine.Tx {
		t.Errorf("the journal is %+v", journal)
	}
	undone, err := as(workGrant(), e, op.Undo, &op.UndoRequest{})
	ok(t, err)
	if undone.Entry.Tx != mine.Tx {
		t.Errorf("undid %s, want %s", undone.Entry.Tx, mine.Tx)
	}
}

// An id that somebody chooses never becomes, or overwrites, a memory that is not seen.
func TestAChosenIDTakesNobodysPlace(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	home := save(t, e, "the zeppelin is moored", "home")
	_, err := as(workGrant(), e, op.Save, &op.SaveRequest{ID: home.ID, Content: "the boiler runs", Tags: []string{"work"}})
	wantCode(t, err, memory.Conflict, "omit the ID")
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(home.ID)})
	_, err = as(workGrant(), e, op.Save, &op.SaveRequest{ID: home.ID, Content: "the boiler runs", Tags: []string{"work"}})
	wantCode(t, err, memory.Conflict, "omit the ID")
}

// Of a note the grant sees, and of the memory that has it, no path leads to another.
func TestFoldersReachNotesAndTheirMemories(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, map[string]string{"Memories/Plan.md": "# Plan\nSee [[Secret]].\n", "Private/Secret.md": "The zeppelin is moored. [[Plan]]\n"})
	e := h.following(t)
	m := save(t, e, "the boiler runs at 60 degrees")
	promoteByID(t, e, m.ID)
	g := &access.Grant{Token: "job", Write: []access.Scope{{Kind: access.Folder, Value: "Memories"}}}
	_, err := as(g, e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("the boiler runs at 65 degrees")})
	ok(t, err)
	found, err := as(g, e, op.Search, &op.SearchRequest{Query: "zeppelin"})
	ok(t, err)
	if found.Total != 0 {
		t.Errorf("found %q", names(found.Hits))
	}
	_, err = as(g, e, op.NoteRead, &op.NoteReadRequest{Path: "Private/Secret.md"})
	wantCode(t, err, memory.NotFound, "not found; run: emberd search --notes")
	links, err := as(g, e, op.Links, &op.LinksRequest{Note: "Plan"})
	ok(t, err)
	if len(links.Incoming) != 0 || len(links.Outgoing) != 1 || links.Outgoing[0].Path != "" {
		t.Errorf("links %+v", links)
	}
}

// A dry run and an opening of many tell of a memory out of scope what they tell of one that
// there is not, whatever it is called and related to.
func TestWhatOnlyLooksTellsNothingOutOfScope(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	known := func(tag string, aliases ...string) memory.ID {
		return do(t, e, op.Save, &op.SaveRequest{Content: "a drop of " + aliases[0], Tags: []string{tag}, Aliases: aliases}).Memory.ID
	}
	seen, hidden, unheard := known("work", "dew"), known("home", "rain", "dew"), newID(t)
	do(t, e, op.Relate, &op.RelateRequest{From: string(seen), To: string(hidden), Type: memory.Related})
	dry := func(from, to string) string {
		res, err := as(workGrant(), e, op.RelateBatch, &op.RelateBatchRequest{DryRun: true, Items: []op.RelateRequest{{From: from, To: to, Type: memory.Related}}})
		ok(t, err)
		return fmt.Sprintf("%q %+v", res.Results[0].ID, *res.Results[0].Error)
	}
	for name, other := range map[string]string{string(hidden): string(unheard), "rain": "hail"} {
		for _, told := range [][2]string{{dry("dew", name), dry("dew", other)}, {dry(name, "dew"), dry(other, "dew")}} {
			if strings.ReplaceAll(told[0], name, other) != told[1] {
				t.Errorf("of %s a dry run tells %s, and of %s %s", name, told[0], other, told[1])
			}
		}
	}
	open := &op.OpenManyRequest{IDs: []string{"dew", "rain", string(hidden)}, Relations: new(true)}
	res, err := as(workGrant(), e, op.OpenMany, open)
	ok(t, err)
	if len(res.Memories) != 1 || res.Memories[0].ID != seen || len(res.Memories[0].Relations.Outgoing) > 0 || !slices.Equal(res.NotFound, open.IDs[1:]) {
		t.Errorf("opened %+v, and missing %q", res.Memories, res.NotFound)
	}
}
