package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/internal/access"
	"emberd/memory"
	"emberd/op"
)

// breakout is one request of a limited token that reaches beyond its scope.
type breakout struct {
	name string
	do   func(e *engine.Engine, w *confinedWorld) error
	code memory.Code
}

// confinedWorld is a store with memories inside and outside of the scope tag:work.
type confinedWorld struct {
	own, other, hidden memory.ID // two of the token, and one that it cannot see
	relation           string    // between own and other
	hiddenRelation     string    // from own to hidden
	hiddenTx           string    // that saved hidden
}

func newConfinedWorld(t *testing.T, e *engine.Engine) *confinedWorld {
	t.Helper()
	w := new(confinedWorld)
	w.own = save(t, e, "the boiler runs at 60 degrees", "work").ID
	w.other = save(t, e, "the pump hums in the cellar", "work").ID
	hidden := do(t, e, op.Save, &op.SaveRequest{Content: "the wages are paid on Friday", Tags: []string{"home"}, Project: "Payroll",
		Aliases: []string{"wages"}, Entities: []string{"Wages"}})
	w.hidden, w.hiddenTx = hidden.Memory.ID, hidden.Tx
	w.relation = do(t, e, op.Relate, &op.RelateRequest{From: string(w.own), To: string(w.other), Type: memory.Related}).Relation.ID
	w.hiddenRelation = do(t, e, op.Relate, &op.RelateRequest{From: string(w.own), To: string(w.hidden), Type: memory.Related}).Relation.ID
	return w
}

func try[Req, Res any](name string, o op.Op[Req, Res], code memory.Code, req func(w *confinedWorld) *Req) breakout {
	return breakout{name, func(e *engine.Engine, w *confinedWorld) error {
		_, err := as(workGrant(), e, o, req(w))
		return err
	}, code}
}

// savesOut are the saves that leave the scope, for each operation that takes one.
func savesOut[Req, Res any](o op.Op[Req, Res], from func(op.SaveRequest) *Req, problem func(*Res) *op.Problem) []breakout {
	requests := map[string]op.SaveRequest{
		"foreign tag":            {Tags: []string{"work", "home"}},
		"foreign tag alone":      {Tags: []string{"home"}},
		"foreign project":        {Tags: []string{"work"}, Project: "Payroll"},
		"foreign collection":     {Tags: []string{"work"}, Collection: "archive"},
		"alias that is taken":    {Tags: []string{"work"}, Aliases: []string{"wages"}},
		"alias that is not":      {Tags: []string{"work"}, Aliases: []string{"salaries"}},
		"entity with that alias": {Tags: []string{"work", "home"}, Aliases: []string{"wages"}, Collection: memory.EntityCollection},
		"core":                   {Tags: []string{"work"}, Core: true},
	}
	var out []breakout
	for name, req := range requests {
		req.Content = "the wages are paid on Monday"
		made := from(req)
		if made == nil {
			continue // the operation has no such field
		}
		out = append(out, breakout{name, func(e *engine.Engine, _ *confinedWorld) error {
			res, err := as(workGrant(), e, o, made)
			if err != nil || problem == nil || problem(res) == nil {
				return err
			}
			p := problem(res)
			return memory.Errorf(p.Code, "%s", p.Detail).At(p.Field)
		}, memory.Forbidden})
	}
	return out
}

// edited returns an edit that leaves the scope.
func edited(name string, req op.EditRequest) breakout {
	return try(name, op.Edit, memory.Forbidden, func(w *confinedWorld) *op.EditRequest {
		edit := req
		edit.ID = string(w.own)
		return &edit
	})
}

// breakouts are the attempts for each operation of reach Scoped that writes.
func breakouts() map[*op.Spec][]breakout {
	hidden := func(w *confinedWorld) string { return string(w.hidden) }
	return map[*op.Spec][]breakout{
		op.Save.Spec: append(savesOut(op.Save, func(r op.SaveRequest) *op.SaveRequest { return &r }, nil),
			try("supersede an unseen memory", op.Save, memory.NotFound, func(w *confinedWorld) *op.SaveRequest {
				return &op.SaveRequest{Content: "the wages are paid on Monday", Supersedes: []string{hidden(w)}}
			}),
			try("the ID of an unseen memory", op.Save, memory.Conflict, func(w *confinedWorld) *op.SaveRequest {
				return &op.SaveRequest{ID: w.hidden, Content: "the wages are paid on Monday"}
			})),
		op.SaveBatch.Spec: append(savesOut(op.SaveBatch,
			func(r op.SaveRequest) *op.SaveBatchRequest { return &op.SaveBatchRequest{Items: []op.SaveRequest{r}} },
			func(r *op.SaveBatchResult) *op.Problem { return r.Results[0].Error }),
			try("a change of the owner", op.SaveBatch, memory.NotFound, func(w *confinedWorld) *op.SaveBatchRequest {
				return &op.SaveBatchRequest{Tx: w.hiddenTx, Items: []op.SaveRequest{{Content: "the wages are paid on Monday"}}}
			})),
		op.Add.Spec: savesOut(op.Add, func(r op.SaveRequest) *op.AddRequest {
			if r.Aliases != nil {
				return nil
			}
			add := &op.AddRequest{Content: r.Content, Tags: r.Tags, Project: r.Project, Collection: r.Collection}
			if r.Core {
				add.Importance = "core"
			}
			return add
		}, nil),
		op.Edit.Spec: {
			edited("foreign tag", op.EditRequest{AddTags: []string{"home"}}),
			edited("foreign tags", op.EditRequest{Tags: &[]string{"work", "home"}}),
			edited("out of the scope", op.EditRequest{RemoveTags: []string{"work"}}),
			edited("foreign project", op.EditRequest{Project: new("Payroll")}),
			edited("foreign collection", op.EditRequest{Collection: new("archive")}),
			edited("core", op.EditRequest{Core: new(true)}),
			try("an unseen memory", op.Edit, memory.NotFound, func(w *confinedWorld) *op.EditRequest {
				return &op.EditRequest{ID: hidden(w), Content: new("the wages are paid on Monday")}
			}),
			try("supersede an unseen memory", op.Edit, memory.NotFound, func(w *confinedWorld) *op.EditRequest {
				return &op.EditRequest{ID: string(w.own), Supersedes: []string{hidden(w)}}
			}),
		},
		op.Forget.Spec: {try("an unseen memory", op.Forget, memory.NotFound, func(w *confinedWorld) *op.ForgetRequest {
			return &op.ForgetRequest{ID: hidden(w)}
		}), try("an alias of an unseen memory", op.Forget, memory.NotFound, func(*confinedWorld) *op.ForgetRequest {
			return &op.ForgetRequest{ID: "wages"}
		})},
		op.ForgetBatch.Spec: {try("an unseen memory", op.ForgetBatch, memory.NotFound, func(w *confinedWorld) *op.ForgetBatchRequest {
			return &op.ForgetBatchRequest{IDs: []string{string(w.own), hidden(w)}}
		})},
		op.Touch.Spec: {try("an unseen memory", op.Touch, memory.NotFound, func(w *confinedWorld) *op.TouchRequest {
			return &op.TouchRequest{ID: hidden(w), Boost: true}
		})},
		op.Observe.Spec: {{"an unseen memory", observesHidden, memory.NotFound}},
		op.Reinforce.Spec: {try("an unseen memory", op.Reinforce, memory.NotFound, func(w *confinedWorld) *op.ReinforceRequest {
			return &op.ReinforceRequest{ID: hidden(w)}
		})},
		op.Confirm.Spec: {try("an own memory", op.Confirm, memory.Forbidden, func(w *confinedWorld) *op.ConfirmRequest {
			return &op.ConfirmRequest{ID: string(w.own)}
		})},
		op.Promote.Spec: {try("an unseen memory", op.Promote, memory.NotFound, func(w *confinedWorld) *op.PromoteRequest {
			return &op.PromoteRequest{ID: hidden(w), Force: true}
		})},
		op.Archive.Spec: {try("an unseen memory", op.Archive, memory.NotFound, func(w *confinedWorld) *op.ArchiveRequest {
			return &op.ArchiveRequest{ID: hidden(w)}
		})},
		op.Rekindle.Spec: {try("an unseen memory", op.Rekindle, memory.NotFound, func(w *confinedWorld) *op.RekindleRequest {
			return &op.RekindleRequest{Query: hidden(w)}
		})},
		op.Relate.Spec: {try("to an unseen memory", op.Relate, memory.NotFound, func(w *confinedWorld) *op.RelateRequest {
			return &op.RelateRequest{From: string(w.own), To: hidden(w), Type: memory.Supports}
		}), try("to its alias", op.Relate, memory.NotFound, func(w *confinedWorld) *op.RelateRequest {
			return &op.RelateRequest{From: string(w.own), To: "wages", Type: memory.Supports}
		})},
		op.RelateBatch.Spec: {{"to an unseen memory", relatesHidden, memory.NotFound}},
		op.Unrelate.Spec: {try("a relation to an unseen memory", op.Unrelate, memory.NotFound, func(w *confinedWorld) *op.UnrelateRequest {
			return &op.UnrelateRequest{ID: w.hiddenRelation}
		})},
		op.NoteWrite.Spec: {try("a note in no folder of the token", op.NoteWrite, memory.Forbidden, func(*confinedWorld) *op.NoteWriteRequest {
			return &op.NoteWriteRequest{Path: "Memories/Wages.md", Text: "#work the wages are paid on Monday"}
		})},
		op.NoteAppend.Spec: {try("the note of an unseen memory", op.NoteAppend, memory.NotFound, func(w *confinedWorld) *op.NoteAppendRequest {
			return &op.NoteAppendRequest{Path: hidden(w), Text: "the wages are paid on Monday"}
		})},
		op.NoteEdit.Spec: {try("the note of an unseen memory", op.NoteEdit, memory.NotFound, func(w *confinedWorld) *op.NoteEditRequest {
			return &op.NoteEditRequest{Path: hidden(w), Find: "a", Replace: "b"}
		})},
		op.Hook.Spec: {{"a session of another project", hooksOut, memory.Forbidden},
			try("a stored session of another project", op.Hook, memory.Forbidden, func(*confinedWorld) *op.HookRequest {
				return storing("s", "payroll", spoken("u", op.RoleUser, "Always pay the wages on Monday."))
			}),
			try("a stored session of no project", op.Hook, memory.Forbidden, func(*confinedWorld) *op.HookRequest {
				return storing("s", "", spoken("u", op.RoleUser, "Always pay the wages on Monday."))
			})},
		op.Undo.Spec: {try("a change of the owner", op.Undo, memory.NotFound, func(w *confinedWorld) *op.UndoRequest {
			return &op.UndoRequest{Tx: w.hiddenTx, Force: true}
		})},
	}
}

// observesHidden and relatesHidden answer each item for itself.
func observesHidden(e *engine.Engine, w *confinedWorld) error {
	res, err := as(workGrant(), e, op.Observe, &op.ObserveRequest{IDs: []string{string(w.hidden)}, Tags: []string{"far"}})
	if err == nil && res.Results[0].Status == op.ObservedNotFound {
		return memory.Errorf(memory.NotFound, "memory not found")
	}
	return err
}

// hooksOut has a session of a project that the token does not write. What it leaves is within the scope.
func hooksOut(e *engine.Engine, _ *confinedWorld) error {
	res, err := as(workGrant(), e, op.Hook, &op.HookRequest{Agent: "codex", Event: op.HookTurn, Session: "s", Project: "payroll",
		Messages: []op.SessionMessage{{ID: "1", Role: op.RoleUser, Text: "Always pay the wages on Monday."},
			{ID: "2", Role: op.RoleAgent, Final: true, Text: "Done."}}})
	if err != nil {
		return err
	}
	for _, k := range res.Kept {
		if m, err := op.Show.Call(context.Background(), e, &op.ShowRequest{ID: string(k.ID)}); err != nil || m.Memory.Project == "payroll" {
			return err
		}
	}
	return memory.Errorf(memory.Forbidden, "nothing is left beyond the scope")
}

func relatesHidden(e *engine.Engine, w *confinedWorld) error {
	res, err := as(workGrant(), e, op.RelateBatch, &op.RelateBatchRequest{Items: []op.RelateRequest{
		{From: string(w.own), To: string(w.hidden), Type: memory.Supports}}})
	if err == nil && res.Results[0].Error != nil {
		p := res.Results[0].Error
		return memory.Errorf(p.Code, "%s", p.Detail)
	}
	return err
}

// Attack 8: no operation that writes lets a limited token write beyond its scope. The test takes
// the operations from the table, so that a new one needs an attempt of its own.
func TestAWriteScopeConfinesWhatIsWritten(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	e := h.following(t)
	w := newConfinedWorld(t, e)
	before := look(t, e, w.hidden)
	all := breakouts()
	for _, spec := range op.Table() {
		switch {
		case spec.Effect == op.Read:
		case spec.Reach() == op.Whole:
			_, err := e.Invoke(contextOf(workGrant()), spec, spec.NewRequest())
			wantCode(t, err, memory.Forbidden, "token job cannot")
		case len(all[spec]) == 0:
			t.Errorf("the operation %s writes, and no attempt to leave the scope with it is made", spec.Name)
		}
		for _, b := range all[spec] {
			t.Run(spec.Name+" "+b.name, func(t *testing.T) {
				err := b.do(e, w)
				if memory.CodeOf(err) != b.code {
					t.Errorf("got %v, want %s", err, b.code)
				}
				if err != nil && b.code == memory.Forbidden && strings.Contains(err.Error(), string(w.hidden)) {
					t.Errorf("the refusal names an unseen memory: %v", err)
				}
			})
		}
	}
	if now := look(t, e, w.hidden); now.Rev != before.Rev || now.UseCount != before.UseCount {
		t.Errorf("the unseen memory was changed from %+v to %+v", before, now)
	}
	if got := do(t, e, op.Show, &op.ShowRequest{ID: "wages"}); got.Memory.ID != w.hidden {
		t.Errorf("the owner's alias leads to %s", got.Memory.ID)
	}
}

// The refusal of an alias says the same whether or not a memory has it.
func TestARefusedAliasTellsNothing(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	newConfinedWorld(t, e)
	refusal := func(alias string) string {
		_, err := as(workGrant(), e, op.Save, &op.SaveRequest{Content: "the kettle leaks", Aliases: []string{alias}})
		wantCode(t, err, memory.Forbidden, "alias")
		return fmt.Sprint(err)
	}
	if taken, free := refusal("wages"), refusal("salaries"); taken != free {
		t.Errorf("of an alias that is taken it says %q, of another %q", taken, free)
	}
}

// What a memory had before the token changed it is no breakout, and neither is what the token's
// scopes name.
func TestAWriteScopeLeavesRoomForWork(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	both := &access.Grant{Token: "job", Write: []access.Scope{{Kind: access.Tag, Value: "work"}, {Kind: access.Project, Value: "acme"}}}
	res, err := as(both, e, op.Save, &op.SaveRequest{Content: "the boiler runs hot", Tags: []string{"work/boiler"}, Project: "acme"})
	ok(t, err)
	if res.Added != "" || res.Memory.Project != "acme" {
		t.Errorf("added %q, project %q", res.Added, res.Memory.Project)
	}
	owned := do(t, e, op.Save, &op.SaveRequest{Content: "the pump hums", Tags: []string{"work", "home"}, Project: "Payroll",
		Collection: "machines", Aliases: []string{"pump"}, Core: true})
	edit, err := as(workGrant(), e, op.Edit, &op.EditRequest{ID: string(owned.Memory.ID), Content: new("the pump is silent"),
		Tags: &[]string{"home", "work", "work/cellar"}})
	ok(t, err)
	_, err = as(workGrant(), e, op.Undo, &op.UndoRequest{Tx: edit.Tx})
	ok(t, err)
	by := memory.Actor{Via: core.ViaMCP, Token: "job"}
	ctx := op.WithGrant(op.WithCaller(context.Background(), by), workGrant())
	entity, err := op.Save.Call(ctx, e, &op.SaveRequest{Content: "Ann", Aliases: []string{"Ann"}, Collection: memory.EntityCollection})
	ok(t, err)
	if len(entity.Memory.Aliases) > 0 {
		t.Errorf("an entity of a limited token is known to all callers as %q", entity.Memory.Aliases)
	}
}
