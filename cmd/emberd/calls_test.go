package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/api"
	"emberd/internal/mcp"
	"emberd/memory"
	"emberd/op"
)

// toolCall is a line of calls.txt.
type toolCall struct {
	tool, args, refused string
}

func readCalls(t *testing.T) []toolCall {
	t.Helper()
	text, err := os.ReadFile("testdata/mcp/calls.txt")
	if err != nil {
		t.Fatal(err)
	}
	var calls []toolCall
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		call, refused, _ := strings.Cut(line, " ! ")
		tool, args, _ := strings.Cut(call, " ")
		calls = append(calls, toolCall{tool, args, refused})
	}
	return calls
}

// props makes what a call may name, and returns the names.
func props(t *testing.T, home string) *strings.Replacer {
	t.Helper()
	c := api.NewClient(filepath.Join(home, "emberd.sock"), nil)
	defer c.Close()
	var ids []memory.ID
	for _, text := range []string{"The staging database listens on port 5433", "Deploys wait for the staging database", "Nobody needs this"} {
		res, err := op.Save.Call(t.Context(), c, &op.SaveRequest{Content: text, Tags: []string{"staging"}, Again: true})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, res.Memory.ID)
	}
	rel, err := op.Relate.Call(t.Context(), c, &op.RelateRequest{From: string(ids[0]), To: string(ids[1]), Type: "related"})
	if err != nil {
		t.Fatal(err)
	}
	asked, err := op.ReviewCreate.Call(t.Context(), c, &op.ReviewCreateRequest{MemoryIDs: []string{string(ids[0])}})
	if err != nil {
		t.Fatal(err)
	}
	gone, err := op.Forget.Call(t.Context(), c, &op.ForgetRequest{ID: string(ids[2])})
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("$one", string(ids[0]), "$two", string(ids[1]), "$gone", string(ids[2]),
		"$relation", string(rel.Relation.ID), "$item", asked.Item.ID, "$tx", gone.Tx)
}

// TestEveryToolIsCalled makes the calls of calls.txt, without the inspector: every tool
// of every profile has one, which is answered as the file says.
func TestEveryToolIsCalled(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	calls := readCalls(t)
	for _, profile := range mcp.Profiles() {
		t.Run(string(profile), func(t *testing.T) {
			home := serveOutside(t, exe)
			a := startAgent(t, home, "--tools", string(profile))
			var list struct{ Tools []struct{ Name string } }
			if err := json.Unmarshal(a.ask(t, "tools/list", `{}`), &list); err != nil || len(list.Tools) == 0 {
				t.Fatalf("%d tools (%v), want some", len(list.Tools), err)
			}
			for _, c := range calls {
				i := slices.IndexFunc(list.Tools, func(tool struct{ Name string }) bool { return tool.Name == c.tool })
				if i < 0 {
					continue
				}
				list.Tools = slices.Delete(list.Tools, i, i+1)
				args := props(t, home).Replace(c.args)
				if text, failed, err := a.call(c.tool, args); err != nil || failed != (c.refused != "") {
					t.Errorf("%s %s: %s (%v); want an error: %t", c.tool, args, text, err, c.refused != "")
				}
			}
			if len(list.Tools) > 0 {
				t.Errorf("testdata/mcp/calls.txt has no call of %v", list.Tools)
			}
		})
	}
}
