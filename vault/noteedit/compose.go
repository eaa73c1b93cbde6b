package noteedit

import (
	"strings"

	"emberd/vault/frontmatter"
	"emberd/vault/neutralize"
)

// A new note of a memory, as [Compose] writes it and [Splice] changes it:
//
//	---
//	memory-id: "0192f3a1-b2c3-7d4e-8f5a-6b7c8d9e0f1a"
//	tags:
//	  - "rabbitmq"
//	created: 2026-01-02T03:04:05
//	---
//	The broker is RabbitMQ.
//
//	<!-- emberd:related -->
//	- [[Message queues]]
//	<!-- /emberd:related -->
//
//	+-----------------+ byte-order mark: kept if a user's editor wrote one
//	| --- LF          |
//	| key: value LF   | own properties; texts in double quotes, lists one item a line
//	| --- LF          |
//	+-----------------+
//	| text LF         | the memory's text as [neutralize.Body] returns it
//	+-----------------+
//	| mark LF         | <!-- emberd:NAME -->, alone in its line
//	| region LF       | emberd's lines, replaced as a whole; there may be several regions
//	| mark            | <!-- /emberd:NAME -->
//	+-----------------+
//
// LF is the line end of the note: CRLF or CR if its first line ends so.

// Compose makes a new note: always the same bytes from the same properties and body,
// and read again its text is the one that [neutralize.Body] makes of body. Keys are
// words, each there once.
func Compose(properties []frontmatter.Field, body string) []byte {
	var b strings.Builder
	b.WriteString("---\n")
	for _, f := range properties {
		b.WriteString(f.Key + ":" + f.Value.Render("", "", "\n"))
	}
	b.WriteString("---\n")
	if body = neutralize.Body(body); body != "" {
		b.WriteString(body + "\n")
	}
	return []byte(b.String())
}
