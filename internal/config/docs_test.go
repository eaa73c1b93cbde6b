package config

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/reference/configuration.md")

// TestDocumentation keeps the reference page equal to the table of keys.
func TestDocumentation(t *testing.T) {
	const page = "../../docs/reference/configuration.md"
	want := append([]byte("# Configuration\n\n"), Reference()...)
	if *update {
		if err := os.WriteFile(page, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("docs/reference/configuration.md is not what the keys say; run go test ./internal/config -run TestDocumentation -update")
	}
}
