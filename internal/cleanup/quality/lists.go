package quality

import (
	_ "embed"
	"strings"
	"sync"
)

var (
	//go:embed lists/function.txt
	functionFile string
	//go:embed lists/generic.txt
	genericFile string
	//go:embed lists/chat.txt
	chatFile string
	//go:embed lists/probe.txt
	probeFile string
	//go:embed lists/trial.txt
	trialFile string
	//go:embed lists/lorem.txt
	loremFile string
	//go:embed lists/todo.txt
	todoFile string
	//go:embed lists/hedges.txt
	hedgesFile string
	//go:embed lists/vague.txt
	vagueFile string
	//go:embed lists/boilerplate.txt
	boilerplateFile string
)

// kind is what lists say of a word, several at once.
type kind uint8

const (
	function kind = 1 << iota
	generic
	chat
	probe
	trial
	lorem
	vague
)

// wordLists are the embedded lists.
type wordLists struct {
	kinds            map[string]kind
	todos, templates [][]string // phrases, each as its words
	hedges, filler   phraseList
	begins           phraseList // templates
}

// phraseList is phrases by their first word.
type phraseList map[string][][]string

func newPhraseList(phrases [][]string) phraseList {
	b := make(phraseList)
	for _, p := range phrases {
		b[p[0]] = append(b[p[0]], p)
	}
	return b
}

var lists = sync.OnceValue(func() *wordLists {
	l := &wordLists{kinds: make(map[string]kind), todos: phrases(todoFile), templates: phrases(boilerplateFile),
		hedges: newPhraseList(phrases(hedgesFile)),
		filler: newPhraseList([][]string{{"lorem", "ipsum"}, {"dolor", "sit", "amet"}})}
	l.begins = newPhraseList(l.templates)
	for k, file := range map[kind]string{function: functionFile, generic: genericFile, chat: chatFile, probe: probeFile,
		trial: trialFile, lorem: loremFile, vague: vagueFile} {
		for line := range entries(file) {
			for word := range strings.FieldsSeq(line) {
				l.kinds[word] |= k
			}
		}
	}
	return l
})

// entries yields the lines of a list without its comments.
func entries(file string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(file) {
			line, _, _ = strings.Cut(line, "#")
			if line = strings.TrimSpace(line); line != "" && !yield(line) {
				return
			}
		}
	}
}

func phrases(file string) (out [][]string) {
	for line := range entries(file) {
		out = append(out, strings.Fields(line))
	}
	return out
}
