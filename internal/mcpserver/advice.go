package mcpserver

import (
	"regexp"

	"emberd/memory"
)

// advice is what the sentences of errors tell people to type, and what agents have
// instead.
type advice struct {
	shell *regexp.Regexp
	agent string
}

func advices() []advice {
	out := []advice{}
	for _, a := range [][2]string{
		{`emberd list shows (those there are|ids)`, "memory_search finds memories by their words, and memory_list shows the newest"},
		{`emberd search --notes finds them`, `memory_search with scope "notes" finds them`},
		{`copy it from emberd list or emberd search`, "copy it from memory_search or memory_list"},
		{`emberd trash restore [0-9a-f]+`, "memory_undo and the tx of its forgetting"},
		{`--again \(again\)`, "again: true"},
		{`remove it, or set allow_secret \(--allow-secret\) to save it all the same`, "take it out"},
	} {
		out = append(out, advice{regexp.MustCompile(a[0]), a[1]})
	}
	return out
}

// advised is the sentence of an error, for who has tools in place of commands.
func advised(e *memory.Error) string {
	said := e.Message
	for _, a := range advices() {
		said = a.shell.ReplaceAllString(said, a.agent)
	}
	return said
}
