package main

import (
	"bufio"
	"io"
	"strings"
	"testing"
)

// An engine that is not the first choice is named where it is much faster.
func TestBenchNamesTheFasterEngine(t *testing.T) {
	row := func(provider string, perSecond float64) benchRow {
		return benchRow{Provider: provider, PerSecond: perSecond}
	}
	chain := []string{"llama", "http", "go"}
	for _, tt := range []struct {
		name          string
		rows          []benchRow
		providers     []string
		first, better string
	}{
		{"go is faster", []benchRow{row("llama", 20), row("go", 26)}, chain, "llama", "go"},
		{"about the same", []benchRow{row("llama", 20), row("go", 23)}, chain, "llama", ""},
		{"go is slower", []benchRow{row("llama", 20), row("go", 9)}, chain, "llama", ""},
		{"llama is faster and comes later", []benchRow{row("llama", 20), row("go", 9)}, []string{"go", "llama"}, "go", "llama"},
		{"a server has a model of its own", []benchRow{row("llama", 20), row("http", 90)}, chain, "llama", ""},
		{"llama did not run", []benchRow{{Provider: "llama", Problem: "no engine is installed"}, row("go", 26)}, chain, "go", ""},
		{"nothing ran", nil, chain, "", ""},
	} {
		if first, better := slower(tt.rows, tt.providers); first != tt.first || better != tt.better {
			t.Errorf("%s: %q and %q, want %q and %q", tt.name, first, better, tt.first, tt.better)
		}
	}
}

// What could not be measured says why once.
func TestBenchIsForPeople(t *testing.T) {
	r := &benchReport{Model: "/m/minilm.gguf", Texts: 200, Tokens: 64, Rows: []benchRow{
		{Provider: "llama", Problem: "no engine is installed"},
		{Provider: "go", StartMS: 178.2, PerSecond: 25.9, P50: 28.8, P99: 44.4, Bytes: 29 << 20}}}
	var out strings.Builder
	s := newState()
	s.stdout, s.stderr, s.screen = bufio.NewWriter(&out), io.Discard, screen{width: 80}
	s.printBench(r, []string{"llama", "http", "go"})
	s.stdout.Flush()
	want := `
model      minilm.gguf
texts      200 of about 64 tokens

              start      texts/s     one, p50     one, p99       memory
  llama: no engine is installed
go         178.2 ms         25.9      28.8 ms      44.4 ms     29.0 MiB
`
	if got := "\n" + out.String(); got != want {
		t.Errorf("got:%s\nwant:%s", got, want)
	}
}
