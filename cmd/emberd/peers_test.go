package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"emberd/internal/cli"
)

// TestPeers sends the same random calls to the reference memory server and to emberd with its
// tools, and compares every answer: text, structured content, error and notifications. Then it
// moves the graph of each to the other by the file of the reference server.
//
// make peers installs the server and runs it. EMBERD_TEST_PEERS is the number of seeds.
func TestPeers(t *testing.T) {
	seeds, _ := strconv.ParseUint(os.Getenv("EMBERD_TEST_PEERS"), 10, 16)
	if seeds == 0 {
		t.Skip("needs Node and what npm installs: make peers")
	}
	tally := &peerTally{differ: make(map[string]int)}
	for seed := uint64(1); seed <= seeds; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			p := newPeers(t, tally)
			p.play(t, newCalls(seed))
			p.exchange(t)
		})
	}
	t.Log(tally)
}

// callsPerSeed is the number of calls of one conversation.
const callsPerSeed = 125

// peerTally counts answers.
type peerTally struct {
	calls, equal int
	differ       map[string]int // by reason
}

func (c *peerTally) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d answers are equal", c.equal, c.calls)
	for _, reason := range slices.Sorted(maps.Keys(c.differ)) {
		fmt.Fprintf(&b, "\n%d differ: %s", c.differ[reason], reason)
	}
	return b.String()
}

// peers are the two servers of a conversation, with stores of their own.
type peers struct {
	real, ours *agent
	home       string // of the daemon
	file       string // of the reference server
	tally      *peerTally
}

func newPeers(t *testing.T, tally *peerTally) *peers {
	p := &peers{tally: tally, file: filepath.Join(t.TempDir(), "memory.jsonl")}
	p.home, _ = startHome(t)
	p.real = startReference(t, p.file)
	p.ours = startAgent(t, p.home, "--tools", "reference")
	return p
}

// startReference runs the reference memory server on a file.
func startReference(t *testing.T, file string) *agent {
	t.Helper()
	script, err := filepath.Abs("../../tools/peers/node_modules/@modelcontextprotocol/server-memory/dist/index.js")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(script); err != nil {
		t.Fatalf("the reference server is not installed: make peers (%v)", err)
	}
	a := &agent{cmd: exec.Command("node", script), said: &bytes.Buffer{}}
	a.cmd.Env = append(cli.ForeignFree(os.Environ()), "MEMORY_FILE_PATH="+file)
	a.cmd.Stderr = a.said
	a.start(t)
	a.greet(t)
	return a
}

// peerAnswer is what came back of one request.
type peerAnswer struct {
	Text       []string
	Structured any
	IsError    bool
	Other      any // the result of what is not a call of a tool
	Error      any // of the protocol
	Told       []string
}

// exchangeOne sends a request and returns the answer with the notifications before it.
func exchangeOne(t *testing.T, a *agent, method, params string) peerAnswer {
	t.Helper()
	a.last++
	a.send(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, a.last, method, params))
	var out peerAnswer
	for {
		line, err := a.out.ReadBytes('\n')
		if err != nil {
			t.Fatalf("%s %s: %v; stderr: %s", method, params, err, a.said)
		}
		var m struct {
			ID     *int
			Method string
			Params json.RawMessage
			Result json.RawMessage
			Error  any
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("%s: %v in %s", method, err, line)
		}
		if m.ID == nil {
			out.Told = append(out.Told, m.Method+" "+string(m.Params))
			continue
		}
		out.Error = m.Error
		out.fill(t, method, m.Result)
		return out
	}
}

func (a *peerAnswer) fill(t *testing.T, method string, result json.RawMessage) {
	t.Helper()
	if result == nil {
		return
	}
	if method != "tools/call" {
		var members map[string]any
		if err := json.Unmarshal(result, &members); err != nil {
			t.Fatal(err)
		}
		delete(members, "cacheScope") // of a later version of the protocol, as is the next
		delete(members, "ttlMs")
		a.Other = members
		return
	}
	var res struct {
		Content           []struct{ Type, Text string }
		StructuredContent any
		IsError           bool
	}
	if err := json.Unmarshal(result, &res); err != nil {
		t.Fatal(err)
	}
	for _, c := range res.Content {
		a.Text = append(a.Text, c.Type+": "+c.Text)
	}
	a.Structured, a.IsError = res.StructuredContent, res.IsError
}

func (a peerAnswer) String() string {
	raw, err := json.Marshal(a)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// play runs a conversation. After an answer that differs for a known reason, what the call was
// about is deleted on both sides, so that the graphs are the same again.
func (p *peers) play(t *testing.T, calls *callMaker) {
	for range callsPerSeed {
		c := calls.next()
		want, got := p.both(t, c)
		p.tally.calls++
		if want == got {
			p.tally.equal++
			continue
		}
		if c.differs == "" {
			t.Errorf("%s %s\n%s", c.method, c.params, peersApart(want, got))
		} else {
			p.tally.differ[c.differs]++
		}
		for _, again := range c.heal() {
			p.both(t, again)
		}
		if want, got := p.both(t, readGraph()); want != got {
			t.Fatalf("after %s %s the graphs differ\n%s", c.method, c.params, peersApart(want, got))
		}
	}
}

// peersApart returns both answers from a little before the first difference.
func peersApart(want, got string) string {
	at := 0
	for at < min(len(want), len(got)) && want[at] == got[at] {
		at++
	}
	cut := func(s string) string { return strings.ToValidUTF8(s[max(0, at-120):min(len(s), at+240)], "") }
	return "reference server: …" + cut(want) + "\n          emberd: …" + cut(got)
}

func (p *peers) both(t *testing.T, c *peerCall) (want, got string) {
	t.Helper()
	return exchangeOne(t, p.real, c.method, c.params).String(), exchangeOne(t, p.ours, c.method, c.params).String()
}

// exchange moves both graphs: emberd's export to a reference server, whose own file has to be the
// same, and that file to another emberd.
func (p *peers) exchange(t *testing.T) {
	t.Helper()
	want := exchangeOne(t, p.real, "tools/call", readGraph().params).String()
	exported := filepath.Join(t.TempDir(), "exported.jsonl")
	runEmberd(t, p.home, "export", "reference", exported)
	theirs, err := os.ReadFile(p.file)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := os.ReadFile(exported)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := strings.TrimSpace(string(theirs)), strings.TrimSpace(string(ours)); a != b {
		t.Errorf("the file of the reference server and emberd's export differ\n%s", peersApart(a, b))
	}
	if got := exchangeOne(t, startReference(t, exported), "tools/call", readGraph().params).String(); got != want {
		t.Errorf("a reference server reads the export otherwise\n%s", peersApart(want, got))
	}
	home, _ := startHome(t)
	if len(theirs) > 0 {
		runEmberd(t, home, "import", "reference", p.file)
	}
	if got := exchangeOne(t, startAgent(t, home, "--tools", "reference"), "tools/call", readGraph().params).String(); got != want {
		t.Errorf("emberd imports the file of the reference server otherwise\n%s", peersApart(want, got))
	}
}

func runEmberd(t *testing.T, home string, args ...string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, append(args, "--home", home)...)
	cmd.Args[0] = "emberd"
	cmd.Env = cli.ForeignFree(os.Environ())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("emberd %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
