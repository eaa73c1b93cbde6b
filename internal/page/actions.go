package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"emberd/memory"
	"emberd/op"
)

// fields are what a form sends.
type fields map[string]string

// notice is what the page says after a change.
type notice struct {
	Text    string
	Tx      string // entry to undo, "" if there is none
	Redo    bool   // the change was an undo itself
	Problem bool
}

// action is one change. The key of actions is its path below /do/.
type action func(ctx context.Context, b op.Invoker, in fields) (notice, error)

var actions = map[string]action{
	"edit": edit, "confirm": confirm, "core": makeCore, "promote": promote, "archive": archive, "rekindle": rekindle,
	"forget": forget, "undo": undo, "decide": decide, "keep": keepOne, "differ": keepApart, "session": forgetSession,
	"revoke": revoke,
}

// unread returns how to answer a request whose body cannot be decoded.
func unread(err error) (status int, why string) {
	if long, ok := errors.AsType[*http.MaxBytesError](err); ok {
		why = fmt.Sprintf("the text is too long (limit %d bytes); shorten the text", long.Limit)
		return http.StatusRequestEntityTooLarge, why
	}
	return http.StatusBadRequest, "the request is not valid JSON"
}

// act carries out a change and answers with a notice. The header HX-Trigger renews the view.
func (p *Page) act(do action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in fields
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			status, why := unread(err)
			p.fragment(w, status, "notice", notice{Text: why, Problem: true})
			return
		}
		s := sessionFrom(r.Context())
		if in == nil {
			in = fields{}
		}
		if in["tx"] == "" {
			in["tx"] = s.last()
		}
		n, err := do(r.Context(), p.backend, in)
		if err != nil {
			p.fragment(w, statusOf(err), "notice", notice{Text: err.Error(), Problem: true})
			return
		}
		if !n.Redo || !s.undid(in["tx"]) { // undoing what was not made here is a change like any other
			s.did(n.Tx)
		}
		if !n.Problem {
			w.Header().Set("HX-Trigger", "emberd-changed")
		}
		p.fragment(w, http.StatusOK, "notice", n)
	}
}

func edit(ctx context.Context, b op.Invoker, in fields) (notice, error) {
	content := strings.ReplaceAll(in["content"], "\r\n", "\n")
	tags := []string{}
	for tag := range strings.SplitSeq(in["tags"], ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			tags = append(tags, tag)
		}
	}
	res, err := op.Edit.Call(ctx, b, &op.EditRequest{ID: in["id"], IfMatch: in["rev"], Content: &content, Tags: &tags})
	if memory.CodeOf(err) == memory.Conflict {
		return notice{}, memory.Errorf(memory.Conflict,
			"this memory has changed; copy your text, reload the page, and edit the current version")
	}
	if err != nil {
		return notice{}, err
	}
	if len(res.Changed) == 0 {
		return notice{Text: "Nothing changed."}, nil
	}
	return notice{Text: "Saved.", Tx: res.Tx}, nil
}

func confirm(ctx context.Context, b op.Invoker, in fields) (notice, error) {
	res, err := op.Confirm.Call(ctx, b, &op.ConfirmRequest{ID: in["id"]})
	if err != nil {
		return notice{}, err
	}
	return notice{Text: "Confirmed.", Tx: res.Tx}, nil
}

func makeCore(ctx context.Context, b op.Invoker, in fields) (notice, error) {
	on := in["on"] == "yes"
	res, err := op.Edit.Call(ctx, b, &op.EditRequest{ID: in["id"], Core: &on})
	if err != nil {
		return notice{}, err
	}
	if on {
		return notice{Text: "This memory is now a core memory and never fades.", Tx: res.Tx}, nil
	}
	return notice{Text: "This memory is no longer a core memory.", Tx: res.Tx}, nil
}

func promote(ctx context.Context, b op.Invoker, in fields) (notice, error) {
	res, err := op.Promote.Call(ctx, b, &op.PromoteRequest{ID: in["id"], Force: true})
	if err != nil {
		return notice{}, err
	}
	switch res.Outcome {
	case op.PromotionPending:
		return notice{Text: "emberd cannot write the note now: " + res.Reason + ". emberd tries again later.",
			Tx: res.Tx}, nil
	case op.PromotionAlready:
		return notice{Text: "This memory already has a note: " + res.Path}, nil
	case op.PromotionUnmet:
		return notice{Text: res.Reason, Problem: true}, nil
	}
	return notice{Text: "Wrote the note " + res.Path + ".", Tx: res.Tx}, nil
}

func archive(ctx context.Context, b op.Invoker, in fields) (notice, error) {
	res, err := op.Archive.Call(ctx, b, &op.ArchiveRequest{ID: in["id"]})
	if err != nil {
		return notice{}, err
	}
	if len(res.Archived) == 0 && len(res.Skipped) > 0 {
		return notice{Text: "Not archived: " + res.Skipped[0].Reason, Problem: true}, nil
	}
	return notice{Text: "Archived the memory. The memory keeps a summary, " +
		"and a note contains the full text.", Tx: res.Tx}, nil
}

func rekindle(ctx context.Context, b op.Invoker, in fields) (notice, error) {
	res, err := op.Rekindle.Call(ctx, b, &op.RekindleRequest{Query: in["id"]})
	if err != nil {
		return notice{}, err
	}
	if len(res.Results) == 0 || res.Results[0].Verdict == "gone" {
		return notice{Text: "emberd cannot restore the text, " +
			"because the note of the memory is missing. " + res.Hint, Problem: true}, nil
	}
	return notice{Text: "Restored the full text.", Tx: res.Results[0].Tx}, nil
}

func forget(ctx context.Context, b op.Invoker, in fields) (notice, error) {
	res, err := op.Forget.Call(ctx, b, &op.ForgetRequest{ID: in["id"], IfMatch: in["rev"]})
	if err != nil {
		return notice{}, err
	}
	return notice{Text: "Moved the memory to the trash, for 30 days or the time in your settings.", Tx: res.Tx}, nil
}

func undo(ctx context.Context, b op.Invoker, in fields) (notice, error) {
	if in["tx"] == "" {
		return notice{Text: "Nothing to undo here. The view Today lists each change with a button to undo it.",
			Problem: true}, nil
	}
	res, err := op.Undo.Call(ctx, b, &op.UndoRequest{Tx: in["tx"]})
	if err != nil {
		return notice{}, err
	}
	left := 0
	for _, item := range res.Items {
		if item.Action == "left" {
			left++
		}
	}
	if left > 0 {
		return notice{Text: "Undid the change, except for " +
			count(left, "memory", "memories") + " that changed later.",
			Tx: res.Tx, Redo: true}, nil
	}
	return notice{Text: "Undone.", Tx: res.Tx, Redo: true}, nil
}

func decide(ctx context.Context, b op.Invoker, in fields) (notice, error) {
	res, err := op.ReviewClose.Call(ctx, b, &op.ReviewCloseRequest{ID: in["item"], Decision: in["decision"]})
	if err != nil {
		return notice{}, err
	}
	return notice{Text: "Decided: " + in["label"] + ".", Tx: res.Tx}, nil
}

// keepOne keeps one of two similar memories; keep is id1 or id2.
func keepOne(ctx context.Context, b op.Invoker, in fields) (notice, error) {
	if in["keep"] != op.KeepFirst && in["keep"] != op.KeepSecond {
		return notice{}, memory.Errorf(memory.Invalid, "invalid keep %q; use id1 or id2", memory.Clip(in["keep"]))
	}
	res, err := op.HealthMerge.Call(ctx, b,
		&op.HealthMergeRequest{ID1: in["id1"], ID2: in["id2"], Collection: "all", Keep: in["keep"]})
	if err != nil {
		return notice{}, err
	}
	return notice{Text: "Kept one memory, and moved the other to the trash.", Tx: res.Tx}, nil
}

// keepApart records that two memories are not the same, as a decision of the user.
func keepApart(ctx context.Context, b op.Invoker, in fields) (notice, error) {
	res, err := op.ReviewCreate.Call(ctx, b, &op.ReviewCreateRequest{MemoryIDs: []string{in["id1"], in["id2"]},
		Action: "merge", Urgency: op.UrgencyLow, Evidence: "the user compared these " +
			"memories on the web page", Decision: op.DecideKeep})
	if err != nil {
		return notice{}, err
	}
	return notice{Text: "Kept both memories. emberd no longer shows them as a pair.", Tx: res.Tx}, nil
}

func forgetSession(ctx context.Context, b op.Invoker, in fields) (notice, error) {
	res, err := op.SessionForget.Call(ctx, b, &op.SessionForgetRequest{ID: in["id"]})
	if err != nil {
		return notice{}, err
	}
	took := count(len(res.Forgotten), "memory", "memories")
	return notice{Text: "Deleted " + took + " of this session.", Tx: res.Tx}, nil
}

// revoke ends a token, for good, if its name was typed.
func revoke(ctx context.Context, b op.Invoker, in fields) (notice, error) {
	if in["name"] == "" || in["typed"] != in["name"] {
		return notice{Text: "To revoke the token, type its name.", Problem: true}, nil
	}
	res, err := op.TokenRevoke.Call(ctx, b, &op.TokenRevokeRequest{Name: in["name"]})
	if err != nil {
		return notice{}, err
	}
	return notice{Text: "Revoked the token " + res.Token.Name + " permanently."}, nil
}
