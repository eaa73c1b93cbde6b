// Package trainedtest is for tests: it finds the model that make model makes, all-MiniLM-L6-v2 with the
// weights that its makers trained.
//
// The environment variable EMBERD_TEST_TRAINED names the folder with its files. Tests skip without it, and fail where
// it names a folder that does not have them.
package trainedtest

import (
	"os"
	"path/filepath"
	"testing"
)

const variable = "EMBERD_TEST_TRAINED"

// Name is that of the model, and of the folder as its makers published it.
const Name = "all-MiniLM-L6-v2"

// File returns the path of the model file with weights as "Q8_0" or "F32". Without the variable the test is skipped.
func File(t testing.TB, weights string) string {
	t.Helper()
	return find(t, Name+"."+weights+".gguf")
}

// Folder returns the folder as the makers published it. Without the variable the test is skipped.
func Folder(t testing.TB) string {
	t.Helper()
	return find(t, Name)
}

func find(t testing.TB, name string) string {
	t.Helper()
	folder := os.Getenv(variable)
	if folder == "" {
		t.Skip("needs a trained model: run make model, and set " + variable + " to the folder that it names")
	}
	path := filepath.Join(folder, name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s: %v; run make model", variable, err)
	}
	return path
}
