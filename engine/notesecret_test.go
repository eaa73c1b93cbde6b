package engine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"emberd/memory"
	"emberd/op"
)

// A credential is refused in the note that a change would make, and in the path. What the user's note has stays.
func TestCredentialsThatAChangeWouldMake(t *testing.T) {
	t.Parallel()
	key := "AKIA" + "Q7ZP4XN2VKWD6TLJ"
	long := strings.Repeat("A line of no interest.\n", 2000)
	h, e := agentDesk(t, map[string]string{
		"Agents/half.md": long + "the key " + key[:10] + "ZQ\n" + long, "Agents/cut.md": "the key " + key[:10],
		"Agents/user.md": "mine is " + key + " here\n", "Agents/x.md": "x\n"})
	for _, err := range []error{
		refused(t, e, op.NoteEdit, &op.NoteEditRequest{Path: "Agents/half.md", Find: "ZQ", Replace: key[10:]}),
		refused(t, e, op.NoteEdit, &op.NoteEditRequest{Path: "Agents/half.md", Find: "ZQ", Replace: key[10:], Preview: true}),
		refused(t, e, op.NoteWrite, &op.NoteWriteRequest{Path: "Agents/" + key + ".md", Text: "x"}),
		refused(t, e, op.NoteWrite, &op.NoteWriteRequest{Path: "Agents/" + key + "/a", Text: "x"}),
		refused(t, e, op.NoteMove, &op.NoteMoveRequest{Path: "Agents/x.md", To: "Agents/" + key}),
		refused(t, e, op.NoteEdit, &op.NoteEditRequest{Path: "Agents/user.md", Find: "mine", Replace: "a " + key[:19] + "R is mine"}),
	} {
		if wantCode(t, err, memory.Secret, "text that looks like a credential"); strings.Contains(err.Error(), key[:10]) {
			t.Errorf("the error shows it: %v", err)
		}
	}
	do(t, e, op.NoteEdit, &op.NoteEditRequest{Path: "Agents/user.md", Find: "mine", Replace: "ours", Set: map[string]json.RawMessage{"seen": json.RawMessage(`"yes"`)}})
	do(t, e, op.NoteAppend, &op.NoteAppendRequest{Path: "Agents/user.md", Text: "more"})
	do(t, e, op.NoteEdit, &op.NoteEditRequest{Path: "Agents/half.md", Find: "ZQ", Replace: key[10:], AllowSecret: true})
	if got := h.note(t, "Agents/half.md"); !strings.Contains(got, key) {
		t.Error("allow_secret does not allow")
	}
}
