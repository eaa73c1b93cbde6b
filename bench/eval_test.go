package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"emberd/internal/eval"
)

// leastNDCG is what search has to find of a set at least, everything together: nDCG at 10 of the
// first judgements.
var leastNDCG = map[string]float64{
	"beam/dev turns": 0.33, "locomo/dev turns": 0.526, "locomo/dev facts": 0.615, "locomo/dev notes": 0.86,
	"ir/scifact docs": 0.695, "ir/cisi docs": 0.4, "small/qmd notes": 0.95, "vaults/tasks-docs notes": 0.855,
}

// margin is how far a measure may lie below that of plain BM25 by chance. A question of ir/cisi
// has forty answers, so its recall at 5 hardly tells two rankings apart.
const margin = 0.005

// emberd-eval run over every folder of judged questions, with the settings as
// shipped: whatever the unit and the judgements, search finds no less than plain
// BM25 over the same texts, and as much as it did.
func TestEvalSearch(t *testing.T) {
	folder := setsFolder(t)
	p := newProgram(t)
	for _, name := range []string{"locomo/dev", "beam/dev", "ir/scifact", "ir/cisi", "small/qmd", "vaults/tasks-docs"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(folder, name)
			if _, err := os.Stat(dir); err != nil {
				t.Skipf("a folder of EMBERD_SETS is missing: %v", err)
			}
			for _, set := range evalReport(t, p, dir).Sets {
				compare(t, &set)
				first := set.Results[slices.IndexFunc(set.Results, func(r eval.Result) bool { return r.System == "emberd" })]
				if least := leastNDCG[name+" "+string(set.Unit)]; first.NDCG10 < least {
					t.Errorf("%s: nDCG@10 is %.3f, want %.3f", set.Unit, first.NDCG10, least)
				}
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
		floor := plain[[2]string{r.Judgements, r.Scope}]
		floor.Recall5, floor.Recall10 = floor.Recall5-margin, floor.Recall10-margin
		floor.MRR10, floor.NDCG10 = floor.MRR10-margin, floor.NDCG10-margin
		if worse, ok := below(r.Figures, floor); ok {
			t.Errorf("%s, %s, %s: %s of plain BM25", set.Unit, r.Judgements, r.Scope, worse)
		}
	}
	if compared == 0 {
		t.Errorf("%s: nothing was compared", set.Unit)
	}
}
