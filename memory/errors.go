package memory

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"emberd/internal/text"
)

// Code is the kind of an error. Codes travel over the socket, so an error at
// the client satisfies the same errors.Is tests as at the daemon. The list only grows.
type Code string

// What can go wrong, by what the caller should do about it.
const (
	Invalid      Code = "invalid"      // fix the request
	TooLarge     Code = "too_large"    // make it smaller
	NotFound     Code = "not_found"    // no such memory or entry
	Ambiguous    Code = "ambiguous"    // a shortened id fits several
	Conflict     Code = "conflict"     // another caller changed it since: read again
	Secret       Code = "secret"       // looks like a credential
	Forgotten    Code = "forgotten"    // the text was forgotten before
	Busy         Code = "busy"         // try again in a moment
	ReadOnly     Code = "read_only"    // the log cannot be written now
	DiskFull     Code = "disk_full"    // make room
	Unknown      Code = "unknown"      // the outcome is not known: read, then retry with the same key
	Unavailable  Code = "unavailable"  // starting, stopping, or not running
	Forbidden    Code = "forbidden"    // this caller may not
	Incompatible Code = "incompatible" // client and daemon do not fit
	Internal     Code = "internal"     // a fault of ours
)

// Error is the one error type that crosses package and process borders.
type Error struct {
	Code    Code
	Message string // one clear sentence: the thing, the bound, the next step
	Field   string // the request field at fault, or ""
	// Current is the revision that holds now, set with Conflict.
	Current string
	// Stored are names out of the store, such as paths of notes, that the message is about and leaves out, because
	// anybody may have chosen them. What a model reads marks them as stored text.
	Stored []string
	cause  error
}

// Errorf makes an Error; a %w verb keeps the cause.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), cause: errors.Unwrap(err)}
}

// At names the request field at fault and returns e.
func (e *Error) At(field string) *Error {
	e.Field = field
	return e
}

// maxStored is how many names an error has.
const maxStored = 10

// About adds stored names that the error is about, the first ten, and returns e.
func (e *Error) About(names ...string) *Error {
	e.Stored = append(e.Stored, names...)
	e.Stored = e.Stored[:min(maxStored, len(e.Stored))]
	return e
}

// Error returns the message with the stored names behind it.
func (e *Error) Error() string {
	var text strings.Builder
	text.WriteString(e.Message)
	for i, name := range e.Stored {
		text.WriteString([2]string{": ", ", "}[min(i, 1)] + strconv.Quote(name))
	}
	return text.String()
}

// Unwrap returns the cause given to Errorf, if any.
func (e *Error) Unwrap() error { return e.cause }

// Is makes errors.Is(err, memory.ErrNotFound) true for every error of that code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Message == "" && t.Code == e.Code
}

// Sentinels for errors.Is.
var (
	ErrInvalid     = &Error{Code: Invalid}
	ErrNotFound    = &Error{Code: NotFound}
	ErrAmbiguous   = &Error{Code: Ambiguous}
	ErrConflict    = &Error{Code: Conflict}
	ErrSecret      = &Error{Code: Secret}
	ErrBusy        = &Error{Code: Busy}
	ErrReadOnly    = &Error{Code: ReadOnly}
	ErrDiskFull    = &Error{Code: DiskFull}
	ErrUnknown     = &Error{Code: Unknown}
	ErrUnavailable = &Error{Code: Unavailable}
)

// CodeOf returns the code an error carries, Internal when it carries none and
// "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Internal
}

// Clip keeps quoted input short in messages: its first 60 characters, in valid UTF-8.
func Clip(s string) string { return text.Truncate(strings.ToValidUTF8(s, "�"), 60) }

func equalFold(a, b string) bool { return strings.EqualFold(strings.TrimSpace(a), b) }
