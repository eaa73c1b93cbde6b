package durable_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"emberd/internal/durable"
)

// A file that is made shorter while it is mapped is an error to who reads it, and no other panic is.
func TestReadingAMappingThatCannotBeRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "mapped")
	if err := os.WriteFile(name, []byte("some text"), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := durable.Map(name, 100)
	if err != nil || string(b) != "some text" {
		t.Fatalf("mapped %q, %v", b, err)
	}
	defer func() { _ = durable.Unmap(b) }()
	if err := os.Truncate(name, 0); err != nil {
		t.Fatal(err)
	}
	var sum byte
	if err := durable.Reading(func() { sum += b[0] }); !errors.Is(err, durable.ErrFault) {
		t.Errorf("the error is %v, want ErrFault", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a panic that is no fault became an error")
		}
	}()
	var none []int
	_ = durable.Reading(func() { sum += byte(none[len(b)]) })
}

func TestMapRefuses(t *testing.T) {
	name := filepath.Join(t.TempDir(), "mapped")
	for _, text := range []string{"", "too long"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := durable.Map(name, 5); err == nil {
			t.Errorf("a file with %d bytes is mapped", len(text))
		}
	}
}
