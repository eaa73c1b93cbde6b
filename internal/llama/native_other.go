//go:build !((linux || darwin) && (amd64 || arm64))

package llama

import "errors"

func open(string) (uintptr, error) {
	return 0, errors.New("emberd can run llama.cpp on Linux and macOS, on amd64 and arm64 processors")
}

// What follows open is not reached.

func lookup(uintptr, string) uintptr { return 0 }
func register(any, uintptr)          {}
func callback(any) uintptr           { return 0 }
func call(uintptr, uintptr)          {}
