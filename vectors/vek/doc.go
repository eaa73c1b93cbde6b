// Package vek measures the scan of package vectors beside the same scan by the inner product of
// github.com/viterin/vek, whose assembly is the best known for Go, and beside a plain reading of
// the memory, which no scan can be much faster than.
//
// It is a module of its own so that vek and what it needs stay out of the module graph of emberd.
// It is run with
//
//	cd vectors/vek && go test -bench .
package vek
