package core_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"emberd/engine/core"
)

// What is scanned of a value are all its strings, names of members too.
func TestEveryStringOfAValueIsScanned(t *testing.T) {
	t.Parallel()
	for _, value := range []string{
		`"plain"`, `"say \"no\" \u0041\n"`, `{"password":"a b","more":["x",1,{"y":"z\\"}]}`, `[]`, `12`, `["","ä","\\\""]`,
	} {
		var want []string
		for dec := json.NewDecoder(bytes.NewReader([]byte(value))); ; {
			token, err := dec.Token()
			if err != nil {
				break
			}
			if s, ok := token.(string); ok {
				want = append(want, s)
			}
		}
		var got []string
		for _, p := range core.AppendMeta(nil, "meta", map[string]json.RawMessage{"key": json.RawMessage(value)})[1:] {
			got = append(got, p.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has %q, want %q", value, got, want)
		}
	}
}
