// Command emberd-eval measures emberd on judged sets and generated stores; it is no part of what
// is installed. See docs/internals/evaluation.md.
package main

import "emberd/internal/evalcmd"

func main() { evalcmd.Main() }
