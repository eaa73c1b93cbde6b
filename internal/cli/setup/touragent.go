package setup

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// askAgent has a client of the Model Context Protocol search for a memory.
func (d *tour) askAgent(ctx context.Context) error {
	const arguments = `{"query":"authentication","scope":"memories"}`
	text, err := d.callTool(ctx, "memory_query", arguments)
	if err != nil {
		return err
	}
	d.show("mcp")
	d.echo("→ memory_query "+arguments, "")
	if at := strings.LastIndex(text, tourJWT); at >= 0 {
		d.echo("← "+tourJWT, "")
		return nil
	}
	return fmt.Errorf("memory_query returned %q, which does not contain the memory", text)
}

// callTool has a client call one tool of emberd mcp, and returns what it reads.
func (d *tour) callTool(ctx context.Context, name, arguments string) (string, error) {
	cmd := d.Command(ctx, "mcp")
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":` +
		`"2025-06-18","capabilities":{},"clientInfo":{"name":"tour-agent","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments +
		"}}\n")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("emberd mcp failed: %w", err)
	}
	return lastText(string(out))
}

// lastText is the text of the last tool's result.
func lastText(out string) (string, error) {
	var text string
	for line := range strings.Lines(out) {
		var m struct {
			Result struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			return "", fmt.Errorf("emberd mcp returned invalid JSON %q: %w", line, err)
		}
		if len(m.Result.Content) > 0 {
			text = m.Result.Content[0].Text
		}
	}
	return text, nil
}
