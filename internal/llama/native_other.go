//go:build !((linux || darwin) && (amd64 || arm64))

package llama

import "errors"

func open(string) (uintptr, error) {
	return 0, errors.New("cannot run llama.cpp on this system; use Linux or macOS on an amd64 or arm64 processor")
}

// What follows open is not reached.

func lookup(uintptr, string) uintptr { return 0 }
func register(any, uintptr)          {}
func callback(any) uintptr           { return 0 }
func call(uintptr, uintptr)          {}
