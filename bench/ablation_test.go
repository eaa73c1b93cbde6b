package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"emberd/internal/eval"
)

// ablations are the choices in how notes rank, each taken back on its own: what
// the source says, and what stands there instead.
var ablations = []struct{ name, file, is, instead string }{
	{"as shipped", "internal/relevance/relevance.go", "NoteK1           = 1.6", "NoteK1           = 1.6"},
	{"whole note only", "internal/relevance/relevance.go", "NotePassageShare = 0.6", "NotePassageShare = 0.0"},
	{"best passage only", "internal/relevance/relevance.go", "NotePassageShare = 0.6", "NotePassageShare = 1.0"},
	{"λ = 0.4", "internal/relevance/relevance.go", "NotePassageShare = 0.6", "NotePassageShare = 0.4"},
	{"λ = 0.8", "internal/relevance/relevance.go", "NotePassageShare = 0.6", "NotePassageShare = 0.8"},
	{"no share for names", "internal/relevance/relevance.go", "NoteNameShare = 0.25", "NoteNameShare = 0"},
	{"names as body", "internal/relevance/relevance.go", "NoteNames    = 2.0", "NoteNames    = 1.0"},
	{"headings as body", "internal/relevance/relevance.go", "NoteHeadings = 3.0", "NoteHeadings = 1.0"},
	{"k1 = 1.2 for notes", "internal/relevance/relevance.go", "NoteK1           = 1.6", "NoteK1           = 1.2"},
	{"b = 0.3", "internal/relevance/relevance.go", "NoteBodyB        = 0.7", "NoteBodyB        = 0.3"},
	{"b = 0.9", "internal/relevance/relevance.go", "NoteBodyB        = 0.7", "NoteBodyB        = 0.9"},
	{"stop words weigh nothing", "ltm/doc.go", "WeakWeight = 0.3", "WeakWeight = 0.0"},
	{"stop words weigh as others", "ltm/doc.go", "WeakWeight = 0.3", "WeakWeight = 1.0"},
}

// BenchmarkNoteAblations prints what each choice is worth, on every set of notes:
// nDCG@10, R@5 in brackets.
func BenchmarkNoteAblations(b *testing.B) {
	folder := os.Getenv("EMBERD_SETS")
	if folder == "" {
		b.Skip("EMBERD_SETS names no folder of judged sets")
	}
	asked := [][]string{
		{"locomo/dev", "--unit", "notes"},
		{"vaults/tasks-docs"},
		{"vaults/tasks-docs", "--known-items"},
		{"vaults/nolebase", "--known-items"},
	}
	var table strings.Builder
	for _, a := range ablations {
		p := variant(b, a.file, a.is, a.instead)
		fmt.Fprintf(&table, "| %s |", a.name)
		for _, args := range asked {
			fmt.Fprintf(&table, " %s |", ablated(b, p, filepath.Join(folder, args[0]), args[1:]))
		}
		table.WriteByte('\n')
	}
	fmt.Print("\n", table.String()) // a log of more than ten lines would be cut
}

// variant is the program with one text of its source replaced by another.
func variant(b *testing.B, file, is, instead string) *program {
	b.Helper()
	source := filepath.Join("..", file)
	text, err := os.ReadFile(source)
	if err != nil {
		b.Fatal(err)
	}
	if n := strings.Count(string(text), is); n != 1 {
		b.Fatalf("%s has %q %d times, not once", source, is, n)
	}
	dir := b.TempDir()
	changed, overlay := filepath.Join(dir, filepath.Base(file)), filepath.Join(dir, "overlay.json")
	whole, err := filepath.Abs(source)
	if err != nil {
		b.Fatal(err)
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {whole: changed}})
	if err != nil {
		b.Fatal(err)
	}
	for name, content := range map[string]string{changed: strings.Replace(string(text), is, instead, 1), overlay: string(replace)} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	p := newProgram(b)
	build := exec.CommandContext(b.Context(), "go", "build", "-overlay", overlay, "-o", p.binary, "emberd/cmd/emberd")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	return p
}

// ablated is what emberd reaches over all questions of a set, at note level, the
// mean over its kinds of judgement.
func ablated(b *testing.B, p *program, dir string, args []string) string {
	b.Helper()
	cmd := p.eval(b.Context(), append([]string{"run", dir, "--json"}, args...)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil && len(out) == 0 { // without a few of the questions it says so in its exit code
		b.Fatalf("eval %s: %v\n%s", dir, err, &said)
	}
	var report eval.Report
	if err := json.Unmarshal(out, &report); err != nil {
		b.Fatal(err)
	}
	gain, recall, n := 0.0, 0.0, 0.0
	for _, set := range report.Sets {
		for _, r := range set.Results {
			if r.System == "emberd" && r.Category == "" {
				gain, recall, n = gain+r.NDCG10, recall+r.Recall5, n+1
			}
		}
	}
	return fmt.Sprintf("%.3f (%.3f)", gain/n, recall/n)
}
