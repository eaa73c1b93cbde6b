package record_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/stm/record"
)

// Of an array that is valid, encoding/json finds the same items.
func TestItemsAreThoseOfTheArray(t *testing.T) {
	item := rapid.SampledFrom([]string{`{}`, `[]`, `[1,[2,"]"]]`, `{"a":"}\"]","b":[{}]}`, `"x,y]"`, `"\\"`, `-1.5e3`, `true`, `null`, `""`})
	space := rapid.SampledFrom([]string{"", " ", "\t\r\n"})
	rapid.Check(t, func(t *rapid.T) {
		var list strings.Builder
		list.WriteString("[" + space.Draw(t, "inside"))
		for i, one := range rapid.SliceOfN(item, 0, 4).Draw(t, "items") {
			if i > 0 {
				list.WriteString("," + space.Draw(t, "after the comma"))
			}
			list.WriteString(one + space.Draw(t, "after the item"))
		}
		list.WriteString("]")
		var want, got []json.RawMessage
		if err := json.Unmarshal([]byte(list.String()), &want); err != nil {
			t.Fatal(err)
		}
		err := record.EachItem([]byte(list.String()), func(item []byte) bool {
			got = append(got, item)
			return true
		})
		if err != nil || len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("items of %s are %q, %v; want %q", list.String(), got, err, want)
		}
	})
}

func TestALineOfSeveralNeedsAnArray(t *testing.T) {
	for d, want := range map[string]bool{`[]`: true, `null`: true, `{}`: false, `"x"`: false, `7`: false, `[{}]`: false, `[1,]`: false, `[1`: false} {
		_, err := record.Decode([]byte(`{"v":1,"op":"all","d":` + d + `}`))
		if (err == nil) != want {
			t.Errorf("d %s: %v", d, err)
		}
	}
	if _, err := record.Decode([]byte(`{"v":1,"op":"all"}`)); err == nil {
		t.Error("a line of several without any is taken")
	}
}
