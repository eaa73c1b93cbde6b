package entity

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"emberd/memory"
)

// Sentences of five languages with the names in them, and those that have none.
func TestNamesOfSentences(t *testing.T) {
	file, err := os.Open("testdata/sentences.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var one struct {
			Sentence string
			Names    []struct{ Name, Kind string }
		}
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, n := range one.Names {
			want = append(want, Key(n.Name)+" "+n.Kind)
		}
		var got []string
		for _, e := range Entities(one.Sentence, Options{Limit: memory.MaxEntities}) {
			got = append(got, Key(e.Name)+" "+string(e.Kind))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("in %q\n got %q\nwant %q", one.Sentence, got, want)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}
