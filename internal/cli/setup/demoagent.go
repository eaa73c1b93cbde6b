package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// relate says how one memory stands to another, and looks at that.
func (d *demo) relate(ctx context.Context) error {
	return errors.Join(
		d.expect("supports", "graph", "relate", "@jwt", "supports", "@port", "--kind", "keeps safe")(ctx),
		d.expect("→ supports (keeps safe)", "show", "@jwt")(ctx))
}

// askAgent lets a client of the Model Context Protocol save and search, and finds its
// name in the journal.
func (d *demo) askAgent(ctx context.Context) error {
	return errors.Join(
		d.tool(ctx, "memory_add", `{"content":"Maria takes honey with her tea","tags":["tea"]}`, "saved ["),
		d.tool(ctx, "memory_query", `{"query":"honey","scope":"notes"}`, "Maria takes honey"),
		d.expect("demo-agent", "history", "--limit", "1")(ctx))
}

// tool has a client call one tool of emberd mcp, whose answer has to hold something.
func (d *demo) tool(ctx context.Context, name, arguments, want string) error {
	text, err := d.callTool(ctx, name, arguments)
	if err != nil {
		return err
	}
	d.echo("← " + withinFence(text))
	if !strings.Contains(text, want) {
		return fmt.Errorf("%s says %q, without %q", name, text, want)
	}
	return nil
}

// callTool has a client call one tool of emberd mcp, and returns what it reads.
func (d *demo) callTool(ctx context.Context, name, arguments string) (string, error) {
	d.show("mcp")
	d.echo("→ " + name + " " + arguments)
	cmd := d.Command(ctx, "mcp")
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"demo-agent","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + "}}\n")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("emberd mcp: %w", err)
	}
	return lastText(string(out))
}

// withinFence leaves out the lines that keep stored text apart for a model.
func withinFence(text string) string {
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, "BEGIN DATA ") && !strings.HasPrefix(line, "END DATA ") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// lastText is the text that the last tool answered with.
func lastText(out string) (string, error) {
	var text string
	for line := range strings.Lines(out) {
		var m struct {
			Result struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			return "", fmt.Errorf("emberd mcp says %q: %w", line, err)
		}
		if len(m.Result.Content) > 0 {
			text = m.Result.Content[0].Text
		}
	}
	return text, nil
}
