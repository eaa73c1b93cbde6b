package bench

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"emberd/internal/eval"
)

// What is found when the summary of a text is all that is left of it: more than by its
// first sentence or its first characters, held to the same bound, which a summary
// without any thought would be.
func TestEvalSummaries(t *testing.T) {
	folder := setsFolder(t)
	p := newProgram(t)
	for _, dir := range []string{"locomo/dev", "ir/scifact"} {
		out, err := p.eval(t.Context(), "summaries", filepath.Join(folder, dir), "--json").Output()
		if err != nil {
			t.Fatalf("eval summaries %s: %v\n%s", dir, err, out)
		}
		report := new(eval.Report)
		if err := json.Unmarshal(out, report); err != nil {
			t.Fatal(err)
		}
		for _, set := range report.Sets {
			t.Run(string(set.Unit), func(t *testing.T) { beatsBaselines(t, &set) })
		}
	}
}

func beatsBaselines(t *testing.T, set *eval.SetReport) {
	recall := map[[3]string]float64{}
	for _, r := range set.Results {
		t.Logf("%-18s %-13s %-22s %3.0f %%  %v", r.Judgements, r.Scope, r.System, 100*r.Kept, r.Figures)
		recall[[3]string{r.Judgements, r.Scope, r.System}] = r.Recall10
	}
	if set.Unit == eval.Docs {
		return // its texts begin with titles, which are summaries made by hand
	}
	for key, summary := range recall {
		if key[2] != "summary" {
			continue
		}
		for _, baseline := range []string{"first sentence", "first characters"} {
			if other := recall[[3]string{key[0], key[1], baseline}]; summary <= other {
				t.Errorf("%s, %s: recall@10 by summary alone is %.3f, by %s %.3f", key[0], key[1], summary, baseline, other)
			}
		}
	}
}
