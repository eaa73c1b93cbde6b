package stm_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"emberd/stm"
)

// A value is taken as it is only if compacting it changes nothing.
func TestValuesThatAreTakenAsTheyAre(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		`"a text, with blanks"`: true, `""`: true, `12.5`: true, `null`: true, `[{"kind":"import"}]`: true, `"say \"no\" to it"`: false,
		`[1, 2]`: false, `["a b"]`: false, ` 1`: false, `"a" `: false, `1,"core":true`: false, `"a","b"`: false,
		"\"a\nb\"": false, `"open`: false, `"`: false, ``: false, `{"a":1}}`: false, "1\n": false,
	} {
		if got := stm.IsCompact([]byte(value)); got != want {
			t.Errorf("%s is taken as it is: %t, want %t", value, got, want)
		}
		var b bytes.Buffer
		if want && (json.Compact(&b, []byte(value)) != nil || b.String() != value) {
			t.Errorf("%s would be compacted to %s", value, &b)
		}
	}
}
