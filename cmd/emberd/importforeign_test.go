package main

import (
	"archive/zip"
	"os"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdZip is "zip ARCHIVE FILES…".
func cmdZip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: zip ARCHIVE FILES…")
	}
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	w := zip.NewWriter(f)
	for _, name := range args[1:] {
		member, err := w.Create(name)
		ts.Check(err)
		_, err = member.Write([]byte(ts.ReadFile(name)))
		ts.Check(err)
	}
	ts.Check(w.Close())
}
