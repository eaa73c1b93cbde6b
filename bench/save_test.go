package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"emberd/api"
	"emberd/engine"
	"emberd/internal/durable"
	"emberd/internal/text/analysis"
	"emberd/op"
)

// BenchmarkSave sets a save beside what the disk takes for its line: appended
// and synced one after the other (raw), saved by the engine in this process
// (engine), saved through the socket of the daemon (socket), and sent through a
// socket to a process that does nothing but have the line on the disk by a group
// commit (floor). Ratios are medians over rounds. The share of text analysis is
// that of one processor.
func BenchmarkSave(b *testing.B) {
	p := newProgram(b)
	d := p.start(b)
	e := openEngine(b, engine.DefaultOptions())
	line := typicalLine(b)
	raw := rawAppender(b, e.dir, line)
	analyzer := analysis.New()
	for _, clients := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			callers := connect(b, p.socket(), clients)
			floor := floorSaver(b, line, clients)
			lanes := []*lane{
				{name: "raw", clients: 1, save: func(int, string) error { return raw() }},
				{name: "engine", clients: clients, save: func(_ int, s string) error { return saveOne(b.Context(), e, s) }},
				{name: "socket", clients: clients, save: func(c int, s string) error { return saveOne(b.Context(), callers[c], s) }},
				{name: "floor", clients: clients, save: floor},
				{name: "analysis", clients: 1, save: func(_ int, s string) error { analyzer.Counts(s); return nil }},
			}
			texts := newProse(uint64(clients))
			turns, had := slices.Clone(lanes), [2]int{d.status(b).Memories, memoriesOf(b, e)}
			for b.Loop() {
				for _, l := range turns {
					l.round(b, texts)
				}
				slices.Reverse(turns) // what a lane leaves for later falls on another one
			}
			want := clients * savesPerClient * len(lanes[0].rates)
			if now := [2]int{d.status(b).Memories, memoriesOf(b, e)}; now != [2]int{had[0] + want, had[1] + want} {
				b.Fatalf("%v memories became %v by %d acknowledged saves each", had, now, want)
			}
			reportSaves(b, lanes)
		})
	}
	d.stop(b, os.Interrupt)
}

// lane is one way to save, used by so many clients at once.
type lane struct {
	name    string
	clients int
	save    func(client int, text string) error
	rates   []float64 // saves per second, by round
}

// savesPerClient is how many each client does in a round: a tenth of a second,
// on a disk that takes 3 ms.
const savesPerClient = 32

func (l *lane) round(b *testing.B, p *prose) {
	texts := make([]string, l.clients*savesPerClient)
	for i := range texts {
		texts[i] = p.text(typicalText)
	}
	start := time.Now()
	var wg sync.WaitGroup
	for client := range l.clients {
		wg.Go(func() {
			for _, text := range texts[client*savesPerClient:][:savesPerClient] {
				if err := l.save(client, text); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	l.rates = append(l.rates, float64(len(texts))/time.Since(start).Seconds())
}

func reportSaves(b *testing.B, lanes []*lane) {
	onlyMetrics(b)
	raw, engine, socket, floor, analysis := lanes[0], lanes[1], lanes[2], lanes[3], lanes[4]
	b.ReportMetric(ratio(engine, raw), "engine/raw")
	b.ReportMetric(ratio(socket, raw), "socket/raw")
	b.ReportMetric(ratio(floor, raw), "floor/raw")
	b.ReportMetric(ratio(socket, floor), "socket/floor")
	b.ReportMetric(100*ratio(engine, analysis), "analysis-%")
	for _, l := range lanes[:4] {
		b.ReportMetric(median(slices.Clone(l.rates)), l.name+"/s")
	}
	b.ReportMetric(1e9/median(slices.Clone(analysis.rates)), "analysis-ns")
}

// ratio of two lanes' rates, the median over rounds.
func ratio(a, b *lane) float64 {
	ratios := make([]float64, len(a.rates))
	for i := range ratios {
		ratios[i] = a.rates[i] / b.rates[i]
	}
	return median(ratios)
}

func memoriesOf(b *testing.B, inv op.Invoker) int {
	b.Helper()
	return call(b, inv, op.Status, &op.StatusRequest{}).Memories
}

func saveOne(ctx context.Context, inv op.Invoker, text string) error {
	_, err := op.Save.Call(ctx, inv, &op.SaveRequest{Content: text})
	return err
}

// connect gives every client a connection of its own.
func connect(b *testing.B, socket string, clients int) []*api.Client {
	all := make([]*api.Client, clients)
	for i := range all {
		all[i] = api.NewClient(socket, nil)
		b.Cleanup(all[i].Close)
	}
	return all
}

// house is an engine in this process with its folder.
type house struct {
	*engine.Engine
	dir string
}

// openEngine opens an engine in a fresh folder and lets it do its housekeeping,
// as the daemon does.
func openEngine(tb testing.TB, opt engine.Options) *house {
	tb.Helper()
	dir := tb.TempDir()
	opt.Data, opt.State = filepath.Join(dir, "data"), filepath.Join(dir, "state")
	e, err := engine.Open(opt)
	if err != nil {
		tb.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := e.Run(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
		wg.Wait()
	})
	return &house{e, dir}
}

// rawAppender returns a function that appends a line to a file in dir and syncs.
func rawAppender(b *testing.B, dir string, line []byte) func() error {
	b.Helper()
	f, err := durable.OS{}.CreateAppend(filepath.Join(dir, "raw"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return func() error {
		if _, err := f.Write(line); err != nil {
			return err
		}
		return f.Sync()
	}
}

// typicalLine is what the log writes for one save.
func typicalLine(b *testing.B) []byte {
	b.Helper()
	e := openEngine(b, engine.DefaultOptions())
	if err := saveOne(b.Context(), e, newProse(1).text(typicalText)); err != nil {
		b.Fatal(err)
	}
	segments, err := filepath.Glob(filepath.Join(e.dir, "data", "stm", "*", "*.jsonl"))
	if err != nil || len(segments) != 1 {
		b.Fatalf("segments %v, %v; want one", segments, err)
	}
	log, err := os.ReadFile(segments[0])
	if err != nil {
		b.Fatal(err)
	}
	lines := bytes.SplitAfter(log, []byte("\n"))
	if len(lines) < 2 || len(lines[1]) < typicalText {
		b.Fatalf("the log has no line of a save: %q", log)
	}
	return lines[1]
}
