// Package spec judges emberd from outside, as a client would, by the five documents that it was
// built from. The rows are data: testdata/N-name.txtar has those of document N, and
// testdata/x-name.txtar those that combine several. The tests run the real program and speak to
// it by commands, by HTTP over its socket and by MCP over stdio. No test here imports the engine.
package spec
