package op

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/reference/http.md")

// TestOperationsAreDocumented keeps the table of operations in docs/reference/http.md equal to Table. An operation
// that Reach does not name is whole.
func TestOperationsAreDocumented(t *testing.T) {
	const page = "../docs/reference/http.md"
	const begin, end = "<!-- operations: written by go test ./op -run Documented -update -->\n", "<!-- end of operations -->\n"
	specs := slices.Clone(Table())
	slices.SortFunc(specs, func(a, b *Spec) int { return strings.Compare(a.Name, b.Name) })
	var want strings.Builder
	want.WriteString("| operation | request | token | what it does |\n|---|---|---|---|\n")
	for _, s := range specs {
		fmt.Fprintf(&want, "| `%s` | `%s %s` | %s | %s |\n", s.Name, s.Method, s.Path, s.Reach(), s.Summary)
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
		t.Errorf("the table of %s differs from the operations; run: go test ./op -run Documented -update", page)
	}
}

func TestWhatRemovesForGoodOrTellsOfAllIsWhole(t *testing.T) {
	for _, s := range []*Spec{Purge.Spec, Export.Spec, Import.Spec, BackupCreate.Spec, Cleanup.Spec, GC.Spec, TrashList.Spec, VaultCheck.Spec, {Name: "new"}} {
		if got := s.Reach(); got != Whole {
			t.Errorf("%s is %s, want %s", s.Name, got, Whole)
		}
	}
}
