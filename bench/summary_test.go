package bench

import (
	"strings"
	"testing"

	"emberd/internal/eval"
	"emberd/internal/text"
	"emberd/rekindle"
)

// What is found when the summary, or the key terms, of a text is all that is left
// of it: by plain BM25, so that nothing but the words counts. The first sentence
// and the first characters are what a summary without any thought would be, held
// to the same bound.
func TestEvalSummaries(t *testing.T) {
	s := rekindle.NewSummarizer(text.New())
	first := func(content string) string {
		var line string
		for paragraph := range strings.Lines(content) {
			if line = strings.TrimSpace(paragraph); line != "" {
				break
			}
		}
		return rekindle.Sentences(line)[0]
	}
	ways := []struct {
		name string
		of   func(content string) string
	}{
		{"summary", func(c string) string { return s.Summary(c, nil) }},
		{"first sentence", func(c string) string { return beginning(first(c), rekindle.Bound(c)) }},
		{"first characters", func(c string) string { return beginning(c, rekindle.Bound(c)) }},
		{"first sentence, whole", first},
		{"12 key terms", func(c string) string { return strings.Join(s.KeyTerms(c, nil), " ") }},
		{"whole text", func(c string) string { return c }},
	}
	for _, j := range append(judgedSets(), judged{"LoCoMo notes", "locomo/dev", eval.Notes}) {
		t.Run(j.name, func(t *testing.T) {
			set := j.read(t)
			recall := map[string]float64{}
			for _, way := range ways {
				texts := make([]string, len(set.Docs))
				for i := range texts {
					texts[i] = way.of(bodyOf(set, i))
				}
				f := set.Judgements[0].Measure(set.Questions, set.Plain(eval.Baseline{Texts: texts}, false))
				t.Logf("%-22s %v", way.name, f)
				recall[way.name] = f.Recall10
			}
			if set.Unit == eval.Docs {
				return // its texts begin with titles, which are summaries made by hand
			}
			for _, baseline := range []string{"first sentence", "first characters"} {
				if recall["summary"] <= recall[baseline] {
					t.Errorf("recall@10 by summary alone is %.3f, by %s %.3f", recall["summary"], baseline, recall[baseline])
				}
			}
		})
	}
}

// bodyOf is what a summary is made of: a note's text without its properties.
func bodyOf(set *eval.Set, i int) string {
	content := set.Docs[i].Content
	if set.Unit == eval.Notes {
		content = set.Baselines[0].Texts[i]
		if _, body, found := strings.Cut(strings.TrimPrefix(content, "---\n"), "\n---\n"); found {
			content = body
		}
	}
	return content
}

// beginning returns the first characters of a text.
func beginning(s string, n int) string {
	runes := []rune(s)
	return string(runes[:min(n, len(runes))])
}
