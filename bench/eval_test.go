package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"emberd/internal/eval"
)

// emberd-eval run over every folder of judged questions, with the settings as
// shipped: whatever the unit and the judgements, search finds no less than plain
// BM25 over the same texts.
func TestEvalSearch(t *testing.T) {
	folder := setsFolder(t)
	p := newProgram(t)
	for _, dir := range []string{"locomo/dev", "ir/scifact", "small/qmd", "vaults/tasks-docs"} {
		t.Run(dir, func(t *testing.T) {
			dir := filepath.Join(folder, dir)
			if _, err := os.Stat(dir); err != nil {
				t.Skipf("a folder of EMBERD_SETS is missing: %v", err)
			}
			for _, set := range evalReport(t, p, dir).Sets {
				compare(t, &set)
			}
		})
	}
}

// evalReport runs the command as a user would.
func evalReport(t *testing.T, p *program, args ...string) *eval.Report {
	t.Helper()
	var said bytes.Buffer
	cmd := p.eval(t.Context(), append([]string{"run", "--json"}, args...)...)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("eval %q: %v\n%s%s", args, err, out, said.Bytes())
	}
	report := new(eval.Report)
	if err := json.Unmarshal(out, report); err != nil {
		t.Fatal(err)
	}
	return report
}

// compare holds emberd against plain BM25 where both are over all questions.
func compare(t *testing.T, set *eval.SetReport) {
	t.Helper()
	plain, compared := map[[2]string]eval.Figures{}, 0
	for _, r := range set.Results {
		if r.Category == "" && r.System == "plain BM25" {
			plain[[2]string{r.Judgements, r.Scope}] = r.Figures
		}
	}
	for _, r := range set.Results {
		if r.Category != "" {
			continue
		}
		t.Logf("%-6s %-18s %-13s %-24s %v", set.Unit, r.Judgements, r.Scope, r.System, r.Figures)
		if r.System != "emberd" {
			continue
		}
		compared++
		if worse, ok := below(r.Figures, plain[[2]string{r.Judgements, r.Scope}]); ok {
			t.Errorf("%s, %s, %s: %s of plain BM25", set.Unit, r.Judgements, r.Scope, worse)
		}
	}
	if compared == 0 {
		t.Errorf("%s: nothing was compared", set.Unit)
	}
}
