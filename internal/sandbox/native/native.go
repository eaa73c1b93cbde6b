// Package native confines the process that runs native code of somebody else: the helper
// emberd-llama, before it loads a library.
//
// The code may then read the files of a [Policy] and what every system has for the dynamic
// loader, compute in threads, and write to the descriptors that it was started with. It opens
// nothing else for reading, nothing for writing except a graphics card, makes no socket of any
// family, starts no program and no process, and signals and traces no other process.
//
// On Linux this takes two steps, since a process of several threads cannot put all of them under
// Landlock before ABI 8 while a C library is loaded. [Restart] puts its own thread under Landlock,
// which says what may be opened, and executes the program again: the new one has that thread
// alone, and every later one inherits the rules. There [Seal] installs a filter of system calls
// (seccomp) in all threads. The filter lists what is permitted, so it also refuses what is unknown:
// io_uring, bpf, userfaultfd, keyrings.
//
// What is left: the code can read its model and its libraries, use the processor and the memory,
// and give wrong answers. Other systems have no sandbox that a process can put itself into and
// that is documented to last; both functions return [ErrUnavailable] there.
package native

import "errors"

// Policy lists what the code may open besides what every system has. Paths are absolute; links
// are followed once, when the rules come into force. What does not exist is left out.
type Policy struct {
	Folders []string // whose names may be read; not the files in them
	Files   []string // that may be read
}

// ErrUnavailable says that the system has no such sandbox.
var ErrUnavailable = errors.New("emberd cannot run native code in a sandbox on this system")
