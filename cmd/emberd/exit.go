package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
)

// exitCode is what the process tells its caller.
type exitCode int

// The exit codes. Scripts depend on them: the list only grows.
const (
	exitDone        exitCode = 0
	exitNothing     exitCode = 1
	exitInput       exitCode = 2
	exitNoDaemon    exitCode = 3
	exitLocked      exitCode = 4
	exitConflict    exitCode = 5
	exitDisk        exitCode = 6
	exitSecret      exitCode = 7
	exitFault       exitCode = 70
	exitAgain       exitCode = 75
	exitInterrupted exitCode = 130
)

// meaning says what an exit code stands for in general.
func (c exitCode) meaning() string {
	switch c {
	case exitDone:
		return "done"
	case exitNothing:
		return "nothing found, or a part of it failed"
	case exitInput:
		return "a command, flag or value is not right"
	case exitNoDaemon:
		return "no daemon that answers, or not one of this version"
	case exitLocked:
		return "another daemon holds these folders"
	case exitConflict:
		return "the memory was changed by somebody else since"
	case exitDisk:
		return "the disk is full or the log cannot be written"
	case exitSecret:
		return "refused, since it looks like a credential"
	case exitAgain:
		return "the daemon is busy or the outcome is not known; try again"
	case exitInterrupted:
		return "interrupted"
	default:
		return "a fault of emberd"
	}
}

// problem is the code of a problem that ends a command so, where its error has none.
func (c exitCode) problem() memory.Code {
	switch c {
	case exitNothing:
		return memory.NotFound
	case exitInput:
		return memory.Invalid
	case exitNoDaemon:
		return memory.Unavailable
	case exitConflict:
		return memory.Conflict
	case exitAgain:
		return memory.Busy
	default:
		return memory.Internal
	}
}

// exitCodes lists every code in the order of the documentation.
func exitCodes() []exitCode {
	return []exitCode{
		exitDone, exitNothing, exitInput, exitNoDaemon, exitLocked, exitConflict,
		exitDisk, exitSecret, exitFault, exitAgain, exitInterrupted,
	}
}

// endings are exit codes with what they mean for one command; "" takes the
// general meaning.
type endings map[exitCode]string

// exits documents how a command may end, besides the ways that every command
// may.
func exits(own endings) map[string]string {
	var lines []string
	for _, c := range exitCodes() {
		text, ok := own[c]
		if ok || slices.Contains([]exitCode{exitDone, exitInput, exitFault, exitInterrupted}, c) {
			lines = append(lines, fmt.Sprintf("  %3d  %s", c, cmp.Or(text, c.meaning())))
		}
	}
	return map[string]string{"exit": strings.Join(lines, "\n")}
}

// exit is an error that chooses its own exit code. Without a cause nothing is
// printed: the command has said what there is to say.
type exit struct {
	code exitCode
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// codeOf finds the exit code of an error.
func codeOf(err error) exitCode {
	if err == nil {
		return exitDone
	}
	if e, ok := errors.AsType[*exit](err); ok {
		return e.code
	}
	if errors.Is(err, durable.ErrLocked) {
		return exitLocked
	}
	switch memory.CodeOf(err) {
	case memory.NotFound:
		return exitNothing
	case memory.Invalid, memory.TooLarge, memory.Ambiguous, memory.Forgotten:
		return exitInput
	case memory.Unavailable, memory.Incompatible, memory.Forbidden:
		return exitNoDaemon
	case memory.Conflict:
		return exitConflict
	case memory.ReadOnly, memory.DiskFull:
		return exitDisk
	case memory.Secret:
		return exitSecret
	case memory.Busy, memory.Unknown:
		return exitAgain
	default:
		return exitFault
	}
}

// report prints an error, as a sentence or as a problem object, and returns
// the exit code.
func (s *state) report(err error) int {
	code := codeOf(err)
	if err == nil || err.Error() == "" {
		return int(code)
	}
	if s.json {
		if writeJSON(s.stderr, problem(err)) == nil {
			return int(code)
		}
	}
	for line := range strings.SplitSeq(clean(err.Error()), "\n") {
		io.WriteString(s.stderr, s.side.paragraph("emberd: "+line, nil, ""))
	}
	return int(code)
}

// problem is an error as the socket would tell it.
func problem(err error) *op.Problem {
	p := &op.Problem{Detail: err.Error(), Code: memory.CodeOf(err)}
	if chosen, ok := errors.AsType[*exit](err); ok && p.Code == memory.Internal {
		p.Code = chosen.code.problem()
	}
	if e, ok := errors.AsType[*memory.Error](err); ok {
		p.Field, p.Current = e.Field, e.Current
	}
	return p
}

// jsonText is a JSON string of s, for messages that quote input.
func jsonText(s string) json.RawMessage {
	text, _ := json.Marshal(s) // a string always marshals
	return text
}
