// Package api carries the operations of package op over a unix socket as
// HTTP+JSON: [NewHandler] and [Serve] on the daemon's side, [Client] on the
// other. Routes, decoding, encoding and the OpenAPI 3.1 document are all derived
// from [op.Table]. A handler of the Model Context Protocol can be mounted beside
// them.
//
// What it guarantees:
//
//   - Only processes of the user who runs the daemon are answered (peer
//     credentials from the kernel), and never a browser (Host, Origin and
//     Sec-Fetch-Site are checked).
//   - A request is taken whole or refused: unknown fields and parameters, repeated
//     keys, wrong types and text that is not UTF-8 are errors that name the place.
//   - An error arrives at the caller as the [memory.Error] that left the engine,
//     with its code, field, current revision and sentence. On the wire it is
//     problem+json (RFC 9457).
//   - A write whose answer got lost is reported as [memory.Unknown], never as
//     failed.
//   - Lists and maps that an answer always has are [] and {} when empty, not null.
//
// Handlers and clients may be shared by any number of goroutines. Requests are
// not kept or changed after a call returns; results belong to the caller.
package api

import (
	"context"
	"iter"
	"time"

	"emberd/internal/wire"
	"emberd/op"
)

// Backend is what the socket gives access to.
type Backend interface {
	op.Invoker

	// Events returns what happens from now on, preceded by what happened after
	// the journal entry named, as far as that is still known. The sequence blocks
	// between events and ends soon after ctx does. When its consumer is slow it
	// drops events or ends; it does not hold up the writer.
	Events(ctx context.Context, after string) iter.Seq[op.Event]
}

// Headers beside those of HTTP itself.
const (
	headerVersion = "Emberd-Version" // of every answer: "<version> protocol/<n>"
	headerClient  = "Emberd-Client"  // of a request: "<name>/<version> protocol/<n>"
	headerSession = "Emberd-Session" // of a request: which session of the client asks
	headerAgent   = "Emberd-Agent"   // of a request: which program the client works for, "<name>/<version>"
	headerLast    = "Last-Event-ID"  // of a request for events: resume after this one
)

const (
	typeJSON    = "application/json"
	typeProblem = "application/problem+json"
	typeEvents  = "text/event-stream"
)

// Bounds of the socket, from which a well-behaved client stays far away. A caller's own
// leave room for others.
const (
	maxBody   = 4 << 20  // bytes in the body of a request
	maxHeader = 64 << 10 // bytes in its line and header
	maxAnswer = 64 << 20 // bytes in an answer, for the client
	maxEvent  = 16 << 20 // bytes in one event, for the client
	maxClaim  = 200      // characters in what a client says about itself

	maxConns         = 512 // open at once; one more replaces one of the process that has most
	maxCallerConns   = 128 // of them of one caller; further ones are refused
	maxStreams       = 128 // event streams at once
	maxCallerStreams = 16  // of them of one caller

	smallBody      = 64 << 10          // bytes of a body that any number of requests may have
	maxCallerBulk  = 2                 // larger bodies that are read at once of a caller
	maxCallerReads = 8                 // questions of a caller that are answered at once: their answers take memory
	maxHeld        = 32 << 20          // bytes of answers that a caller has not taken yet, before it may ask more
	maxMessages    = 100               // of the Model Context Protocol in one batch
	maxValues      = 200_000           // of JSON in a message of it
	maxNesting     = wire.MaxDepth + 4 // of its JSON, of which the message itself takes up to four

	headTimeout  = 10 * time.Second       // to send line and header
	readTimeout  = 30 * time.Second       // to send the whole request
	writeTimeout = 30 * time.Second       // to take an answer, or one event
	idleTimeout  = 60 * time.Second       // between requests; the client gives up earlier
	heartbeat    = 15 * time.Second       // between comments in a quiet event stream
	refusePause  = 250 * time.Millisecond // before a request is refused as one too many

	byteCost  = 5 * time.Nanosecond    // of a byte that is read: bodies of 4 MiB took 3.7 and 5.3, with their parsing
	connCost  = 150 * time.Microsecond // of a connection
	sendCost  = 40 * time.Microsecond  // of sending what there is to an event stream
	eventCost = 5 * time.Microsecond   // of an event in it

	gatherFor = 20 * time.Millisecond // between two sendings to an event stream
	gathered  = 256                   // events in one at most
)
