// Command emberd-llama runs llama.cpp for emberd, which starts it, watches it and starts it
// again: native code ends the process on some of what it is given.
//
// It is told its libraries and its model on the command line, reads requests from standard
// input and writes replies to descriptor 3, both as internal/llamawire has them. What goes
// wrong is part of a reply where that is possible, a line on standard error otherwise. It
// ends when its input does, also while it computes. Exit codes: 0 for that and for a probe
// of libraries without a model, 1 for whatever kept it from working, 2 for being started
// otherwise than emberd does.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
)

// The exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitMisuse = 2
)

const usage = "emberd-llama runs llama.cpp for emberd, which starts it automatically. You do not need to run " +
	"it.\n\n  emberd-llama --engine DIR [--model FILE [--max-tokens N]] [--sandbox off]\n"

// The values of --sandbox. Without the flag the program puts itself into its sandbox and starts
// itself again, with entered.
const (
	sandboxOff = "off"
	entered    = "entered"
)

// options are what the command line says.
type options struct {
	engine    string
	model     string
	maxTokens int
	sandbox   string
	version   bool
}

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	opt, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
		return exitDone
	case err != nil:
		return complain(exitMisuse, err)
	case opt.version:
		fmt.Println("emberd-llama", buildVersion())
		return exitDone
	}
	replies, err := replies()
	if err != nil {
		return complain(exitMisuse, err)
	}
	h := &helper{replies: replies}
	if err := confine(opt); err != nil {
		return complain(exitFailed, h.refuse(err))
	}
	if err := h.run(os.Stdin, opt); err != nil {
		return complain(exitFailed, err)
	}
	return exitDone
}

func complain(code int, err error) int {
	fmt.Fprintf(os.Stderr, "emberd-llama: %v\n", err)
	return code
}

func parse(args []string) (*options, error) {
	opt := &options{}
	flags := flag.NewFlagSet("emberd-llama", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&opt.engine, "engine", "", "load the llama.cpp libraries from the folder DIR")
	flags.StringVar(&opt.model, "model", "", "GGUF file")
	flags.IntVar(&opt.maxTokens, "max-tokens", 0, "embed at most N tokens of each text")
	flags.StringVar(&opt.sandbox, "sandbox", "", "off: load the libraries without a sandbox")
	flags.BoolVar(&opt.version, "version", false, "print the version")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("invalid argument %q; emberd starts this program automatically", flags.Arg(0))
	}
	if !slices.Contains([]string{"", sandboxOff, entered}, opt.sandbox) {
		return nil, fmt.Errorf("invalid --sandbox %q; use %s, or omit it", opt.sandbox, sandboxOff)
	}
	if opt.engine == "" && !opt.version {
		return nil, errors.New(
			"missing --engine; emberd starts this program automatically, so you do not need to run it")
	}
	return opt, nil
}
