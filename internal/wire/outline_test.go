package wire

import (
	"encoding/json"
	"reflect"
	"testing"

	"emberd/memory"
)

type outlined struct {
	Name   string            `json:"name" max:"5" doc:"what it is called"`
	When   *int              `json:"when"`
	Below  *below            `json:"below,omitempty" doc:"what is below it"`
	List   []below           `json:"list"`
	Texts  []string          `json:"texts" max:"3"`
	IDs    []memory.ID       `json:"ids"`
	Lists  [][]string        `json:"lists"`
	ByName map[string]below  `json:"by_name"`
	Meta   map[string]string `json:"meta"`
}

type below struct {
	Deep []struct {
		Deeper string `json:"deeper"`
	} `json:"deep"`
}

func TestOutlineHasMembersAndNothingBelow(t *testing.T) {
	whole, err := Infer(reflect.TypeFor[outlined](), Scalars(), false)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(Outline(whole))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"object","properties":{` +
		`"name":{"type":"string","description":"what it is called","maxLength":5},` +
		`"when":{"type":["null","integer"]},` +
		`"below":{"type":"object","description":"what is below it"},` +
		`"list":{"type":"array"},` +
		`"texts":{"type":"array","items":{"type":"string"},"maxItems":3},` +
		`"ids":{"type":"array","items":{"type":"string","format":"uuid"}},` +
		`"lists":{"type":"array"},"by_name":{"type":"object"},"meta":{"type":"object"}},` +
		`"required":["name","when","list","texts","ids","lists","by_name","meta"]}`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
