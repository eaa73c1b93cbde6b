package bench

import (
	"emberd/engine"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"emberd/engine/core"
	"emberd/internal/eval"
	"emberd/internal/text/analysis"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
)

// Which cold memories searches mean, at the threshold as shipped: a fifth of the memories
// is warm, the others are half archived and half rehydratable, at random. Questions should
// bring back their evidence, and claims about medicine nothing.
func TestEvalRekindle(t *testing.T) {
	claims := judgedSets()[2].read(t).Questions
	for _, of := range judgedSets()[:2] {
		set := of.read(t)
		opt := engine.DefaultOptions()
		opt.Vaults, opt.Rekindle = []string{t.TempDir()}, core.RekindleAsk
		opt.LifecyclePeriod, opt.Durability = 0, stm.None
		e := openEngine(t, opt)
		cold := importFaded(t, e, set.Docs)
		got := meaning{}
		for _, q := range set.Questions {
			got.judge(meant(t, e, q.Text), set.Judgements[0].Relevant[q.ID], cold)
		}
		off := 0
		for _, q := range claims {
			if len(meant(t, e, q.Text)) > 0 {
				off++
			}
		}
		t.Logf("%s: %s; %d of %d claims about medicine mean something", set.Unit, got.String(), off, len(claims))
		if got.precision() < 0.3 || off*50 > len(claims) {
			t.Errorf("%s: searches bring back what they do not mean", set.Unit)
		}
	}
}

// meaning counts what questions meant.
type meaning struct {
	questions, met    int // with cold evidence, and of them with some that was meant
	evidence, meant   int // cold, and of it
	offered, relevant int // memories meant at all, and evidence among them
}

func (m *meaning) judge(names []string, relevant map[string]int, cold map[string]bool) {
	evidence, meant := 0, 0
	for name := range relevant {
		if cold[name] {
			evidence++
		}
	}
	for _, name := range names {
		if relevant[name] > 0 {
			meant++
		}
	}
	m.evidence, m.meant = m.evidence+evidence, m.meant+meant
	m.offered, m.relevant = m.offered+len(names), m.relevant+meant
	if evidence > 0 {
		m.questions++
		m.met += min(meant, 1)
	}
}

func (m *meaning) precision() float64 { return float64(m.relevant) / float64(max(m.offered, 1)) }

// importFaded takes documents in as if most of them had faded, and tells which did.
func importFaded(t *testing.T, inv op.Invoker, docs []eval.Doc) map[string]bool {
	t.Helper()
	random, summarizer := rand.New(rand.NewPCG(6, 7)), rekindle.NewSummarizer(analysis.New())
	cold := make(map[string]bool)
	var records []op.Record
	for _, d := range docs {
		full := d.Content + "\n" + d.Context
		m := memory.Memory{Content: full, Stage: memory.Active, CreatedAt: time.Now().Add(-100 * 24 * time.Hour)}
		if stage := random.IntN(5); stage > 0 {
			m.Stage = []memory.Stage{memory.Archived, memory.Rehydratable}[stage%2]
			m.Content, m.KeyTerms = summarizer.Summary(full, nil), summarizer.KeyTerms(full, nil)
			m.VaultPath, m.TextDigest = d.Name+".md", rekindle.Digest(full)
			cold[d.Name] = true
		}
		records = append(records, recordOf(t, m, d.Name))
	}
	importAll(t, inv, records)
	return cold
}

func importAll(t *testing.T, inv op.Invoker, records []op.Record) {
	t.Helper()
	for len(records) > 0 {
		n := min(op.MaxBatch, len(records))
		for _, a := range call(t, inv, op.Import, &op.ImportRequest{Records: records[:n]}).Results {
			if a.Error != nil {
				t.Fatal(a.Error.Detail)
			}
		}
		records = records[n:]
	}
}

// recordOf is a memory that says which document it is.
func recordOf(t *testing.T, m memory.Memory, name string) op.Record {
	t.Helper()
	ref, _ := json.Marshal(name) // a string has no error
	m.Meta = map[string]json.RawMessage{"ref": ref}
	m.Confidence, m.Importance, m.Strength, m.Collection = 1, 0.5, 1, memory.DefaultCollection
	m.CreatedAt = m.CreatedAt.UTC().Truncate(time.Millisecond)
	m.LastUsed = m.CreatedAt
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	r := op.Record{ID: memory.DeriveID([]byte(name))}
	if err := json.Unmarshal(raw, &r.Fields); err != nil {
		t.Fatal(err)
	}
	delete(r.Fields, "id")
	return r
}

// meant returns the names of the cold memories that a search would bring back.
func meant(t *testing.T, inv op.Invoker, query string) (names []string) {
	t.Helper()
	for _, h := range call(t, inv, op.Search, &op.SearchRequest{Query: query, Limit: 10}).Hits {
		if h.Rekindle != op.RekindleOffered {
			continue
		}
		var name string
		if err := json.Unmarshal(h.Meta["ref"], &name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

func (m *meaning) String() string {
	return fmt.Sprintf("%d of %d questions bring cold evidence back, %d of %d pieces of it; of %d memories brought back %d are evidence (%.2f)",
		m.met, m.questions, m.meant, m.evidence, m.offered, m.relevant, m.precision())
}
