// Command emberd is a memory that fades: a daemon that stores memories on disk, and the
// commands that talk to it. internal/cli has the rules that all commands follow.
package main

import (
	"os"
	"runtime/debug"

	"emberd/internal/cli"
	"emberd/internal/cli/root"
	"emberd/internal/hookrun"
)

// clientGC lets a command end before its first garbage collection. The daemon has a value of its own.
const clientGC = 400

func main() {
	debug.SetGCPercent(clientGC)
	if hookrun.Meant(os.Args[1:]) { // before the tree of commands is built: agents wait for it
		hookrun.Main(os.Args[2:])
		return
	}
	os.Exit(root.Execute(cli.New()))
}
