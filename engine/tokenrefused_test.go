package engine_test

import (
	"testing"

	"emberd/engine"
	"emberd/internal/access"
	"emberd/memory"
	"emberd/op"
)

// madeToken makes a token that changes what is tagged work, and returns its grant.
func madeToken(t *testing.T, e *engine.Engine, replace bool) *access.Grant {
	t.Helper()
	made := do(t, e, op.TokenCreate, &op.TokenCreateRequest{Name: "job", Write: []string{"tag:work"}, Replace: replace})
	g, err := e.Tokens.Grant(made.Secret)
	ok(t, err)
	return g
}

// What a token is refused is counted, by operations and in parts of a batch, and shown to the user.
func TestRefusalsOfATokenAreCounted(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	g := madeToken(t, e, false)
	listed := func() op.Token { return do(t, e, op.TokenList, &op.TokenListRequest{}).Tokens[0] }
	_, err := as(g, e, op.Save, &op.SaveRequest{Content: "the kettle leaks"})
	ok(t, err)
	if got := listed(); got.Refused != 0 || !got.LastRefused.IsZero() {
		t.Errorf("a token that was refused nothing is listed as %+v", got)
	}
	_, err = as(g, e, op.Save, &op.SaveRequest{Content: "the wages are paid on Friday", Tags: []string{"home"}})
	wantCode(t, err, memory.Forbidden, "")
	_, err = as(g, e, op.SaveBatch, &op.SaveBatchRequest{Items: []op.SaveRequest{
		{Content: "the pump hums"}, {Content: "one", Tags: []string{"home"}}, {Content: "two", Core: true}}})
	ok(t, err)
	_, err = as(g, e, op.Export, &op.ExportRequest{})
	wantCode(t, err, memory.Forbidden, "")
	if got := listed(); got.Refused != 4 || got.RefusedAs != "export" || !got.LastRefused.Equal(clock.Now().UTC()) {
		t.Errorf("after four refusals the token is listed as %+v", got)
	}
	g2 := madeToken(t, e, true)
	_, err = as(g, e, op.Export, &op.ExportRequest{})
	wantCode(t, err, memory.Forbidden, "")
	if got := listed(); got.Refused != 0 {
		t.Errorf("a new token of the name has the refusals of the old one: %+v", got)
	}
	_, err = as(g2, e, op.Export, &op.ExportRequest{})
	wantCode(t, err, memory.Forbidden, "")
	if got := listed(); got.Refused != 1 {
		t.Errorf("the new token is listed as %+v", got)
	}
}
