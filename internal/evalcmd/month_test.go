package evalcmd

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
)

// The agents run as often as there are hours, and what they propose is written with its texts, beside every memory.
func TestMonth(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	texts := []string{"The kettle in the kitchen leaks at the seam.", "At the seam the kettle in the kitchen is leaking",
		"Ruth tunes the piano of the club before concerts", "The ferry to Arran takes bicycles free of charge"}
	var memories strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&memories, "{\"id\":\"m%d\",\"text\":%q,\"timestamp\":\"2026-01-01T10:00:00Z\"}\n", i, text)
	}
	for name, content := range map[string]string{"memories.jsonl": memories.String(),
		"queries.jsonl": `{"id":"q","question":"Who tunes the piano?"}`, "qrels.tsv": "q\td\tg\nq\tm2\t1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, problems bytes.Buffer
	s := &session{stdout: bufio.NewWriter(&out), stderr: &problems, now: time.Now}
	file := filepath.Join(dir, "proposals.jsonl")
	if code := s.run(t.Context(), []string{"month", dir, "--memories", "4", "--days", "1", "--merge", "--proposals",
		file}); code != 0 {
		t.Fatalf("exit code %d: %s", code, &problems)
	}
	for _, agent := range []string{"decay", "cluster", "merge", "promote", "relations"} {
		if !strings.Contains(out.String(), fmt.Sprintf("%-10s %5d", agent, monthHours)) {
			t.Errorf("%s did not run %d times:\n%s", agent, monthHours, &out)
		}
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{} // texts by agent
	for line := range bytes.Lines(written) {
		var p proposal
		if err := json.Unmarshal(line, &p); err != nil {
			t.Fatal(err)
		}
		found[p.Agent] = append(found[p.Agent], p.Texts...)
	}
	if len(found[""]) != len(texts) {
		t.Errorf("memories %q, want those of the set", found[""])
	}
	if merged := strings.Join(found["merge"], "|"); merged != texts[0]+"|"+texts[1] {
		t.Errorf("merged %q", merged)
	}
}
