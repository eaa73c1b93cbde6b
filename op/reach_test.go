package op

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/internals/threat-model.md")

// A new operation is whole until somebody has thought about it, and the documentation
// lists what goes how far.
func TestTheReachOfOperationsIsDocumented(t *testing.T) {
	const page, begin, end = "../docs/internals/threat-model.md", "<!-- reach: written by go test ./op -run Reach -update -->\n", "<!-- end of reach -->\n"
	by := make(map[Reach][]string)
	for _, s := range Table() {
		by[s.Reach()] = append(by[s.Reach()], s.Name)
	}
	var want strings.Builder
	want.WriteString("| reach | operations |\n|---|---|\n")
	for _, reach := range []Reach{Free, Scoped, Whole} {
		slices.Sort(by[reach])
		want.WriteString(fmt.Sprintf("| %s | %s |\n", reach, "`"+strings.Join(by[reach], "`, `")+"`"))
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	got, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no %q before %q", page, begin, end)
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+begin+want.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != want.String() {
		t.Errorf("the table of %s is\n%swant\n%srun go test ./op -run Reach -update", page, got, want.String())
	}
}

func TestWhatRemovesForGoodOrTellsOfAllIsWhole(t *testing.T) {
	for _, s := range []*Spec{Purge.Spec, Export.Spec, Import.Spec, BackupCreate.Spec, Cleanup.Spec, GC.Spec, TrashList.Spec, VaultCheck.Spec, {Name: "new"}} {
		if got := s.Reach(); got != Whole {
			t.Errorf("%s is %s, want %s", s.Name, got, Whole)
		}
	}
}
