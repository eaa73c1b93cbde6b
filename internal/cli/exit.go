package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
)

// ExitCode is what the process tells its caller.
type ExitCode int

// The exit codes. Scripts depend on them: the list only grows.
const (
	ExitDone        ExitCode = 0
	ExitNothing     ExitCode = 1
	ExitInput       ExitCode = 2
	ExitNoDaemon    ExitCode = 3
	ExitLocked      ExitCode = 4
	ExitConflict    ExitCode = 5
	ExitDisk        ExitCode = 6
	ExitSecret      ExitCode = 7
	ExitFault       ExitCode = 70
	ExitAgain       ExitCode = 75
	ExitRefused     ExitCode = 77
	ExitInterrupted ExitCode = 130
)

// ExitMeanings documents what each exit code stands for in general.
var ExitMeanings = map[ExitCode]string{
	ExitDone:        "done",
	ExitNothing:     "nothing found, an empty list, or a part of the command failed",
	ExitInput:       "invalid command, flag or value",
	ExitNoDaemon:    "daemon not running or incompatible version",
	ExitLocked:      "another daemon uses these folders",
	ExitConflict:    "the memory has changed, or a memory or note contradicts the statement",
	ExitDisk:        "disk full or log not writable",
	ExitSecret:      "refused: the text looks like a credential",
	ExitFault:       "internal error",
	ExitAgain:       "daemon busy (try again), or outcome unknown (check before you repeat it)",
	ExitRefused:     "refused: this caller or its access token has no permission",
	ExitInterrupted: "interrupted",
}

// exitProblems are the codes of problems for errors that have an exit code and no code of their own.
var exitProblems = map[ExitCode]memory.Code{ExitNothing: memory.NotFound, ExitInput: memory.Invalid,
	ExitNoDaemon: memory.Unavailable, ExitConflict: memory.Conflict, ExitAgain: memory.Busy,
	ExitRefused: memory.Forbidden}

// exitFor chooses the exit code for each code of an error; for every other it is [ExitFault].
var exitFor = map[memory.Code]ExitCode{
	memory.NotFound: ExitNothing, memory.Conflict: ExitConflict, memory.Secret: ExitSecret,
	memory.Invalid: ExitInput, memory.TooLarge: ExitInput, memory.Ambiguous: ExitInput, memory.Forgotten: ExitInput,
	memory.Unavailable: ExitNoDaemon, memory.Incompatible: ExitNoDaemon, memory.Forbidden: ExitRefused,
	memory.ReadOnly: ExitDisk, memory.DiskFull: ExitDisk, memory.Busy: ExitAgain, memory.Unknown: ExitAgain,
}

// Exit is an error that chooses its own exit code. Without a cause nothing is
// printed: the command has said what there is to say.
type Exit struct {
	Code ExitCode
	Err  error
}

func (e *Exit) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

func (e *Exit) Unwrap() error { return e.Err }

// CodeOf finds the exit code of an error.
func CodeOf(err error) ExitCode {
	if err == nil {
		return ExitDone
	}
	if e, ok := errors.AsType[*Exit](err); ok {
		return e.Code
	}
	if errors.Is(err, durable.ErrLocked) {
		return ExitLocked
	}
	return cmp.Or(exitFor[memory.CodeOf(err)], ExitFault)
}

// report prints an error, as a sentence or as a problem object, and returns
// the exit code.
func (s *App) report(err error) int {
	code := CodeOf(err)
	if err == nil || err.Error() == "" {
		return int(code)
	}
	if s.JSON {
		if WriteJSON(s.Stderr, Problem(err)) == nil {
			return int(code)
		}
	}
	for line := range strings.SplitSeq(Clean(placed(FlagsOnly(err.Error()), placeFlags(s))), "\n") {
		io.WriteString(s.Stderr, s.side.Paragraph("emberd: "+line, nil, ""))
	}
	return int(code)
}

// Problem is an error as the socket would tell it.
func Problem(err error) *op.Problem {
	p := op.ProblemOf(err)
	if chosen, ok := errors.AsType[*Exit](err); ok && p.Code == memory.Internal {
		p.Code = cmp.Or(exitProblems[chosen.Code], memory.Internal)
	}
	return p
}

// JsonText is a JSON string of s, for messages that quote input.
func JsonText(s string) json.RawMessage {
	text, _ := json.Marshal(s) // a string always marshals
	return text
}
