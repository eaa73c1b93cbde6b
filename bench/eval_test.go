package bench

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"emberd/op"
)

// judged is a set of documents with questions, and what plain BM25 makes of it.
// The references are printed by bm25_baseline.py, which comes with the sets:
// k1 1.2, b 0.75, lower-case words, a short list of stop words, plurals cut.
type judged struct {
	name       string
	dir, docs  string
	judgements string
	rules      []string // of emberd import jsonl
	pooled     figures  // plain BM25 over all documents
	byConv     figures  // plain BM25 over one conversation's documents; zero without any
}

func judgedSets() []judged {
	return []judged{
		{
			name: "LoCoMo turns", dir: "locomo/dev", docs: "memories.jsonl", judgements: "qrels_audited.tsv",
			rules: []string{
				"--map", "id=meta.ref,conv=project,timestamp=created_at,caption=context",
				"--content-template", "{speaker}: {text}",
			},
			pooled: figures{0.493, 0.575, 0.409, 0.435},
			byConv: figures{0.542, 0.610, 0.441, 0.468},
		},
		{
			name: "LoCoMo facts", dir: "locomo/dev", docs: "facts.jsonl", judgements: "qrels_facts.tsv",
			rules:  []string{"--map", "id=meta.ref,conv=project,timestamp=created_at,text=content"},
			pooled: figures{0.591, 0.654, 0.560, 0.554}, // with its class BM25, which it does not ask itself
			byConv: figures{0.618, 0.691, 0.583, 0.579},
		},
		{
			name: "SciFact", dir: "ir/scifact", docs: "docs.jsonl", judgements: "qrels.tsv",
			rules:  []string{"--map", "id=meta.ref", "--content-template", "{title} {text}"},
			pooled: figures{0.729, 0.804, 0.653, 0.685},
		},
	}
}

// The whole way of a user: emberd import into the running daemon, then every
// question through the socket, with the settings as shipped.
func TestEvalSearch(t *testing.T) {
	folder := setsFolder(t)
	for _, set := range judgedSets() {
		t.Run(set.name, func(t *testing.T) {
			dir := filepath.Join(folder, set.dir)
			p := newProgram(t)
			d := p.start(t)
			importFile(t, p, filepath.Join(dir, set.docs), set.rules)
			questions := readQuestions(t, dir, set.judgements)
			all := evaluate(questions, func(q question) []string { return ask(t, d, q.text, "") })
			report(t, "all documents", all, set.pooled)
			if set.byConv != (figures{}) {
				one := evaluate(questions, func(q question) []string { return ask(t, d, q.text, q.conv) })
				report(t, "one conversation", one, set.byConv)
			}
		})
	}
}

func report(t *testing.T, what string, got, plain figures) {
	t.Helper()
	t.Logf("%-18s emberd      %v", what, got)
	t.Logf("%-18s plain BM25  %v", what, plain)
	if worse, ok := got.below(plain); ok {
		t.Errorf("%s: %s of plain BM25", what, worse)
	}
}

// importFile runs the command as a user would; every line has to be taken.
func importFile(t *testing.T, p *program, file string, rules []string) {
	t.Helper()
	cmd := p.command(t.Context(), append([]string{"import", "jsonl", file, "--json"}, rules...)...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("import %s: %v\n%s", file, err, out)
	}
	var report struct{ Lines, Added, Failed int }
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	if report.Added == 0 || report.Added != report.Lines {
		t.Fatalf("import %s: added %d of %d lines, %d failed", file, report.Added, report.Lines, report.Failed)
	}
}

// ask returns the names that the ten best memories have in their set. An access
// does not change a rank, so it need not be counted.
func ask(t *testing.T, inv op.Invoker, query, project string) []string {
	t.Helper()
	track := false
	res := call(t, inv, op.Search, &op.SearchRequest{Query: query, Filter: op.Filter{Project: project}, Limit: 10, Track: &track})
	names := make([]string, len(res.Hits))
	for i, hit := range res.Hits {
		if err := json.Unmarshal(hit.Meta["ref"], &names[i]); err != nil {
			t.Fatalf("%s has no name of its set: %v", hit.ID, err)
		}
	}
	return names
}
