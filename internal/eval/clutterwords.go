package eval

import (
	_ "embed" // for the words
	"encoding/json"
	"strings"
	"sync"
)

// clutterTexts are the sentences of generated stores. Nothing of them is from a data set.
type clutterTexts struct {
	Facts []struct { // each of a service or a person
		About string   `json:"about"`
		Ways  []string `json:"ways"` // to say it
		Ask   string   `json:"ask"`
	} `json:"facts"`
	Changed      [][]string `json:"changed"`      // at first, later, the question
	Contradicted [][]string `json:"contradicted"` // one side, the other, the question
	Junk         []string   `json:"junk"`
	Indexed      []string   `json:"indexed"`
}

//go:embed clutter.json
var clutterJSON []byte

var clutter = sync.OnceValue(func() (all clutterTexts) {
	if err := json.Unmarshal(clutterJSON, &all); err != nil {
		panic(err) // the file is a part of the program
	}
	return all
})

// clutterWords has a line of words for one kind or several.
//
//go:embed clutterwords.txt
var clutterWords string

// words returns those of a kind, or none.
func words(kind string) []string {
	for line := range strings.Lines(clutterWords) {
		kinds, list, _ := strings.Cut(strings.TrimSpace(line), ": ")
		for k := range strings.FieldsSeq(kinds) {
			if k == kind {
				return strings.Split(list, ", ")
			}
		}
	}
	return nil
}
