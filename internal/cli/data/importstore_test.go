package data

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/internal/cli"
	"emberd/internal/refgraph"
	"emberd/memory"
)

// readStore takes in the lines of a text, and returns what is wrong with some of them.
func readStore(t testing.TB, read func(*storeImport, sourceLine) error, text string) (*storeImport, []string) {
	t.Helper()
	r := &storeImport{s: &cli.App{JSON: true}, read: read, progress: &cli.Progress{},
		now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	if err := r.lines(t.Context(), strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	var wrong []string
	for _, e := range r.report.Errors {
		wrong = append(wrong, e.Detail)
	}
	return r, wrong
}

// TestLinesOfACortexGraphStore reads lines that differ from a good one in one thing.
func TestLinesOfACortexGraphStore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ line, wrong string }{
		"the least":            {`{"id":"a","content":"x","created_at":1759833600}`, ""},
		"nulls":                {`{"id":"a","content":"x","created_at":1759833600,"last_used":null,"meta":null,"entities":null,"status":null}`, ""},
		"parts of a second":    {`{"id":"a","content":"x","created_at":1759833600.25}`, ""},
		"no content":           {`{"id":"a","created_at":1759833600}`, "missing content; pass the text to save"},
		"no time":              {`{"id":"a","content":"x"}`, ""},
		"no time, but a use":   {`{"id":"a","content":"x","created_at":null,"last_used":1759833600}`, ""},
		"a time of the future": {`{"id":"a","content":"x","created_at":99999999999}`, "in the future"},
		"a time before all":    {`{"id":"a","content":"x","created_at":-5}`, "before 1970"},
		"last use in the future": {`{"id":"a","content":"x","created_at":1759833600,"last_used":99999999999}`,
			"last_used is"},
		"strength": {`{"id":"a","content":"x","created_at":1759833600,"strength":"high"}`,
			"strength has the wrong type"},
		"negative strength": {`{"id":"a","content":"x","created_at":1759833600,"strength":-1}`,
			"strength -1 is out of range (0 to 2)"},
		"negative use": {`{"id":"a","content":"x","created_at":1759833600,"use_count":-1}`,
			"use_count -1 is out of range"},
		"part of a use": {`{"id":"a","content":"x","created_at":1759833600,"use_count":1.5}`,
			"use_count has the wrong type"},
		"too long": {`{"id":"a","content":"` + strings.Repeat("x", memory.MaxContent+1) +
			`","created_at":1759833600}`, "too many characters in content: 50001 "},
		"tags": {`{"id":"a","content":"x","created_at":1759833600,"meta":{"tags":["!!!"]}}`,
			"use at least one letter or digit"},
		"meta": {`{"id":"a","content":"x","created_at":1759833600,"meta":[]}`,
			"meta has the wrong type"},
		"extra": {`{"id":"a","content":"x","created_at":1759833600,"meta":{"extra":[]}}`,
			"meta.extra has the wrong type"},
		"an id that is none":    {`{"id":5,"content":"x","created_at":1759833600}`, "missing id; this is not a line of a CortexGraph store"},
		"deleted without an id": {`{"_deleted":true}`, "missing id; this is not a line of a CortexGraph store"},
		"half a relation": {`{"id":"r","from_memory_id":"a"}`,
			"must have from_memory_id, to_memory_id and relation_type"},
		"a long type": {`{"id":"r","from_memory_id":"a","to_memory_id":"b","relation_type":"` +
			strings.Repeat("t", 101) + `"}`, "too many characters in relation_type: 101 "},
		"a relation of no time": {`{"id":"r","from_memory_id":"a","to_memory_id":"b","relation_type":"related","created_at":"soon"}`, "created_at: "},
	} {
		r, wrong := readStore(t, (*storeImport).cortexGraphLine, c.line)
		switch {
		case c.wrong == "" && len(wrong) > 0:
			t.Errorf("%s: %q", name, wrong)
		case c.wrong != "" && (len(wrong) != 1 || !strings.Contains(wrong[0], c.wrong)):
			t.Errorf("%s: %q, want %q", name, wrong, c.wrong)
		case c.wrong != "" && len(r.memories.all())+len(r.relations.all()) > 0:
			t.Errorf("%s: taken in all the same", name)
		}
	}
}

// TestTheLastLineCounts writes, replaces and deletes ids in any order.
func TestTheLastLineCounts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		want := map[string]string{}
		var text strings.Builder
		for range rapid.IntRange(0, 20).Draw(rt, "lines") {
			id := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "id")
			if rapid.Bool().Draw(rt, "deleted") {
				delete(want, id)
				text.WriteString(`{"id":"` + id + `","_deleted":true}` + "\n")
				continue
			}
			content := rapid.StringMatching(`[a-z]{1,3}`).Draw(rt, "content")
			want[id] = content
			text.WriteString(`{"id":"` + id + `","content":"` + content + `","created_at":1759833600}` + "\n")
		}
		r, wrong := readStore(t, (*storeImport).cortexGraphLine, text.String())
		if len(wrong) > 0 {
			rt.Fatalf("wrong: %q", wrong)
		}
		got := map[string]string{}
		for _, p := range r.memories.all() {
			for id := range want {
				if p.what.ID == cortexGraphID(id) {
					got[id] = cli.PlainValue(p.what.Fields["content"])
				}
			}
		}
		if len(got) != len(want) || len(r.memories.all()) != len(want) {
			rt.Fatalf("left: %v, want %v", got, want)
		}
		for id, content := range want {
			if got[id] != content {
				rt.Fatalf("%s is %q, want %q", id, got[id], content)
			}
		}
	})
}

// TestEntitiesOfAFileAreThoseOfTheTools imports what create_entities would have made.
func TestEntitiesOfAFileAreThoseOfTheTools(t *testing.T) {
	t.Parallel()
	entities := []refgraph.Entity{
		{Name: "Ada", EntityType: "person", Observations: []string{"one", "two\nlines"}},
		{Name: "🚀", EntityType: "", Observations: []string{}},
		{Name: strings.Repeat("long ", 40), EntityType: "thing", Observations: []string{""}},
	}
	var text strings.Builder
	for _, e := range entities {
		line, err := json.Marshal(struct {
			Type string `json:"type"`
			refgraph.Entity
		}{"entity", e})
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(line, '\n'))
	}
	r, wrong := readStore(t, (*storeImport).referenceLine, text.String())
	all := r.memories.all()
	if len(wrong) > 0 || len(all) != len(entities) {
		t.Fatalf("%d came in, wrong: %q", len(all), wrong)
	}
	for i, want := range entities {
		req, err := want.Save()
		if err != nil {
			t.Fatal(err)
		}
		got := all[i].what
		if got.ID != req.ID || cli.PlainValue(got.Fields["content"]) != req.Content ||
			cli.PlainValue(got.Fields["collection"]) != req.Collection ||
			cli.PlainValue(got.Fields["type"]) != req.Type && want.EntityType != "" {
			t.Errorf("%.20q came in as %s %s", want.Name, got.ID, got.Fields)
		}
		if e, err := entityOfRecord(&got); err != nil || !slices.Equal(e.Observations, want.Observations) {
			t.Errorf("%.20q has %q, %v", want.Name, e.Observations, err)
		}
	}
}

// FuzzStores reads lines of anything: they come in as memories that could be saved, or
// are told of.
func FuzzStores(f *testing.F) {
	f.Add(`{"id":"a","content":"x","created_at":1759833600,"meta":{"tags":["t"],"extra":{"k":null}}}`)
	f.Add(`{"id":"r","from_memory_id":"a","to_memory_id":"b","relation_type":"likes","metadata":{}}`)
	f.Add(`{"type":"entity","name":"Ada","entityType":"person","observations":["one\ntwo",""]}` + "\n" +
		`{"type":"entity","name":"Ada","observations":null}`)
	f.Add(`{"type":"relation","from":"Ada","to":"Ada","relationType":"knows"}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, read := range []func(*storeImport, sourceLine) error{(*storeImport).cortexGraphLine,
			(*storeImport).referenceLine} {
			r, wrong := readStore(t, read, text)
			if len(wrong) < r.report.Failed || r.report.Failed > r.report.Lines {
				t.Errorf("%d of %d lines failed, and %d are told of", r.report.Failed, r.report.Lines, len(wrong))
			}
			for _, p := range r.memories.all() {
				if err := memory.CheckContent(cli.PlainValue(p.what.Fields["content"])); err != nil {
					t.Errorf("line %d came in, and cannot be saved: %v", p.at.Line, err)
				}
				if _, err := memory.ParseID(string(p.what.ID)); err != nil {
					t.Errorf("line %d came in with an id that is none: %v", p.at.Line, err)
				}
			}
		}
	})
}

func TestFillNamesTheFirstMemberOfTheWrongKind(t *testing.T) {
	t.Parallel()
	object := map[string]json.RawMessage{"name": json.RawMessage(`"ada"`), "weight": json.RawMessage(`"much"`),
		"at": json.RawMessage(`7`), "kind": json.RawMessage(`null`)}
	name, kind := "", "known"
	if err := fill(object, map[string]any{"name": &name, "kind": &kind, "gone": new(int)}); err != nil ||
		name != "ada" || kind != "known" {
		t.Errorf("fill = %v with %q and %q, want no error, ada and known", err, name, kind)
	}
	for range 20 { // maps have no order
		err := fill(object, map[string]any{"weight": new(float64), "at": new(string)})
		if err == nil || err.Error() != "at has the wrong type" {
			t.Fatalf("fill = %v, want at has the wrong type", err)
		}
	}
}
