// Command emberd is a memory that fades: a daemon that stores memories on disk, and the
// commands that talk to it. internal/cli has the rules that all commands follow.
package main

import (
	"os"

	"emberd/internal/cli"
	"emberd/internal/cli/root"
	"emberd/internal/hookrun"
)

func main() {
	if hookrun.Meant(os.Args[1:]) { // before the tree of commands is built: agents wait for it
		hookrun.Main(os.Args[2:])
		return
	}
	os.Exit(root.Execute(cli.New()))
}
