package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"emberd/internal/contain"
	"emberd/memory"
	"emberd/op"
)

// statusOf gives the HTTP status of a code, 0 for a code there is none for.
// Conflict, Ambiguous and Forgotten share one: what is there now stands against
// the request. An answer 426 would have to offer another protocol, so that
// Incompatible is a conflict too.
func statusOf(code memory.Code) int {
	switch code {
	case memory.Invalid:
		return http.StatusBadRequest
	case memory.TooLarge:
		return http.StatusRequestEntityTooLarge
	case memory.NotFound:
		return http.StatusNotFound
	case memory.Ambiguous, memory.Conflict, memory.Forgotten, memory.Incompatible:
		return http.StatusConflict
	case memory.Secret:
		return http.StatusUnprocessableEntity
	case memory.Busy, memory.ReadOnly, memory.Unavailable:
		return http.StatusServiceUnavailable
	case memory.DiskFull:
		return http.StatusInsufficientStorage
	case memory.Unknown:
		return http.StatusGatewayTimeout
	case memory.Forbidden:
		return http.StatusForbidden
	case memory.Internal:
		return http.StatusInternalServerError
	}
	return 0
}

// refusal is an error about HTTP itself, whose status says more than its code.
type refusal struct {
	status int
	err    *memory.Error
}

func refuse(status int, err *memory.Error) error { return &refusal{status, err} }

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// problemOf puts an error into the form of the wire. An error without a
// code is an internal error, whose text is for the log only.
func problemOf(err error) op.Problem {
	e, ok := errors.AsType[*memory.Error](err)
	switch {
	case ok && statusOf(e.Code) != 0:
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		e = memory.Errorf(memory.Unavailable, "the request was canceled before it finished; send it again")
	case contain.Of(err) != nil:
		e = memory.Errorf(memory.Internal, "%s", contain.Of(err).Error())
	default:
		e = memory.Errorf(memory.Internal, "internal error; see the daemon log")
	}
	p := op.Problem{Status: statusOf(e.Code), Detail: e.Message, Code: e.Code, Field: e.Field, Current: e.Current,
		Stored: e.Stored}
	if r, ok := errors.AsType[*refusal](err); ok {
		p.Status = r.status
	}
	p.Title = http.StatusText(p.Status)
	return p
}

// errorFrom is the inverse of problemOf, at the client.
func errorFrom(status int, body []byte) error {
	var p op.Problem
	if json.Unmarshal(body, &p) == nil && p.Code != "" {
		return &memory.Error{Code: p.Code, Message: p.Detail, Field: p.Field, Current: p.Current, Stored: p.Stored}
	}
	// net/http answers requests that it cannot parse in plain text.
	answer := strconv.Itoa(status) + " " + http.StatusText(status)
	switch {
	case status == http.StatusRequestHeaderFieldsTooLarge:
		return memory.Errorf(memory.TooLarge, "the daemon returned %s; shorten the parameters of the request", answer)
	case status >= 400 && status < 500:
		return memory.Errorf(memory.Invalid, "the daemon returned %s without an explanation", answer)
	}
	return memory.Errorf(memory.Internal, "the daemon returned %s without an explanation", answer)
}
