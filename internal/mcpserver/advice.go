package mcpserver

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"emberd/memory"
	"emberd/op"
)

// advice is what the sentences of errors tell people to type, and what is said to a
// model in its place: the tool that it is shown, or that its user may type it.
type advice struct {
	shell *regexp.Regexp
	tool  string
}

// advices are those for the tools of a profile.
func advices(p Profile) []advice {
	pairs := [][2]string{}
	switch p {
	case Agent:
		pairs = [][2]string{
			{`emberd list shows (those there are|ids)`, "memory_query finds memories by their words, and memory_list shows the newest"},
			{`emberd search --notes finds them`, `memory_query with scope "vault" finds them`},
			{`copy (it|one) from emberd list or emberd search`, "copy $1 from memory_query or memory_list"},
			{`emberd trash restore [0-9a-f]+`, "memory_undo and the tx of its forgetting"},
		}
	case CortexGraph:
		pairs = [][2]string{
			{`emberd list shows (those there are|ids)`, "search_memory finds memories by their words, and read_graph shows the newest"},
			{`copy (it|one) from emberd list or emberd search`, "copy $1 from search_memory or read_graph"},
			{`emberd show (lists|[0-9a-f-]+)`, "open_memories"},
		}
	case Reference:
		pairs = [][2]string{
			{`emberd list shows (those there are|ids)`, "search_nodes finds entities, and read_graph shows the newest"},
			{`copy (it|one) from emberd list or emberd search`, "copy $1 from search_nodes or read_graph"},
		}
	case All:
		pairs = [][2]string{
			{`emberd search --notes finds them`, `search with scope "notes" finds them`},
			{` \(--allow-secret\)`, ""},
		}
	}
	if p == CortexGraph || p == Reference { // their tools have no parameter again
		pairs = append(pairs, [][2]string{
			{`, or save it anew with --again \(again\)`, ""},
			{`save it anew with --again \(again\)`, "say it in other words to save it"},
			{`bring it back with (emberd trash restore [0-9a-f]+)`, "the user can bring it back with: $1"},
		}...)
	}
	pairs = append(pairs, [][2]string{
		{`remove it, or set allow_secret \(--allow-secret\) to save it all the same`, "take it out"},
		{`--[a-z-]+ \(([a-z_]+)\)`, "$1: true"},
	}...)
	out := make([]advice, len(pairs))
	for i, a := range pairs {
		out[i] = advice{regexp.MustCompile(a[0]), a[1]}
	}
	return out
}

// advised is the sentence of an error, for who has the tools of a profile in place of
// commands.
func advised(e *memory.Error, p Profile) string {
	said := e.Message
	for _, a := range advices(p) {
		said = a.shell.ReplaceAllString(said, a.tool)
	}
	if p == All {
		said = withTools(said)
	}
	return said
}

// withTools has the names of operations' tools in the place of commands, which are the
// same but for white space. Other words stay as they are.
func withTools(said string) string {
	const program = "emberd "
	parts := strings.Split(said, program)
	for i, part := range parts[1:] {
		parts[i+1] = program + part
		words := strings.TrimPrefix(part, "doctor ")
		most := 0
		for _, s := range op.Table() {
			command := strings.ReplaceAll(s.Name, ".", " ")
			rest, ok := strings.CutPrefix(words, command)
			if _, no := withheld(s); ok && !no && len(command) > most && !startsWithLetter(rest) {
				parts[i+1], most = toolNameOf(s)+rest, len(command)
			}
		}
	}
	return strings.Join(parts, "")
}

func startsWithLetter(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(r)
}
