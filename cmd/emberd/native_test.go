package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"emberd/internal/testutil/llamatest"
	"emberd/internal/tinybert"
)

// The scripts that need llama.cpp, with each of the libraries that there are.
func TestNativeScripts(t *testing.T) {
	libraries := llamatest.Libraries(t)
	withHelper(t)
	for _, dir := range libraries {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			runScripts(t, "native", map[string]string{"LLAMA": dir})
		})
	}
}

// withHelper returns the path of an emberd that has its helper beside it.
func withHelper(t *testing.T) string {
	t.Helper()
	emberd, err := exec.LookPath("emberd")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(llamatest.Helper(t), filepath.Join(filepath.Dir(emberd), "emberd-llama")); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	return emberd
}

// cmdModel is "model FILE": it writes the smallest model that engines can run.
func cmdModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: model FILE")
	}
	ts.Check(tinybert.New(tinybert.Tiny()).WriteFile(ts.MkAbs(args[0])))
}

// cmdServe is "serve DIR": the files of a folder are at $URL until the script ends.
func cmdServe(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: serve DIR")
	}
	web := httptest.NewServer(http.FileServer(http.Dir(ts.MkAbs(args[0]))))
	ts.Defer(web.Close)
	ts.Setenv("URL", web.URL)
}
