package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"emberd/memory"
	"emberd/op"
)

// emberdPeer is the daemon through its socket, by one client that keeps its connection.
type emberdPeer struct {
	b    *testing.B
	p    *program
	d    *daemon
	set  *itemSet
	ids  []memory.ID
	wait func(d *daemon) // for notes, until all are indexed
}

// newEmberdMemories has nothing stored yet.
func newEmberdMemories(b *testing.B, set *itemSet) *emberdPeer {
	p := newProgram(b)
	return &emberdPeer{b: b, p: p, d: p.start(b), set: set}
}

// newEmberdNotes starts the daemon as it loads.
func newEmberdNotes(b *testing.B, set *itemSet) *emberdPeer {
	f := &followed{program: newProgram(b), vault: &notesVault{dir: set.dir}}
	f.forget(b)
	return &emberdPeer{b: b, p: f.program, set: set, wait: func(d *daemon) { d.waitNotes(b, len(set.items)) }}
}

func (e *emberdPeer) load(set *itemSet, _ time.Time) (int, error) {
	if set.dir != "" {
		e.d = e.p.start(e.b)
		e.wait(e.d)
		return len(set.items), nil
	}
	for from := 0; from < len(set.items); from += op.MaxBatch {
		part := set.items[from:min(len(set.items), from+op.MaxBatch)]
		items := make([]op.SaveRequest, len(part))
		for i, it := range part {
			items[i].Content = it.Text
		}
		res, err := op.SaveBatch.Call(e.b.Context(), e.d, &op.SaveBatchRequest{Items: items})
		if err != nil {
			return 0, err
		}
		for _, r := range res.Results {
			if r.Error != nil {
				return 0, fmt.Errorf("save: %s", r.Error.Detail)
			}
			e.ids = append(e.ids, r.ID)
		}
	}
	e.d.waitIndexed(e.b)
	return len(set.items), nil
}

// search counts no access, so that the next question is about the same.
func (e *emberdPeer) search(_ []string, question string) (string, time.Duration, error) {
	scope, track := "memories", false
	if e.set.dir != "" {
		scope = "notes"
	}
	begun := time.Now()
	res, err := op.Search.Call(e.b.Context(), e.d, &op.SearchRequest{Query: question, Scope: scope, Track: &track})
	took := time.Since(begun)
	if err != nil {
		return "", took, err
	}
	answer, err := json.Marshal(res.Hits)
	return string(answer), took, err
}

func (e *emberdPeer) save(it item) (time.Duration, error) {
	begun := time.Now()
	_, err := op.Save.Call(e.b.Context(), e.d, &op.SaveRequest{Content: it.Text})
	return time.Since(begun), err
}

func (e *emberdPeer) known(i int) string {
	if e.set.dir != "" {
		return e.set.items[i].ID
	}
	return string(e.ids[i])
}

// footprint is of everything in the home folder.
func (e *emberdPeer) footprint() (diskMB, peakMB float64, err error) {
	return sized(e.p.home, e.d.cmd.Process.Pid)
}

// commandPeer asks the same daemon by a process of the program for each question.
type commandPeer struct {
	*emberdPeer
	peak int64 // kilobytes
}

func (c *commandPeer) run(args ...string) (string, time.Duration, error) {
	cmd := c.p.command(c.b.Context(), args...)
	begun := time.Now()
	out, err := cmd.Output()
	took := time.Since(begun)
	c.peak = max(c.peak, peakOf(cmd.ProcessState))
	return string(out), took, err
}

func (c *commandPeer) search(_ []string, question string) (string, time.Duration, error) {
	return c.run("search", "--json", question)
}

func (c *commandPeer) save(it item) (time.Duration, error) {
	_, took, err := c.run("save", it.Text)
	return took, err
}

func (c *commandPeer) footprint() (diskMB, peakMB float64, err error) {
	return 0, float64(c.peak) * 1024 / 1e6, nil
}

// toolPeer is a server of tools over standard input and output.
type toolPeer struct {
	set    *itemSet
	server *toolServer
	cmd    *exec.Cmd
	dir    string
	ids    []string // by which it names what it holds
	tools  toolNames
}

// toolNames are how a server is asked.
type toolNames struct {
	batch int // so many items can be saved by a call
	add   func(items []item) (tool string, args object)
	named func(it item, answer string) string // by what it names an item that it has just saved
	find  func(question string) (tool string, args object)
}

func startToolPeer(b *testing.B, set *itemSet, dir string, cmd *exec.Cmd, tools toolNames) (*toolPeer, error) {
	defer time.AfterFunc(peerPatience, func() { _ = cmd.Process.Kill() }).Stop()
	server, err := startToolServer(b, cmd)
	return &toolPeer{set: set, server: server, cmd: cmd, dir: dir, tools: tools}, err
}

// peerPatience is how long a server may take for an answer. Then it is ended.
const peerPatience = 2 * time.Minute

// answerOf calls a tool.
func (t *toolPeer) answerOf(tool string, args object) (string, error) {
	tooLong := time.AfterFunc(peerPatience, func() { _ = t.cmd.Process.Kill() }) // it may have ended by itself
	result, err := t.server.request("tools/call", object{"name": tool, "arguments": args})
	if !tooLong.Stop() && err != nil {
		return "", fmt.Errorf("%s was not answered in %v", tool, peerPatience)
	}
	if err != nil {
		return "", err
	}
	var res struct {
		IsError bool
		Content []struct{ Text string }
	}
	if err := json.Unmarshal(result, &res); err != nil {
		return "", err
	}
	var all strings.Builder
	for _, c := range res.Content {
		all.WriteString(c.Text)
	}
	if res.IsError {
		return "", fmt.Errorf("%s: %.300s", tool, all.String())
	}
	return all.String(), nil
}

func (t *toolPeer) load(set *itemSet, until time.Time) (int, error) {
	for from := 0; from < len(set.items) && time.Now().Before(until); from += t.tools.batch {
		part := set.items[from:min(len(set.items), from+t.tools.batch)]
		answer, err := t.answerOf(t.tools.add(part))
		if err != nil {
			return 0, err
		}
		for _, it := range part {
			t.ids = append(t.ids, t.tools.named(it, answer))
		}
	}
	return len(t.ids), nil
}

func (t *toolPeer) search(_ []string, question string) (string, time.Duration, error) {
	tool, args := t.tools.find(question)
	begun := time.Now()
	answer, err := t.answerOf(tool, args)
	return answer, time.Since(begun), err
}

func (t *toolPeer) save(it item) (time.Duration, error) {
	tool, args := t.tools.add([]item{it})
	begun := time.Now()
	_, err := t.answerOf(tool, args)
	return time.Since(begun), err
}

func (t *toolPeer) known(i int) string { return t.ids[i] }

func (t *toolPeer) footprint() (diskMB, peakMB float64, err error) {
	return sized(t.dir, t.cmd.Process.Pid)
}

// newEmberdTools are the agent's tools, over the daemon of another contestant.
func newEmberdTools(b *testing.B, e *emberdPeer) (*sharedTools, error) {
	t, err := startToolPeer(b, e.set, e.p.home, e.p.command(context.WithoutCancel(b.Context()), "mcp", "--tools", "agent"), toolNames{
		batch: 1,
		add:   func(items []item) (string, object) { return "memory_add", object{"content": items[0].Text} },
		find:  func(question string) (string, object) { return "memory_query", object{"query": question} },
	})
	return &sharedTools{t, e}, err
}

// sharedTools asks about what a daemon holds already.
type sharedTools struct {
	*toolPeer
	of *emberdPeer
}

// known is the end of the ID, which is how the tools name memories.
func (s *sharedTools) known(i int) string {
	id := s.of.known(i)
	return "[" + id[len(id)-8:] + "]"
}
