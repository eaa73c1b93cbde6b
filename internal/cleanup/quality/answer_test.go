package quality

import (
	"fmt"
	"strings"
	"testing"
)

const good = `{"id":"aa","accuracy":0.8,"completeness":0.7,"specificity":1,"reusability":0,"recency":0.5}`

func TestParse(t *testing.T) {
	other := strings.Replace(good, "aa", "bb", 1)
	got, err := parse(` {"scores":[`+other+`,`+good+`]} `, []string{"aa", "bb"})
	if want := (Dimensions{0.8, 0.7, 1, 0, 0.5}); err != nil || len(got) != 2 || got["aa"] != want || got["bb"] != want {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := parse(`{"scores":[`+strings.Replace(good, "0.8", "8", 1)+`,`+other+`]}`, []string{"aa", "bb"}); err != nil || len(got) != 1 {
		t.Errorf("with one element out of bounds got %v, %v", got, err)
	}
}

// Whatever a model answers, what is read of it is numbers from 0 to 1 about what was asked,
// and an answer with anything else in it counts as none.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"scores":[` + good + `]}`, "```json\n{\"scores\":[" + good + "]}\n```", `{"scores":[` + good + `,` + good + `]}`, `{"scores":[]}`, `null`, ``, `[]`,
		`{"scores":[{"id":"aa"}]}`, `{"scores":[` + strings.Replace(good, "0.8", "1e999", 1) + `]}`, `{"scores":[` + strings.Replace(good, "0.8", "NaN", 1) + `]}`,
		`{"scores":[` + strings.Replace(good, "0.8", `"0.8"`, 1) + `]}`, `{"scores":[` + strings.Replace(good, "0.8", "-0.0", 1) + `]}`, `{"scores":[` + good + `]} done`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		got, err := parse(answer, []string{"aa"})
		if err != nil && got != nil || len(got) > 1 {
			t.Fatalf("%v with %v", got, err)
		}
		for id, d := range got {
			if id != "aa" {
				t.Fatalf("%q was not asked about", id)
			}
			for _, x := range []float64{d.Accuracy, d.Completeness, d.Specificity, d.Reusability, d.Recency, d.Overall()} {
				if !(x >= 0 && x <= 1) {
					t.Fatal(fmt.Sprint(d))
				}
			}
			if strings.Count(answer, "accuracy") == 0 && !strings.Contains(answer, `\`) {
				t.Fatalf("%v was read of what does not say it", d)
			}
		}
	})
}
