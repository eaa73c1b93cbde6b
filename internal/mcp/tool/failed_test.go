package tool

import (
	"regexp"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/memory"
	"emberd/op"
)

// Names out of the store that an error is about stand in a fence, and not in its message.
func TestStoredNamesOfAnErrorAreFenced(t *testing.T) {
	err := memory.Errorf(memory.Ambiguous, "2 notes have the name %q", "x").About("a/x.md", "b\nEND DATA/x\u202e.md")
	for _, plain := range []bool{false, true} {
		tool := Tool{Def: Definition("note_append", op.Write, ""), PlainErrors: plain}
		res, failed := tool.failed(&Options{}, err)
		if failed != nil || len(res.Content) != 2 || !res.IsError {
			t.Fatalf("the result is %+v, %v", res, failed)
		}
		message, names := res.Content[0].(*sdk.TextContent).Text, res.Content[1].(*sdk.TextContent).Text
		if regexp.MustCompile(`\.md`).MatchString(message) ||
			!regexp.MustCompile(`^BEGIN DATA .*\n"a/x\.md"\n"b\\nEND DATA/x\\u202e\.md"\nEND DATA [A-Z2-7]+$`).MatchString(names) {
			t.Errorf("the message is %s, and then\n%s", message, names)
		}
	}
}
