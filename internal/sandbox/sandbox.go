// Package sandbox takes from this process, for good, what it does not need: files outside
// of its folders, programs, TCP ports, other programs' sockets. What it starts inherits
// that.
//
// It is for the harm that a fault of ours, of a library or of a file that is parsed could
// do. It is no wall between the programs of one user: those that run outside of it may do
// what they always could.
//
// On Linux it is Landlock, which needs no privilege and has grown by ABI versions
// (https://docs.kernel.org/userspace-api/landlock.html): files from 1, moving them between
// folders from 2, truncating from 3, TCP from 4, devices from 5, abstract unix sockets
// from 6, signals from 8, sockets of other programs from 9, UDP from 10. Each kernel
// enforces what it has. Landlock knows no system call by name and so no protocol: before
// ABI 10 it leaves UDP, and always Multipath TCP, to any code that opens such a socket. Other
// systems have no sandbox that a process can put itself into and that is documented to last.
//
// Not looked at by Landlock are the names, times, owners and sizes of files, and what was
// opened before.
package sandbox

import (
	"path/filepath"
	"slices"
	"strings"
)

// Policy lists the rights that the process keeps. Paths are absolute; links are followed, once,
// when the rules come into force. What does not exist then is left out, and stays out
// when something of that name is made later.
type Policy struct {
	Write   []string // folders, with all in them; nothing in them is run
	Read    []string // folders and files
	Run     []string // programs, and what the system loads them with
	Devices []string // files that are read, written and controlled
	Sockets []string // unix sockets of other programs, or folders of such

	Connect []uint16 // TCP ports, of any address
	Names   bool     // whether host names are looked up
}

// State is what became of the rules.
type State struct {
	// ABI is the version of Landlock that enforces them, 0 for none.
	ABI int
	// Why says in a sentence why nothing is enforced.
	Why string
}

// Reaches reports whether the rules let files be made at a path. It says nothing about
// what the file system itself permits.
func (r *Policy) Reaches(path string) bool {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return true // what is wrong there is for the file system to say
	}
	return slices.ContainsFunc(r.Write, func(folder string) bool {
		real, err := filepath.EvalSymlinks(folder)
		return err == nil && (dir == real || strings.HasPrefix(dir, strings.TrimSuffix(real, "/")+"/"))
	})
}
