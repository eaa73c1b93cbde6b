//go:build !linux

package sandbox

import "runtime"

// Restrict does nothing here, and says so.
func Restrict(*Policy) (State, error) {
	return State{Why: "this system (" + runtime.GOOS + ") has none that a program can put itself into"}, nil
}

// Undumpable does nothing here.
func Undumpable() error { return nil }
