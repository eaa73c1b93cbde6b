package wire

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"emberd/op"
)

// tree is a type within itself, with all that a result may hold.
type tree struct {
	Names    []string          `json:"names"`
	Meta     map[string]string `json:"meta"`
	Optional []string          `json:"optional,omitempty"`
	Raw      json.RawMessage   `json:"raw,omitzero"`
	At       time.Time         `json:"at"`
	Left     *tree             `json:"left,omitempty"`
	Branches []tree            `json:"branches"`
	Twigs    []*tree           `json:"twigs,omitempty"`
}

func TestNothingIsNull(t *testing.T) {
	const bare = `{"names":[],"meta":{},"at":"0001-01-01T00:00:00Z","branches":[]}`
	const head = `{"names":[],"meta":{},"at":"0001-01-01T00:00:00Z",`
	tests := []struct {
		name string
		tree *tree
		want string
	}{
		{"empty", &tree{}, bare},
		{"behind a pointer", &tree{Left: &tree{}}, head + `"left":` + bare + `,"branches":[]}`},
		{"in a list", &tree{Branches: []tree{{}}}, head + `"branches":[` + bare + `]}`},
		{"behind pointers in a list", &tree{Twigs: []*tree{{}, nil}}, head + `"branches":[],"twigs":[` + bare + `,null]}`},
		{"nothing at all", nil, "null"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			FillerOf(reflect.TypeFor[*tree]()).Apply(reflect.ValueOf(test.tree))
			if got, err := json.Marshal(test.tree); err != nil || string(got) != test.want {
				t.Errorf("JSON is %s, %v, want %s", got, err, test.want)
			}
		})
	}
}

func TestOneResultsMapIsNotAnothers(t *testing.T) {
	one, two := &tree{}, &tree{}
	fill := FillerOf(reflect.TypeFor[*tree]())
	fill.Apply(reflect.ValueOf(one))
	fill.Apply(reflect.ValueOf(two))
	one.Meta["a"] = "b"
	if len(two.Meta) > 0 {
		t.Errorf("what is put into one result shows in another: %v", two.Meta)
	}
}

func TestTypesWithoutListsNeedNoFiller(t *testing.T) {
	if f := FillerOf(reflect.TypeFor[*struct {
		At   time.Time
		Raw  json.RawMessage
		Text *string
	}]()); f != nil {
		t.Errorf("filler is %+v, want nil", f)
	}
}

// BenchmarkFill fills a page of ten hits.
func BenchmarkFill(b *testing.B) {
	res := &op.SearchResult{Hits: make([]op.Hit, 10)}
	for i := range res.Hits {
		res.Hits[i].Note = &op.Note{}
	}
	fill := FillerOf(reflect.TypeFor[*op.SearchResult]())
	b.ReportAllocs()
	for b.Loop() {
		fill.Apply(reflect.ValueOf(res))
	}
}
