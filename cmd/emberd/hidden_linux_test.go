package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"emberd/internal/cli"
	"emberd/internal/cli/root"
	"emberd/internal/testutil/clitest"
	"emberd/internal/text/invisible"
	"emberd/stm/record"
)

// steering is what a text must not do to a terminal: colors, a title, a bell, a right-to-left override, a C1
// control, a tag character.
const steering = "\x1b[31m\x1b]0;owned\x07\u202e\u009b2J\U000e0041"

const (
	steeringID  = "0199b000-0000-7000-8000-0000000000a1"
	forgottenID = "0199b000-0000-7000-8000-0000000000a2"
)

// forgedLog is the log of another device, whose every text steers the terminal. No daemon checked it.
func forgedLog(t *testing.T, home string) {
	t.Helper()
	const dev = "k7q2mzxa"
	at := time.Now().Add(-time.Hour).UnixMilli()
	by := map[string]any{"via": "cli" + steering, "client": "client" + steering, "session": "s" + steering}
	content := func(text string) map[string]any {
		return map[string]any{"content": text + " zebra " + steering, "tags": []string{"tag" + steering}, "project": "p" + steering,
			"collection": "knowledge" + steering, "category": "c" + steering, "section": "s" + steering, "source": "from" + steering,
			"context": "context" + steering, "session_id": "s" + steering, "entities": []string{"Entity" + steering},
			"aliases": []string{text + steering}, "meta": map[string]string{"k" + steering: "v" + steering}, "stage": "active",
			"created_at": "2026-01-02T03:04:05Z", "strength": 1, "confidence": 1, "importance": 0.5,
			"sources": []map[string]any{{"by": by, "quote": "q" + steering, "file": "f" + steering}}}
	}
	var log []byte
	line := func(fields map[string]any) {
		raw, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		start := len(log)
		log = record.SealLine(append(log, raw[:len(raw)-1]...), start)
	}
	stamp := func(n int) string { return fmt.Sprintf("%012x-0000-%s", at+int64(n), dev) }
	line(map[string]any{"v": 1, "op": "seg", "t": stamp(0), "d": map[string]any{"dev": dev, "seg": 1, "first": 1, "format": 1}})
	put := func(q int, fields map[string]any) {
		fields["v"], fields["q"], fields["t"], fields["tx"], fields["by"] = 1, q, stamp(q), stamp(q), by
		line(fields)
	}
	put(1, map[string]any{"op": "put", "id": steeringID, "do": "save" + steering, "d": content("first")})
	put(2, map[string]any{"op": "set", "id": steeringID, "do": "edit" + steering, "d": map[string]any{"context": "new" + steering}})
	put(3, map[string]any{"op": "put", "id": forgottenID, "do": "save", "d": content("second")})
	put(4, map[string]any{"op": "del", "id": forgottenID, "do": "forget", "prev": map[string]any{"t": stamp(3), "d": content("second")}})
	for name, text := range map[string][]byte{
		"data/stm/" + dev + "/s-00000001.jsonl": log,
		"data/devices/" + dev + ".json": fmt.Appendf(nil, `{"device":%q,"name":"host\u001b[31m\u202e","format":1,"at":%q,"last":4}`, dev,
			time.Now().UTC().Format(time.RFC3339)),
		"vault/Note\x1b[31m\u202e.md": []byte("# Zebra " + steering + "\n\nA zebra " + steering + "\n"),
	} {
		name = filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// No text of another device or of a note reaches the terminal as it is, on one with colors and on a pipe, and
// what --json prints is the same value and as harmless.
func TestNoTextSteersTheTerminal(t *testing.T) {
	t.Parallel()
	home := filepath.Join(clitest.ShortDir(t), "h")
	forgedLog(t, home)
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte("vaults: ["+filepath.Join(home, "vault")+"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := runDaemonIn(t, home)
	if st := d.status(); st.Memories != 1 || len(st.Devices) != 2 {
		t.Fatalf("the daemon has %d memories of %d devices", st.Memories, len(st.Devices))
	}
	const id = steeringID
	run := func(screen cli.Screen, args ...string) string {
		s := cli.New()
		var out, said bytes.Buffer
		s.Stdout, s.Stderr, s.Screen, s.Env = bufio.NewWriter(&out), &said, screen, cli.ForeignFree(s.Env)
		if code := s.Run(t.Context(), root.RootCommand(s), append(args, "--home", home)); code > int(cli.ExitNothing) && code != int(cli.ExitConflict) {
			t.Errorf("%q: exit code %d: %s", args, code, said.String())
		}
		return out.String() + said.String()
	}
	colors := []string{"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[36m"}
	for _, command := range []string{"search zebra", "search zebra --explain", "search zebra --scope notes", "query zebra", "verify zebra", "list",
		"show " + id, "history", "history " + id, "timeline " + id, "why " + id, "why-not " + id + " zebra", "trash list", "entities", "graph",
		"status", "stats", "audit", "audit --writes --since 7d", "log dump", "undo --dry-run", "forget --dry-run " + id, "doctor", "vault check"} {
		args := strings.Fields(command)
		for _, screen := range []cli.Screen{{}, {Width: 80, Colour: true}} {
			text := run(screen, args...)
			for _, c := range colors {
				if screen.Colour {
					text = strings.ReplaceAll(text, c, "")
				}
			}
			if kinds := invisible.Kinds(text); len(kinds) > 0 {
				t.Errorf("%s prints %v: %q", command, kinds, text)
			}
		}
		if text := run(cli.Screen{}, append(args, "--json")...); invisible.Hidden(text) {
			t.Errorf("%s --json prints %v: %q", command, invisible.Kinds(text), text)
		}
	}
	if text := run(cli.Screen{Width: 80}, "log", "cat"); invisible.Hidden(text) {
		t.Errorf("log cat prints %q on a terminal", text)
	}
	var list struct {
		Memories []struct{ Content string }
	}
	if text := run(cli.Screen{}, "list", "--json"); json.Unmarshal([]byte(text), &list) != nil || len(list.Memories) != 1 ||
		list.Memories[0].Content != "first zebra "+steering || !strings.Contains(text, `\u001b`) || !strings.Contains(text, `\u202e`) {
		t.Errorf("list --json prints %s", text)
	}
}
