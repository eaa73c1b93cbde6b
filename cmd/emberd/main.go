// Command emberd is a memory that fades: a daemon that stores memories on disk, and the
// commands that talk to it. internal/cli has the rules that all commands follow.
package main

import (
	"os"

	"emberd/internal/cli"
	"emberd/internal/cli/root"
)

func main() { os.Exit(root.Execute(cli.New())) }
