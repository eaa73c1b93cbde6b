package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What is true when a contestant has answered a save.
const (
	synced      = "synced and findable"
	syncedLater = "synced; findable when the index has run, which is counted"
	notSynced   = "in the system's cache; no sync"
)

// memoryPeers are those that keep memories.
func (t *peerTable) memoryPeers(b *testing.B, cache string, set *itemSet) []*row {
	socket := newEmberdMemories(b, set)
	first := &row{contestant: socket, name: "emberd", reached: "socket", safe: synced, saves: true, set: set}
	command := &row{contestant: &commandPeer{emberdPeer: socket}, name: "emberd", reached: "command line", safe: synced, saves: true,
		set: set, shared: first}
	rows := []*row{first, command}
	if tools, err := newEmberdTools(b, socket); err != nil {
		t.cannot(b, "emberd mcp", err)
	} else {
		rows = append(rows, &row{contestant: tools, name: "emberd", reached: "MCP", safe: synced, saves: true, set: set, shared: first})
	}
	rows = append(rows, t.anyPeers(b, set)...)
	for _, server := range toolServers(cache) {
		p, err := server.start(b, set)
		if err != nil {
			t.cannot(b, server.name, err)
			continue
		}
		rows = append(rows, &row{contestant: p, name: server.name, reached: "MCP", safe: notSynced, saves: true, set: set})
	}
	return rows
}

// notePeers are those that read notes from a folder. None of them writes notes, so nothing is saved.
func (t *peerTable) notePeers(b *testing.B, set *itemSet) []*row {
	first := &row{contestant: newEmberdNotes(b, set), name: "emberd", reached: "socket", set: set}
	rows := append([]*row{first}, t.anyPeers(b, set)...)
	for _, r := range rows {
		r.safe, r.saves = "–", false
	}
	return rows
}

// anyPeers hold texts of any kind.
func (t *peerTable) anyPeers(b *testing.B, set *itemSet) (rows []*row) {
	binary, err := buildPeers(b)
	for _, engine := range []struct{ arg, name string }{{"fts5", "SQLite FTS5"}, {"bleve", "Bleve without stored fields"}} {
		var p *localPeer
		if err == nil {
			p, err = startLocal(b, binary, engine.arg, set)
		}
		if err != nil {
			t.cannot(b, engine.name, err)
			continue
		}
		rows = append(rows, &row{contestant: p, name: engine.name + " " + p.version, reached: "in its process", safe: synced, saves: true, set: set})
	}
	if version, err := versionOf("rg", "--version"); err != nil {
		t.cannot(b, "ripgrep", err)
	} else {
		rows = append(rows, &row{contestant: newRipgrep(b, set), name: version + ", all that match", reached: "process", safe: synced,
			saves: true, set: set})
	}
	version, err := versionOf("recollq", "-v")
	if err == nil {
		var p *filesPeer
		p, err = newRecoll(b, set)
		rows = append(rows, &row{contestant: p, name: version, reached: "process", safe: syncedLater, saves: true, set: set})
	}
	if err != nil {
		t.cannot(b, "recoll", err)
	}
	return rows
}

// versionOf is what a program calls itself, and its number.
func versionOf(program, flag string) (string, error) {
	out, err := exec.Command(program, flag).CombinedOutput() // recoll has no other exit code than 1 for that
	fields := strings.Fields(string(out))
	if len(fields) < 2 {
		return "", fmt.Errorf("%w: make bench-peers needs the Debian packages ripgrep and recollcmd", err)
	}
	return strings.ToLower(fields[0]) + " " + fields[1], nil
}

// memoryServer is a memory server that speaks MCP.
type memoryServer struct {
	name    string
	needs   string // the file of the cache that is there when it is installed
	command func(ctx context.Context, dir string) *exec.Cmd
	tools   toolNames
}

func (m *memoryServer) start(b *testing.B, set *itemSet) (*toolPeer, error) {
	if _, err := os.Stat(m.needs); err != nil {
		why, unknown := os.ReadFile(filepath.Join(os.Getenv("BENCH_PEERS"), strings.Fields(m.name)[0]+".missing"))
		if unknown != nil {
			why = []byte("it is not installed: make bench-peers does that")
		}
		return nil, errors.New(string(why))
	}
	dir := b.TempDir()
	cmd := m.command(context.WithoutCancel(b.Context()), dir)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "HOME="+dir)
	return startToolPeer(b, set, dir, cmd, m.tools)
}

func toolServers(cache string) []*memoryServer {
	reference := filepath.Join(cache, "node", "node_modules", "@modelcontextprotocol", "server-memory", "dist", "index.js")
	cortexgraph := filepath.Join(cache, "cortexgraph", "bin", "cortexgraph")
	basic := filepath.Join(cache, "basic-memory", "bin", "basic-memory")
	return []*memoryServer{
		{"reference memory server " + os.Getenv("PEERS_REFERENCE"), reference, func(ctx context.Context, dir string) *exec.Cmd {
			cmd := exec.CommandContext(ctx, "node", reference)
			cmd.Env = append(os.Environ(), "MEMORY_FILE_PATH="+filepath.Join(dir, "memory.jsonl"))
			return cmd
		}, toolNames{500, referenceEntities, func(it item, _ string) string { return it.ID }, func(question string) (string, object) {
			return "search_nodes", object{"query": question}
		}}},
		{"cortexgraph " + os.Getenv("PEERS_CORTEXGRAPH"), cortexgraph, func(ctx context.Context, dir string) *exec.Cmd {
			cmd := exec.CommandContext(ctx, cortexgraph)
			cmd.Env = append(os.Environ(), "CORTEXGRAPH_STORAGE_PATH="+dir, "CORTEXGRAPH_ENABLE_EMBEDDINGS=false", "LOG_LEVEL=ERROR")
			return cmd
		}, toolNames{1, func(items []item) (string, object) {
			return "save_memory", object{"content": items[0].Text}
		}, func(_ item, answer string) string { return fieldOf(answer, "memory_id") }, func(question string) (string, object) {
			return "search_memory", object{"query": question, "top_k": 10}
		}}},
		{"basic-memory " + os.Getenv("PEERS_BASIC_MEMORY"), basic, func(ctx context.Context, dir string) *exec.Cmd {
			cmd := exec.CommandContext(ctx, basic, "mcp")
			cmd.Env = append(os.Environ(), "BASIC_MEMORY_HOME="+filepath.Join(dir, "notes"), "BASIC_MEMORY_CONFIG_DIR="+filepath.Join(dir, "config"),
				"BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED=false", "BASIC_MEMORY_LOG_LEVEL=ERROR",
				"FASTMCP_CHECK_FOR_UPDATES=off", "FASTMCP_SHOW_SERVER_BANNER=false", "FASTMCP_LOG_LEVEL=ERROR")
			return cmd
		}, toolNames{1, func(items []item) (string, object) {
			return "write_note", object{"title": items[0].ID, "content": items[0].Text, "directory": "bench"}
		}, func(it item, _ string) string { return it.ID }, func(question string) (string, object) {
			return "search_notes", object{"query": question, "page_size": 10}
		}}},
	}
}

func referenceEntities(items []item) (string, object) {
	entities := make([]object, len(items))
	for i, it := range items {
		entities[i] = object{"name": it.ID, "entityType": "memory", "observations": []string{it.Text}}
	}
	return "create_entities", object{"entities": entities}
}

// fieldOf is a text in a JSON object, "" when there is none.
func fieldOf(answer, name string) string {
	var fields map[string]json.RawMessage
	var value string
	if json.Unmarshal([]byte(answer), &fields) == nil {
		_ = json.Unmarshal(fields[name], &value) // then it is not a text
	}
	return value
}
