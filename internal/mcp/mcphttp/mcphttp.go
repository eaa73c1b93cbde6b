// Package mcphttp carries the Model Context Protocol over streamable HTTP
// (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports): with
// sessions for clients up to 2025-11-25, and without for those from 2026-07-28 on,
// which say so in a header, at the same address.
//
// The package that mounts a [Handler] authenticates requests and adds the caller to their
// context ([op.WithCaller], [op.WithGrant]). A session keeps the caller that opened it, and
// answers only requests with the same token.
//
// Sessions are bounded: at most 64 are open, each until its client deletes it or has had no
// request and no stream of it open for 30 minutes. One more replaces the session that has
// been idle longest. The client of a closed session receives 404 and then, as the protocol
// demands, begins another.
//
// Any number of goroutines can use a Handler.
package mcphttp

import "time"

// Headers of the protocol.
const (
	headerSession = "Mcp-Session-Id"
	headerMethod  = "Mcp-Method"
	headerVersion = "Mcp-Protocol-Version"
)

const (
	maxBody     = 4 << 20 // bytes in the body of a request
	maxSessions = 64      // open at once, over all profiles

	idleTime     = 30 * time.Minute // of a session without requests
	writeTimeout = 30 * time.Second // to take an answer, or one event of a stream
	heartbeat    = 15 * time.Second // between comments in a quiet stream
)

// sessionless is the first version of the protocol that has no sessions. Versions are
// dates, and compare as text.
const sessionless = "2026-07-28"
