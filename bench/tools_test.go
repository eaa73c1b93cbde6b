package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"text/tabwriter"
	"time"
)

// toolProfiles are what emberd mcp --tools takes; all of them together show every tool.
func toolProfiles() []string { return []string{"agent", "cortexgraph", "reference", "all"} }

// BenchmarkTools calls every tool over standard input and output: an emberd mcp for
// each profile, one daemon with 10,000 memories and a vault, one call at a time.
func BenchmarkTools(b *testing.B) {
	p := newProgram(b)
	d := p.startWithVault(b)
	s := newToolStore(b, d, 10_000)
	var rows []toolRow
	for _, t := range p.tools(b) {
		b.Run(t.profile+"/"+t.name, func(b *testing.B) {
			row := toolRow{tool: t}
			t.prepare(b, s)
			for i := 0; b.Loop(); i++ {
				row.add(t.call(b, s, i))
			}
			row.most = max(row.most, t.server.call(b, t.name, t.widest(b, s, len(row.took))))
			onlyMetrics(b)
			row.calls = len(row.took)
			row.p50, row.p99 = quantile(row.took, 0.5), quantile(row.took, 0.99)
			b.ReportMetric(millis(row.p50), "p50-ms")
			b.ReportMetric(millis(row.p99), "p99-ms")
			b.ReportMetric(float64(row.most), "most-bytes")
			rows = append(rows, row)
		})
	}
	printTools(os.Stdout, rows)
}

// Every tool that a profile shows is measured, and answers.
func TestEveryToolAnswersOverStdio(t *testing.T) {
	p := newProgram(t)
	d := p.startWithVault(t)
	s := newToolStore(t, d, 100)
	for _, tool := range p.tools(t) {
		tool.prepare(t, s)
		tool.server.call(t, tool.name, tool.widest(t, s, 0))
		if _, bytes := tool.call(t, s, 1); bytes == 0 {
			t.Errorf("%s of %s answers nothing", tool.name, tool.profile)
		}
	}
}

// startWithVault starts the daemon with an empty vault for promoted notes.
func (p *program) startWithVault(tb testing.TB) *daemon {
	tb.Helper()
	vault := filepath.Join(filepath.Dir(p.home), "vault")
	for _, dir := range []string{p.home, filepath.Join(vault, ".obsidian")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			tb.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(p.home, "config.yaml"), []byte("vaults: ["+vault+"]\n"), 0o600); err != nil {
		tb.Fatal(err)
	}
	return p.start(tb)
}

// tool is one tool of one profile, and the server that has it.
type tool struct {
	profile, name, about string
	most                 map[string]float64 // of parameters that bound an answer
	server               *toolServer
}

// tools starts a server for each profile and lists what they show; of tools that are
// the same, the first.
func (p *program) tools(tb testing.TB) []tool {
	tb.Helper()
	var all []tool
	for _, profile := range toolProfiles() {
		server := p.startTools(tb, profile)
		var list struct {
			Tools []struct {
				Name, Description string
				InputSchema       struct {
					Properties map[string]struct{ Maximum float64 }
				}
			}
		}
		line := server.ask(tb, "tools/list", object{})
		if err := json.Unmarshal(line, &list); err != nil {
			tb.Fatal(err)
		}
		tb.Logf("%s shows %d tools in %d bytes", profile, len(list.Tools), len(line))
		for _, t := range list.Tools {
			most := make(map[string]float64)
			for _, name := range []string{"limit", "top_k", "page_size", "preview_length", "max_tokens"} {
				if bound := t.InputSchema.Properties[name].Maximum; bound > 0 {
					most[name] = bound
				}
			}
			t := tool{profile, t.Name, t.Description, most, server}
			if !slices.ContainsFunc(all, func(o tool) bool { return o.name == t.name && o.about == t.about }) {
				all = append(all, t)
			}
		}
	}
	return all
}

// prepare makes the entities that tools of the reference profile are asked about.
func (t *tool) prepare(tb testing.TB, s *toolStore) {
	tb.Helper()
	if t.profile != "reference" {
		return
	}
	const batch = 100
	for from := 0; from < len(s.names); from += batch {
		t.server.call(tb, "create_entities", s.entities(from, min(from+batch, len(s.names))))
	}
	var relations []object
	for i := range len(s.names) - 1 {
		relations = append(relations, s.related(i))
	}
	for part := range slices.Chunk(relations, batch) {
		t.server.call(tb, "create_relations", object{"relations": part})
	}
}

// call calls the tool once and returns how long it took and how long the answer is.
func (t *tool) call(tb testing.TB, s *toolStore, i int) (time.Duration, int) {
	tb.Helper()
	args, ok := s.toolCalls()[t.name]
	if !ok {
		tb.Fatalf("no arguments are known for %s of %s; put some into toolCalls", t.name, t.profile)
	}
	in := args(i) // which may take time that is not the tool's
	start := time.Now()
	bytes := t.server.call(tb, t.name, in)
	return time.Since(start), bytes
}

// widest are the arguments that ask for as much as the tool gives at once, in the
// i-th call.
func (t *tool) widest(tb testing.TB, s *toolStore, i int) object {
	tb.Helper()
	call, ok := s.toolCalls()[t.name]
	if !ok {
		tb.Fatalf("no arguments are known for %s of %s; put some into toolCalls", t.name, t.profile)
	}
	args := call(i)
	for name, most := range t.most {
		args[name] = most
	}
	maps.Copy(args, s.widest()[t.name])
	return args
}

// toolServer is an emberd mcp.
type toolServer struct {
	in   io.Writer
	out  *bufio.Reader
	last int
}

func (p *program) startTools(tb testing.TB, profile string) *toolServer {
	tb.Helper()
	s, err := startToolServer(tb, p.command(tb.Context(), "mcp", "--tools", profile))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// startToolServer starts a server of tools and greets it.
func startToolServer(tb testing.TB, cmd *exec.Cmd) (*toolServer, error) {
	tb.Helper()
	cmd.Stderr = os.Stderr
	in, out := pipes(tb, cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	tb.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // the context of the test has ended it
	})
	s := &toolServer{in: in, out: bufio.NewReaderSize(out, 1<<20)}
	greeting := object{"protocolVersion": "2025-06-18", "capabilities": object{}, "clientInfo": object{"name": "bench", "version": "1"}}
	if _, err := s.request("initialize", greeting); err != nil {
		return nil, err
	}
	_, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return s, err
}

func pipes(tb testing.TB, cmd *exec.Cmd) (io.WriteCloser, io.Reader) {
	tb.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	return in, out
}

// ask sends a request, which has to succeed, and returns the result.
func (s *toolServer) ask(tb testing.TB, method string, params any) json.RawMessage {
	tb.Helper()
	result, err := s.request(method, params)
	if err != nil {
		tb.Fatal(err)
	}
	return result
}

// request sends a request and returns the result.
func (s *toolServer) request(method string, params any) (json.RawMessage, error) {
	s.last++
	request, err := json.Marshal(object{"jsonrpc": "2.0", "id": s.last, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if _, err := s.in.Write(append(request, '\n')); err != nil {
		return nil, err
	}
	for {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		var m struct {
			ID     *int
			Result json.RawMessage
			Error  json.RawMessage
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		switch {
		case m.ID == nil:
			continue // a notification
		case m.Error != nil || *m.ID != s.last:
			return nil, fmt.Errorf("%s: %s", method, line)
		}
		return m.Result, nil
	}
}

// call calls a tool, which has to succeed, and returns how many bytes it answered.
func (s *toolServer) call(tb testing.TB, name string, args object) int {
	tb.Helper()
	line := s.ask(tb, "tools/call", object{"name": name, "arguments": args})
	var res struct {
		IsError bool
		Content []struct{ Text string }
	}
	if err := json.Unmarshal(line, &res); err != nil || res.IsError != refused(name) {
		tb.Fatalf("%s %v: %v %v", name, args, res.Content, err)
	}
	return len(line)
}

// toolRow is what was measured of one tool.
type toolRow struct {
	tool
	took     []time.Duration
	most     int // bytes of the largest answer
	calls    int
	p50, p99 time.Duration
}

func (r *toolRow) add(took time.Duration, bytes int) {
	r.took, r.most = append(r.took, took), max(r.most, bytes)
}

func printTools(out io.Writer, rows []toolRow) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "\nprofile\ttool\tcalls\tp50 ms\tp99 ms\tlargest answer, bytes\t\n")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%d\t%.1f\t%.1f\t%d\t\n", r.profile, r.name, r.calls, millis(r.p50), millis(r.p99), r.most)
	}
	_ = w.Flush() // a table that cannot be printed cannot be complained about either
}
