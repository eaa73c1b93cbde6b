//go:build !linux

package sandbox

import "runtime"

// Restrict does nothing here, and says so.
func Restrict(*Policy) (State, error) {
	return State{Why: "emberd does not support a sandbox on this system (" + runtime.GOOS + ")"}, nil
}

// Undumpable does nothing here.
func Undumpable() error { return nil }
