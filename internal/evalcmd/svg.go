package evalcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"emberd/internal/evalcmd/chart"
	"emberd/memory"
	"emberd/op"
)

// drawPairs draws the curves of each report into a folder, which it makes.
func drawPairs(dir string, reports []pairsReport) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return memory.Errorf(memory.Invalid, "%w; name a folder that can be made", err)
	}
	for i := range reports {
		r := &reports[i]
		set := setName(r.File)
		if r.Same > 0 {
			if err := writeChart(filepath.Join(dir, set+"-thresholds.svg"), thresholdChart(set, r)); err != nil {
				return err
			}
		}
		if r.Opposites > 0 {
			if err := writeChart(filepath.Join(dir, set+"-conflicts.svg"), conflictChart(set,
				r.Conflicts)); err != nil {
				return err
			}
		}
		if r.Merging != nil {
			if err := writeChart(filepath.Join(dir, set+"-merging.svg"), mergeChart(set, r.Merging,
				r.Vectors)); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeChart(name string, c *chart.Chart) error {
	if err := os.WriteFile(name, []byte(c.SVG()), 0o666); err != nil {
		return memory.Errorf(memory.Invalid, "%w; name a folder that can be written to", err)
	}
	return nil
}

// setName is what a file of pairs is called: as its folder, or by its own name.
func setName(file string) string {
	if dir := filepath.Base(filepath.Dir(file)); dir != "." && dir != ".." && dir != string(filepath.Separator) {
		return dir
	}
	return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
}

// thresholdChart shows what the thresholds of duplicates and clusters select, of the pairs
// that nothing keeps apart.
func thresholdChart(set string, r *pairsReport) *chart.Chart {
	c := &chart.Chart{Title: set + ": taken for the same", X: "threshold of similarity",
		Marks: []float64{op.ClusterThreshold, op.DuplicateThreshold},
		Note: fmt.Sprintf("lines: clusters at %.2f, duplicates at %.2f", op.ClusterThreshold,
			op.DuplicateThreshold)}
	draw := func(by, colour string, all []atThreshold) {
		precision := chart.Curve{Name: by + ": precision", Class: colour}
		recall := chart.Curve{Name: by + ": recall", Class: colour + chart.Dashed}
		for _, at := range all {
			recall.Add(at.Threshold, at.Mergeable.Recall)
			if at.Mergeable.Pairs > 0 {
				precision.Add(at.Threshold, at.Mergeable.Precision)
			}
		}
		c.Curves = append(c.Curves, precision, recall)
	}
	draw("words", chart.One, r.Curve)
	if r.Vectors != nil {
		draw("vectors", chart.Other, r.Vectors.Curve)
		c.Note += "; vectors: " + r.Vectors.Model
	}
	return c
}

func conflictChart(set string, r *toldReport) *chart.Chart {
	c := &chart.Chart{Title: set + ": conflicts told", X: "least similarity",
		Note: fmt.Sprintf("through the gate: precision %.3f, recall %.3f", r.Gate.Precision, r.Gate.Recall)}
	precision := chart.Curve{Name: "precision", Class: chart.One}
	recall := chart.Curve{Name: "recall", Class: chart.Other + chart.Dashed}
	for _, at := range r.Curve {
		recall.Add(at.Similarity, at.Recall)
		if at.Told > 0 {
			precision.Add(at.Similarity, at.Precision)
		}
	}
	c.Curves = []chart.Curve{precision, recall}
	return c
}

func mergeChart(set string, r *mergeReport, v *byVectors) *chart.Chart {
	c := &chart.Chart{Title: set + ": merged at a threshold", X: "threshold of similarity",
		Note: "no threshold merges 80 % of the paraphrases"}
	if m := r.Guarded; m.Reached {
		c.Note = fmt.Sprintf("80 %% of the paraphrases at %.3f by words", m.Threshold)
		if r.Contradictions > 0 {
			c.Note += fmt.Sprintf(", %.1f %% of the contradictions",
				100*float64(m.Contradictions)/float64(r.Contradictions))
		}
		c.Marks = []float64{m.Threshold}
	}
	draw := func(by, colour string, r *mergeReport) {
		same := chart.Curve{Name: by + ": paraphrases", Class: colour}
		other := chart.Curve{Name: by + ": opposites", Class: colour + chart.Dashed}
		for _, at := range r.Curve {
			same.Add(at.Threshold, float64(at.Paraphrases)/float64(r.Paraphrases))
			other.Add(at.Threshold, float64(at.Contradictions)/float64(max(1, r.Contradictions)))
		}
		if c.Curves = append(c.Curves, same); r.Contradictions > 0 {
			c.Curves = append(c.Curves, other)
		}
	}
	draw("words", chart.One, r)
	if v != nil {
		draw("vectors", chart.Other, v.Merging)
	}
	return c
}
