package wire

import (
	"encoding/json"
	"reflect"

	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// question has every kind of member that bounds, defaults and nulls matter for.
type question struct {
	Query  string    `json:"query" max:"10"`
	Mode   string    `json:"mode,omitempty" enum:"preview|apply|link" default:"\"preview\""`
	Limit  int       `json:"limit,omitempty" min:"1" max:"100" default:"10"`
	Weight *float64  `json:"weight,omitempty" min:"0"`
	Review *bool     `json:"review,omitempty" default:"true"`
	Tags   []string  `json:"tags,omitempty" max:"2"`
	IDs    OneOrMore `json:"ids,omitempty" max:"2"`
	Page   *int      `json:"page,omitempty" max:"9"`

	Meta map[string]json.RawMessage `json:"meta,omitempty"`
}

func TestDecodeFillsDefaultsAndTakesNullForNothing(t *testing.T) {
	weight := 0.0
	for name, test := range map[string]struct {
		raw  string
		want question
	}{
		"defaults": {`{"query":"a"}`, question{Query: "a", Mode: "preview", Limit: 10, Review: new(true)}},
		"given":    {`{"query":"a","mode":"link","limit":1,"weight":0,"review":false}`, question{Query: "a", Mode: "link", Limit: 1, Weight: &weight, Review: new(false)}},
		"null":     {`{"query":"a","mode":null,"limit":null,"tags":null,"ids":null}`, question{Query: "a", Mode: "preview", Limit: 10, Review: new(true)}},
		"whole": {`{"query":"2.0","limit":2.0,"page":3.00,"weight":0.0,"meta":{"a":[1.0,"<"]}}`, question{Query: "2.0", Mode: "preview", Limit: 2, Page: new(3),
			Weight: &weight, Review: new(true), Meta: map[string]json.RawMessage{"a": json.RawMessage(`[1.0,"<"]`)}}},
		"one of a few": {`{"query":"a","ids":"x"}`, question{Query: "a", Mode: "preview", Limit: 10, Review: new(true), IDs: OneOrMore{"x"}}},
		"a few":        {`{"query":"a","ids":["x","y"]}`, question{Query: "a", Mode: "preview", Limit: 10, Review: new(true), IDs: OneOrMore{"x", "y"}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Decode[question]("the arguments", []byte(test.raw))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(*got, test.want) {
				t.Errorf("Decode(%s) = %+v, want %+v", test.raw, *got, test.want)
			}
		})
	}
}

func TestDecodeNamesTheMemberTheValueAndTheBound(t *testing.T) {
	for raw, want := range map[string]string{
		``:                                  "missing query: expected a string",
		`[]`:                                "the arguments is a list; send a JSON object",
		`{"query":null}`:                    "query is null; give a string",
		`{"query":"abcdefghijk"}`:           "query has 11 characters, more than 10",
		`{"query":"a","limit":0}`:           "limit is 0, outside 1 to 100",
		`{"query":"a","limit":101}`:         "limit is 101, outside 1 to 100",
		`{"query":"a","limit":1.5}`:         "limit is the number 1.5; give a whole number",
		`{"query":"a","limit":101.0}`:       "limit is 101, outside 1 to 100",
		`{"query":"a","limit":1.0e1}`:       "limit is the number 1.0e1; give a whole number",
		`{"query":"a","weight":-0.5}`:       "weight is -0.5, less than 0",
		`{"query":"a","mode":"dry"}`:        `mode is "dry"; use preview, apply or link`,
		`{"query":"a","tags":["","",""]}`:   "tags has 3 items, more than 2",
		`{"query":"a","tags":[null]}`:       "tags[0] is null; give a string",
		`{"query":"a","ids":7}`:             "ids is the number 7; give a string or a list of strings",
		`{"query":"a","ids":["","",""]}`:    "ids has 3 items, more than 2",
		`{"query":"a","limits":1}`:          `unknown field "limits"; did you mean "limit"?`,
		`{"query":"a","offset":1}`:          `unknown field "offset"; use one of ids, limit, meta, mode, page, review, tags, weight, query`,
		`{"query":"a","limit":1,"limit":2}`: `field "limit" occurs twice; use the field once`,
	} {
		_, err := Decode[question]("the arguments", []byte(raw))
		if err == nil || err.Error() != want {
			t.Errorf("Decode(%s): %v, want %s", raw, err, want)
		}
	}
}

func TestTheSchemaSaysWhatDecodeTakes(t *testing.T) {
	schema, err := Infer(reflect.TypeFor[question](), Scalars(), true)
	if err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatal(err)
	}
	for raw, fits := range map[string]bool{
		`{"query":"a"}`: true, `{"query":"a","ids":"longer than two"}`: true, `{"query":"a","ids":["","",""]}`: false, `{"query":"a","ids":["x"]}`: true,
		`{"query":"a","limit":2.0}`: true, `{"query":"a","page":2.0}`: true, `{"query":"a","limit":2.5}`: false,
		`{}`: false, `{"query":"abcdefghijk"}`: false, `{"query":"a","limit":0}`: false, `{"query":"a","mode":"dry"}`: false,
		`{"query":"a","weight":-1}`: false, `{"query":"a","tags":["","",""]}`: false, `{"query":"a","other":1}`: false,
	} {
		_, decoded := Decode[question]("the arguments", []byte(raw))
		var v any
		if err := json.Unmarshal([]byte(raw), &v); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(v); (err == nil) != fits || (decoded == nil) != fits {
			t.Errorf("%s: the schema says %v, Decode says %v, want fit %v", raw, err, decoded, fits)
		}
	}
}

// Embedded is left out as a whole when nil.
type Embedded struct {
	Size int `json:"size"`
}

// answer has what only results may: null, and structs within lists.
type answer struct {
	*Embedded
	Score *float64        `json:"score"`
	Name  *string         `json:"name,omitempty"`
	Raw   json.RawMessage `json:"raw,omitempty"`
	Parts []struct {
		Kind  string   `json:"kind" enum:"a|b" doc:"of the part"`
		Share *float64 `json:"share"`
	} `json:"parts"`
}

func TestResultsMayHaveNullWhereAPointerIsNeverLeftOut(t *testing.T) {
	schema, err := Infer(reflect.TypeFor[answer](), Scalars(), false)
	if err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for raw, fits := range map[string]bool{
		`{"size":"large","score":null,"parts":[]}`:                       false,
		`{"size":1,"score":null,"parts":[]}`:                             true,
		`{"score":null,"parts":[]}`:                                      true,
		`{"score":1,"parts":[{"kind":"a","share":null}]}`:                true,
		`{"score":1,"parts":[{"kind":"a","share":1,"more":1}],"more":1}`: true,
		`{"score":1,"parts":null}`:                                       false,
		`{"score":1,"name":null,"parts":[]}`:                             false,
		`{"score":1,"parts":[{"kind":"c","share":1}]}`:                   false,
		`{"parts":[]}`: false,
	} {
		var v any
		if err := json.Unmarshal([]byte(raw), &v); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(v); (err == nil) != fits {
			t.Errorf("%s: the schema says %v, want fit %v", raw, err, fits)
		}
	}
	// The protocol's inspector refuses a schema that is true.
	if raw, err := schema.Properties["raw"].MarshalJSON(); err != nil || raw[0] != '{' {
		t.Errorf("the schema of any JSON is %s (%v), want an object", raw, err)
	}
	if got := schema.Properties["parts"].Items.Properties["kind"].Description; got != "of the part" {
		t.Errorf("a field of a list's items is described as %q", got)
	}
}

// decision has a member that must be given, and may be false.
type decision struct {
	Keep *bool `json:"keep"`
}

func TestAMissingMemberIsDescribedByWhatItPointsAt(t *testing.T) {
	_, err := Decode[decision]("the arguments", []byte(`{}`))
	if want := "missing keep: expected true or false"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
