//go:build (linux || darwin) && (amd64 || arm64)

package llama

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// open loads a library with all that it needs.
func open(path string) (uintptr, error) {
	runtime.LockOSThread() // what went wrong is known to the thread
	defer runtime.UnlockOSThread()
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
}

// lookup is the address of a function, 0 if there is none.
func lookup(library uintptr, name string) uintptr {
	address, err := purego.Dlsym(library, name)
	if err != nil {
		return 0
	}
	return address
}

// register makes a Go function of one in C.
func register(function any, address uintptr) { purego.RegisterFunc(function, address) }

// callback makes a function in C of one in Go. It is never freed.
func callback(function any) uintptr { return purego.NewCallback(function) }

func call(function, argument uintptr) { purego.SyscallN(function, argument) }
